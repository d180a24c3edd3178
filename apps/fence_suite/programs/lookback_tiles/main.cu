#include <cstdio>

enum State { EMPTY, AGGREGATE, PREFIX };

struct Tile {
	volatile int state;
	int aggregate;
	int prefix;
};

__device__ int look_back(Tile *tiles, int from) {
	int sum = 0;
	for (int t = from; t >= 0; t--) {
		int state;
		do {
			state = tiles[t].state;
		} while (state == EMPTY);
		if (state == PREFIX)
			return sum + tiles[t].prefix;
		sum += tiles[t].aggregate;
	}
	return sum;
}

__global__ void scan(Tile *tiles, int *out) {
	const int b = blockIdx.x, value = 10 + b;
	Tile &mine = tiles[b];
	mine.aggregate = value;
	__threadfence();
	mine.state = AGGREGATE;
	const int exclusive = look_back(tiles, b - 1);
	mine.prefix = exclusive + value;
	__threadfence();
	mine.state = PREFIX;
	out[b] = exclusive;
}

int main() {
	const int blocks = 4;
	Tile *tiles;
	int *out, host[blocks];
	cudaMalloc((void **)&tiles, blocks * sizeof(Tile));
	cudaMalloc((void **)&out, sizeof host);
	cudaMemset(tiles, 0, blocks * sizeof(Tile));
	scan<<<blocks, 1>>>(tiles, out);
	cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
	int expected = 0;
	for (int b = 0; b < blocks; b++) {
		if (host[b] != expected) {
			printf("tile %d begins at %d instead of %d\n", b, host[b], expected);
			return 1;
		}
		expected += 10 + b;
	}
	return 0;
}
