#include <cstdio>
#include "lock.h"

struct purse {
	int mutex;
	int coins;
	int notes;
};

__global__ void earn(struct purse *p)
{
	LOCK(&p->mutex);
	p->coins += 5;
	UNLOCK(&p->mutex);

	LOCK(&p->mutex);
	p->notes += 1;
	UNLOCK(&p->mutex);
}

int main()
{
	struct purse *p, host;
	cudaMalloc(&p, sizeof host);
	cudaMemset(p, 0, sizeof host);
	earn<<<4, 1>>>(p);
	cudaMemcpy(&host, p, sizeof host, cudaMemcpyDeviceToHost);
	if (host.coins != 20 || host.notes != 4) {
		printf("%d coins, %d notes\n", host.coins, host.notes);
		return 1;
	}
	return 0;
}
