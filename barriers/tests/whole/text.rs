//! A kernel as PTX.

use std::fmt::Write;

use super::{How, Kernel, Parity, Place, Statement, Test, Trips};

/// Words of a row take so many bytes.
const ROW: u32 = 128;

struct Writer<'a> {
    kernel: &'a Kernel,
    text: String,
    labels: u32,
}

/// The kernel, named `k`, with parameters `n` and `m`.
pub fn ptx(kernel: &Kernel) -> String {
    let mut writer = Writer { kernel, text: String::new(), labels: 0 };
    if !kernel.mbarriers.is_empty() {
        writer.say("setp.ne.u32 p, tid, 0;\n@p bra READY;");
        for (mbarrier, warps) in kernel.mbarriers.iter().enumerate() {
            writer.say(&format!("mbarrier.init.shared.b64 [mbarriers+{}], {warps};", 8 * mbarrier));
        }
        writer.say("READY: bar.sync 0;");
    }
    if kernel
        .has(|s| matches!(s, Statement::Raise(_) | Statement::Poll(..) | Statement::Lock | Statement::Unlock))
    {
        writer.say("mov.u32 y, 0;\nsetp.eq.u32 p, tid, 0;");
        [0, 4, 8].iter().for_each(|at| writer.say(&format!("@p st.shared.u32 [flags+{at}], y;")));
        writer.say("bar.sync 0;");
    }
    if kernel.is_cluster {
        writer.meet();
    }
    writer.block(&kernel.body, 0);
    if kernel.is_cluster {
        writer.meet();
    }
    let (threads, cluster, warp) = match kernel.is_cluster {
        true => {
            (32, format!(".reqnctapercluster {}, 1, 1\n", kernel.warps), "mov.u32 warp, %cluster_ctarank;")
        }
        false => (32 * kernel.warps, String::new(), "shr.u32 warp, tid, 5;"),
    };
    format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n
.visible .entry k(.param .u64 k_in, .param .u32 k_n, .param .u32 k_m)
.maxntid {threads}, 1, 1
{cluster}{{
    .shared .align 4 .b8 data[2048];
    .shared .align 8 .b8 mbarriers[64];
    .shared .align 4 .b8 given[4];
    .shared .align 4 .b8 flags[12];
    .reg .b32 tid, warp, word, v, n, m, w, h, x, y, i0, i1, i2;
    .reg .b64 in, at;
    .reg .pred p, leader;
    ld.param.u64 in, [k_in];
    ld.param.u32 n, [k_n];
    ld.param.u32 m, [k_m];
    mov.u32 tid, %tid.x;
    {warp}
    and.b32 word, tid, 31;
    setp.eq.u32 leader, word, 0;
    shl.b32 word, word, 2;
    mul.wide.u32 at, warp, 4;
    add.u64 at, in, at;
    ld.global.u32 v, [at];
    ld.global.u32 w, [at+64];
    mov.u32 h, 0;
    mov.u32 i0, 0;
    mov.u32 i1, 0;
    mov.u32 i2, 0;
{body}    ret;
}}
",
        body = writer.text
    )
}

impl Writer<'_> {
    fn say(&mut self, line: &str) {
        writeln!(self.text, "{line}").unwrap();
    }

    fn label(&mut self) -> u32 {
        self.labels += 1;
        self.labels
    }

    fn meet(&mut self) {
        match self.kernel.is_cluster {
            true => self.say("barrier.cluster.arrive;\nbarrier.cluster.wait;"),
            false => self.say("bar.sync 0;"),
        }
    }

    /// The lane's word of a place, in `x`.
    fn address(&mut self, place: Place) {
        let warps = self.kernel.warps;
        let row = match place {
            Place::Common(row) => format!("mov.u32 x, {row};"),
            Place::Own => "add.u32 x, warp, 4;".to_string(),
            Place::Next => format!("add.u32 x, warp, 1;\nrem.u32 x, x, {warps};\nadd.u32 x, x, 4;"),
            Place::Chosen => "and.b32 x, w, 1;".to_string(),
            Place::Alternating(depth) => format!("and.b32 x, i{depth}, 1;\nadd.u32 x, x, 8;"),
        };
        self.say(&format!("{row}\nmul.lo.u32 x, x, {ROW};\nadd.u32 x, x, word;\nadd.u32 x, x, data;"));
        if self.kernel.is_cluster {
            // Warps' rows stand in their own blocks, those of all in the first one.
            let block = match place {
                Place::Common(_) | Place::Chosen | Place::Alternating(_) => "mov.u32 y, 0;".to_string(),
                Place::Own => "mov.u32 y, warp;".to_string(),
                Place::Next => format!("add.u32 y, warp, 1;\nrem.u32 y, y, {warps};"),
            };
            self.say(&format!("{block}\nmapa.shared::cluster.u32 x, x, y;"));
        }
    }

    fn block(&mut self, all: &[Statement], depth: usize) {
        all.iter().for_each(|statement| self.statement(statement, depth));
    }

    fn statement(&mut self, statement: &Statement, depth: usize) {
        let space = if self.kernel.is_cluster { "shared::cluster" } else { "shared" };
        match statement {
            Statement::Access(how, place) => {
                self.address(*place);
                match how {
                    How::Read => self.say(&format!("ld.{space}.u32 y, [x];")),
                    How::Write => self.say(&format!("st.{space}.u32 [x], v;")),
                    How::Atomic => self.say(&format!("red.{space}.add.u32 [x], v;")),
                }
            }
            Statement::Copy(place) => {
                self.address(*place);
                self.say("cp.async.ca.shared.global [x], [in], 4;");
            }
            Statement::Commit => self.say("cp.async.commit_group;"),
            Statement::WaitGroup(left) => self.say(&format!("cp.async.wait_group {left};")),
            Statement::Sync(id, warps) => self.say(&format!("bar.sync {}, {};", id + 1, 32 * warps)),
            Statement::Arrive(id, warps) => self.say(&format!("bar.arrive {}, {};", id + 1, 32 * warps)),
            Statement::Meet => self.meet(),
            Statement::MbarrierArrive(mbarrier) => {
                // All that the warp has done comes before its leader's arrival.
                let at = 8 * mbarrier;
                self.say(&format!(
                    "bar.warp.sync 0xffffffff;\n@leader mbarrier.arrive.shared.b64 _, [mbarriers+{at}];"
                ));
            }
            Statement::MbarrierWait(mbarrier, parity) => {
                match parity {
                    Parity::Fixed(parity) => self.say(&format!("mov.u32 y, {parity};")),
                    Parity::Round(depth, more) => {
                        self.say(&format!("add.u32 y, i{depth}, {more};\nand.b32 y, y, 1;"));
                    }
                }
                let (label, at) = (self.label(), 8 * mbarrier);
                self.say(&format!(
                    "W{label}: mbarrier.try_wait.parity.shared.b64 p, [mbarriers+{at}], y;\n@!p bra W{label};\n\
                     bar.warp.sync 0xffffffff;"
                ));
            }
            // The first flag by accesses that release and acquire, the second one by fences.
            Statement::Raise(flag) => {
                self.say("bar.warp.sync 0xffffffff;");
                self.say(match flag {
                    0 => "@leader red.release.cta.shared.add.u32 [flags], 1;",
                    _ => "membar.cta;\n@leader red.shared.add.u32 [flags+4], 1;",
                });
            }
            Statement::Poll(flag, least) => {
                let label = self.label();
                let (load, behind) = match flag {
                    0 => ("ld.acquire.cta.shared.u32 y, [flags];", ""),
                    _ => ("ld.volatile.shared.u32 y, [flags+4];", "\nmembar.cta;"),
                };
                self.say(&format!("W{label}: {load}\nsetp.lt.u32 p, y, {least};\n@p bra W{label};{behind}"));
            }
            Statement::Lock => {
                let label = self.label();
                self.say(&format!(
                    "mov.u32 y, 0;\nW{label}: @leader atom.acquire.cta.shared.cas.b32 y, [flags+8], 0, 1;\n\
                     setp.ne.u32 p, y, 0;\n@p bra W{label};\nbar.warp.sync 0xffffffff;"
                ));
            }
            Statement::Unlock => {
                self.say("bar.warp.sync 0xffffffff;\n@leader st.release.cta.shared.u32 [flags+8], 0;");
            }
            Statement::Give => self.say("setp.eq.u32 p, tid, 0;\n@p st.shared.u32 [given], w;"),
            Statement::Take => self.say("ld.shared.u32 h, [given];"),
            Statement::Exchange => self.say("shfl.sync.bfly.b32 y, w, 1, 31, 0xffffffff;"),
            Statement::Count => {
                self.say("setp.ne.u32 p, w, 0;\nbar.red.or.pred p, 0, p;\nselp.u32 h, 1, 0, p;");
            }
            Statement::If(test, yes, no) => {
                let label = self.label();
                self.test(*test);
                self.say(&format!("@!p bra A{label};"));
                self.block(yes, depth);
                if no.is_empty() {
                    return self.say(&format!("A{label}:"));
                }
                self.say(&format!("bra B{label};\nA{label}:"));
                self.block(no, depth);
                self.say(&format!("B{label}:"));
            }
            Statement::Loop(trips, body) => {
                let label = self.label();
                let voted =
                    if *trips == Trips::Voted { "\nvote.sync.all.pred p, p, 0xffffffff;" } else { "" };
                let trips = match trips {
                    Trips::N => "n".to_string(),
                    Trips::M => "m".to_string(),
                    Trips::Loaded | Trips::Voted => "w".to_string(),
                    Trips::Fixed(trips) => trips.to_string(),
                };
                self.say(&format!(
                    "mov.u32 i{depth}, 0;\nA{label}: setp.ge.u32 p, i{depth}, {trips};{voted}\n@p bra B{label};"
                ));
                self.block(body, depth + 1);
                self.say(&format!("add.u32 i{depth}, i{depth}, 1;\nbra A{label};\nB{label}:"));
            }
        }
    }

    /// The predicate `p`.
    fn test(&mut self, test: Test) {
        let text = match test {
            Test::Above(least) => format!("setp.gt.u32 p, n, {least};"),
            Test::Flag => "setp.ne.u32 p, m, 0;".to_string(),
            Test::Loaded => "setp.ne.u32 p, w, 0;".to_string(),
            Test::Voted => "setp.ne.u32 p, w, 0;\nvote.sync.any.pred p, p, 0xffffffff;".to_string(),
            Test::Handed => "setp.ne.u32 p, h, 0;".to_string(),
            Test::Warp(warp) => format!("setp.eq.u32 p, warp, {warp};"),
            Test::Round(depth, round) => format!("setp.eq.u32 p, i{depth}, {round};"),
            Test::Odd(depth) => format!("and.b32 x, i{depth}, 1;\nsetp.ne.u32 p, x, 0;"),
            Test::Before(depth) => format!("add.u32 x, i{depth}, 1;\nsetp.lt.u32 p, x, n;"),
        };
        self.say(&text);
    }
}
