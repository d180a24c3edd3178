// Static and dynamic shared memory, three-dimensional blocks and grids, more blocks than fit at once.
//! buffer out u32 3072
//! launch reverse 4,3,2 8,4,4 shared=1024 : out
//! expect out = 0..128*-1+127 0..128*-1+1127 0..128*-1+2127 0..128*-1+3127 0..128*-1+4127 0..128*-1+5127 0..128*-1+6127 0..128*-1+7127 0..128*-1+8127 0..128*-1+9127 0..128*-1+10127 0..128*-1+11127 0..128*-1+12127 0..128*-1+13127 0..128*-1+14127 0..128*-1+15127 0..128*-1+16127 0..128*-1+17127 0..128*-1+18127 0..128*-1+19127 0..128*-1+20127 0..128*-1+21127 0..128*-1+22127 0..128*-1+23127
//! seeds 2
extern __shared__ int dynamic[];
extern "C" __global__ void reverse(int *out)
{
    __shared__ int fixed[128];
    int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    int b = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    fixed[t] = t;
    dynamic[t + 128] = b;
    __syncthreads();
    out[b * 128 + t] = fixed[127 - t] + 1000 * dynamic[255 - t];
}
