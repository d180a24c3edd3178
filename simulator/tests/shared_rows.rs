//! Registers that share their place: random programs with branches, loops and calls give the same results as
//! with a place for each.
//!
//! A program never reads what it has not written: a register counts as written behind a branch when it was on
//! both ways. Lanes take ways of their own, as often as they like.

use crate::support::Device;
use bugaroo_simulator::{DeviceConfig, End, Rng};

/// Registers by class: prefix and number.
const CLASSES: [(&str, u32); 4] = [("%r", 9), ("%d", 6), ("%h", 4), ("%p", 5)];
const WORD: usize = 0;
const WIDE: usize = 1;
const HALF: usize = 2;
const TRUTH: usize = 3;

struct Program {
    rng: Rng,
    text: String,
    labels: u32,
    /// Which registers of each class are written on every way to here, as bits.
    written: [u32; 4],
    /// Whether the device function may be called.
    calls: bool,
}

impl Program {
    fn below(&mut self, limit: u32) -> u32 {
        (((self.rng.next() >> 32) * u64::from(limit)) >> 32) as u32
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// A register that holds something; one is made if there is none.
    fn read(&mut self, class: usize) -> String {
        if self.written[class] == 0 {
            let first = format!("{}0", CLASSES[class].0);
            match class {
                WORD => self.line(&format!("mov.u32 {first}, 77;")),
                WIDE => self.line(&format!("mov.u64 {first}, 0x123456789;")),
                HALF => self.line(&format!("mov.b16 {first}, 5;")),
                _ => {
                    let word = self.read(WORD);
                    self.line(&format!("setp.lt.u32 {first}, {word}, 99;"));
                }
            }
            self.written[class] = 1;
        }
        loop {
            let number = self.below(CLASSES[class].1);
            if self.written[class] >> number & 1 != 0 {
                return format!("{}{number}", CLASSES[class].0);
            }
        }
    }

    /// Any register, to be written by the instruction that comes.
    fn write(&mut self, class: usize) -> String {
        let number = self.below(CLASSES[class].1);
        self.written[class] |= 1 << number;
        format!("{}{number}", CLASSES[class].0)
    }

    fn statement(&mut self, depth: u32) {
        let words = [self.read(WORD), self.read(WORD)];
        match self.below(if depth < 3 { 18 } else { 14 }) {
            0..3 => {
                let op = ["add.u32", "xor.b32", "mul.lo.u32"][self.below(3) as usize];
                let to = self.write(WORD);
                self.line(&format!("{op} {to}, {}, {};", words[0], words[1]));
            }
            3 => {
                let to = self.write(WORD);
                self.line(&format!("mov.u32 {to}, %tid.x;"));
            }
            4 => {
                let to = self.write(WIDE);
                self.line(&format!("mul.wide.u32 {to}, {}, {};", words[0], words[1]));
            }
            5 => {
                let from = self.read(WIDE);
                let (low, high) = (self.write(WORD), self.write(WORD));
                if low != high {
                    self.line(&format!("mov.b64 {{{low}, {high}}}, {from};"));
                } else {
                    self.line(&format!("cvt.u32.u64 {low}, {from};"));
                }
            }
            6 => {
                let to = self.write(HALF);
                self.line(&format!("cvt.u16.u32 {to}, {};", words[0]));
            }
            7 => {
                let from = self.read(HALF);
                let to = self.write(WORD);
                self.line(&format!("cvt.u32.u16 {to}, {from};"));
            }
            8 => {
                let to = self.write(TRUTH);
                self.line(&format!("setp.lt.u32 {to}, {}, {};", words[0], words[1]));
            }
            9 => {
                // A guarded write leaves the others' values: the register has to hold something.
                let (guard, to) = (self.read(TRUTH), self.read(WORD));
                self.line(&format!("@{guard} add.u32 {to}, {}, {};", words[0], words[1]));
            }
            10 => {
                let guard = self.read(TRUTH);
                let to = self.write(WORD);
                self.line(&format!("selp.b32 {to}, {}, {}, {guard};", words[0], words[1]));
            }
            11 => self.line(&format!("add.u32 %sum, %sum, {};", words[0])),
            12 if depth == 0 => {
                let to = self.write(WORD);
                self.line(&format!("shfl.sync.bfly.b32 {to}, {}, 5, 31, 0xffffffff;", words[0]));
            }
            12 => {
                let (to, from) = (self.write(WIDE), words[0].clone());
                self.line(&format!("cvt.u64.u32 {to}, {from};"));
            }
            13 if self.calls => {
                let to = self.write(WORD);
                self.line("{ .param .b32 in; .param .b32 out;");
                self.line(&format!("st.param.b32 [in], {};", words[0]));
                self.line("call (out), mix, (in);");
                self.line(&format!("ld.param.b32 {to}, [out]; }}"));
            }
            13 => self.line("mad.lo.u32 %sum, %sum, 3, 1;"),
            14 | 15 => self.branch(depth),
            _ => self.repeat(depth, &words[0]),
        }
    }

    fn block(&mut self, depth: u32) {
        for _ in 0..4 + self.below(8) {
            self.statement(depth);
        }
    }

    fn branch(&mut self, depth: u32) {
        let (guard, label) = (self.read(TRUTH), self.labels);
        self.labels += 1;
        let before = self.written;
        self.line(&format!("@!{guard} bra $other{label};"));
        self.block(depth + 1);
        let then = std::mem::replace(&mut self.written, before);
        self.line(&format!("bra $behind{label};\n$other{label}:"));
        if self.below(2) == 0 {
            self.block(depth + 1);
        }
        self.line(&format!("$behind{label}:"));
        self.written.iter_mut().zip(then).for_each(|(other, then)| *other &= then);
    }

    /// One to four times, as each lane likes.
    fn repeat(&mut self, depth: u32, times: &str) {
        let label = self.labels;
        self.labels += 1;
        self.line(&format!("and.b32 %c{depth}, {times}, 3;\n$again{label}:"));
        self.block(depth + 1);
        self.line(&format!("setp.ne.u32 %q{depth}, %c{depth}, 0;\nsub.u32 %c{depth}, %c{depth}, 1;"));
        self.line(&format!("@%q{depth} bra $again{label};"));
    }

    fn declarations(&mut self) {
        for ((prefix, count), ty) in CLASSES.into_iter().zip(["b32", "b64", "b16", "pred"]) {
            self.line(&format!(".reg .{ty} {prefix}<{count}>;"));
        }
        self.line(".reg .b32 %sum, %c<9>, %t;\n.reg .b64 %at;\n.reg .pred %q<9>;");
    }

    /// What is left in all registers goes into the sum.
    fn gather(&mut self) {
        for number in 0..CLASSES[WORD].1 {
            if self.written[WORD] >> number & 1 != 0 {
                self.line(&format!("mad.lo.u32 %sum, %sum, 5, %r{number};"));
            }
        }
        for number in 0..CLASSES[WIDE].1 {
            if self.written[WIDE] >> number & 1 != 0 {
                self.line(&format!("cvt.u32.u64 %t, %d{number};\nadd.u32 %sum, %sum, %t;"));
            }
        }
        for number in 0..CLASSES[TRUTH].1 {
            if self.written[TRUTH] >> number & 1 != 0 {
                self.line(&format!("@%p{number} xor.b32 %sum, %sum, {};", 17 << number));
            }
        }
    }
}

fn program(seed: u64) -> String {
    let (text, rng) = (String::new(), Rng::new(seed));
    let mut program = Program { rng, text, labels: 0, written: [0; 4], calls: false };
    program.line(".version 8.0\n.target sm_75\n.address_size 64");
    program.line(".func (.param .b32 result) mix(.param .b32 given)\n{");
    program.declarations();
    program.line("ld.param.b32 %sum, [given];\nmov.u32 %r3, %sum;");
    program.written[WORD] = 1 << 3;
    program.block(1);
    program.gather();
    program.line("st.param.b32 [result], %sum;\nret;\n}");

    program.written = [0; 4];
    program.calls = true;
    program.line(".visible .entry main(.param .u64 out)\n{");
    program.declarations();
    program.line("mov.u32 %sum, %tid.x;");
    for _ in 0..3 {
        program.block(0);
    }
    program.gather();
    program.line("mov.u32 %t, %tid.x;\nld.param.u64 %at, [out];\nmad.wide.u32 %at, %t, 4, %at;");
    program.line("st.global.u32 [%at], %sum;\nret;\n}");
    program.text
}

#[test]
fn random_programs_compute_the_same_with_shared_rows() {
    let mut distinct = std::collections::BTreeSet::new();
    for seed in 0..150 {
        let text = program(seed);
        let apart = DeviceConfig { share_rows: false, ..DeviceConfig::default() };
        let results = [Device::new(&text), Device::with(&text, apart)].map(|mut device| {
            let out = device.buffer(64 * 4);
            let result = device.launch("main", 1, 64, &[out], seed);
            assert_eq!(result.end, End::Complete, "seed {seed}:\n{text}");
            (device.words(out, 64), result.counts)
        });
        assert!(results[0] == results[1], "seed {seed}:\n{text}");
        distinct.extend(results[0].0.iter().copied());
    }
    assert!(distinct.len() > 3000, "the programs compute little: {} values", distinct.len());
}
