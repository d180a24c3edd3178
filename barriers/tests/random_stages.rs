//! Random producers and consumers, and pipelines of copies, whose number of rounds is not known, against runs with many numbers of rounds.
//! `BUGAROO_STAGES=N` looks at that many kernels.

use crate::random::Random;
use bugaroo_barriers::emulate::{KernelOptions, KernelText};
use bugaroo_barriers::findings::{KernelFindings, verify};
use std::fmt::Write;

/// How one role hands over to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Link {
    /// Named barriers, two for each stage.
    Named,
    /// Mbarriers, two for each stage, and stores.
    Stores,
    /// The same and `cp.async`, which arrives by itself.
    Copies,
    /// The same and bulk copies by one thread.
    Bulk,
}

/// Numbers of rounds that are tried.
const TRIED: [u32; 24] =
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 17, 20, 21, 22, 23, 25, 31, 33, 40];
/// A multiple of bytes between the buffers of stages, and between links.
const STAGE: u32 = 256;
const LINK: u32 = 4 * STAGE;

struct Maker {
    random: Random,
    text: String,
    labels: u32,
    stages: u32,
    /// Threads of a role.
    threads: u32,
    /// Of a hundred operations, so many have a mistake.
    mistakes: usize,
    /// How rounds are compared with their number.
    order: &'static str,
}

impl Maker {
    fn say(&mut self, line: &str) {
        writeln!(self.text, "{line}").unwrap();
    }

    fn one_of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.random.below(all.len())]
    }

    /// The stage of an operation in `e`, the parity of its phase in `f`; sometimes not the right one.
    fn stage(&mut self) {
        self.say("mov.u32 e, st;\nmov.u32 f, ph;");
        if self.random.below(100) >= self.mistakes {
            return;
        }
        match self.random.below(4) {
            0 => self.say("xor.b32 f, f, 1;"),
            1 => {
                let stages = self.stages;
                let next = format!("add.u32 e, e, 1;\nsetp.eq.u32 p, e, {stages};\nselp.u32 e, 0, e, p;");
                self.say(&next);
            }
            2 => self.say("mov.u32 e, 0;"),
            _ => self.say("and.b32 e, z0, 1;\nmul.lo.u32 e, e, st;"),
        }
    }

    /// An operation, with a mistake at times: not done, in some rounds or in all, or done twice.
    fn operation(&mut self, operation: &str) {
        self.stage();
        if self.random.below(100) >= self.mistakes {
            return self.say(operation);
        }
        let condition = match self.random.below(11) {
            0 => return,
            1 => {
                self.say(operation);
                return self.say(operation);
            }
            2 => "and.b32 x, i, 1;\nsetp.eq.u32 p, x, 0;",
            3 => "setp.eq.u32 p, i, 2;",
            4 => "setp.eq.u32 p, i, 11;",
            5 => "setp.ge.u32 p, i, 19;",
            6 => "add.u32 x, i, 1;\nsetp.eq.u32 p, x, n;",
            7 => "setp.ne.u32 p, z0, 0;",
            8 => "add.u32 x, i, 2;\nsetp.ge.s32 p, x, n;",
            9 => "add.u32 x, i, 3;\nsetp.lt.u32 p, x, n;",
            _ => "setp.lt.u32 p, n, 7;",
        };
        self.labels += 1;
        let label = self.labels;
        self.say(&format!("{condition}\n@p bra A{label};\n{operation}\nA{label}:"));
    }

    /// The address of the stage's part of a link's buffer in `x`.
    fn part(link: u32) -> String {
        format!("shl.b32 x, e, 8;\nadd.u32 x, x, {};\nadd.u32 x, x, buffers;", link * LINK)
    }

    /// The address of a link's mbarrier of the stage in `x`: 0 full, 1 empty.
    fn mbarrier(link: u32, which: u32) -> String {
        format!("shl.b32 x, e, 3;\nadd.u32 x, x, {};\nadd.u32 x, x, mbarriers;", (link * 2 + which) * 64)
    }

    fn id(&self, link: u32, which: u32) -> String {
        format!("add.u32 x, e, {};", 1 + (link * 2 + which) * self.stages)
    }

    fn wait(&mut self, link: u32, which: u32) -> String {
        self.labels += 1;
        let (label, parity) = (self.labels, if which == 1 { "xor.b32 f, f, 1;\n" } else { "" });
        let at = Maker::mbarrier(link, which);
        format!("{at}\n{parity}W{label}: mbarrier.try_wait.parity.shared.b64 p, [x], f;\n@!p bra W{label};")
    }

    /// What the consumers of a link do in a round.
    fn consume(&mut self, link: u32, how: Link) {
        let both = 2 * self.threads;
        let (wait, done) = match how {
            Link::Named => (
                format!("{}\nbar.sync x, {both};", self.id(link, 0)),
                format!("{}\nbar.arrive x, {both};", self.id(link, 1)),
            ),
            _ => (
                self.wait(link, 0),
                format!("{}\nmbarrier.arrive.shared.b64 _, [x];", Maker::mbarrier(link, 1)),
            ),
        };
        self.operation(&wait);
        let whose = self.one_of(&["other", "mine", "other"]);
        let read = format!("{}\nadd.u32 x, x, {whose};\nld.shared.u32 y, [x];", Maker::part(link));
        self.operation(&read);
        self.operation(&done);
    }

    /// What the producers of a link do in a round.
    fn produce(&mut self, link: u32, how: Link) {
        let both = 2 * self.threads;
        let wait = match how {
            Link::Named => format!("{}\nbar.sync x, {both};", self.id(link, 1)),
            _ => self.wait(link, 1),
        };
        self.operation(&wait);
        let write = format!("{}\nadd.u32 x, x, mine;\nst.shared.u32 [x], v;", Maker::part(link));
        let full = Maker::mbarrier(link, 0);
        match how {
            Link::Named => {
                self.operation(&write);
                let done = format!("{}\nbar.arrive x, {both};", self.id(link, 0));
                self.operation(&done);
            }
            Link::Stores => {
                self.operation(&write);
                self.operation(&format!("{full}\nmbarrier.arrive.shared.b64 _, [x];"));
            }
            Link::Copies => {
                let write = write.replace("st.shared.u32 [x], v;", "cp.async.ca.shared.global [x], [in], 4;");
                self.operation(&write);
                self.operation(&format!("{full}\ncp.async.mbarrier.arrive.noinc.shared.b64 [x];"));
            }
            Link::Bulk => {
                let bytes = 4 * self.threads;
                let copy = format!(
                    "{}\nmov.u32 y, x;\n{full}\n@leader mbarrier.arrive.expect_tx.shared.b64 _, [x], {bytes};\n\
                     @leader cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [y], [in], {bytes}, [x];",
                    Maker::part(link)
                );
                self.operation(&copy);
            }
        }
    }

    /// How a round finds its stage and phase, and what leads to the next round.
    fn stages(&mut self) -> (String, String) {
        let stages = self.stages;
        let by_counter = format!(
            "add.u32 st, st, 1;\nsetp.eq.u32 p, st, {stages};\nselp.u32 st, 0, st, p;\nselp.u32 x, 1, 0, p;\nxor.b32 ph, ph, x;\n"
        );
        let by_product = |by: u32, shift: u32| {
            format!(
                "mul.wide.u32 wide, i, {by};\nshr.u64 wide, wide, {shift};\ncvt.u32.u64 ph, wide;\nmul.lo.u32 st, ph, {stages};\n\
                 sub.u32 st, i, st;\nand.b32 ph, ph, 1;\n"
            )
        };
        match (self.random.below(4), stages) {
            (0, _) => (
                format!("rem.u32 st, i, {stages};\ndiv.u32 ph, i, {stages};\nand.b32 ph, ph, 1;\n"),
                String::new(),
            ),
            (1, 3) => (by_product(0xaaaa_aaab, 33), String::new()),
            (1, 2) => {
                ("and.b32 st, i, 1;\nshr.u32 ph, i, 1;\nand.b32 ph, ph, 1;\n".to_string(), String::new())
            }
            _ => (String::new(), by_counter),
        }
    }

    /// A loop of `n` rounds around a body, counted in one of several ways.
    fn turns(&mut self, body: &str) {
        self.labels += 1;
        let label = self.labels;
        let (place, next) = self.stages();
        let body = format!("{place}{body}");
        let next = format!(
            "{next}mov.u32 z0, z1;\nmov.u32 z1, z2;\nmov.u32 z2, z3;\nmov.u32 z3, 1;\nadd.u32 i, i, 1;"
        );
        let text = match self.random.below(6) {
            // Down to nought.
            3 => format!(
                "mov.u32 left, n;\nT{label}: setp.le.{} p, left, 0;\n@p bra B{label};\n{body}{next}\nsub.u32 left, left, 1;\n\
                 bra T{label};\nB{label}:",
                self.order
            ),
            4 => format!(
                "mov.u32 left, n;\nsetp.lt.{0} p, n, 1;\n@p bra B{label};\nT{label}:\n{body}{next}\nsetp.gt.{0} p, left, 1;\n\
                 sub.u32 left, left, 1;\n@p bra T{label};\nB{label}:",
                self.order
            ),
            // Up to twice the number by two.
            5 => format!(
                "shl.b32 left, n, 1;\nmov.u32 twice, 0;\nT{label}: setp.ge.{} p, twice, left;\n@p bra B{label};\n{body}{next}\n\
                 add.u32 twice, twice, 2;\nbra T{label};\nB{label}:",
                self.order
            ),
            0 => format!(
                "setp.lt.{} p, n, 1;\n@p bra B{label};\nT{label}:\n{body}{next}\nsetp.ne.u32 p, i, n;\n@p bra T{label};\nB{label}:",
                self.order
            ),
            _ => format!(
                "T{label}: setp.ge.{} p, i, n;\n@p bra B{label};\n{body}{next}\nbra T{label};\nB{label}:",
                self.order
            ),
        };
        self.say(&text);
    }

    /// Roles, each of which hands over to the next.
    fn roles(&mut self) -> u32 {
        let roles = 2 + self.random.below(2) as u32;
        let ways = [Link::Named, Link::Stores, Link::Copies, Link::Bulk, Link::Named];
        let links: Vec<Link> = (1..roles).map(|_| ways[self.random.below(ways.len())]).collect();
        let stages = self.stages;
        self.say("@!first bra READY;");
        for (link, how) in (0..).zip(&links) {
            let full = if *how == Link::Bulk { 1 } else { self.threads };
            for stage in 0..stages {
                for (which, count) in [(0, full), (1, self.threads)] {
                    let at = (link * 2 + which) * 64 + stage * 8;
                    self.say(&format!("mbarrier.init.shared.b64 [mbarriers+{at}], {count};"));
                }
            }
        }
        self.say("fence.mbarrier_init.release.cluster;\nREADY:\nbar.sync 0;");
        for role in 0..roles {
            self.say(&format!("setp.ne.u32 p, role, {role};\n@p bra R{role};"));
            let input = role.checked_sub(1).map(|link| (link, links[link as usize]));
            if let Some((link, Link::Named)) = input {
                for stage in 0..stages {
                    let id = 1 + (link * 2 + 1) * stages + stage;
                    if self.random.below(100) >= self.mistakes {
                        self.say(&format!("bar.arrive {id}, {};", 2 * self.threads));
                    }
                }
            }
            let text = std::mem::take(&mut self.text);
            if let Some((link, how)) = input {
                self.consume(link, how);
            }
            if let Some(how) = links.get(role as usize) {
                self.produce(role, *how);
            }
            let body = std::mem::replace(&mut self.text, text);
            self.turns(&body);
            self.say(&format!("bra OUT;\nR{role}:"));
        }
        self.say("OUT:");
        roles
    }

    /// All threads copy some rounds ahead.
    fn pipeline(&mut self) -> u32 {
        let stages = self.stages;
        let copy = "shl.b32 x, e, 8;\nadd.u32 x, x, buffers;\nadd.u32 x, x, mine;\ncp.async.ca.shared.global [x], [in], 4;";
        for stage in 0..stages - 1 {
            self.say(&format!("mov.u32 e, {stage};\n{copy}\ncp.async.commit_group;"));
        }
        let text = std::mem::take(&mut self.text);
        let left = stages.saturating_sub(2);
        let left = if self.random.below(100) < 2 * self.mistakes { left + 1 } else { left };
        if stages > 1 {
            self.operation(&format!("cp.async.wait_group {left};"));
            self.operation("bar.sync 0;");
        }
        let ahead = format!(
            "add.u32 e, e, {};\nsetp.ge.u32 p, e, {stages};\nadd.u32 x, e, -{stages};\nselp.u32 e, x, e, p;\n{copy}",
            stages - 1
        );
        self.operation(&ahead);
        self.operation("cp.async.commit_group;");
        if stages == 1 {
            self.operation("cp.async.wait_group 0;");
            self.operation("bar.sync 0;");
        }
        self.operation(
            "shl.b32 x, e, 8;\nadd.u32 x, x, buffers;\nadd.u32 x, x, other;\nld.shared.u32 y, [x];",
        );
        if stages == 1 || self.random.below(4) == 0 {
            self.operation("bar.sync 0;");
        }
        let body = std::mem::replace(&mut self.text, text);
        self.turns(&body);
        2
    }
}

/// The kernel with what gives `n` its value.
fn kernel(body: &str, (roles, threads): (u32, u32), inputs: &str) -> KernelFindings {
    let block = roles * threads;
    let ptx = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n
.visible .entry k(.param .u64 k_in, .param .u32 k_n)
.maxntid {block}, 1, 1
{{
    .shared .align 128 .b8 buffers[4096];
    .shared .align 8 .b8 mbarriers[512];
    .reg .b32 tid, role, mine, other, v, n, x, y, e, f, i, st, ph, left, twice, z0, z1, z2, z3;
    .reg .b64 in, wide;
    .reg .pred p, leader, first;
    mov.u32 tid, %tid.x;
    ld.param.u64 in, [k_in];
    ld.global.u32 v, [in];
    div.u32 role, tid, {threads};
    rem.u32 mine, tid, {threads};
    setp.eq.u32 leader, mine, 0;
    setp.eq.u32 first, tid, 0;
    shl.b32 mine, mine, 2;
    sub.u32 other, {last}, mine;
    mov.u32 i, 0;
    mov.u32 st, 0;
    mov.u32 ph, 0;
    mov.u32 z0, 0;
    mov.u32 z1, 0;
    mov.u32 z2, 0;
    mov.u32 z3, 0;
    {inputs}
    {body}
    ret;
}}
",
        last = 4 * (threads - 1)
    );
    let text = KernelText::new(&ptx).unwrap_or_else(|refusal| panic!("{refusal}\n{ptx}"));
    verify(&text, "k", &KernelOptions { max_steps: 1_000_000, ..KernelOptions::default() }).unwrap().findings
}

#[test]
fn verdicts_hold_for_all_numbers_of_rounds() {
    let asked = std::env::var("BUGAROO_STAGES").ok().and_then(|n| n.parse().ok());
    let from = std::env::var("BUGAROO_STAGES_FROM").ok().and_then(|n| n.parse().ok()).unwrap_or(0);
    let (mut verified, mut definite, mut open, mut harmless, mut shy) = (0, 0, 0, 0, 0);
    for seed in from..from + asked.unwrap_or(40u64) {
        let mut random = Random(seed << 20);
        let stages = 1 + random.below(4) as u32;
        let mistakes = [0, 2, 4, 8, 8][random.below(5)];
        let threads = 32 * (1 + random.below(2) as u32);
        let pipeline = random.below(4) == 0;
        let order = ["u32", "s32"][random.below(2)];
        let mut maker = Maker { random, text: String::new(), labels: 0, stages, threads, mistakes, order };
        if !pipeline {
            maker.stages = stages.min(3);
        }
        let roles = if pipeline { maker.pipeline() } else { maker.roles() };
        let shape = if pipeline { (1, threads) } else { (roles, threads) };
        let body = maker.text;
        let given = |n: u32| kernel(&body, shape, &format!("mov.u32 n, {n};"));
        let found = kernel(&body, shape, "ld.param.u32 n, [k_n];");
        let wrong = || TRIED.iter().find(|n| !given(**n).is_clean());
        let context = || format!("seed {seed}:\n{body}\n{found:#?}");
        match found.verdict {
            "verified" => {
                verified += 1;
                assert_eq!(wrong(), None, "{}", context());
            }
            "possible-race" | "not-verifiable" => {
                open += 1;
                let right = wrong().is_none();
                harmless += u32::from(right);
                shy += u32::from(right && mistakes == 0);
                if right && std::env::var("BUGAROO_STAGES_SHOWN").is_ok() {
                    println!("open: {}", context());
                }
            }
            verdict => {
                definite += 1;
                let n = found.example.first().map_or(0, |(_, n)| n.parse().expect("a number"));
                assert_eq!(given(n).verdict, verdict, "{}", context());
            }
        }
    }
    println!(
        "{verified} verified, {definite} wrong for certain, {open} open ({harmless} of them right with all numbers tried, {shy} without a mistake)"
    );
    assert!(asked.is_some() || verified > 8 && definite > 8, "{verified} {definite} {open}");
}
