#pragma once

// A lock for one thread of each block.
struct SpinLock {
	int word;
};

static __device__ __forceinline__ void acquire(SpinLock &lock) {
	while (atomicExch(&lock.word, 1) == 1) {
	}
}

static __device__ __forceinline__ void release(SpinLock &lock) {
	__threadfence();
	atomicExch(&lock.word, 0);
}
