//! A trace as the events that the detector is told.

use bugaroo_detectors::hirace::HiraceOptions;
use bugaroo_detectors::{Hirace, RaceDetector, RaceFinding, Watched};
use bugaroo_ptx::op::AtomOp;
use bugaroo_ptx::types::Scope;
use bugaroo_semantics::Observer;
use bugaroo_semantics::event::{Access as Told, AccessKind, Event, Lanes, Shape, Values, WhoseBytes};
use bugaroo_semantics::history::Action;
use bugaroo_semantics::inferred::Role;
use bugaroo_semantics::scope::Strength;

use crate::support::Size;
use crate::trace::{Access, Op};

pub const GRID: u32 = 3;
/// The site of a program's first instruction.
pub const FIRST: u32 = 50;

struct Nothing;

impl Values for Nothing {
    fn value(&self, _lane: u32, _element: u32) -> u128 {
        0
    }
}

/// A grid in a detector.
pub struct Run {
    pub detector: Hirace,
    size: Size,
    alive: Vec<u32>,
    lockstep: bool,
}

impl Run {
    pub fn new(settings: HiraceOptions, size: Size, instructions: usize, lockstep: bool) -> Run {
        let mut detector = Hirace::new(settings);
        detector.learn_program(FIRST, &vec![Role::default(); instructions]);
        let mut run = Run { detector, size, alive: Vec::new(), lockstep };
        run.begin();
        run
    }

    /// The grid begins, perhaps again.
    pub fn begin(&mut self) {
        let size = self.size;
        let shape = Shape {
            warps: size.blocks * size.warps(),
            ctas: size.blocks,
            warps_per_cta: size.warps(),
            threads_per_cta: size.threads,
            blocks: u64::from(size.blocks),
            cluster: 1,
            shared_bytes: 1 << 14,
        };
        let lockstep = self.lockstep;
        self.detector.event(&Event::GridBegin { grid: GRID, shape, lockstep, first_site: FIRST });
        for cta in 0..size.blocks {
            self.detector.event(&Event::BlockBegin { grid: GRID, cta, block: u64::from(cta) });
        }
        self.alive = (0..size.blocks * size.warps()).map(|warp| size.lanes(warp)).collect();
    }

    pub fn lanes(&self, warp: u32, mask: u32) -> Lanes {
        let (cta, index) = (warp / self.size.warps(), warp % self.size.warps());
        Lanes { grid: GRID, warp, cta, block: u64::from(cta), first: index * 32, mask }
    }

    fn access(&mut self, site: u32, warp: u32, access: &Access) {
        if access.lanes == 0 {
            return;
        }
        let by = self.lanes(warp, access.lanes);
        let atomic = if access.is_load { AccessKind::Load } else { AccessKind::Atomic(AtomOp::Add) };
        let (kind, strength) = match access.action {
            Action::Read => (AccessKind::Load, Strength::Weak),
            Action::Write => (AccessKind::Store, Strength::Weak),
            Action::BlockAtomic => (atomic, Strength::Strong(Scope::Cta)),
            Action::GridAtomic => (atomic, Strength::Strong(Scope::Gpu)),
        };
        self.detector.access(&Told {
            by,
            site: FIRST + site,
            kind,
            strength,
            acquire: false,
            release: false,
            memory: if access.shared { WhoseBytes::Shared(by.cta) } else { WhoseBytes::Global },
            size: access.size,
            elements: access.elements,
            at: access.at.told(),
            wrote: if kind == AccessKind::Load { 0 } else { access.lanes },
            held: 0,
            own: 0,
            sourced: 0,
            numbers: None,
            values: &Nothing,
        });
    }

    pub fn event(&mut self, event: Event<'_>) {
        self.detector.event(&event);
    }

    pub fn step(&mut self, site: u32, op: &Op) {
        match op {
            Op::Access(warp, access) => self.access(site, *warp, access),
            Op::BlockBarrier(block) => {
                let warps = block * self.size.warps()..(block + 1) * self.size.warps();
                let alive = warps.filter(|warp| self.alive[*warp as usize] != 0);
                let there: Vec<Lanes> =
                    alive.map(|warp| self.lanes(warp, self.alive[warp as usize])).collect();
                for by in &there {
                    self.event(Event::Arrive { by: *by, site: FIRST + site, barrier: 0, waits: true });
                }
                there.into_iter().for_each(|by| self.event(Event::Leave { by, barrier: 0 }));
            }
            Op::WarpBarrier(warp, lanes) => {
                let by = self.lanes(*warp, *lanes);
                self.event(Event::WarpBarrier { by, site: FIRST + site });
            }
            Op::Exit(warp, lanes) => {
                self.alive[*warp as usize] &= !lanes;
                let by = self.lanes(*warp, *lanes);
                self.event(Event::Exit(by));
            }
        }
    }

    /// Runs all of it.
    pub fn all(size: Size, ops: &[Op]) -> Run {
        let mut run = Run::new(HiraceOptions::default(), size, ops.len(), false);
        ops.iter().enumerate().for_each(|(site, op)| run.step(site as u32, op));
        run
    }

    /// Runs all of it, and looks at a part.
    pub fn watching(watched: Watched, size: Size, ops: &[Op]) -> Run {
        let mut run = Run::new(HiraceOptions::default(), size, ops.len(), false);
        run.detector.watch(GRID, watched);
        run.begin();
        ops.iter().enumerate().for_each(|(site, op)| run.step(site as u32, op));
        run
    }

    pub fn findings(&mut self) -> Vec<RaceFinding> {
        self.detector.take_findings()
    }
}
