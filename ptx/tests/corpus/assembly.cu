// What the compiler does not write by itself today, by inline assembly.
__global__ void table(unsigned *out, unsigned index) {
    unsigned value;
    asm volatile("{\n\t"
                 "CASES: .branchtargets ZERO, ONE, OTHER, ONE;\n\t"
                 ".reg .u32 choice, t<3>;\n\t"
                 "min.u32 choice, %1, 3;\n\t"
                 "brx.idx choice, CASES;\n"
                 "ZERO:\tmov.u32 t0, 0x10; mov.u32 %0, t0;\n\t"
                 "bra.uni DONE;\n"
                 "ONE:\tmov.u32 t1, 021; mov.u32 %0, t1; bra.uni DONE;\n"
                 "OTHER:\tmov.u32 t2, 0b10010; mov.u32 %0, t2; /* falls through */\n"
                 "DONE:\n\t}"
                 : "=r"(value)
                 : "r"(index));
    out[0] = value;
}

__global__ void literals(unsigned *out, int value) {
    asm volatile("{ .reg .pred p, q; setp.lt.and.s32 p|q, %1, 5, !q; @!p ret; vote.sync.all.pred q, p, -1; "
                 "selp.b32 %0, 1, WARP_SZ, q; }"
                 : "=r"(out[0])
                 : "r"(value));
    asm volatile("{ .reg .b32 low; .reg .v2 .b32 pair; mov.b64 {low, _}, %1; st.local.b32 [16], low; "
                 "ld.local.b32 low, [16]; mov.b32 %0, low; fence.acq_rel.gpu; membar.gl; }"
                 : "=r"(out[1])
                 : "l"((long long)value));
    asm volatile("red.global.add.u32 [%0+4], -1; red.relaxed.gpu.global.max.s32 [%0], 0xFFU;" ::"l"(out));
    asm volatile(
        "st.global.f32 [%0], 1.5; st.global.f64 [%0+8], -2.5e-3; mad.rn.f32 %1, %1, 2.0, 0fBF800000;" ::"l"(
            out),
        "f"(1.0f));
}
