#include <cstdio>

enum class Command { Set, Add, Stop };

__device__ int reg, done;

__global__ void machine(const Command *program, int length, int *seen)
{
    if (blockIdx.x == 0)
    {
        for (int pc = 0; pc < length; ++pc)
        {
            switch (program[pc])
            {
            case Command::Set:
                reg = 40;
                break;
            case Command::Add:
                reg += 2;
                break;
            case Command::Stop:
                atomicExch(&done, 1);
                break;
            }
        }
    }
    else
    {
        while (atomicExch(&done, 0) == 0)
        {
        }
        __threadfence();
        *seen = reg;
    }
}

int main()
{
    const Command program[] = {Command::Set, Command::Add, Command::Add, Command::Stop};
    Command *device;
    int *seen, value = 0;
    cudaMalloc(&device, sizeof program);
    cudaMalloc(&seen, sizeof(int));
    cudaMemcpy(device, program, sizeof program, cudaMemcpyHostToDevice);
    machine<<<2, 1>>>(device, 4, seen);
    cudaMemcpy(&value, seen, sizeof(int), cudaMemcpyDeviceToHost);
    if (value != 44)
        std::printf("the register is seen as %d\n", value);
    return value == 44 ? 0 : 1;
}
