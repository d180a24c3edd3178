#include <cstdio>

#define THREADS 128

__global__ void block_sum(const int *in, int *out)
{
	__shared__ int cache[THREADS];
	int t = threadIdx.x;

	cache[t] = in[t];
	__syncthreads();
	for (int half = THREADS / 2; half > 0; half >>= 1) {
		if (t < half)
			cache[t] += cache[t + half];
	}
	if (t == 0)
		*out = cache[0];
}

int main()
{
	int in[THREADS], *device, *out, sum = 0;

	for (int i = 0; i < THREADS; i++)
		in[i] = i;
	cudaMalloc(&device, sizeof in);
	cudaMalloc(&out, sizeof sum);
	cudaMemcpy(device, in, sizeof in, cudaMemcpyHostToDevice);
	block_sum<<<1, THREADS>>>(device, out);
	cudaMemcpy(&sum, out, sizeof sum, cudaMemcpyDeviceToHost);
	if (sum != THREADS * (THREADS - 1) / 2) {
		printf("sum %d\n", sum);
		return 1;
	}
	return 0;
}
