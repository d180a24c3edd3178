//! What a look sees: a memory model around the launch's own, if it has one, that passes everything on and takes notes.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::decoded::{Asynchronous, BarrierAction, Kind};
use crate::exec::data::lanes;
use crate::load::Program;
use crate::model::{
    Accessed, At, Fence, MemoryModel, ModelCounts, ModelEvent, NextOperation, Shape, StaleLoads, World,
};

/// What some lanes of a warp read by one instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Read {
    pub lanes: u32,
    /// Of the lowest lane: where, how many bytes, what memory held.
    pub lane: u32,
    pub address: u64,
    pub bytes: u32,
    pub value: u64,
}

/// The notes.
pub(super) struct Watched<'a> {
    /// The launch's own model.
    pub under: Option<Box<dyn MemoryModel + 'a>>,
    program: &'a Program,
    /// Memory holds something that it did not hold before, a thread has ended, or something happened that is not looked into.
    pub changed: bool,
    /// Something depends on more than memory and registers.
    pub unproven: bool,
    pub lanes: Noted,
    pub exchange: Exchange,
    /// By instruction and warp slot.
    pub reads: FxHashMap<(u32, u32), Read>,
    /// An instruction has read from one place and then from another.
    pub wandering: bool,
}

/// Lanes by warp slot.
pub(super) struct Noted {
    /// Lanes, by warp slot, that have executed something since the last sample, and since the anchor.
    pub ran: Vec<u32>,
    pub since: Vec<u32>,
    /// Lanes that a barrier has let go on since the look began.
    pub let_go: Vec<u32>,
    /// Lanes that stay at an instruction, or have read something that memory does not hold, since the anchor.
    pub tainted: Vec<u32>,
}

/// Warps whose lanes have passed values to each other.
pub(super) struct Exchange {
    /// Warps whose lanes have passed values to each other, and whether that is known already.
    pub joint: Vec<bool>,
    pub was_joint: Vec<bool>,
}

impl<'a> Watched<'a> {
    pub fn new(program: &'a Program, under: Option<Box<dyn MemoryModel + 'a>>, warps: usize) -> Self {
        Watched {
            under,
            program,
            changed: false,
            unproven: false,
            lanes: Noted {
                ran: vec![0; warps],
                since: vec![0; warps],
                let_go: vec![0; warps],
                tainted: vec![0; warps],
            },
            exchange: Exchange { joint: vec![false; warps], was_joint: vec![false; warps] },
            reads: FxHashMap::default(),
            wandering: false,
        }
    }

    /// Notes where the lanes read, and what memory holds there.
    fn reads(&mut self, at: &At, access: &Accessed<'_>) {
        let lane = at.lanes.trailing_zeros();
        let (address, value) = (access.address(lane as usize), access.read(lane as usize, 0));
        let read = Read { lanes: at.lanes, lane, address, bytes: access.bytes(), value };
        let known = self.reads.entry((at.pc, at.warp)).or_insert(read);
        let lanes = known.lanes | at.lanes;
        self.wandering |= known.lane == lane && known.address != address;
        *known = Read { lanes, ..if lane <= known.lane { read } else { *known } };
    }

    /// The answer of a hook: who has executed the instruction.
    fn after(&mut self, at: &At, step: NextOperation) -> NextOperation {
        let w = at.warp as usize;
        match step {
            NextOperation::Again | NextOperation::DoAndStay(_) => self.lanes.tainted[w] |= at.lanes,
            NextOperation::Do(_) => self.lanes.ran[w] |= at.lanes,
        }
        step
    }

    /// Asks the launch's own model, if there is one.
    fn ask(
        &mut self,
        world: &mut World<'_>,
        otherwise: NextOperation,
        hook: impl FnOnce(&mut dyn MemoryModel, &mut World<'_>) -> NextOperation,
    ) -> NextOperation {
        let Some(under) = &mut self.under else { return otherwise };
        let before = std::mem::take(&mut world.changed);
        let step = hook(&mut **under, world);
        self.changed |= world.changed;
        world.changed |= before;
        step
    }

    fn event(&mut self, at: &At, event: ModelEvent) {
        let inst = &self.program.code[at.pc as usize];
        match event {
            ModelEvent::Exit | ModelEvent::Opaque => self.changed = true,
            ModelEvent::Barrier => match self.program.barriers[inst.extra as usize].action {
                BarrierAction::Sync => {}
                BarrierAction::Arrive => self.changed = true,
                BarrierAction::Reduce(..) => self.unproven = true,
            },
            ModelEvent::WarpBarrier => {}
            ModelEvent::Collective => match inst.kind {
                Kind::Collective => self.exchange.joint[at.warp as usize] = true,
                // Waiting for an mbarrier or the cluster gives no values.
                Kind::ClusterBarrier => {}
                Kind::Asynchronous
                    if matches!(self.program.asyncs[inst.extra as usize], Asynchronous::Mbarrier { .. }) => {}
                _ => self.unproven = true,
            },
        }
    }
}

/// The model that takes notes.
pub(super) struct Watch<'a> {
    watched: Rc<RefCell<Watched<'a>>>,
}

impl<'a> Watch<'a> {
    pub fn new(watched: Rc<RefCell<Watched<'a>>>) -> Self {
        Watch { watched }
    }
}

fn cut(value: u128, bytes: u32) -> u64 {
    value as u64 & (u64::MAX >> (64 - 8 * bytes.clamp(1, 8)))
}

impl MemoryModel for Watch<'_> {
    fn begin(&mut self, _shape: &Shape) {
        unreachable!("a look begins after its launch");
    }

    fn start_block(&mut self, cta: u32, block: u64) {
        let watched = &mut *self.watched.borrow_mut();
        watched.changed = true;
        if let Some(under) = &mut watched.under {
            under.start_block(cta, block);
        }
    }

    fn end_block(&mut self, cta: u32, world: &mut World<'_>) {
        let watched = &mut *self.watched.borrow_mut();
        watched.changed = true;
        if let Some(under) = &mut watched.under {
            under.end_block(cta, world);
        }
    }

    fn passes_quiet_load(&self, at: &At) -> bool {
        self.watched.borrow().under.as_ref().is_none_or(|under| under.passes_quiet_load(at))
    }

    fn load(&mut self, at: &At, access: &Accessed<'_>, world: &mut World<'_>) -> NextOperation {
        let watched = &mut *self.watched.borrow_mut();
        watched.reads(at, access);
        let passes = access.found.quiet || watched.under.as_ref().is_none_or(|under| under.passes_load(at));
        let run = NextOperation::run(at.lanes);
        let step =
            if passes { run } else { watched.ask(world, run, |under, world| under.load(at, access, world)) };
        if let Some((done, _)) = step.done() {
            let other = lanes(done.taken()).filter(|lane| !access.gave_what_memory_holds(*lane));
            let other = other.fold(0, |lanes, lane| lanes | 1 << lane);
            watched.lanes.tainted[at.warp as usize] |= other;
        }
        watched.after(at, step)
    }

    fn store(&mut self, at: &At, access: &Accessed<'_>, world: &mut World<'_>) -> NextOperation {
        let watched = &mut *self.watched.borrow_mut();
        let differs = |lane| {
            (0..access.elements).any(|element| access.value(lane, element) != access.read(lane, element))
        };
        watched.changed |= lanes(at.lanes).any(differs);
        let step =
            watched.ask(world, NextOperation::run(at.lanes), |under, world| under.store(at, access, world));
        watched.after(at, step)
    }

    fn atomic(&mut self, at: &At, access: &Accessed<'_>, world: &mut World<'_>) -> NextOperation {
        let watched = &mut *self.watched.borrow_mut();
        watched.reads(at, access);
        let differs = |lane| {
            let old = access.read(lane, 0);
            access.size > 8 || cut(access.combine(lane, old.into()), access.size) != old
        };
        watched.changed |= lanes(at.lanes).any(differs);
        let step =
            watched.ask(world, NextOperation::run(at.lanes), |under, world| under.atomic(at, access, world));
        watched.after(at, step)
    }

    fn fence(&mut self, at: &At, fence: Fence, world: &mut World<'_>) -> NextOperation {
        let watched = &mut *self.watched.borrow_mut();
        let otherwise = NextOperation::run(at.lanes);
        let step = watched.ask(world, otherwise, |under, world| under.fence(at, fence, world));
        watched.after(at, step)
    }

    fn event(&mut self, at: &At, event: ModelEvent, world: &mut World<'_>) -> NextOperation {
        let watched = &mut *self.watched.borrow_mut();
        watched.event(at, event);
        let step =
            watched.ask(world, NextOperation::run(at.lanes), |under, world| under.event(at, event, world));
        watched.after(at, step)
    }

    fn arrived(&mut self, at: &At, barrier: u32) {
        if let Some(under) = &mut self.watched.borrow_mut().under {
            under.arrived(at, barrier);
        }
    }

    fn released(&mut self, at: &At, barrier: Option<u32>) {
        let watched = &mut *self.watched.borrow_mut();
        watched.lanes.let_go[at.warp as usize] |= at.lanes;
        if let Some(under) = &mut watched.under {
            under.released(at, barrier);
        }
    }

    fn holds_back(&self, cta: u32, address: u64, bytes: u32) -> bool {
        self.watched.borrow().under.as_ref().is_some_and(|under| under.holds_back(cta, address, bytes))
    }

    fn settle(&mut self, world: &mut World<'_>) {
        if let Some(under) = &mut self.watched.borrow_mut().under {
            under.settle(world);
        }
    }

    fn others_ran(&mut self) {
        if let Some(under) = &mut self.watched.borrow_mut().under {
            under.others_ran();
        }
    }

    fn others_run(&mut self, run: bool) {
        if let Some(under) = &mut self.watched.borrow_mut().under {
            under.others_run(run);
        }
    }

    fn stale_reads(&self) -> Vec<StaleLoads> {
        self.watched.borrow().under.as_ref().map(|under| under.stale_reads()).unwrap_or_default()
    }

    fn counts(&self) -> ModelCounts {
        self.watched.borrow().under.as_ref().map(|under| under.counts()).unwrap_or_default()
    }
}
