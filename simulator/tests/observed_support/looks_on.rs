//! A memory model that only looks on: every instruction is the engine's, by way of the hooks.

use bugaroo_semantics::event::Shape;
use bugaroo_simulator::model::{
    Accessed, At, Fence, MemoryModel, ModelCounts, ModelEvent, NextOperation, World,
};

/// See the head.
pub struct LooksOn;

impl MemoryModel for LooksOn {
    fn in_lockstep(&mut self) -> bool {
        true
    }

    fn only_looks_on(&self) -> bool {
        true
    }

    fn begin(&mut self, _shape: &Shape) {}

    fn start_block(&mut self, _cta: u32, _block: u64) {}

    fn end_block(&mut self, _cta: u32, _world: &mut World<'_>) {}

    fn passes_load(&self, _at: &At) -> bool {
        true
    }

    fn load(&mut self, at: &At, _access: &Accessed<'_>, _world: &mut World<'_>) -> NextOperation {
        NextOperation::run(at.lanes)
    }

    fn store(&mut self, at: &At, _access: &Accessed<'_>, _world: &mut World<'_>) -> NextOperation {
        NextOperation::run(at.lanes)
    }

    fn atomic(&mut self, at: &At, _access: &Accessed<'_>, _world: &mut World<'_>) -> NextOperation {
        NextOperation::run(at.lanes)
    }

    fn fence(&mut self, at: &At, _fence: Fence, _world: &mut World<'_>) -> NextOperation {
        NextOperation::run(at.lanes)
    }

    fn event(&mut self, at: &At, _event: ModelEvent, _world: &mut World<'_>) -> NextOperation {
        NextOperation::run(at.lanes)
    }

    fn counts(&self) -> ModelCounts {
        ModelCounts::default()
    }
}
