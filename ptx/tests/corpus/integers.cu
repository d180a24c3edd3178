__global__ void ints(int *a, unsigned *u, long long *s, unsigned long long *l, short *h, unsigned short *uh,
                     signed char *c, unsigned char *uc) {
    int i = threadIdx.x;
    a[0] = a[1] / a[2] + a[3] % a[4] + __mulhi(a[1], a[2]) + __mul24(a[1], a[2]) + __sad(a[1], a[2], 3) +
           min(a[1], a[2]) + max(a[5], a[6]) + abs(a[8]) + (a[9] >> a[10]) + (a[11] << a[12]);
    u[0] = u[1] / u[2] + u[3] % u[4] + __umulhi(u[1], u[2]) + __umul24(u[1], u[2]) + min(u[1], u[2]) +
           max(u[5], u[6]) + (u[9] >> u[10]) + __brev(u[3]) + __clz(a[3]) + __popc(u[1]) + __ffs(a[2]) +
           __byte_perm(u[1], u[2], u[3]) + __funnelshift_l(u[1], u[2], u[3]) +
           __funnelshift_rc(u[1], u[2], u[3]) + __usad(u[1], u[2], u[9]);
    s[0] = s[1] / s[2] + s[3] % s[4] + __mul64hi(s[1], s[2]) + (s[9] >> a[10]) + (s[11] << a[12]) +
           s[1] * s[2] + llabs(s[8]) + min(s[1], s[2]) - s[8];
    l[0] = l[1] / l[2] + l[3] % l[4] + __umul64hi(l[1], l[2]) + (l[9] >> a[10]) + __clzll(s[2]) +
           __popcll(l[3]) + __brevll(l[2]) + __ffsll(s[2]) + max(l[2], l[3]);
    h[0] = h[1] * h[2] + h[3] / h[4];
    uh[0] = uh[1] / uh[2] + uh[3] % uh[4] + (uh[1] & uh[2]) + (uh[1] | uh[6]);
    c[0] = c[1] + c[2] * c[3];
    uc[0] = uc[1] > uc[2] ? uc[3] : uc[4];
    a[20] = __dp4a(a[1], a[2], a[3]);
    u[20] = __dp4a(u[1], u[2], u[3]);
    a[21] = __dp2a_lo(a[1], a[2], a[3]);
    a[22] = __vadd4(a[1], a[2]);
    a[23] = __vabsdiffu4(a[1], a[2]);
    a[24] = (u[1] >> 5) & 31;
    a[25] = (a[1] & ~0xff) | (a[2] & 0xff);
    a[26] = a[1] ^ a[2] ^ a[3];
    a[27] = !a[1];
    a[28] = ~a[2];
    if (s[1] < s[2] || l[1] >= l[2] && uh[1] <= uh[2])
        a[30] = h[3] > h[4];
    if (h[1] == 3 || uc[3] != 4 ^ (u[3] > 5))
        a[31] = 7;
    long long t = clock64();
    a[32] = clock() + (int)t;
    unsigned lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    a[33] = lane + gridDim.y * blockIdx.z;
    asm volatile("{\n\t.reg .u32 t1;\n\t.reg .pred p;\n\tadd.cc.u32 %0, %2, %4;\n\taddc.cc.u32 %1, %3, %5; "
                 "addc.u32 t1, 0, 0;\n\tsetp.ne.u32 p, t1, 0;\n\t@p add.u32 %0, %0, 1;\n\t@!p bra "
                 "DONE;\n\tadd.u32 %1, %1, 0xffU;\nDONE:\n\t}"
                 : "=r"(u[40]), "=r"(u[41])
                 : "r"(u[42]), "r"(u[43]), "r"(u[44]), "r"(u[45]));
    asm volatile("mad.lo.cc.u32 %0, %2, %3, %4; madc.hi.cc.u32 %1, %2, %3, 0; madc.lo.cc.u32 %0, %2, %3, %4; "
                 "madc.hi.u32 %1, %2, %3, 0b101; sub.cc.u32 %0, %2, 017; subc.cc.u32 %1, %3, 0; subc.u32 %1, "
                 "%3, WARP_SZ;"
                 : "=r"(u[40]), "=r"(u[41])
                 : "r"(u[42]), "r"(u[43]), "r"(u[44]));
    asm volatile("bfe.u32 %0, %1, 3, 5; bfi.b32 %0, %1, %0, 8, 8; bfind.shiftamt.u32 %0, %1; bmsk.clamp.b32 "
                 "%0, %1, 4; lop3.b32 %0, %1, %1, %1, 0xE8; shf.l.wrap.b32 %0, %1, %1, 3; szext.wrap.s32 %0, "
                 "%1, 3; prmt.b32.f4e %0, %1, %1, 3; cnot.b32 %0, %1;"
                 : "=r"(u[50])
                 : "r"(u[51]));
    asm volatile("prefetch.global.L2 [%0]; prefetchu.L1 [%0]; pmevent 3;" ::"l"(u));
    asm volatile("exit;");
}
