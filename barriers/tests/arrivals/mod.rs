//! Named barriers as the PTX ISA counts them, once more and independently: warps, not threads, arrive. Small programs, and all their
//! interleavings.
//!
//! PTX ISA, "bar, barrier": the instruction makes the executing thread wait for all threads of its warp that have not exited, and
//! marks the warp's arrival; `.sync` then waits for the other warps, `.arrive` does not. A count is in threads, 32 for each warp.

pub mod explore;
pub mod generate;

/// What lanes do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum What {
    /// At this barrier, for so many threads (None: all), waiting or not, with `.aligned` or without.
    Barrier {
        id: usize,
        count: Option<u32>,
        waits: bool,
        aligned: bool,
    },
    Exit,
}

/// An instruction of a warp, for those of its lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Line {
    pub lanes: u32,
    pub what: What,
}

/// A CTA: the instructions of each warp.
#[derive(Clone, Debug)]
pub struct Cta {
    pub threads: u32,
    pub warps: Vec<Vec<Line>>,
}

impl Cta {
    /// The lanes of a warp.
    pub fn lanes(&self, warp: usize) -> u32 {
        let n = (self.threads - warp as u32 * 32).min(32);
        if n == 32 { !0 } else { (1 << n) - 1 }
    }

    /// As a kernel `k`.
    pub fn ptx(&self) -> String {
        use std::fmt::Write;
        let mut text = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n\
             .reg .b32 tid, lane, warp, bit, t;\n.reg .pred p;\n\
             mov.u32 tid, %tid.x;\nand.b32 lane, tid, 31;\nshr.u32 warp, tid, 5;\n\
             mov.u32 bit, 1;\nshl.b32 bit, bit, lane;\n"
            .to_string();
        for warp in 0..self.warps.len() {
            let _ = writeln!(text, "setp.eq.u32 p, warp, {warp};\n@p bra W{warp};");
        }
        for (warp, lines) in self.warps.iter().enumerate() {
            let _ = writeln!(text, "W{warp}:");
            for line in lines {
                let _ = writeln!(text, "and.b32 t, bit, {};\nsetp.ne.u32 p, t, 0;", line.lanes);
                let _ = match line.what {
                    What::Exit => writeln!(text, "@p exit;"),
                    What::Barrier { id, count, waits, aligned } => {
                        let name = if waits { "sync" } else { "arrive" };
                        let aligned = if aligned { ".aligned" } else { "" };
                        let count = count.map(|n| format!(", {n}")).unwrap_or_default();
                        writeln!(text, "@p barrier.{name}{aligned} {id}{count};")
                    }
                };
            }
            text += "ret;\n";
        }
        text + "}\n"
    }
}
