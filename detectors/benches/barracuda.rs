//! What BARRACUDA costs for each access of a warp, and what it holds, by pattern.

use std::time::Duration;

use bugaroo_detectors::{Barracuda, RaceDetector};
use bugaroo_ptx::op::AtomOp;
use bugaroo_ptx::types::Scope;
use bugaroo_semantics::Observer;
use bugaroo_semantics::event::{Access, AccessKind, Addresses, Event, Lanes, Shape, Values, WhoseBytes};
use bugaroo_semantics::scope::Strength;

struct Zero;

impl Values for Zero {
    fn value(&self, _: u32, _: u32) -> u128 {
        0
    }
}

/// Blocks one after the other, each of these many warps.
struct Bench {
    detector: Barracuda,
    warps: u32,
    accesses: u64,
    block: u64,
}

const SLOTS: u32 = 8;

impl Bench {
    fn new(warps: u32, blocks: u64) -> Bench {
        let mut detector = Barracuda::new();
        let shape = Shape {
            warps: warps * SLOTS,
            ctas: SLOTS,
            warps_per_cta: warps,
            threads_per_cta: warps * 32,
            blocks,
            cluster: 1,
            shared_bytes: 16 << 10,
        };
        detector.event(&Event::GridBegin { grid: 1, shape, lockstep: true, first_site: 0 });
        Bench { detector, warps, accesses: 0, block: 0 }
    }

    fn by(&self, warp: u32) -> Lanes {
        let cta = (self.block % u64::from(SLOTS)) as u32;
        Lanes {
            grid: 1,
            warp: cta * self.warps + warp,
            cta,
            block: self.block,
            first: warp * 32,
            mask: u32::MAX,
        }
    }

    fn access(&mut self, warp: u32, site: u32, kind: AccessKind, shared: bool, at: Addresses<'_>) {
        let by = self.by(warp);
        let atomic = matches!(kind, AccessKind::Atomic(_));
        self.accesses += 1;
        self.detector.access(&Access {
            by,
            site,
            kind,
            strength: if atomic { Strength::Strong(Scope::Gpu) } else { Strength::Weak },
            acquire: false,
            release: false,
            memory: if shared { WhoseBytes::Shared(by.cta) } else { WhoseBytes::Global },
            size: 4,
            elements: 1,
            at,
            wrote: 0,
            held: 0,
            own: 0,
            sourced: 0,
            numbers: None,
            values: &Zero,
        });
    }

    fn blocks(&mut self, blocks: u64, mut each: impl FnMut(&mut Bench)) {
        for block in 0..blocks {
            self.block = block;
            let cta = (block % u64::from(SLOTS)) as u32;
            self.detector.event(&Event::BlockBegin { grid: 1, cta, block });
            each(self);
            for warp in 0..self.warps {
                self.detector.event(&Event::Exit(self.by(warp)));
            }
            self.detector.event(&Event::BlockEnd { grid: 1, cta });
        }
    }

    fn barrier(&mut self) {
        for warp in 0..self.warps {
            self.detector.event(&Event::Arrive { by: self.by(warp), site: 99, barrier: 0, waits: true });
        }
        for warp in 0..self.warps {
            self.detector.event(&Event::Leave { by: self.by(warp), barrier: 0 });
        }
    }
}

/// The processor time of this thread: others build on this machine.
fn processor_time() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = text.split(' ').next().and_then(|number| number.parse().ok());
    Duration::from_nanos(nanoseconds.unwrap_or(0))
}

fn measure(name: &str, warps: u32, blocks: u64, races: bool, each: impl FnMut(&mut Bench)) {
    let asked: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    if !asked.is_empty() && !asked.iter().any(|asked| name.contains(asked)) {
        return;
    }
    let mut bench = Bench::new(warps, blocks);
    let start = processor_time();
    bench.blocks(blocks, each);
    let took = processor_time().saturating_sub(start);
    let found = bench.detector.take_findings();
    assert_eq!(!found.is_empty(), races, "{name}: {found:?}");
    let threads = blocks * u64::from(warps) * 32;
    println!(
        "{name:34} {:7.1} ns an access, {:9} accesses, {:8} threads, {:7.3} s, {:8.1} MiB held",
        took.as_nanos() as f64 / bench.accesses as f64,
        bench.accesses,
        threads,
        took.as_secs_f64(),
        bench.detector.held() as f64 / (1 << 20) as f64
    );
}

fn main() {
    let (load, store) = (AccessKind::Load, AccessKind::Store);
    let at = |base: u64, b: &Bench, warp: u32| base + (b.block * u64::from(b.warps) + u64::from(warp)) * 128;
    let words = Addresses::Consecutive;
    measure("own rows, read and written 8 times", 8, 1024, false, |b| {
        for _ in 0..8 {
            for warp in 0..8 {
                let first = at(0x1000_0000, b, warp);
                b.access(warp, 1, load, false, words(first));
                b.access(warp, 2, store, false, words(first));
            }
        }
    });
    measure("stencil, 4 Mi elements, barriers", 8, 4096, false, |b| {
        for part in 0..4u64 {
            for warp in 0..8 {
                let first = at(0x1000_0000, b, warp) + part * (4096 * 8 * 128);
                for (site, by) in [(1, 0), (2, 4), (3, -4), (4, 8192), (5, -8192)] {
                    b.access(warp, site, load, false, words(first.wrapping_add_signed(by)));
                }
                b.access(warp, 6, store, true, words(u64::from(warp) * 128));
            }
            b.barrier();
            for warp in 0..8 {
                let first = at(0x4000_0000, b, warp) + part * (4096 * 8 * 128);
                b.access(warp, 7, load, true, words(u64::from((warp + 1) % 8) * 128));
                b.access(warp, 8, store, false, words(first));
            }
            b.barrier();
        }
    });
    measure("tiled product in shared memory", 8, 256, false, |b| {
        for tile in 0..8u64 {
            for warp in 0..8 {
                let row = u64::from(warp) * 128;
                b.access(warp, 1, load, false, words(0x1000_0000 + tile * 1024 + row));
                b.access(warp, 2, store, true, words(row));
                b.access(warp, 3, store, true, words(4096 + row));
            }
            b.barrier();
            for k in 0..16u64 {
                for warp in 0..8 {
                    let mut two = [0; 32];
                    two.iter_mut().enumerate().for_each(|(lane, at)| {
                        *at = (u64::from(warp) * 2 + lane as u64 / 16) * 64 + k * 4;
                    });
                    b.access(warp, 4, load, true, Addresses::Each(&two));
                    b.access(warp, 5, load, true, words(4096 + k / 2 * 128));
                }
            }
            b.barrier();
        }
    });
    measure("all read one table", 8, 1024, false, |b| {
        for row in 0..64u64 {
            for warp in 0..8 {
                b.access(warp, 1, load, false, words(0x1000_0000 + row * 128));
            }
        }
    });
    measure("columns, 32 rows an access", 8, 64, false, |b| {
        for warp in 0..8u64 {
            let block = b.block;
            for column in 0..32u64 {
                let each = std::array::from_fn(|lane| {
                    0x1000_0000 + (block * 8 + warp) * 4096 + lane as u64 * 128 + column * 4
                });
                b.access(warp as u32, 1, store, false, Addresses::Each(&each));
            }
        }
    });
    measure("histogram: atomics anywhere", 8, 256, false, |b| {
        for round in 0..16u64 {
            for warp in 0..8 {
                let seed = (b.block * 8 + u64::from(warp)) * 16 + round;
                let each = std::array::from_fn(|lane| {
                    let hash = (seed * 32 + lane as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56;
                    0x1000_0000 + hash * 4
                });
                b.access(warp, 1, AccessKind::Atomic(AtomOp::Add), false, Addresses::Each(&each));
            }
        }
    });
    measure("racing: all write one row", 8, 1024, true, |b| {
        for warp in 0..8 {
            b.access(warp, 1, store, false, words(0x1000_0000));
        }
    });
}
