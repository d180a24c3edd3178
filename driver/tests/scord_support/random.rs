//! Random kernels with scopes: fences and atomics of the block and of the device, locks of either, whole and with something missing, flags,
//! barriers, plain and strong accesses of several widths.

use std::fmt::Write;

use crate::logging_support::random::Numbers;

/// The text of a kernel `k(out)`; `out` has 64 KiB. Lanes of a warp that lock side by side have locks that no other warp takes: in lockstep
/// they would wait for each other. They hold these while they access places of their own alone: of lanes at one place, each with locks of its
/// own, any may be the last one.
pub fn kernel(seed: u64) -> String {
    let mut writer = Writer {
        numbers: Numbers(seed ^ 0x0005_c04d),
        text: String::new(),
        labels: 0,
        few: seed.is_multiple_of(2),
    };
    for _ in 0..6 + writer.numbers.next(6) {
        writer.part();
    }
    format!(
        ".version 8.4\n.target sm_80\n.address_size 64\n\
         .visible .entry k(.param .u64 out)\n{{\n.reg .b64 %rd<8>;\n.reg .b32 %r<16>;\n.reg .pred %p<8>;\n\
         .shared .align 16 .b8 values[8192];\nld.param.u64 %rd0, [out];\nmov.u32 %r1, %tid.x;\n\
         mov.u32 %r3, %ctaid.x;\nmul.wide.u32 %rd1, %r1, 8;\nadd.u64 %rd1, %rd0, %rd1;\n\
         mul.wide.u32 %rd2, %r3, 128;\nadd.u64 %rd2, %rd0, %rd2;\nshr.u32 %r9, %r1, 5;\nand.b32 %r8, %r1, 31;\n\
         mov.u32 %r4, values;\nshl.b32 %r2, %r1, 2;\nadd.u32 %r4, %r4, %r2;\nadd.u32 %r10, %r1, 1000;\n\
         setp.eq.u32 %p1, %r8, 0;\nsetp.eq.u32 %p2, %r9, 0;\nsetp.lt.u32 %p3, %r8, 3;\n{}ret;\n}}\n",
        writer.text
    )
}

/// A kernel of parts that race, or do not, in whatever order its threads run; and how many pairs of places race, for one block of several
/// warps and for several blocks of one warp.
pub fn settled(seed: u64, races: bool) -> (String, [usize; 2]) {
    let mut numbers = Numbers(seed ^ 0x5e7);
    let (mut parts, mut found) = (Vec::new(), [0, 0]);
    for part in 0..4 + numbers.next(4) {
        // 4 KiB each, and within that 1 KiB for each block; %rd1: the thread's own place, %rd2: the block's.
        let at = 4096 * part;
        let scope = [".gpu", ".sys"][numbers.next(2) as usize];
        let (body, raced) = match numbers.next(if races { 9 } else { 6 }) {
            0 => (format!("ld.global.u32 %r5, [%rd1+{at}];\nst.global.u8 [%rd1+{at}], %r5;"), [0, 0]),
            1 => (
                format!(
                    "st.global.u32 [%rd1+{at}], %r1;\nbar.sync 0;\nld.global.u32 %r5, [%rd3+{at}];\nbar.sync 0;"
                ),
                [0, 0],
            ),
            2 => (format!("atom{scope}.global.add.u32 %r5, [%rd0+{at}], 1;"), [0, 0]),
            3 => (format!("atom.cta.global.add.u32 %r5, [%rd2+{at}], 1;"), [0, 0]),
            // One lane of each warp locks.
            4 => (locked(part, "@!%p1", "%rd0", at), [0, 0]),
            // Some do, each its own lock.
            5 => (locked(part, "@!%p3", "%rd6", at), [0, 0]),
            6 => (format!("@%p1 st.global.u32 [%rd0+{at}], %r1;"), [1, 1]),
            7 => (format!("@%p1 st.volatile.global.u32 [%rd0+{at}], %r1;"), [1, 1]),
            _ => (format!("atom.cta.global.add.u32 %r5, [%rd0+{at}], 1;"), [0, 1]),
        };
        parts.push((raced, body));
        for (found, raced) in found.iter_mut().zip(raced) {
            *found += raced;
        }
    }
    // Races last: no fence or barrier stands behind them, which would order some of their accesses.
    parts.sort();
    let text: String = parts.into_iter().map(|(_, body)| body + "\n").collect();
    let source = format!(
        ".version 8.4\n.target sm_80\n.address_size 64\n\
         .visible .entry k(.param .u64 out)\n{{\n.reg .b64 %rd<8>;\n.reg .b32 %r<16>;\n.reg .pred %p<8>;\n\
         ld.param.u64 %rd0, [out];\nmov.u32 %r1, %tid.x;\nmov.u32 %r3, %ctaid.x;\nand.b32 %r8, %r1, 31;\n\
         setp.eq.u32 %p1, %r8, 0;\nsetp.lt.u32 %p3, %r8, 3;\nmul.wide.u32 %rd2, %r3, 1024;\nadd.u64 %rd2, %rd0, %rd2;\n\
         mul.wide.u32 %rd1, %r1, 8;\nadd.u64 %rd1, %rd2, %rd1;\nxor.b32 %r9, %r1, 32;\nmul.wide.u32 %rd3, %r9, 8;\n\
         add.u64 %rd3, %rd2, %rd3;\nmul.wide.u32 %rd6, %r8, 8;\nadd.u64 %rd6, %rd0, %rd6;\n{text}ret;\n}}\n"
    );
    (source, found)
}

fn locked(part: u64, others: &str, base: &str, at: u64) -> String {
    format!(
        "{others} bra END{part};\nAGAIN{part}:\natom.gpu.global.cas.b32 %r6, [{base}+{at}], 0, 1;\n\
         setp.ne.u32 %p4, %r6, 0;\n@%p4 bra AGAIN{part};\nmembar.gl;\nld.volatile.global.u32 %r7, [{base}+{data}];\n\
         add.u32 %r7, %r7, 1;\nst.volatile.global.u32 [{base}+{data}], %r7;\nmembar.gl;\n\
         atom.gpu.global.exch.b32 %r6, [{base}+{at}], 0;\nEND{part}:",
        data = at + 512
    )
}

struct Writer {
    numbers: Numbers,
    text: String,
    labels: u32,
    /// Lanes lock side by side, and what they hold is known. Else one lane of a warp locks alone.
    few: bool,
}

impl Writer {
    fn line(&mut self, text: impl AsRef<str>) {
        let _ = writeln!(self.text, "{}", text.as_ref());
    }

    fn label(&mut self) -> String {
        self.labels += 1;
        format!("L{}", self.labels)
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.numbers.next(of.len() as u64) as usize]
    }

    fn part(&mut self) {
        match self.numbers.next(10) {
            0 => self.line("bar.sync 0;"),
            1 => self.line("bar.warp.sync -1;"),
            2 | 3 => self.fence(),
            4 | 5 => self.lock(),
            6 => {
                let end = self.label();
                let guard = self.one(&["%p1", "!%p1", "%p2", "%p3"]);
                self.line(format!("@{guard} bra {end};"));
                self.access("");
                self.fence();
                self.access("");
                self.line(format!("{end}:"));
            }
            _ => {
                for _ in 0..=self.numbers.next(2) {
                    let guard = self.one(&["", "", "@%p1 ", "@!%p2 ", "@%p3 "]);
                    self.access(guard);
                }
            }
        }
    }

    fn fence(&mut self) {
        let text = self.one(&[
            "membar.gl;",
            "membar.cta;",
            "fence.acq_rel.gpu;",
            "fence.acq_rel.cta;",
            "membar.sys;",
        ]);
        let guard = self.one(&["", "", "@%p1 ", "@%p3 "]);
        self.line(format!("{guard}{text}"));
    }

    fn access(&mut self, guard: &str) {
        let base = self.one(&["%rd0", "%rd1", "%rd2"]);
        let slot = 8 * self.numbers.next(3);
        let scope = self.one(&["", ".cta", ".gpu"]);
        let strong = self.one(&["cta", "gpu", "sys"]);
        let global = format!("[{base}+{slot}]");
        let text = match self.numbers.next(18) {
            0 | 1 => format!("ld.global.u32 %r5, {global};"),
            2 | 3 => format!("st.global.u32 {global}, %r1;"),
            4 => format!("ld.volatile.global.u32 %r5, {global};"),
            5 | 6 => format!("st.volatile.global.u32 {global}, 1;"),
            7 => format!("ld.relaxed.{strong}.global.u32 %r5, {global};"),
            8 => format!("st.relaxed.{strong}.global.u32 {global}, 1;"),
            9 => format!("ld.acquire.{strong}.global.u32 %r5, {global};"),
            10 => format!("st.release.{strong}.global.u32 {global}, 1;"),
            11 | 12 => format!("atom{scope}.global.add.u32 %r5, {global}, 1;"),
            13 => format!("red{scope}.global.add.u32 {global}, 1;"),
            // It fails.
            14 if self.few => format!("atom{scope}.global.cas.b32 %r5, {global}, 5000, %r10;"),
            14 => {
                self.line(format!("@%p1 atom{scope}.global.cas.b32 %r5, {global}, 1, %r10;"));
                return;
            }
            15 if self.numbers.next(2) == 0 => "st.shared.u32 [%r4], %r1;".to_owned(),
            15 => format!("ld.global.u64 %rd5, {global};"),
            16 => format!("st.global.u8 {global}, %r1;"),
            _ => format!("ld.global.u8 %r5, {global};"),
        };
        self.line(format!("{guard}{text}"));
    }

    /// A section under a lock, by one lane of each warp or by a few, of the block or of the device, and perhaps without a fence.
    fn lock(&mut self) {
        let (again, end) = (self.label(), self.label());
        let few = self.few && self.numbers.next(3) == 0;
        let at = 2048 + 4 * self.numbers.next(2);
        // Few lanes lock side by side, each its own lock.
        let base = if few { "%rd7" } else { self.one(&["%rd0", "%rd2"]) };
        self.line("mul.wide.u32 %rd6, %r8, 8;\nadd.u64 %rd6, %rd0, %rd6;");
        self.line("mad.lo.u32 %r11, %r3, 96, %r1;\nmul.wide.u32 %rd7, %r11, 8;\nadd.u64 %rd7, %rd0, %rd7;");
        self.line("add.u64 %rd7, %rd7, 8192;");
        self.line(format!("@!{} bra {end};", if few { "%p3" } else { "%p1" }));
        // A lock of the block is shared by the warps of one block alone.
        let scope = if base == "%rd2" { self.one(&[".cta", ".gpu"]) } else { ".gpu" };
        self.line(format!("{again}:"));
        let acquire = self.one(&["", "", ".acquire"]);
        self.line(format!("atom{acquire}{scope}.global.cas.b32 %r6, [{base}+{at}], 0, 1;"));
        self.line(format!("setp.ne.u32 %p4, %r6, 0;\n@%p4 bra {again};"));
        let fence = if scope == ".cta" { "membar.cta;" } else { "membar.gl;" };
        if self.numbers.next(5) != 0 {
            self.line(fence);
        }
        for _ in 0..=self.numbers.next(2) {
            let how = self.one(&["", ".volatile"]);
            let data = 4096 + 4 * self.numbers.next(3);
            let to = if few { "%rd6" } else { base };
            self.line(format!("ld{how}.global.u32 %r7, [{to}+{data}];\nadd.u32 %r7, %r7, 1;"));
            self.line(format!("st{how}.global.u32 [{to}+{data}], %r7;"));
        }
        if self.numbers.next(5) != 0 {
            self.line(fence);
        }
        match self.numbers.next(3) {
            0 => self.line(format!("st.volatile.global.u32 [{base}+{at}], 0;")),
            _ => self.line(format!("atom{scope}.global.exch.b32 %r6, [{base}+{at}], 0;")),
        }
        self.line(format!("{end}:"));
    }
}
