//! Small random kernels with branches on unknown values, against exploration of all inputs: each unknown number is 0 or 1, for each
//! thread by itself where it was loaded. `BUGAROO_UNKNOWN=N` looks at that many kernels.

use crate::random::Random;
use bugaroo_barriers::emulate::{KernelOptions, KernelText};
use bugaroo_barriers::findings::{KernelFindings, verify};
use std::fmt::Write;

/// Inputs: two numbers that all threads share, one that each of the two threads has for itself.
const INPUTS: usize = 4;

struct Maker {
    random: Random,
    text: String,
    labels: u32,
    left: u32,
}

impl Maker {
    fn access(&mut self) {
        let own = ["a", "b", "a", "c", "d"][self.random.below(5)];
        if own == "d" {
            // One of the threads' two words, by an input; or one of three.
            let (input, more) = (["n", "m", "w"][self.random.below(3)], [-8, -4][self.random.below(2)]);
            let made =
                format!("and.b32 x, {input}, k;\nshl.b32 x, x, 2;\nadd.u32 d, c, x;\nadd.u32 d, d, {more};");
            writeln!(self.text, "{made}").unwrap();
        }
        match self.random.below(2) {
            0 => writeln!(self.text, "st.shared.u32 [{own}], v;"),
            _ => writeln!(self.text, "ld.shared.u32 x, [{own}];"),
        }
        .unwrap();
    }

    fn block(&mut self, depth: u32) {
        for _ in 0..1 + self.random.below(3) {
            if self.left == 0 {
                return;
            }
            self.left -= 1;
            match self.random.below(if depth == 0 { 12 } else { 9 }) {
                0..4 => self.access(),
                4 | 5 if depth < 3 => self.branch(depth),
                6 if depth < 2 => self.turns(depth),
                7 => {
                    let input = ["n", "m", "w"][self.random.below(3)];
                    writeln!(self.text, "setp.gt.s32 p, {input}, 0;\n@p st.shared.u32 [a], v;").unwrap();
                }
                8 if depth > 0 && self.random.below(3) > 0 => self.access(),
                _ => writeln!(self.text, "bar.sync 0;").unwrap(),
            }
        }
    }

    fn branch(&mut self, depth: u32) {
        let label = self.labels;
        self.labels += 1;
        let input = ["n", "m", "w"][self.random.below(3)];
        let (cmp, with) = [("gt.s32", 0), ("lt.s32", 1), ("eq.s32", 1), ("ne.s32", 0)][self.random.below(4)];
        writeln!(self.text, "setp.{cmp} p, {input}, {with};\n@p bra A{label};").unwrap();
        self.block(depth + 1);
        if self.random.below(2) == 0 {
            writeln!(self.text, "bra B{label};\nA{label}:").unwrap();
            self.block(depth + 1);
            writeln!(self.text, "B{label}:").unwrap();
        } else {
            writeln!(self.text, "A{label}:").unwrap();
        }
    }

    fn turns(&mut self, depth: u32) {
        let label = self.labels;
        self.labels += 1;
        let input = ["n", "m", "w"][self.random.below(3)];
        writeln!(
            self.text,
            "mov.u32 i{depth}, 0;\nA{label}: setp.ge.s32 p, i{depth}, {input};\n@p bra B{label};"
        )
        .unwrap();
        self.block(depth + 1);
        writeln!(self.text, "add.u32 i{depth}, i{depth}, 1;\nbra A{label};\nB{label}:").unwrap();
    }
}

/// The kernel with what gives `n`, `m` and `w` their values.
fn kernel(body: &str, inputs: &str) -> KernelFindings {
    let ptx = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n
.visible .entry k(.param .u64 k_in, .param .u32 k_n, .param .u32 k_m)
.maxntid 2, 1, 1
{{
    .shared .align 4 .b8 data[64];
    .reg .b32 tid, a, b, c, d, k, v, n, m, w, x, i0, i1, i2;
    .reg .b64 in;
    .reg .pred p;
    mov.u32 tid, %tid.x;
    ld.param.u64 in, [k_in];
    ld.global.u32 v, [in];
    shl.b32 x, tid, 2;
    mov.u32 c, data;
    add.u32 a, c, x;
    xor.b32 b, a, 4;
    add.u32 c, c, 8;
    mov.u32 k, -1;
    shr.u32 k, k, 31;
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

fn given(bits: usize) -> String {
    let [n, m] = [bits & 1, bits >> 1 & 1];
    format!(
        "mov.u32 n, {n};\nmov.u32 m, {m};\nmov.u32 w, {};\nshr.u32 w, w, tid;\nand.b32 w, w, 1;",
        bits >> 2
    )
}

#[test]
fn verdicts_hold_for_all_inputs() {
    let asked = std::env::var("BUGAROO_UNKNOWN").ok().and_then(|n| n.parse().ok());
    let (mut verified, mut definite, mut possible, mut spurious, mut refused) = (0, 0, 0, 0, 0);
    let mut harmless = 0;
    for seed in 0..asked.unwrap_or(3000u64) {
        let mut maker = Maker { random: Random(seed << 20), text: String::new(), labels: 0, left: 9 };
        maker.block(0);
        maker.block(0);
        let body = maker.text;
        let found = kernel(&body, UNKNOWN);
        let all: Vec<KernelFindings> = (0..1 << INPUTS).map(|bits| kernel(&body, &given(bits))).collect();
        let context = || format!("seed {seed}:\n{body}\n{found:#?}");
        let wrong = all.iter().filter(|one| !one.is_clean()).count();
        match found.verdict {
            "verified" => {
                verified += 1;
                assert_eq!(wrong, 0, "{}", context());
            }
            "possible-race" => {
                possible += 1;
                spurious += u32::from(wrong == 0);
            }
            "not-verifiable" => {
                refused += 1;
                harmless += u32::from(wrong == 0);
            }
            verdict => {
                definite += 1;
                // Where it takes other numbers than 0 and 1, they are named.
                let small = found.example.iter().all(|(_, value)| ["0", "1"].contains(&value.as_str()));
                assert!(!small || all.iter().any(|one| one.verdict == verdict), "{}", context());
            }
        }
    }
    println!(
        "{verified} verified, {definite} wrong for certain, {possible} possibly ({spurious} of them with no input of 0 and 1), \
         {refused} refused ({harmless} of them right with all inputs of 0 and 1)"
    );
    assert!(verified > 200 && definite > 200 && possible > 200, "{verified} {definite} {possible} {refused}");
}
