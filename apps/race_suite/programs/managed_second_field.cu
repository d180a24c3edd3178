// race: ptx=race(write-read,host,8,host) barracuda=none | of two fields in one page the host reads the one that the kernel leaves alone, and then the other
struct Task {
    int size;
    int result;
};

__global__ void compute(Task *task) {
    task->result = task->size + 1;
}

int main() {
    Task *task;
    cudaMallocManaged(&task, sizeof(Task));
    task->size = 41;
    compute<<<1, 1>>>(task);
    volatile int size = task->size;
    volatile int result = task->result;
    cudaDeviceSynchronize();
    return size != 41 || result > 42;
}
