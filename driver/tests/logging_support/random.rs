//! Random kernels: accesses that race and that do not, branches that nest and that do not, loops, guards, fences, barriers.

use std::fmt::Write;

/// A generator of numbers: a step of SplitMix64 each.
pub struct Numbers(pub u64);

impl Numbers {
    /// Less than `below`.
    pub fn next(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % below
    }
}

/// The text of a kernel `k(out)`; `out` has 64 KiB.
pub fn kernel(seed: u64) -> String {
    let mut writer = Writer { numbers: Numbers(seed), text: String::new(), labels: 0 };
    for _ in 0..4 + writer.numbers.next(4) {
        writer.at_top();
    }
    format!(
        ".version 8.4\n.target sm_80\n.address_size 64\n\
         .visible .func f(.param .b64 a)\n{{\n.reg .b64 %rd<3>;\n.reg .b32 %r<4>;\n.reg .pred %p<2>;\n\
         ld.param.u64 %rd0, [a];\nmov.u32 %r1, %tid.x;\nand.b32 %r2, %r1, 4;\nsetp.eq.u32 %p1, %r2, 0;\n\
         @%p1 bra SOON;\nld.global.u32 %r3, [%rd0+8];\n@%p1 st.global.u32 [%rd0+12], %r1;\nret;\n\
         SOON:\nst.global.u32 [%rd0+8], %r1;\nret;\n}}\n\
         .visible .entry k(.param .u64 out)\n{{\n.reg .b64 %rd<8>;\n.reg .b32 %r<64>;\n.reg .pred %p<16>;\n\
         .shared .align 16 .b8 values[8192];\nld.param.u64 %rd0, [out];\nmov.u32 %r1, %tid.x;\n\
         mov.u32 %r3, %ctaid.x;\nmul.wide.u32 %rd1, %r1, 4;\nadd.u64 %rd1, %rd0, %rd1;\nmul.wide.u32 %rd2, %r3, 1024;\n\
         add.u64 %rd1, %rd1, %rd2;\nshl.b32 %r2, %r1, 2;\nadd.u32 %r8, %r1, 1000;\nmov.u32 %r4, values;\nadd.u32 %r4, %r4, %r2;\n{}ret;\n}}\n",
        writer.text
    )
}

struct Writer {
    numbers: Numbers,
    text: String,
    labels: u32,
}

impl Writer {
    fn line(&mut self, text: impl AsRef<str>) {
        let _ = writeln!(self.text, "{}", text.as_ref());
    }

    fn label(&mut self) -> String {
        self.labels += 1;
        format!("L{}", self.labels)
    }

    /// Sets a predicate by the thread's number, or by what was read last.
    fn predicate(&mut self) -> String {
        let number = 1 + self.numbers.next(6);
        let from = if self.numbers.next(6) == 0 { "%r5" } else { "%r1" };
        let bit = 1 << self.numbers.next(6);
        self.line(format!("and.b32 %r6, {from}, {bit};"));
        self.line(format!("setp.eq.u32 %p{number}, %r6, 0;"));
        format!("%p{number}")
    }

    /// Where all lanes of a block come.
    fn at_top(&mut self) {
        match self.numbers.next(8) {
            0 | 1 => self.line("bar.sync 0;"),
            2 => self.line("bar.warp.sync -1;"),
            3 => self.line("shfl.sync.down.b32 %r7, %r5, 1, 31, -1;"),
            _ => self.part(0),
        }
    }

    fn part(&mut self, depth: u32) {
        match self.numbers.next(if depth < 3 { 9 } else { 4 }) {
            0..=3 => {
                for _ in 0..=self.numbers.next(2) {
                    self.access();
                }
            }
            4 | 5 => self.branch(depth),
            6 => self.short_circuit(depth),
            7 => self.repeat(depth),
            _ => self.call(),
        }
    }

    fn access(&mut self) {
        let guard = if self.numbers.next(3) == 0 { format!("@{} ", self.predicate()) } else { String::new() };
        let slot = 4 * self.numbers.next(4);
        let global = ["[%rd0", "[%rd1"][self.numbers.next(2) as usize];
        let shared = ["[%r4", "[values"][self.numbers.next(2) as usize];
        let text = match self.numbers.next(14) {
            0 | 1 => format!("ld.global.u32 %r5, {global}+{slot}];"),
            2 | 3 => format!("st.global.u32 {global}+{slot}], %r1;"),
            4 => format!("st.global.u32 {global}+{slot}], 7;"),
            5 => format!("ld.shared.u32 %r5, {shared}+{slot}];"),
            6 => format!("st.shared.u32 {shared}+{slot}], %r1;"),
            7 => format!("atom.global.add.u32 %r5, {global}+{slot}], 1;"),
            8 => format!("atom.global.cas.b32 %r5, {global}+{slot}], 0, %r8;"),
            9 => format!("ld.volatile.global.u32 %r5, {global}+{slot}];"),
            10 => format!("st.volatile.global.u32 {global}+{slot}], 1;"),
            11 => format!("ld.acquire.gpu.global.u32 %r5, {global}+{slot}];"),
            12 => format!("st.release.gpu.global.u32 {global}+{slot}], 1;"),
            _ => {
                ["membar.gl;", "membar.cta;", "fence.acq_rel.gpu;"][self.numbers.next(3) as usize].to_owned()
            }
        };
        self.line(format!("{guard}{text}"));
    }

    fn branch(&mut self, depth: u32) {
        let (other, end) = (self.label(), self.label());
        let predicate = self.predicate();
        self.line(format!("@{predicate} bra {other};"));
        self.part(depth + 1);
        self.line(format!("bra {end};"));
        self.line(format!("{other}:"));
        if self.numbers.next(2) == 0 {
            self.part(depth + 1);
        }
        self.line(format!("{end}:"));
    }

    /// Two branches to one place: lanes come together before the first branch's lanes are all together.
    fn short_circuit(&mut self, depth: u32) {
        let (there, end) = (self.label(), self.label());
        for _ in 0..2 {
            let predicate = self.predicate();
            self.line(format!("@{predicate} bra {there};"));
            self.access();
        }
        self.part(depth + 1);
        self.line(format!("bra {end};"));
        self.line(format!("{there}:"));
        self.part(depth + 1);
        self.access();
        self.line(format!("{end}:"));
    }

    fn repeat(&mut self, depth: u32) {
        let again = self.label();
        let counter = 20 + depth;
        self.line(format!("and.b32 %r{counter}, %r1, 3;"));
        self.line(format!("{again}:"));
        self.part(depth + 1);
        self.line(format!("sub.u32 %r{counter}, %r{counter}, 1;"));
        self.line(format!("setp.gt.s32 %p{}, %r{counter}, 0;", 8 + depth));
        self.line(format!("@%p{} bra {again};", 8 + depth));
    }

    fn call(&mut self) {
        self.line("{\n.param .b64 in;\nst.param.b64 [in], %rd1;\ncall f, (in);\n}");
    }
}
