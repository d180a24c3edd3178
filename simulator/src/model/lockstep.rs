//! Lockstep under a memory model: a warp's instructions are done one after another by all its lanes, as before Volta,
//! and what one has stored the others see in the next.
//!
//! Programs of that time leave out `__syncwarp()` where lanes of one warp talk to each other. So here it is put in: before
//! whatever reads, writes or orders memory, and after something of its warp has, the model under this one is told of a
//! warp barrier of all lanes that have not ended. That is right for models whose warp barrier orders for the lanes alone that meet
//! at it ([`super::ptx`]). One whose barrier shows stores to others, too ([`super::store_buffer`]), would hide what
//! they may still miss, and sees to lockstep itself ([`MemoryModel::in_lockstep`]).

use super::{
    Accessed, At, Fence, MemoryModel, ModelCounts, ModelEvent, NextOperation, Shape, StaleLoads, World,
};

/// A model for warps that run in lockstep.
pub(crate) fn in_lockstep<'a>(mut model: Box<dyn MemoryModel + 'a>) -> Box<dyn MemoryModel + 'a> {
    if model.in_lockstep() { model } else { Box::new(Lockstep::new(model)) }
}

/// A memory model for warps in lockstep.
pub(crate) struct Lockstep<'a> {
    under: Box<dyn MemoryModel + 'a>,
    shape: Option<Shape>,
    /// By warp slot.
    warps: Vec<Warp>,
}

#[derive(Clone, Copy, Default)]
struct Warp {
    /// Lanes that have not ended.
    alive: u32,
    /// It has accessed memory since the last barrier.
    accessed: bool,
}

impl<'a> Lockstep<'a> {
    pub fn new(under: Box<dyn MemoryModel + 'a>) -> Lockstep<'a> {
        Lockstep { under, shape: None, warps: Vec::new() }
    }

    /// One step of the barrier; answers whether it is over.
    fn meet(&mut self, at: &At, world: &mut World<'_>) -> bool {
        let warp = self.warps[at.warp as usize];
        if !warp.accessed {
            return true;
        }
        let all = At { lanes: warp.alive, ..*at };
        if self.under.event(&all, ModelEvent::WarpBarrier, world) == NextOperation::Again {
            return false;
        }
        self.under.released(&all, None);
        self.warps[at.warp as usize].accessed = false;
        true
    }

    fn after(&mut self, at: &At, step: NextOperation) -> NextOperation {
        if step != NextOperation::Again {
            self.warps[at.warp as usize].accessed = true;
        }
        step
    }
}

impl MemoryModel for Lockstep<'_> {
    fn begin(&mut self, shape: &Shape) {
        self.shape = Some(*shape);
        self.warps = vec![Warp::default(); shape.warps as usize];
        self.under.begin(shape);
    }

    fn start_block(&mut self, cta: u32, block: u64) {
        if let Some(shape) = self.shape {
            let first = (cta * shape.warps_per_cta) as usize;
            for (index, warp) in
                self.warps[first..first + shape.warps_per_cta as usize].iter_mut().enumerate()
            {
                let lanes = shape.threads_per_cta.saturating_sub(index as u32 * 32).min(32);
                let alive = u32::MAX.checked_shr(32 - lanes).unwrap_or(0);
                *warp = Warp { alive, accessed: false };
            }
        }
        self.under.start_block(cta, block);
    }

    fn end_block(&mut self, cta: u32, world: &mut World<'_>) {
        self.under.end_block(cta, world);
    }

    fn turn_begins(&self, warp: u32) {
        self.under.turn_begins(warp);
    }

    fn passes_load(&self, at: &At) -> bool {
        !self.warps[at.warp as usize].accessed && self.under.passes_load(at)
    }

    fn passes_quiet_load(&self, at: &At) -> bool {
        self.under.passes_quiet_load(at)
    }

    fn load(&mut self, at: &At, access: &Accessed<'_>, world: &mut World<'_>) -> NextOperation {
        if !self.meet(at, world) {
            return NextOperation::Again;
        }
        let step = self.under.load(at, access, world);
        self.after(at, step)
    }

    fn store(&mut self, at: &At, access: &Accessed<'_>, world: &mut World<'_>) -> NextOperation {
        if !self.meet(at, world) {
            return NextOperation::Again;
        }
        let step = self.under.store(at, access, world);
        self.after(at, step)
    }

    fn atomic(&mut self, at: &At, access: &Accessed<'_>, world: &mut World<'_>) -> NextOperation {
        if !self.meet(at, world) {
            return NextOperation::Again;
        }
        let step = self.under.atomic(at, access, world);
        self.after(at, step)
    }

    fn fence(&mut self, at: &At, fence: Fence, world: &mut World<'_>) -> NextOperation {
        if !self.meet(at, world) {
            return NextOperation::Again;
        }
        self.under.fence(at, fence, world)
    }

    fn event(&mut self, at: &At, event: ModelEvent, world: &mut World<'_>) -> NextOperation {
        if !self.meet(at, world) {
            return NextOperation::Again;
        }
        let step = self.under.event(at, event, world);
        match (step, event) {
            (NextOperation::Again, _) => {}
            (_, ModelEvent::Exit) => self.warps[at.warp as usize].alive &= !at.lanes,
            (_, ModelEvent::Opaque) => self.warps[at.warp as usize].accessed = true,
            _ => {}
        }
        step
    }

    fn arrived(&mut self, at: &At, barrier: u32) {
        self.under.arrived(at, barrier);
    }

    fn released(&mut self, at: &At, barrier: Option<u32>) {
        self.under.released(at, barrier);
    }

    fn is_restless(&self) -> bool {
        self.under.is_restless()
    }

    fn holds_back(&self, cta: u32, address: u64, bytes: u32) -> bool {
        self.under.holds_back(cta, address, bytes)
    }

    fn settle(&mut self, world: &mut World<'_>) {
        self.under.settle(world);
    }

    fn others_ran(&mut self) {
        self.under.others_ran();
    }

    fn others_run(&mut self, run: bool) {
        self.under.others_run(run);
    }

    fn stale_reads(&self) -> Vec<StaleLoads> {
        self.under.stale_reads()
    }

    fn counts(&self) -> ModelCounts {
        self.under.counts()
    }
}
