//! A trace as the events that a detector is told.

use bugaroo_detectors::{Barracuda, RaceDetector, RaceFinding};
use bugaroo_ptx::types::Scope;
use bugaroo_semantics::Observer;
use bugaroo_semantics::event::{Access as Told, AccessKind, Event, Lanes, Shape, Values, WhoseBytes};
use bugaroo_semantics::inferred::Role;
use bugaroo_semantics::scope::Strength;

use crate::support::Size;
use crate::trace::{Access, Kind, Op};

pub const GRID: u32 = 7;
/// The site of a program's first instruction.
pub const FIRST: u32 = 100;

struct Of<'a>(&'a Access);

impl Values for Of<'_> {
    fn value(&self, lane: u32, element: u32) -> u128 {
        let bytes = (0..self.0.size).map(|byte| self.0.byte(lane, element * self.0.size + byte));
        bytes.rev().fold(0, |all, byte| all << 8 | u128::from(byte))
    }
}

/// A grid in a detector.
pub struct Run {
    pub detector: Barracuda,
    pub size: Size,
    alive: Vec<u32>,
}

impl Run {
    pub fn new(size: Size, roles: Vec<Role>) -> Run {
        Run::with(size, roles, true)
    }

    pub fn with(size: Size, roles: Vec<Role>, lockstep: bool) -> Run {
        Run::of(Barracuda::new(), size, roles, lockstep)
    }

    pub fn of(mut detector: Barracuda, size: Size, roles: Vec<Role>, lockstep: bool) -> Run {
        detector.learn(FIRST, roles);
        let shape = Shape {
            warps: size.blocks * size.warps(),
            ctas: size.blocks,
            warps_per_cta: size.warps(),
            threads_per_cta: size.threads,
            blocks: u64::from(size.blocks),
            cluster: 1,
            shared_bytes: 1024,
        };
        detector.event(&Event::GridBegin { grid: GRID, shape, lockstep, first_site: FIRST });
        for cta in 0..size.blocks {
            detector.event(&Event::BlockBegin { grid: GRID, cta, block: u64::from(cta) });
        }
        let alive = (0..size.blocks * size.warps()).map(|warp| size.lanes(warp)).collect();
        Run { detector, size, alive }
    }

    pub fn lanes(&self, warp: u32, mask: u32) -> Lanes {
        let (cta, index) = (warp / self.size.warps(), warp % self.size.warps());
        Lanes { grid: GRID, warp, cta, block: u64::from(cta), first: index * 32, mask }
    }

    pub fn event(&mut self, event: Event<'_>) {
        self.detector.event(&event);
    }

    pub fn access(&mut self, site: u32, warp: u32, access: &Access) {
        self.access_as(site, warp, access, matches!(access.kind, Kind::Atomic(_)));
    }

    /// As [`Run::access`], strong or not.
    pub fn access_as(&mut self, site: u32, warp: u32, access: &Access, strong: bool) {
        let by = self.lanes(warp, access.lanes);
        let kind = match access.kind {
            Kind::Read => AccessKind::Load,
            Kind::Write => AccessKind::Store,
            Kind::Atomic(op) => AccessKind::Atomic(op),
        };
        self.detector.access(&Told {
            by,
            site: FIRST + site,
            kind,
            strength: if strong { Strength::Strong(Scope::Gpu) } else { Strength::Weak },
            acquire: false,
            release: false,
            memory: if access.shared { WhoseBytes::Shared(by.cta) } else { WhoseBytes::Global },
            size: access.size,
            elements: access.elements,
            at: access.at.told(),
            wrote: if access.kind == Kind::Read { 0 } else { access.lanes },
            held: 0,
            own: 0,
            sourced: 0,
            numbers: None,
            values: &Of(access),
        });
    }

    pub fn step(&mut self, site: u32, op: &Op) {
        match *op {
            Op::Access(warp, ref access) => self.access(site, warp, access),
            Op::If { warp, lanes, taken, taken_first } => {
                let by = self.lanes(warp, lanes);
                let first = if taken_first { taken } else { lanes & !taken };
                self.event(Event::Split { by, site: FIRST + site, taken, first });
            }
            Op::Else { warp, lanes } => {
                let by = self.lanes(warp, lanes);
                self.event(Event::Else(by));
            }
            // Where all have exited on both sides nobody is left to tell of.
            Op::Fi { lanes: 0, .. } => {}
            Op::Fi { warp, lanes } => {
                let by = self.lanes(warp, lanes);
                self.event(Event::Join(by));
            }
            Op::Bar { block } => self.barrier(site, block),
            Op::Exit { warp, lanes } => {
                let by = self.lanes(warp, lanes);
                self.alive[warp as usize] &= !lanes;
                self.event(Event::Exit(by));
            }
        }
    }

    fn barrier(&mut self, site: u32, block: u32) {
        let warps = block * self.size.warps()..(block + 1) * self.size.warps();
        let there: Vec<Lanes> = warps
            .filter(|warp| self.alive[*warp as usize] != 0)
            .map(|warp| self.lanes(warp, self.alive[warp as usize]))
            .collect();
        for by in &there {
            self.event(Event::Arrive { by: *by, site: FIRST + site, barrier: 0, waits: true });
        }
        for by in there {
            self.event(Event::Leave { by, barrier: 0 });
        }
    }

    /// Runs all of it.
    pub fn all(size: Size, ops: &[Op]) -> Run {
        let role = |op: &Op| match op {
            Op::Access(_, access) => access.role,
            _ => Role::default(),
        };
        let mut run = Run::new(size, ops.iter().map(role).collect());
        ops.iter().enumerate().for_each(|(site, op)| run.step(site as u32, op));
        run
    }

    pub fn findings(&mut self) -> Vec<RaceFinding> {
        self.detector.take_findings()
    }
}
