#include <stdio.h>
#include "spinlock.cuh"

__device__ SpinLock guard;
__device__ int stack[16], depth;

__global__ void push(int rounds) {
	for (int i = 0; i < rounds; i++) {
		acquire(guard);
		stack[depth] = 1 + blockIdx.x;
		depth = depth + 1;
		release(guard);
	}
}

int main() {
	const int blocks = 4, rounds = 2;
	push<<<blocks, 1>>>(rounds);
	int items[16], top = 0, sum = 0;
	cudaMemcpyFromSymbol(items, stack, sizeof items);
	cudaMemcpyFromSymbol(&top, depth, sizeof top);
	for (int i = 0; i < top; i++)
		sum += items[i];
	if (top != blocks * rounds || sum != rounds * blocks * (blocks + 1) / 2) {
		printf("%d items, sum %d\n", top, sum);
		return 1;
	}
	return 0;
}
