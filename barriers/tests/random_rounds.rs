//! Random kernels with loops around barriers whose number of rounds is not known, against runs with many numbers of rounds.
//! `BUGAROO_ROUNDS=N` looks at that many kernels.

use crate::random::Random;
use bugaroo_barriers::emulate::{KernelOptions, KernelText};
use bugaroo_barriers::findings::{KernelFindings, verify};
use std::fmt::Write;
use std::panic::resume_unwind;
use std::thread;

struct Maker {
    random: Random,
    text: String,
    labels: u32,
    left: u32,
}

impl Maker {
    fn say(&mut self, line: &str) {
        writeln!(self.text, "{line}").unwrap();
    }

    fn one_of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.random.below(all.len())]
    }

    fn label(&mut self) -> u32 {
        self.labels += 1;
        self.labels
    }

    /// One of four parts of shared memory, by what changes from round to round.
    fn part(&mut self) {
        let how = self.one_of(&[
            "mov.u32 x, 0;",
            "mov.u32 x, s;",
            "and.b32 x, i, 1;",
            "add.u32 x, i, 1;\nand.b32 x, x, 1;",
            "and.b32 x, j, 3;",
            "shr.u32 x, i, 1;\nand.b32 x, x, 1;",
            "mul.lo.u32 x, i, 3;\nand.b32 x, x, 3;",
            "mov.u32 x, q;",
            "mov.u32 x, z0;",
            "add.u32 x, z1, s;",
            "xor.b32 x, s, 1;",
            "ld.shared.u32 x, [data+1024];\nand.b32 x, x, 3;",
        ]);
        self.say(how);
        self.say("shl.b32 x, x, 8;");
    }

    fn access(&mut self) {
        self.part();
        let whose = self.one_of(&["mine", "mine", "mine", "other", "warps"]);
        writeln!(self.text, "add.u32 x, x, {whose};").unwrap();
        let how = self.one_of(&["st.shared.u32 [x], v;", "ld.shared.u32 y, [x];"]);
        self.say(how);
    }

    fn condition(&mut self) -> String {
        match self.random.below(6) {
            5 => "setp.eq.u32 p, z0, 0;".to_string(),
            0 => {
                let round = self.one_of(&["0", "1", "2", "3", "5", "9", "17", "30"]);
                format!("setp.ne.u32 p, i, {round};")
            }
            1 => "setp.ge.u32 p, i, m;".to_string(),
            2 => "and.b32 x, i, 1;\nsetp.eq.u32 p, x, 0;".to_string(),
            3 => "setp.eq.u32 p, w, 0;".to_string(),
            _ => "setp.eq.u32 p, m, 0;".to_string(),
        }
    }

    fn block(&mut self, depth: u32) {
        for _ in 0..2 + self.random.below(4) {
            if self.left == 0 {
                return;
            }
            self.left -= 1;
            match self.random.below(14) {
                0..5 => self.access(),
                5..9 => self.say("bar.sync 0;"),
                9 => self.say("@leader st.shared.u32 [data+1024], i;"),
                10 if depth > 0 => {
                    let label = self.label();
                    let condition = self.condition();
                    writeln!(self.text, "{condition}\n@p bra A{label};").unwrap();
                    match self.random.below(3) {
                        0 => self.say("bar.sync 0;"),
                        _ => self.access(),
                    }
                    writeln!(self.text, "A{label}:").unwrap();
                }
                11 if depth < 2 => self.turns(depth),
                12 if depth > 0 && self.random.below(3) == 0 => {
                    let condition = self.condition();
                    writeln!(self.text, "{condition}\n@!p bra END{depth};").unwrap();
                }
                _ => self.access(),
            }
        }
    }

    /// A loop; the inner one has a counter of its own.
    fn turns(&mut self, depth: u32) {
        let label = self.label();
        let (counter, most) = match depth {
            0 => ("i", self.one_of(&["n", "n", "n", "m"])),
            _ => ("k", self.one_of(&["m", "2", "3"])),
        };
        let text = std::mem::take(&mut self.text);
        self.block(depth + 1);
        let body = std::mem::replace(&mut self.text, text)
            .replace(&format!("END{}", depth + 1), &format!("B{label}"));
        writeln!(
            self.text,
            "mov.u32 {counter}, 0;\nT{label}: setp.ge.u32 p, {counter}, {most};\n@p bra B{label};\n{body}\
             add.u32 {counter}, {counter}, 1;\nadd.u32 j, j, 2;\nxor.b32 s, s, 1;\nadd.u32 q, q, 1;\n\
             setp.eq.u32 p, q, 3;\nselp.u32 q, 0, q, p;\nmov.u32 z0, z1;\nmov.u32 z1, z2;\nmov.u32 z2, z3;\nmov.u32 z3, 1;\nbra T{label};\nB{label}:"
        )
        .unwrap();
    }
}

/// The kernel with what gives `n`, `m` and `w` their values.
fn kernel(body: &str, inputs: &str) -> KernelFindings {
    let ptx = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n
.visible .entry k(.param .u64 k_in, .param .u32 k_n, .param .u32 k_m)
.maxntid 64, 1, 1
{{
    .shared .align 4 .b8 data[1028];
    .reg .b32 z0, z1, z2, z3, tid, mine, other, warps, v, n, m, w, x, y, i, j, k, s, q;
    .reg .b64 in;
    .reg .pred p, leader;
    mov.u32 tid, %tid.x;
    ld.param.u64 in, [k_in];
    ld.global.u32 v, [in];
    shl.b32 mine, tid, 2;
    mov.u32 x, data;
    add.u32 mine, mine, x;
    xor.b32 other, mine, 128;
    and.b32 warps, mine, -128;
    setp.eq.u32 leader, tid, 0;
    mov.u32 i, 0;
    mov.u32 j, 1;
    mov.u32 k, 0;
    mov.u32 s, 0;
    mov.u32 q, 0;
    mov.u32 z0, 0;
    mov.u32 z1, 0;
    mov.u32 z2, 0;
    mov.u32 z3, 0;
    {inputs}
    {body}
    ret;
}}
"
    );
    let text = KernelText::new(&ptx).unwrap_or_else(|refusal| panic!("{refusal}\n{ptx}"));
    verify(&text, "k", &KernelOptions { max_steps: 1_000_000, ..KernelOptions::default() }).unwrap().findings
}

const UNKNOWN: &str = "ld.param.u32 n, [k_n];\nld.param.u32 m, [k_m];\nld.global.u32 w, [in+4];";

fn given(n: u32, m: u32, w: &str) -> String {
    format!("mov.u32 n, {n};\nmov.u32 m, {m};\n{w}")
}

/// Inputs with which `body` goes wrong, and the verdict.
fn wrong(body: &str) -> Vec<(String, &'static str)> {
    let mut wrong = Vec::new();
    for n in [0, 1, 2, 3, 4, 5, 6, 9, 10, 18, 19, 31, 40] {
        for m in [0, 1, 2, 3, 7, 20] {
            for w in ["mov.u32 w, 0;", "mov.u32 w, 1;", "shr.u32 w, tid, 5;"] {
                let found = kernel(body, &given(n, m, w));
                if !found.is_clean() {
                    wrong.push((format!("n {n}, m {m}, {w}"), found.verdict));
                }
            }
        }
    }
    wrong
}

/// What was found of some kernels.
#[derive(Debug, Default)]
struct Seen {
    verified: u32,
    /// Of these, in more than four cases.
    looped: u32,
    definite: u32,
    open: u32,
    /// Of every eighth of these, right with all inputs tried.
    harmless: u32,
}

impl Seen {
    /// Looks at the kernel of a seed.
    fn look(&mut self, seed: u64) {
        let mut maker = Maker { random: Random(seed << 20), text: String::new(), labels: 0, left: 12 };
        maker.turns(0);
        maker.block(0);
        let body = maker.text;
        let found = kernel(&body, UNKNOWN);
        let context = || format!("seed {seed}:\n{body}\n{found:#?}");
        match found.verdict {
            "verified" => {
                self.verified += 1;
                self.looped += u32::from(found.cases > 4 && body.contains("bar.sync"));
                let wrong = wrong(&body);
                assert!(wrong.is_empty(), "{}\n{wrong:?}", context());
            }
            "possible-race" | "not-verifiable" => {
                self.open += 1;
                self.harmless += u32::from(self.open.is_multiple_of(8) && wrong(&body).is_empty());
            }
            verdict => {
                self.definite += 1;
                let value = |name: &str| {
                    let given = found.example.iter().find(|(found, _)| found.ends_with(name));
                    given.map_or(0, |(_, value)| value.parse().expect("a number"))
                };
                let inputs = ["mov.u32 w, 0;", "mov.u32 w, 1;", "shr.u32 w, tid, 5;"];
                let shown = |w: &&str| kernel(&body, &given(value("n"), value("m"), w)).verdict == verdict;
                assert!(inputs.iter().any(shown), "{}", context());
            }
        }
    }

    fn and(self, other: Seen) -> Seen {
        Seen {
            verified: self.verified + other.verified,
            looped: self.looped + other.looped,
            definite: self.definite + other.definite,
            open: self.open + other.open,
            harmless: self.harmless + other.harmless,
        }
    }
}

#[test]
fn verdicts_hold_for_all_numbers_of_rounds() {
    let asked = std::env::var("BUGAROO_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(300u64);
    // The longest test of all: two threads share it.
    let look = |first: u64| {
        let mut seen = Seen::default();
        (first..asked).step_by(2).for_each(|seed| seen.look(seed));
        seen
    };
    let seen = thread::scope(|scope| {
        let odd = scope.spawn(|| look(1));
        let even = look(0);
        even.and(odd.join().unwrap_or_else(|panic| resume_unwind(panic)))
    });
    println!("{seen:?}");
    assert!(seen.verified > 20 && seen.looped > 15 && seen.definite > 60, "{seen:?}");
}
