// Guarded stores, loads and atomics: only the lanes that hold the guard may act.

extern "C" __global__ void guarded(unsigned *out, const unsigned *in, unsigned *counter, int n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned value = 7;
    asm volatile(
        "{\n"
        ".reg .pred inner;\n"
        ".reg .u32 scratch;\n"
        "setp.lt.u32 inner, %1, %4;\n"
        "@inner ld.global.u32 scratch, [%3];\n"
        "@!inner mov.u32 scratch, 99;\n"
        "add.u32 scratch, scratch, 1;\n"
        "@inner st.global.u32 [%2], scratch;\n"
        "@inner ld.global.u32 %0, [%2];\n"
        "@!inner red.global.add.u32 [%5], 1;\n"
        "@inner membar.gl;\n"
        "}"
        : "+r"(value)
        : "r"(i), "l"(out + i), "l"(in + i), "r"(n), "l"(counter)
        : "memory");
    if (i < n) out[i + n] = value;
}

extern "C" __global__ void guarded_exit(unsigned *out, int n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = i;
    asm volatile(
        "{\n"
        ".reg .pred done;\n"
        "setp.ge.u32 done, %0, %1;\n"
        "@done exit;\n"
        "}" ::"r"(i), "r"(n));
    out[i] += 100;
}
