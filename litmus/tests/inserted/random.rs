//! Random programs with races: two blocks of two threads that load, store, update and order a few words in every form that
//! has a site: guarded, in vectors, in shared memory, before branches and calls, behind barriers.

use std::fmt::Write as _;

use bugaroo_simulator::Rng;

use super::{Asked, Work, choices, table};

/// Words that are raced for, from the start of the cells.
const WORDS: u64 = 4;
/// Results of each thread behind them.
const RESULTS: u64 = 10;
/// Bytes of the cells.
pub const BYTES: usize = (WORDS * 4 + 4 * RESULTS * 4) as usize;

pub struct Random {
    rng: Rng,
}

impl Random {
    pub fn new(seed: u64) -> Random {
        Random { rng: Rng::new(seed) }
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        ((self.rng.next() >> 32) * limit) >> 32
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len() as u64) as usize]
    }

    /// A program's text.
    pub fn text(&mut self) -> String {
        let mut text = String::from(
            ".version 7.8\n.target sm_75\n.address_size 64\n\
             .func put(.reg .b64 %a, .reg .b32 %v) {\nst.global.u32 [%a], %v;\nret;\n}\n\
             .visible .entry k(.param .u64 cells) {\n.reg .pred %p<4>;\n.reg .b32 %r<40>;\n.reg .b64 %rd<10>;\n\
             .shared .align 8 .b8 s[16];\n\
             ld.param.u64 %rd0, [cells];\nmov.u32 %r0, %tid.x;\nmov.u32 %r1, %ctaid.x;\n\
             setp.eq.u32 %p0, %r0, 0;\nsetp.eq.u32 %p1, %r1, 0;\n",
        );
        for result in 0..RESULTS {
            let _ = writeln!(text, "mov.u32 %r{}, 0;", 10 + result);
        }
        // Each thread's own word of the four, and its neighbour's.
        text.push_str(
            "mul.wide.u32 %rd1, %r0, 4;\nadd.s64 %rd1, %rd0, %rd1;\nxor.b32 %r2, %r0, 1;\n\
             mul.wide.u32 %rd2, %r2, 4;\nadd.s64 %rd2, %rd0, %rd2;\nmov.u64 %rd3, s;\n@!%p1 bra other;\n",
        );
        self.block(&mut text, "one");
        text.push_str("bra done;\nother:\n");
        self.block(&mut text, "two");
        text.push_str("done:\nmad.lo.u32 %r3, %r1, 2, %r0;\n");
        let _ = writeln!(text, "mul.wide.u32 %rd4, %r3, {};\nadd.s64 %rd4, %rd0, %rd4;", RESULTS * 4);
        for result in 0..RESULTS {
            let _ = writeln!(text, "st.global.u32 [%rd4+{}], %r{};", WORDS * 4 + result * 4, 10 + result);
        }
        text.push_str("ret;\n}\n");
        text
    }

    fn block(&mut self, text: &mut String, name: &str) {
        let mut result = 0;
        let mut labels = 0;
        for _ in 0..3 + self.below(6) {
            self.statement(text, &mut result, (name, &mut labels));
        }
    }

    fn statement(&mut self, text: &mut String, result: &mut u64, (name, labels): (&str, &mut u64)) {
        let guard = self.one(&["", "", "", "@%p0 ", "@!%p0 "]);
        let shared = self.below(6) == 0;
        let base = if shared { "%rd3" } else { self.one(&["%rd0", "%rd0", "%rd1", "%rd2"]) };
        let space = if shared { "shared" } else { "global" };
        let word = self.below(2) * 8;
        let value = 1 + self.below(200);
        let into = |result: &mut u64| {
            *result = (*result + 1) % (RESULTS - 1);
            format!("%r{}", 10 + *result)
        };
        let _ = match self.below(13) {
            0 | 1 => {
                let order = self.one(&["", ".volatile", ".relaxed.gpu", ".relaxed.cta", ".acquire.gpu"]);
                writeln!(text, "{guard}ld{order}.{space}.u32 {}, [{base}+{word}];", into(result))
            }
            2..=4 => {
                let order = self.one(&["", "", ".volatile", ".relaxed.gpu", ".release.gpu"]);
                writeln!(text, "{guard}st{order}.{space}.u32 [{base}+{word}], {value};")
            }
            5 => {
                let order = self.one(&[".relaxed.gpu", ".relaxed.cta", ".acq_rel.gpu"]);
                let what = self.one(&["add", "exch"]);
                let into = into(result);
                writeln!(text, "{guard}atom{order}.{space}.{what}.b32 {into}, [{base}+{word}], {value};")
                    .map(|()| *text = text.replace("add.b32", "add.u32"))
            }
            6 => writeln!(text, "{guard}red.relaxed.gpu.{space}.add.u32 [{base}+{word}], {value};"),
            7 => {
                let pair = if shared { "%rd3" } else { "%rd0" };
                match self.below(2) {
                    0 => writeln!(text, "{guard}st.{space}.v2.u32 [{pair}+{word}], {{{value}, {value}}};"),
                    _ => {
                        let (one, two) = (into(result), into(result));
                        writeln!(text, "{guard}ld.{space}.v2.u32 {{{one}, {two}}}, [{pair}+{word}];")
                    }
                }
            }
            8 => writeln!(
                text,
                "{guard}{};",
                self.one(&["membar.gl", "membar.cta", "fence.acq_rel.gpu", "membar.sys"])
            ),
            9 => writeln!(text, "{};", self.one(&["bar.sync 0", "bar.warp.sync 3", "barrier.sync 0"])),
            10 => {
                // A value decides, right behind the access.
                *labels += 1;
                let into = into(result);
                writeln!(
                    text,
                    "ld.{space}.u32 {into}, [{base}+{word}];\nsetp.eq.u32 %p2, {into}, 0;\n@%p2 bra {name}{labels};\n\
                     st.{space}.u32 [{base}+{word}], {value};\n{name}{labels}:"
                )
            }
            11 => writeln!(text, "mov.u32 %r5, {value};\n{guard}call put, (%rd1, %r5);"),
            // A load and a store of one line.
            _ => {
                let into = into(result);
                writeln!(
                    text,
                    "{guard}ld.{space}.u32 {into}, [{base}+{word}]; add.u32 %r6, {into}, 1; {guard}st.{space}.u32 \
                     [{base}+{word}], %r6;"
                )
            }
        };
    }

    /// Up to three things to ask of a text.
    pub fn asked(&mut self, text: &str) -> Asked {
        let table = table(text);
        let open: Vec<_> = table.points.iter().filter(|point| !choices(point).is_empty()).collect();
        let mut asked = Asked::new();
        for _ in 0..1 + self.below(3) {
            let point = open[self.below(open.len() as u64) as usize];
            let site = point.site.expect("one with choices has a number");
            let choices = choices(point);
            if asked.iter().all(|(other, _)| *other != site) {
                asked.push((site, choices[self.below(choices.len() as u64) as usize]));
            }
        }
        asked
    }
}

/// What to launch.
pub fn work(text: &str) -> Work<'_> {
    Work { text, kernel: "k", grid: [2, 1, 1], block: 2, bytes: BYTES }
}
