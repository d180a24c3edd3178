// The lock of a bucket, as a loop in which the critical section stands.
#include <cstdio>

const int buckets = 3;

struct Bucket {
    int lock;
    int size;
    int items[8];
};

__global__ void insert(Bucket *table) {
    const int item = blockIdx.x;
    Bucket &bucket = table[item % buckets];
    bool done = false;
    while (!done) {
        if (atomicCAS(&bucket.lock, 0, 1) == 0) {
            __threadfence();
            const int slot = bucket.size;
            bucket.items[slot] = item;
            bucket.size = slot + 1;
            atomicExch(&bucket.lock, 0);
            done = true;
        }
    }
}

int main() {
    const int items = 9;
    Bucket *table, host[buckets];
    cudaMalloc((void **)&table, sizeof host);
    cudaMemset(table, 0, sizeof host);
    insert<<<items, 1>>>(table);
    cudaMemcpy(host, table, sizeof host, cudaMemcpyDeviceToHost);
    for (int b = 0; b < buckets; b++) {
        int seen = 0;
        for (int i = 0; i < host[b].size; i++) seen |= 1 << host[b].items[i];
        if (host[b].size != 3 || seen != (0111 << b)) {
            printf("bucket %d: %d items, %o\n", b, host[b].size, seen);
            return 1;
        }
    }
}
