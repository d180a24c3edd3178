//! How fast it is: nanoseconds a warp access, and bytes a granule. Run with `--ignored --nocapture`.

use bugaroo_detectors::{ExactDetector, RaceDetector};
use bugaroo_ptx::op::AtomOp;
use bugaroo_ptx::types::Scope;
use bugaroo_semantics::Observer;
use bugaroo_semantics::event::{
    Access, AccessKind, Addresses, Event, Lanes, Shape, Values, WhoseBytes, WorkKind,
};
use bugaroo_semantics::scope::Strength;

struct Nothing;
impl Values for Nothing {
    fn value(&self, _: u32, _: u32) -> u128 {
        0
    }
}

/// Nanoseconds of processor time of this thread.
fn processor_time() -> u64 {
    let all = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux tells it");
    all.split(' ').next().and_then(|first| first.parse().ok()).expect("its first number is the time")
}

const WARPS: u32 = 8;

struct Bench {
    ptx: ExactDetector,
    accesses: u64,
    blocks: u32,
}

impl Bench {
    /// `blocks` of eight warps, all resident.
    fn new(blocks: u32) -> Bench {
        let mut ptx = ExactDetector::new();
        ptx.event(&Event::Work { id: 1, kind: WorkKind::Grid, chain: 0, after: &[], asked: None, site: 0 });
        let shape = Shape {
            warps: blocks * WARPS,
            ctas: blocks,
            warps_per_cta: WARPS,
            threads_per_cta: WARPS * 32,
            blocks: u64::from(blocks),
            cluster: 1,
            shared_bytes: 0,
        };
        ptx.event(&Event::GridBegin { grid: 1, shape, lockstep: false, first_site: 0 });
        for cta in 0..blocks {
            ptx.event(&Event::BlockBegin { grid: 1, cta, block: u64::from(cta) });
        }
        Bench { ptx, accesses: 0, blocks }
    }

    fn lanes(&self, block: u32, warp: u32) -> Lanes {
        let (slot, first) = (block * WARPS + warp, warp * 32);
        Lanes { grid: 1, warp: slot, cta: block, block: u64::from(block), first, mask: u32::MAX }
    }

    fn access(
        &mut self,
        block: u32,
        warp: u32,
        site: u32,
        kind: AccessKind,
        memory: WhoseBytes,
        at: Addresses<'_>,
    ) {
        let atomic = matches!(kind, AccessKind::Atomic(_));
        self.accesses += 1;
        self.ptx.access(&Access {
            by: self.lanes(block, warp),
            site,
            kind,
            strength: if atomic { Strength::Strong(Scope::Gpu) } else { Strength::Weak },
            acquire: false,
            release: false,
            memory,
            size: 4,
            elements: 1,
            at,
            wrote: if kind == AccessKind::Load { 0 } else { u32::MAX },
            held: 0,
            own: 0,
            sourced: 0,
            numbers: None,
            values: &Nothing,
        });
    }

    fn barrier(&mut self, block: u32) {
        for warp in 0..WARPS {
            let by = self.lanes(block, warp);
            self.ptx.event(&Event::Arrive { by, site: 9, barrier: 0, waits: true });
        }
        for warp in 0..WARPS {
            let by = self.lanes(block, warp);
            self.ptx.event(&Event::Leave { by, barrier: 0 });
        }
    }

    fn done(mut self, name: &str, start: u64, granules: u64) {
        let nanos = (processor_time() - start) as f64;
        let held = self.ptx.held();
        println!(
            "{name:<28} {:>8.1} ns a warp access, {:>9} accesses, {:>6.2} s, {:>7.1} bytes a granule, {:>6} MB, {} findings",
            nanos / self.accesses as f64,
            self.accesses,
            nanos / 1e9,
            held as f64 / granules.max(1) as f64,
            held >> 20,
            self.ptx.take_findings().len()
        );
    }
}

const BASE: u64 = 0x7000_0000_0000;

#[test]
#[ignore = "a benchmark"]
fn coalesced() {
    let mut bench = Bench::new(1024);
    let start = processor_time();
    for round in 0..8u64 {
        for block in 0..bench.blocks {
            for warp in 0..WARPS {
                let index = u64::from(block * WARPS + warp);
                let at = BASE + (index + round * 8192) * 128;
                bench.access(
                    block,
                    warp,
                    1,
                    AccessKind::Load,
                    WhoseBytes::Global,
                    Addresses::Consecutive(at),
                );
                bench.access(
                    block,
                    warp,
                    2,
                    AccessKind::Store,
                    WhoseBytes::Global,
                    Addresses::Consecutive(at + (1 << 30)),
                );
            }
        }
    }
    bench.done("coalesced load and store", start, 2 * 8 * 1024 * 256);
    // The same rows again and again.
    let mut bench = Bench::new(64);
    let start = processor_time();
    for _ in 0..256 {
        for block in 0..bench.blocks {
            for warp in 0..WARPS {
                let at = BASE + u64::from(block * WARPS + warp) * 128;
                bench.access(
                    block,
                    warp,
                    1,
                    AccessKind::Load,
                    WhoseBytes::Global,
                    Addresses::Consecutive(at),
                );
                bench.access(
                    block,
                    warp,
                    2,
                    AccessKind::Store,
                    WhoseBytes::Global,
                    Addresses::Consecutive(at),
                );
            }
        }
    }
    bench.done("the same rows again", start, 64 * 256);
}

#[test]
#[ignore = "a benchmark"]
fn broadcast() {
    let mut bench = Bench::new(4096);
    let start = processor_time();
    for at in 0..64u64 {
        for block in 0..bench.blocks {
            for warp in 0..WARPS {
                bench.access(
                    block,
                    warp,
                    1,
                    AccessKind::Load,
                    WhoseBytes::Global,
                    Addresses::Same(BASE + at * 4),
                );
            }
        }
    }
    bench.done("broadcast to all blocks", start, 64);
}

#[test]
#[ignore = "a benchmark"]
fn histogram() {
    let mut bench = Bench::new(256);
    let add = AccessKind::Atomic(AtomOp::Add);
    let mut random = 1u64;
    let start = processor_time();
    for _ in 0..16 {
        for block in 0..bench.blocks {
            for warp in 0..WARPS {
                let all: [u64; 32] = std::array::from_fn(|_| {
                    random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    (random >> 40) % 256 * 4
                });
                bench.access(block, warp, 1, add, WhoseBytes::Shared(block), Addresses::Each(&all));
            }
        }
    }
    bench.done("histogram, shared", start, 256 * 256);
    let mut bench = Bench::new(256);
    let start = processor_time();
    for _ in 0..16 {
        for block in 0..bench.blocks {
            for warp in 0..WARPS {
                let all: [u64; 32] = std::array::from_fn(|_| {
                    random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    BASE + (random >> 40) % 256 * 4
                });
                bench.access(block, warp, 1, add, WhoseBytes::Global, Addresses::Each(&all));
            }
        }
    }
    bench.done("histogram, global", start, 256);
}

/// Four elements a thread, tiles in shared memory, a barrier between; `threads` in all.
fn stencil(blocks: u32, rounds: u64) {
    let mut bench = Bench::new(blocks);
    let start = processor_time();
    for round in 0..rounds {
        let (from, to) = (BASE + (round & 1) * (1 << 32), BASE + (1 - (round & 1)) * (1 << 32));
        for part in 0..4u64 {
            for block in 0..bench.blocks {
                let at =
                    |warp: u32| (u64::from(block * WARPS + warp) + part * u64::from(blocks * WARPS)) * 128;
                for warp in 0..WARPS {
                    bench.access(
                        block,
                        warp,
                        1,
                        AccessKind::Load,
                        WhoseBytes::Global,
                        Addresses::Consecutive(from + at(warp)),
                    );
                    let tile = u64::from(warp) * 128 + 4;
                    bench.access(
                        block,
                        warp,
                        2,
                        AccessKind::Store,
                        WhoseBytes::Shared(block),
                        Addresses::Consecutive(tile),
                    );
                }
                bench.barrier(block);
                for warp in 0..WARPS {
                    for shift in 0..3 {
                        let tile = u64::from(warp) * 128 + shift * 4;
                        bench.access(
                            block,
                            warp,
                            3 + shift as u32,
                            AccessKind::Load,
                            WhoseBytes::Shared(block),
                            Addresses::Consecutive(tile),
                        );
                    }
                    bench.access(
                        block,
                        warp,
                        6,
                        AccessKind::Store,
                        WhoseBytes::Global,
                        Addresses::Consecutive(to + at(warp)),
                    );
                }
                bench.barrier(block);
            }
        }
    }
    bench.done("stencil with barriers", start, 2 * 4 * u64::from(blocks * WARPS * 32));
}

#[test]
#[ignore = "a benchmark"]
fn stencil_of_a_million_threads() {
    stencil(4096, 1);
    // Both ways: what the other half wrote is read, by the same blocks.
    stencil(4096, 4);
}

#[test]
#[ignore = "a benchmark"]
fn scattered() {
    let mut bench = Bench::new(256);
    let mut random = 1u64;
    let start = processor_time();
    for step in 0..16u64 {
        for block in 0..bench.blocks {
            for warp in 0..WARPS {
                let me = u64::from(block * WARPS + warp) * 32;
                random = random.wrapping_add(0x9e37_79b9);
                // A permutation of 1 M elements: a stride that is odd.
                let all: [u64; 32] = std::array::from_fn(|lane| {
                    let index = (step * 65536 + me + lane as u64).wrapping_mul(0x9_e375) & 0xf_ffff;
                    BASE + index * 4
                });
                bench.access(block, warp, 1, AccessKind::Store, WhoseBytes::Global, Addresses::Each(&all));
            }
        }
    }
    bench.done("scattered stores", start, 1 << 20);
}
