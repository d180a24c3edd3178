//! Relaxed arrivals and waits at mbarriers (PTX ISA, "mbarrier.arrive" and "mbarrier.try_wait" with `.relaxed`): they count and wait like others, and
//! order no memory by themselves.
//!
//! A fence before a relaxed arrival releases what came before the fence, and one behind a relaxed wait acquires what the phase has brought (PTX ISA,
//! "Release and Acquire Patterns"). So of a thread it is kept what its last fence released, and what it has seen since. In time they order as
//! others do: the rules of well-synchronised programs hold by that.

use super::known::{Known, gather, join};
use super::state::Machine;

impl Machine<'_> {
    /// A fence of memory, which is the registration `stamp`.
    pub(super) fn fence_memory(&mut self, chain: u32, stamp: u32) {
        let mut relaxed = self.runners[chain as usize].relaxed.take().unwrap_or_default();
        self.runners[chain as usize].known.join(&std::mem::take(&mut relaxed.seen));
        relaxed.released = self.nothing();
        self.contribute(chain, (stamp, true), &mut relaxed.released);
        self.runners[chain as usize].relaxed = Some(relaxed);
    }

    /// Joins what the last fence of a chain has released into what an mbarrier knows.
    pub(super) fn contribute_released(&self, chain: u32, into: &mut Known) {
        if let Some(relaxed) = &self.runners[chain as usize].relaxed {
            into.join(&relaxed.released);
        }
    }

    /// Joins what a chain has done before in time, up to the registration `stamp`, into a clock that may have no components yet.
    pub(super) fn gather_time(&self, chain: u32, stamp: u32, into: &mut Vec<u32>) {
        let runner = &self.runners[chain as usize];
        gather(into, &runner.known.clock);
        let time = self.layout.time_of(0);
        join(into, runner.known.fenced.get(time..).unwrap_or_default());
        into[chain as usize] = into[chain as usize].max(stamp);
    }

    /// A chain passes a relaxed wait for a phase at which this was known: it knows what is done in time, and the rest from its next fence on.
    pub(super) fn see(&mut self, chain: u32, known: &Known) {
        let time = self.layout.time_of(0);
        let runner = &mut self.runners[chain as usize];
        if let (Some(into), Some(from)) = (runner.known.fenced.get_mut(time..), known.fenced.get(time..)) {
            join(into, from);
            join(into, &known.clock);
        }
        runner.relaxed.get_or_insert_default().seen.gather(known);
    }
}
