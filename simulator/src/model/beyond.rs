//! What the device holds back from everybody beyond it: from other devices.
//!
//! Source: scopes of the memory consistency model (PTX ISA, "Scope"). `.gpu` takes in the threads of one device. So what a
//! thread has stored and orders by a fence or a release of that scope its own device sees, and others need not: that takes
//! `.sys` (`__threadfence_system()`).
//!
//! The model under this one decides when a store becomes visible to the device. Of these stores half, by coin, are held for a
//! while more: the device's threads see them, memory does not have them yet. All that is held goes to memory before a thread of
//! the device orders at system scope (it may be ordered behind any of it: cumulativity) or does what the model does not look into; what is held of
//! certain bytes, before a thread of the device accesses them by an instruction that goes to memory, and before an atomic of
//! any scope; everything when the grid ends, when it is settled ([`MemoryModel::settle`]: another grid of its device
//! goes on), and after some thousand hooks at the latest.
//!
//! # What it can miss
//! - Loads are not late, and a store that the model under this one does not delay is visible to all at once.
//! - Atomics of device scope are atomic for everybody.
//! - A grid that ends shows all of its stores.

use bugaroo_semantics::effect::{drains, scope_of};

use super::held::Held;
use super::{
    Accessed, At, Fence, MemoryModel, ModelCounts, ModelEvent, NextOperation, Poll, Shape, StaleLoads, World,
};
use crate::exec::lanes;
use bugaroo_ptx::op::FenceKind;
use bugaroo_ptx::types::{Scope, Semantics};

/// A model for a launch at whose stores others than its device may look while it runs. `seed`: what decides which are held.
pub fn held_from_beyond(model: Box<dyn MemoryModel>, seed: u64) -> Box<dyn MemoryModel> {
    Box::new(Beyond { under: model, held: Some(Box::new(Held::new(seed))), blocks: 0, ended: 0 })
}

struct Beyond {
    under: Box<dyn MemoryModel>,
    /// None while the world has it.
    held: Option<Box<Held>>,
    blocks: u64,
    /// Blocks that have ended.
    ended: u64,
}

/// Whether an access orders for everybody what came before it.
fn orders_for_all(semantics: Semantics) -> bool {
    drains(semantics) && scope_of(semantics).is_none_or(|scope| scope == Scope::Sys)
}

impl Beyond {
    fn is_empty(&self) -> bool {
        self.held.as_ref().is_none_or(|held| held.is_empty())
    }

    /// Calls the model under this one. `takes`: what it writes may be held.
    fn under<T>(
        &mut self,
        takes: bool,
        world: &mut World<'_>,
        hook: impl FnOnce(&mut dyn MemoryModel, &mut World<'_>) -> T,
    ) -> T {
        world.held = self.held.take();
        if let Some(held) = &mut world.held {
            held.takes = takes;
        }
        let answer = hook(&mut *self.under, world);
        self.held = world.held.take();
        answer
    }

    /// Everything that is held goes to memory.
    fn empty(&mut self, world: &mut World<'_>) {
        let Some(held) = &mut self.held else { return };
        while let Some(entry) = held.take_any() {
            world.write(0, entry.address, entry.bytes, entry.value);
        }
    }

    /// A hook is called: what is due goes to memory.
    fn begin(&mut self, world: &mut World<'_>) {
        let Some(held) = &mut self.held else { return };
        if held.count() {
            while let Some(entry) = held.take_due() {
                world.write(0, entry.address, entry.bytes, entry.value);
            }
        }
    }

    /// What is held of the bytes that these lanes access goes to memory.
    fn show(&mut self, among: u32, access: &Accessed<'_>, world: &mut World<'_>) {
        let Some(held) = &mut self.held else { return };
        if held.is_empty() {
            return;
        }
        let bytes = access.bytes();
        for lane in lanes(among) {
            while let Some(entry) = held.take_overlapping(access.address(lane), bytes) {
                world.write(0, entry.address, entry.bytes, entry.value);
            }
        }
    }

    /// The same for those lanes for which the engine does the instruction.
    fn show_run(
        &mut self,
        step: NextOperation,
        access: &Accessed<'_>,
        world: &mut World<'_>,
    ) -> NextOperation {
        if let Some((lanes, _)) = step.done() {
            self.show(lanes.run(), access, world);
        }
        step
    }

    /// Before something that orders for everybody, or is not looked into.
    fn order(
        &mut self,
        world: &mut World<'_>,
        hook: impl FnOnce(&mut dyn MemoryModel, &mut World<'_>) -> NextOperation,
    ) -> NextOperation {
        self.empty(world);
        self.under(false, world, hook)
    }
}

impl MemoryModel for Beyond {
    fn in_lockstep(&mut self) -> bool {
        self.under.in_lockstep()
    }

    fn begin(&mut self, shape: &Shape) {
        self.blocks = shape.blocks;
        self.under.begin(shape);
    }

    fn start_block(&mut self, cta: u32, block: u64) {
        self.under.start_block(cta, block);
    }

    fn end_block(&mut self, cta: u32, world: &mut World<'_>) {
        self.under(true, world, |under, world| under.end_block(cta, world));
        self.ended += 1;
        if self.ended == self.blocks {
            self.empty(world);
        }
    }

    fn passes_load(&self, at: &At) -> bool {
        self.is_empty() && self.under.passes_load(at)
    }

    fn polls(&mut self, at: &At, poll: &Poll, times: u32) -> bool {
        let polls = self.is_empty() && self.under.polls(at, poll, times);
        if let Some(held) = self.held.as_mut().filter(|_| polls && poll.atomic) {
            held.count_idle(times);
        }
        polls
    }

    fn load(&mut self, at: &At, access: &Accessed<'_>, world: &mut World<'_>) -> NextOperation {
        self.begin(world);
        if drains(access.semantics) {
            return self.order(world, |under, world| under.load(at, access, world));
        }
        let step = self.under(true, world, |under, world| under.load(at, access, world));
        self.show_run(step, access, world)
    }

    fn store(&mut self, at: &At, access: &Accessed<'_>, world: &mut World<'_>) -> NextOperation {
        self.begin(world);
        if orders_for_all(access.semantics) {
            return self.order(world, |under, world| under.store(at, access, world));
        }
        let step = self.under(true, world, |under, world| under.store(at, access, world));
        self.show_run(step, access, world)
    }

    fn atomic(&mut self, at: &At, access: &Accessed<'_>, world: &mut World<'_>) -> NextOperation {
        self.begin(world);
        if orders_for_all(access.semantics) {
            return self.order(world, |under, world| under.atomic(at, access, world));
        }
        let step = self.under(true, world, |under, world| under.atomic(at, access, world));
        // Stores that drain before it may be held. What it reads and writes itself is memory's, whoever does it.
        self.show(at.lanes, access, world);
        step
    }

    fn fence(&mut self, at: &At, fence: Fence, world: &mut World<'_>) -> NextOperation {
        self.begin(world);
        if fence.scope == Scope::Sys || fence.kind == FenceKind::Proxy {
            return self.order(world, |under, world| under.fence(at, fence, world));
        }
        self.under(true, world, |under, world| under.fence(at, fence, world))
    }

    fn event(&mut self, at: &At, event: ModelEvent, world: &mut World<'_>) -> NextOperation {
        self.begin(world);
        match event {
            ModelEvent::Opaque => self.order(world, |under, world| under.event(at, event, world)),
            _ => self.under(true, world, |under, world| under.event(at, event, world)),
        }
    }

    fn arrived(&mut self, at: &At, barrier: u32) {
        self.under.arrived(at, barrier);
    }

    fn released(&mut self, at: &At, barrier: Option<u32>) {
        self.under.released(at, barrier);
    }

    fn is_restless(&self) -> bool {
        !self.is_empty() || self.under.is_restless()
    }

    fn holds_back(&self, cta: u32, address: u64, bytes: u32) -> bool {
        self.held.as_ref().is_some_and(|held| held.has(address, bytes))
            || self.under.holds_back(cta, address, bytes)
    }

    fn settle(&mut self, world: &mut World<'_>) {
        self.under.settle(world);
        self.empty(world);
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
