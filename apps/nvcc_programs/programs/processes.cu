// nvcc program: -arch=sm_75 -lineinfo
// Two processes share a buffer and two events. The argument says what they do with them: `events`: one fills, the other doubles, in turns that events
// order; `hurried`: the same, and the one does not wait for the other (wrong); `talk`: their kernels pass messages to each other; `mutter`: the
// same without a fence in front of a flag (wrong); `count`: both count in one word; `polled`: one kernel is launched and never waited for, and the
// other waits for what it writes; `gone`: memory is opened after its process has ended. Exits with 1 when a value is wrong.
#include <cstring>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

constexpr int WORDS = 200;
constexpr int ROUNDS = 4;

__global__ void fill(int *words, int first) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < WORDS) words[i] = first + i;
}

__global__ void twice(int *words) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < WORDS) words[i] *= 2;
}

__global__ void count(int *word) {
    for (int i = 0; i < 10; i++) atomicAdd_system(word, 1);
}

// Sends words, and waits until they are said to be read, round by round.
__global__ void speak(int *words, bool fence) {
    volatile int *flags = words + WORDS;
    for (int round = 1; round <= ROUNDS; round++) {
        for (int i = threadIdx.x; i < WORDS; i += blockDim.x) words[i] = i + round;
        __syncthreads();
        if (threadIdx.x == 0) {
            if (fence) __threadfence_system();
            flags[0] = round;
            while (flags[1] < round) {
            }
            __threadfence_system();
        }
        __syncthreads();
    }
}

__global__ void listen(int *words, int *wrong) {
    volatile int *flags = words + WORDS;
    for (int round = 1; round <= ROUNDS; round++) {
        if (threadIdx.x == 0) {
            while (flags[0] < round) {
            }
            __threadfence_system();
        }
        __syncthreads();
        for (int i = threadIdx.x; i < WORDS; i += blockDim.x) {
            if (((volatile int *)words)[i] != i + round) atomicAdd(wrong, 1);
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence_system();
            flags[1] = round;
        }
        __syncthreads();
    }
}

__global__ void tell(volatile int *words) {
    words[0] = 7;
    __threadfence_system();
    words[1] = 1;
}

__global__ void hear(volatile int *words, int *wrong) {
    while (words[1] == 0) {
    }
    __threadfence_system();
    if (words[0] != 7) *wrong = 1;
}

struct Shared {
    cudaIpcMemHandle_t memory;
    cudaIpcEventHandle_t filled, doubled;
};

int to_other[2], to_owner[2];

void put(int pipe, const void *from, size_t bytes) {
    if (write(pipe, from, bytes) != (ssize_t)bytes) exit(3);
}

void get(int pipe, void *to, size_t bytes) {
    for (char *at = (char *)to; bytes > 0;) {
        ssize_t got = read(pipe, at, bytes);
        if (got <= 0) exit(3);
        at += got;
        bytes -= got;
    }
}

int owner(const std::string &mode, pid_t other) {
    int *neighbour, *words, host[WORDS];
    char sign = 0;
    const size_t bytes = (WORDS + 2) * sizeof(int);
    CHECK(cudaMalloc(&neighbour, 100));
    CHECK(cudaMalloc(&words, bytes));
    CHECK(cudaMemset(neighbour, 1, 100));
    CHECK(cudaMemset(words, 0, bytes));
    // A stream that does not wait for the default one comes next.
    CHECK(cudaDeviceSynchronize());
    Shared shared;
    cudaEvent_t filled, doubled, own;
    CHECK(cudaEventCreateWithFlags(&filled, cudaEventDisableTiming | cudaEventInterprocess));
    CHECK(cudaEventCreateWithFlags(&doubled, cudaEventDisableTiming | cudaEventInterprocess));
    CHECK(cudaEventCreateWithFlags(&own, cudaEventDisableTiming));
    // What others can have has to be made for it.
    EXPECT("an event that was not made for it", cudaIpcGetEventHandle(&shared.filled, own) != cudaSuccess, true);
    EXPECT("no memory", cudaIpcGetMemHandle(&shared.memory, host) != cudaSuccess, true);
    EXPECT("interprocess with times",
           cudaEventCreateWithFlags(&own, cudaEventInterprocess) != cudaSuccess, true);
    cudaGetLastError();
    CHECK(cudaIpcGetMemHandle(&shared.memory, words + 5));
    CHECK(cudaIpcGetEventHandle(&shared.filled, filled));
    CHECK(cudaIpcGetEventHandle(&shared.doubled, doubled));
    int *again;
    EXPECT("one's own memory", cudaIpcOpenMemHandle((void **)&again, shared.memory, 1) != cudaSuccess, true);
    cudaGetLastError();
    put(to_other[1], &shared, sizeof shared);
    if (mode == "gone") return 0;
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    if (mode == "events" || mode == "hurried") {
        for (int round = 0; round < ROUNDS; round++) {
            fill<<<2, 128, 0, stream>>>(words, round);
            CHECK(cudaEventRecord(filled, stream));
            put(to_other[1], &sign, 1);
            get(to_owner[0], &sign, 1);
            if (mode == "events") CHECK(cudaStreamWaitEvent(stream, doubled, 0));
            CHECK(cudaMemcpyAsync(host, words, sizeof host, cudaMemcpyDeviceToHost, stream));
            CHECK(cudaStreamSynchronize(stream));
            for (int i = 0; i < WORDS; i++) EXPECT("a word", host[i], 2 * (round + i));
        }
        CHECK(cudaEventSynchronize(doubled));
        CHECK(cudaEventQuery(doubled));
    } else if (mode == "talk" || mode == "mutter") {
        speak<<<1, 64, 0, stream>>>(words, mode == "talk");
        CHECK(cudaStreamSynchronize(stream));
    } else if (mode == "count") {
        count<<<2, 64, 0, stream>>>(words);
        CHECK(cudaStreamSynchronize(stream));
        get(to_owner[0], &sign, 1);
        CHECK(cudaMemcpy(host, words, sizeof(int), cudaMemcpyDeviceToHost));
        EXPECT("the count", host[0], 2 * 2 * 64 * 10);
    } else if (mode == "polled") {
        tell<<<1, 1, 0, stream>>>(words);
    }
    int status = 0;
    if (waitpid(other, &status, 0) != other || !WIFEXITED(status)) return 3;
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(host, neighbour, 100, cudaMemcpyDeviceToHost));
    EXPECT("the neighbour", host[24], 0x01010101);
    CHECK(cudaFree(words));
    CHECK(cudaEventDestroy(filled));
    return WEXITSTATUS(status);
}

int other(const std::string &mode) {
    Shared shared;
    char sign = 0;
    get(to_other[0], &shared, sizeof shared);
    int *words, *again, *wrong, found = 0;
    CHECK(cudaIpcOpenMemHandle((void **)&words, shared.memory, cudaIpcMemLazyEnablePeerAccess));
    CHECK(cudaIpcOpenMemHandle((void **)&again, shared.memory, cudaIpcMemLazyEnablePeerAccess));
    EXPECT("opened twice", again == words, true);
    EXPECT("freed", cudaFree(words) != cudaSuccess, true);
    cudaGetLastError();
    cudaPointerAttributes known;
    CHECK(cudaPointerGetAttributes(&known, words));
    EXPECT("the kind of memory", known.type == cudaMemoryTypeDevice, true);
    cudaEvent_t filled, doubled;
    CHECK(cudaIpcOpenEventHandle(&filled, shared.filled));
    CHECK(cudaIpcOpenEventHandle(&doubled, shared.doubled));
    CHECK(cudaMalloc(&wrong, sizeof(int)));
    CHECK(cudaMemset(wrong, 0, sizeof(int)));
    CHECK(cudaDeviceSynchronize());
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    if (mode == "events" || mode == "hurried") {
        for (int round = 0; round < ROUNDS; round++) {
            get(to_other[0], &sign, 1);
            CHECK(cudaStreamWaitEvent(stream, filled, 0));
            twice<<<2, 128, 0, stream>>>(words);
            CHECK(cudaEventRecord(doubled, stream));
            put(to_owner[1], &sign, 1);
        }
    } else if (mode == "talk" || mode == "mutter") {
        listen<<<1, 64, 0, stream>>>(words, wrong);
    } else if (mode == "count") {
        count<<<2, 64, 0, stream>>>(words);
        CHECK(cudaStreamSynchronize(stream));
        put(to_owner[1], &sign, 1);
    } else if (mode == "polled") {
        hear<<<1, 1, 0, stream>>>(words, wrong);
    }
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(&found, wrong, sizeof(int), cudaMemcpyDeviceToHost));
    EXPECT("words that came late", found, 0);
    CHECK(cudaIpcCloseMemHandle(again));
    CHECK(cudaMemset(words + WORDS, 0, sizeof(int)));
    CHECK(cudaIpcCloseMemHandle(words));
    EXPECT("closed for good", cudaIpcCloseMemHandle(words) != cudaSuccess, true);
    return 0;
}

int main(int count, char **arguments) {
    std::string mode = count > 1 ? arguments[1] : "events";
    if (pipe(to_other) || pipe(to_owner)) return 3;
    pid_t child = fork();
    if (mode != "gone") return child ? owner(mode, child) : other(mode);
    // The owner is the one that ends.
    if (!child) return owner(mode, 0);
    int status = 0;
    Shared shared;
    get(to_other[0], &shared, sizeof shared);
    if (waitpid(child, &status, 0) != child || status != 0) return 3;
    int *words;
    EXPECT("memory of a process that has ended",
           cudaIpcOpenMemHandle((void **)&words, shared.memory, 1) != cudaSuccess, true);
    cudaGetLastError();
    EXPECT("its event", cudaIpcOpenEventHandle((cudaEvent_t *)&words, shared.filled) != cudaSuccess, true);
    memset(&shared, 1, sizeof shared);
    EXPECT("no handle at all", cudaIpcOpenMemHandle((void **)&words, shared.memory, 1) != cudaSuccess, true);
    return 0;
}
