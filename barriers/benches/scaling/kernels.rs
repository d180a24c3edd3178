//! Kernels of the shapes that the paper measured, as thread programs.

use bugaroo_barriers::program::{
    Command, CommandAction, Completion, Count, SharedAccess, SharedAccessKind, SharedAddresses,
    SharedStrength, WrittenValues,
};
use bugaroo_barriers::{ProgramShape, WarpPrograms};

struct Writer(WarpPrograms);

impl Writer {
    fn new(threads: u32) -> Writer {
        Writer(WarpPrograms::new(ProgramShape { ctas: 1, threads }).expect("a shape"))
    }
    fn push(&mut self, warp: u32, lanes: u32, origin: u32, action: CommandAction<'_>) {
        let command = Command { lanes, origin, action };
        self.0.warp_mut(warp).push(&command).expect("a command");
    }
    fn access(&mut self, warp: u32, lanes: u32, origin: u32, kind: SharedAccessKind, base: u32, stride: i32) {
        let access = SharedAccess {
            kind,
            size: 4,
            strength: SharedStrength::Weak,
            addresses: SharedAddresses::Affine { base, stride },
            values: WrittenValues::Unknown,
            completion: Completion::Now,
        };
        self.push(warp, lanes, origin, CommandAction::Access(access));
    }
    fn sync(&mut self, warp: u32, id: u32, warps: u32) {
        let count = Count::Threads(32 * warps);
        self.push(warp, u32::MAX, 100 + id, CommandAction::Sync { id, count });
    }
    fn arrive(&mut self, warp: u32, id: u32, warps: u32) {
        let count = Count::Threads(32 * warps);
        self.push(warp, u32::MAX, 200 + id, CommandAction::Arrive { id, count });
    }
}

/// As CudaDMA's saxpy: two warps load a buffer each, the others read both; two barriers for each buffer and round.
pub struct Streaming {
    pub warps: u32,
    pub rounds: u32,
    /// Whether the readers release the buffer before they read once more: the paper's bug of the two-phase kernels.
    pub early_release: bool,
}

impl Streaming {
    pub fn program(&self) -> WarpPrograms {
        let mut w = Writer::new(self.warps * 32);
        let computing = self.warps - 2;
        for _ in 0..self.rounds / 2 {
            for buffer in 0..2 {
                let (full, empty) = (2 * buffer, 2 * buffer + 1);
                let base = 1024 * buffer;
                let loader = computing + buffer;
                for warp in 0..computing {
                    let part = base + 128 * (warp % 4);
                    w.arrive(warp, empty, computing + 1);
                    if self.early_release {
                        w.access(warp, u32::MAX, 2, SharedAccessKind::Read, part, 4);
                    }
                    w.sync(warp, full, computing + 1);
                    w.access(warp, u32::MAX, 1, SharedAccessKind::Read, part, 4);
                }
                w.sync(loader, empty, computing + 1);
                for part in 0..4 {
                    w.access(loader, u32::MAX, 10 + part, SharedAccessKind::Write, base + 128 * part, 4);
                }
                w.arrive(loader, full, computing + 1);
            }
        }
        w.0
    }
}

/// As Singe's kernels: values go from warp to warp through barriers that are used again and again; between, each warp hands
/// constants from one lane to all through a few words of its own.
pub struct Dataflow {
    pub rounds: u32,
    /// As on the machines of the paper; otherwise a warp barrier stands before and after each handing over.
    pub lockstep: bool,
    /// Constants handed over, per warp and round.
    pub exchanges: u32,
}

const WARPS: u32 = 20;

impl Dataflow {
    pub fn program(&self) -> WarpPrograms {
        let mut w = Writer::new(32 * WARPS);
        w.0.set_warp_synchronous(self.lockstep);
        let all = u32::MAX;
        for round in 0..self.rounds {
            for stage in 0..8 {
                // Warp i hands a row to warp i + 1 (stage even: from even warps), with eight barriers taken in turn.
                for (id, from) in (1..).zip((stage % 2..WARPS).step_by(2)) {
                    let to = (from + 1) % WARPS;
                    if id > 3 {
                        break;
                    }
                    let row = 4096 + 128 * (from * 2 + stage % 2);
                    w.access(from, all, 20, SharedAccessKind::Write, row, 4);
                    w.arrive(from, id, 2);
                    w.sync(to, id, 2);
                    w.access(to, all, 21, SharedAccessKind::Read, row, 4);
                }
                for warp in 0..WARPS {
                    for exchange in 0..self.exchanges / 8 {
                        let slot = 64 * warp + 4 * (exchange % 16);
                        let lane = 1 << ((exchange + round) % 32);
                        if !self.lockstep {
                            w.push(warp, all, 30, CommandAction::WarpSync { members: all });
                        }
                        w.access(warp, lane, 22, SharedAccessKind::Write, slot, 0);
                        if !self.lockstep {
                            w.push(warp, all, 31, CommandAction::WarpSync { members: all });
                        }
                        w.access(warp, all, 23, SharedAccessKind::Read, slot, 0);
                    }
                    w.sync(warp, 0, WARPS);
                }
            }
        }
        w.0
    }
}

/// Every lane arrives at mbarriers of its own: each thread is a chain.
pub struct Divergent {
    pub warps: u32,
    pub rounds: u32,
}

impl Divergent {
    pub fn program(&self) -> WarpPrograms {
        let mut w = Writer::new(self.warps * 32);
        for warp in 0..self.warps {
            for lane in 0..32 {
                w.push(
                    warp,
                    1 << lane,
                    1,
                    CommandAction::MbarrierInit { address: 65536 + 8 * (warp * 32 + lane), count: 1 },
                );
            }
            w.sync(warp, 0, self.warps);
        }
        for round in 0..self.rounds {
            for warp in 0..self.warps {
                w.access(warp, u32::MAX, 2, SharedAccessKind::Write, 128 * warp, 4);
                for lane in 0..32 {
                    let address = 65536 + 8 * (warp * 32 + lane);
                    let arrive = CommandAction::MbarrierArrive {
                        address,
                        count: 1,
                        expect_tx: 0,
                        drop: false,
                        relaxed: false,
                    };
                    w.push(warp, 1 << lane, 3, arrive);
                    w.push(
                        warp,
                        1 << lane,
                        4,
                        CommandAction::MbarrierWait { address, parity: round % 2, relaxed: false },
                    );
                }
                w.sync(warp, 0, self.warps);
                w.access(warp, u32::MAX, 5, SharedAccessKind::Read, 128 * ((warp + 1) % self.warps), 4);
                w.sync(warp, 1, self.warps);
            }
        }
        w.0
    }
}
