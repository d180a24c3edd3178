//! Relaxed arrivals and waits at mbarriers (PTX ISA, "mbarrier.arrive" and "mbarrier.try_wait" with `.relaxed`): they count and wait like others, and
//! order no memory by themselves.
//!
//! A fence before a relaxed arrival releases what came before the fence, and one behind a relaxed wait acquires what the phase has brought (PTX ISA,
//! "Release and Acquire Patterns"). So of a thread it is kept what its last fence released, and what it has seen since. In time they order as
//! others do: the rules of well-synchronised programs hold by that.

use super::clocks::join;
use super::state::Machine;

/// Joins clocks, the first of which may have no components yet.
fn gather(into: &mut Vec<u32>, from: &[u32]) {
    into.resize(from.len().max(into.len()), 0);
    join(into, from);
}

impl Machine<'_> {
    /// A fence of memory, which is the registration `stamp`.
    pub(super) fn fence_memory(&mut self, chain: u32, stamp: u32) {
        let mut relaxed = self.runners[chain as usize].relaxed.take().unwrap_or_default();
        let runner = &mut self.runners[chain as usize];
        join(&mut runner.clock, &relaxed.seen.0);
        join(&mut runner.fenced, &relaxed.seen.1);
        relaxed.seen = Default::default();
        let (mut clock, mut fenced) = (vec![0; runner.clock.len()], vec![0; runner.fenced.len()]);
        self.contribute(chain, (stamp, true), &mut clock, &mut fenced);
        relaxed.released = (clock, fenced);
        self.runners[chain as usize].relaxed = Some(relaxed);
    }

    /// Joins what the last fence of a chain has released into an mbarrier's clocks.
    pub(super) fn contribute_released(&self, chain: u32, clock: &mut [u32], fenced: &mut [u32]) {
        if let Some(relaxed) = &self.runners[chain as usize].relaxed {
            join(clock, &relaxed.released.0);
            join(fenced, &relaxed.released.1);
        }
    }

    /// Joins what a chain has done before in time, up to the registration `stamp`, into a clock that may have no components yet.
    pub(super) fn gather_time(&self, chain: u32, stamp: u32, into: &mut Vec<u32>) {
        let runner = &self.runners[chain as usize];
        gather(into, &runner.clock);
        let time = self.layout.time_of(0);
        join(into, runner.fenced.get(time..).unwrap_or_default());
        into[chain as usize] = into[chain as usize].max(stamp);
    }

    /// A chain passes a relaxed wait for a phase with these clocks: it knows what is done in time, and the rest from its next fence on.
    pub(super) fn see(&mut self, chain: u32, clock: &[u32], fenced: &[u32]) {
        let time = self.layout.time_of(0);
        let runner = &mut self.runners[chain as usize];
        if let (Some(into), Some(from)) = (runner.fenced.get_mut(time..), fenced.get(time..)) {
            join(into, from);
            join(into, clock);
        }
        let relaxed = runner.relaxed.get_or_insert_default();
        gather(&mut relaxed.seen.0, clock);
        gather(&mut relaxed.seen.1, fenced);
    }
}
