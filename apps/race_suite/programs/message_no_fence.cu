// race: ptx=race(write-read,inter-block,7,12) barracuda=race(write-read,inter-block,7,12)+lines(7,8,10,12) | MP: no fence on either side of the flag
__device__ int data, out;
__device__ volatile int flag;

__global__ void pass() {
    if (blockIdx.x == 0) {
        data = 42;
        flag = 1;
    } else {
        while (flag == 0) {
        }
        out = data;
    }
}

int main() {
    pass<<<2, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
