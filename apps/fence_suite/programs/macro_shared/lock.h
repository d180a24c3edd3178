#define LOCK(m)                               \
	do {                                  \
		while (atomicCAS((m), 0, 1)); \
		__threadfence();              \
	} while (0)

#define UNLOCK(m)                             \
	do {                                  \
		atomicExch((m), 0);           \
	} while (0)
