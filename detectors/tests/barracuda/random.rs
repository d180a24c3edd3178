//! Random executions: the detector and the reference agree on every one.
//!
//! `BUGAROO_TRACES` says how many (10,000 if it is not set).

use std::collections::BTreeSet;

use bugaroo_detectors::RacingKind as Found;
use bugaroo_ptx::op::AtomOp;
use bugaroo_semantics::event::AccessKind;
use bugaroo_semantics::inferred::{Reach, Role};

use crate::reference::{Race, Reference, class_number};
use crate::run::{FIRST, Run};
use crate::support::{At, Random, Size};
use crate::trace::{Access, Kind, Op};

/// A branch that a warp is in: the lanes of its other side, while they wait, and those of both.
struct Branch {
    other: Option<u32>,
    both: u32,
}

struct Warp {
    active: u32,
    branches: Vec<Branch>,
}

/// Makes an execution.
pub struct Maker {
    pub random: Random,
    size: Size,
    warps: Vec<Warp>,
    pub ops: Vec<Op>,
    /// Accesses of bytes that nobody else touches, which are looked at later.
    private: Vec<u64>,
    synchronises: u64,
}

impl Maker {
    pub fn new(seed: u64) -> Maker {
        let mut random = Random(seed);
        let threads = random.pick(&[2, 3, 5, 32, 33, 35, 40, 64]);
        let size = Size { blocks: random.pick(&[1, 2, 2, 3]), threads };
        let warp = |w| Warp { active: size.lanes(w), branches: Vec::new() };
        let warps = (0..size.blocks * size.warps()).map(warp).collect();
        let synchronises = random.pick(&[2, 3, 6, 1000]);
        Maker { random, size, warps, ops: Vec::new(), private: Vec::new(), synchronises }
    }

    pub fn size(&self) -> Size {
        self.size
    }

    pub fn make(&mut self, steps: u64) {
        for _ in 0..steps {
            self.step();
        }
        if self.random.one_in(3) {
            self.look();
        }
    }

    fn step(&mut self) {
        let warp = self.random.below(self.warps.len() as u64) as u32;
        let active = self.warps[warp as usize].active;
        if active == 0 {
            return;
        }
        match self.random.below(20) {
            0..=2 => self.branch(warp),
            3..=5 => self.leave(warp),
            6 | 7 => self.barrier(warp),
            8 if self.random.one_in(4) => self.exit(warp),
            9 => self.unseen(warp),
            _ => self.access(warp),
        }
    }

    fn branch(&mut self, warp: u32) {
        let lanes = self.warps[warp as usize].active;
        let taken = self.random.some(lanes) & lanes;
        if taken == lanes || self.warps[warp as usize].branches.len() == 4 {
            return;
        }
        let taken_first = self.random.one_in(2);
        self.ops.push(Op::If { warp, lanes, taken, taken_first });
        let (first, other) = if taken_first { (taken, lanes & !taken) } else { (lanes & !taken, taken) };
        let state = &mut self.warps[warp as usize];
        state.branches.push(Branch { other: Some(other), both: lanes });
        state.active = first;
    }

    /// Ends a side of a branch.
    fn leave(&mut self, warp: u32) {
        let state = &mut self.warps[warp as usize];
        let Some(branch) = state.branches.last_mut() else { return };
        if let Some(lanes) = branch.other.take() {
            state.active = lanes;
            self.ops.push(Op::Else { warp, lanes });
            return;
        }
        let lanes = branch.both;
        state.active = lanes;
        state.branches.pop();
        self.ops.push(Op::Fi { warp, lanes });
        if lanes == 0 {
            self.leave(warp);
        }
    }

    fn barrier(&mut self, warp: u32) {
        let block = warp / self.size.warps();
        for warp in block * self.size.warps()..(block + 1) * self.size.warps() {
            while !self.warps[warp as usize].branches.is_empty() {
                self.leave(warp);
            }
        }
        self.ops.push(Op::Bar { block });
    }

    fn exit(&mut self, warp: u32) {
        let active = self.warps[warp as usize].active;
        let lanes = self.random.some(active) & active;
        self.ops.push(Op::Exit { warp, lanes });
        let state = &mut self.warps[warp as usize];
        state.active &= !lanes;
        state.branches.iter_mut().for_each(|branch| branch.both &= !lanes);
        if state.active == 0 {
            self.leave(warp);
        }
    }

    /// A write that is looked at in the end.
    fn unseen(&mut self, warp: u32) {
        let first = 0x10_0000 + self.private.len() as u64 * 128;
        self.private.push(first);
        let lanes = self.warps[warp as usize].active;
        let access = Access {
            kind: Kind::Write,
            lanes,
            shared: false,
            size: 4,
            elements: 1,
            at: At::Consecutive(first),
            values: Box::new([0; 32]),
            role: Role::default(),
        };
        self.ops.push(Op::Access(warp, access));
    }

    /// Everybody reads all that somebody else has written: reports say what is ordered behind what.
    fn look(&mut self) {
        for warp in 0..self.warps.len() as u32 {
            for first in self.private.clone() {
                let lanes = self.warps[warp as usize].active;
                if lanes == 0 {
                    continue;
                }
                for lane in 0..32 {
                    let access = Access {
                        kind: Kind::Read,
                        lanes: 1 << lanes.trailing_zeros(),
                        shared: false,
                        size: 4,
                        elements: 1,
                        at: At::Same(first + lane * 4),
                        values: Box::new([0; 32]),
                        role: Role::default(),
                    };
                    self.ops.push(Op::Access(warp, access));
                }
            }
        }
    }

    fn access(&mut self, warp: u32) {
        let active = self.warps[warp as usize].active;
        let random = &mut self.random;
        let lanes = if random.one_in(3) { random.some(active) & active } else { active };
        let shared = random.one_in(3);
        let size = random.pick(&[1, 2, 4, 4, 4, 8]);
        let atomic = |r: &mut Random| Kind::Atomic(r.pick(&[AtomOp::Add, AtomOp::Cas, AtomOp::Exch]));
        let kind = match random.below(6) {
            0..=2 => Kind::Read,
            3 | 4 => Kind::Write,
            _ => atomic(random),
        };
        let elements = if matches!(kind, Kind::Atomic(_)) { 1 } else { random.pick(&[1, 1, 1, 2, 4]) };
        let bytes = u64::from(size * elements);
        let base = if shared { 0x40 } else { 0x1040 };
        let place = |r: &mut Random, span: u64| base + r.below(span / bytes) * bytes;
        let at = match random.below(5) {
            0 => At::Consecutive(place(random, 128)),
            1 => At::Same(place(random, 64)),
            2 => At::Each(Box::new(std::array::from_fn(|_| place(random, 160)))),
            3 => {
                // Gaps between lanes, and most often lanes of several rows.
                let (first, width) = (place(random, 64), random.pick(&[4, 8, if shared { 8 } else { 32 }]));
                let step = bytes * random.pick(if shared { &[2, 2, 2, 2] } else { &[2, 4, 8, 16] });
                At::Each(Box::new(std::array::from_fn(|lane| first + lane as u64 % width * step)))
            }
            _ => {
                let (first, width) = (place(random, 64), random.pick(&[2, 3, 8, 16]));
                At::Each(Box::new(std::array::from_fn(|lane| first + lane as u64 % width * bytes)))
            }
        };
        let values = match random.below(3) {
            0 => [random.below(2) * 0x0101_0101_0101_0101; 32],
            1 => std::array::from_fn(|_| random.below(2) * 0x0100_0001),
            _ => std::array::from_fn(|_| random.next()),
        };
        let mut access = Access {
            kind,
            lanes,
            shared,
            size,
            elements,
            at,
            values: Box::new(values),
            role: Role::default(),
        };
        if random.one_in(self.synchronises) {
            let reach = |r: &mut Random| Some(r.pick(&[Reach::Block, Reach::Grid]));
            access.role = match kind {
                Kind::Read => Role { acquire: reach(random), ..Role::default() },
                Kind::Write => Role { release: reach(random), ..Role::default() },
                Kind::Atomic(_) => Role { acquire: reach(random), release: reach(random), ..Role::default() },
            };
            // Few locations, so that they are found again.
            access.at = At::Same(base + random.below(2) * 8);
            if random.one_in(8) {
                access.at = At::Each(Box::new(std::array::from_fn(|_| base + random.below(4) * 8)));
            }
            if random.one_in(2) {
                access.lanes = 1 << access.lanes.trailing_zeros();
            }
        }
        self.ops.push(Op::Access(warp, access));
    }
}

/// The detector's reports and the reference's are the same.
fn agree(seed: u64, steps: u64) -> usize {
    let mut maker = Maker::new(seed);
    maker.make(steps);
    if std::env::var("BUGAROO_SHOW").is_ok() {
        maker.ops.iter().enumerate().for_each(|(site, op)| println!("{site}: {op:?}"));
    }
    let mut reference = Reference::new(maker.size());
    maker.ops.iter().enumerate().for_each(|(site, op)| reference.step(site as u32, op));
    let mut run = Run::all(maker.size(), &maker.ops);
    let (mut writes, mut after_reads) = (BTreeSet::new(), BTreeSet::new());
    for found in run.findings() {
        let (first, second) = (found.first.site - FIRST, found.second.site - FIRST);
        let race = Race { first, second, class: class_number(found.class) };
        let expected = if race.class == 1 { Found::BranchOrder } else { Found::Race };
        assert_eq!(found.kind, expected, "seed {seed}: {found:?}");
        if found.first.kind == AccessKind::Load {
            after_reads.insert(second);
            assert!(reference.reads.contains(&race), "seed {seed}: no such race: {found:?}");
        } else {
            writes.insert(race);
        }
    }
    assert_eq!(writes, reference.writes, "seed {seed}");
    assert_eq!(after_reads, reference.after_reads, "seed {seed}");
    assert!(run.detector.clock_use().bytes > 0 || run.detector.clock_use().threads == 0);
    writes.len() + after_reads.len()
}

#[test]
fn the_compressed_detector_and_the_full_clocks_agree() {
    let traces = std::env::var("BUGAROO_TRACES").ok().and_then(|n| n.parse().ok()).unwrap_or(10_000);
    let (mut races, mut clean) = (0, 0);
    let first = std::env::var("BUGAROO_FIRST").ok().and_then(|n| n.parse().ok()).unwrap_or(0);
    for seed in first..first + traces {
        let found = agree(seed, 10 + seed % 70);
        races += found;
        clean += u64::from(found == 0);
    }
    println!("{traces} traces agree: {races} races, {clean} traces without any");
    assert!(races as u64 > traces && clean > traces / 100, "{races} races, {clean} clean");
}
