//! What chains know, and what they tell others: clocks.

use super::known::{Known, join};
use super::part::Part;
use super::state::Machine;

impl Machine<'_> {
    /// Whether the chain's own past is known to all its lanes: it has one lane, or runs in lockstep.
    pub(super) fn is_ordered_within(&self, chain: u32) -> bool {
        self.program.warp_synchronous() || self.layout.chains[chain as usize].lanes.is_power_of_two()
    }

    /// Makes a registration and says what a clock must have reached for it to be known.
    pub(super) fn stamp(&mut self, chain: u32, command: u32) -> u32 {
        let alone = self.is_ordered_within(chain);
        let lockstep = self.program.warp_synchronous();
        let runner = &mut self.runners[chain as usize];
        runner.registrations += 1;
        let stamp = if lockstep { command + 1 } else { runner.registrations };
        if alone {
            runner.known.clock[chain as usize] = stamp;
        }
        stamp
    }

    /// Joins what a chain knows and has done, with the registration `stamp`, into a barrier's clocks; where it `orders` nothing, which
    /// `mbarrier.init`s are fenced, and no more.
    pub(super) fn contribute(&self, chain: u32, (stamp, orders): (u32, bool), into: &mut Known) {
        let runner = &self.runners[chain as usize];
        if !orders {
            let inits = into.clock.len();
            if let (Some(into), Some(from)) = (into.fenced.get_mut(inits..), runner.known.fenced.get(inits..))
            {
                join(into, from);
            }
            self.join_time(chain, stamp, &mut into.fenced);
            return;
        }
        into.join(&runner.known);
        let clock = &mut into.clock;
        clock[chain as usize] = clock[chain as usize].max(stamp);
        for (kind, component) in self.layout.chains[chain as usize].groups.iter().enumerate() {
            if let Some(component) = component {
                let slot = &mut clock[*component as usize];
                *slot = (*slot).max(runner.copies.groups[kind].waited);
            }
        }
    }

    /// Joins what a chain knows and has done by now into the clock of time behind the others.
    pub(super) fn join_time(&self, chain: u32, stamp: u32, fenced: &mut [u32]) {
        let runner = &self.runners[chain as usize];
        let time = self.layout.time_of(0);
        if let (Some(into), Some(from)) = (fenced.get_mut(time..), runner.known.fenced.get(time..)) {
            join(into, from);
            join(into, &runner.known.clock);
            into[chain as usize] = into[chain as usize].max(stamp);
        }
    }

    /// Whether a registration happens before what the chain does next.
    pub(super) fn knows(&self, chain: u32, part: &Part) -> bool {
        self.runners[chain as usize].known.clock[part.chain as usize] >= part.stamp
    }

    /// Whether a registration comes before what the chain does next in time, whether memory follows or not.
    pub(super) fn knows_in_time(&self, chain: u32, part: &Part) -> bool {
        self.knows(chain, part)
            || self.in_time(&self.runners[chain as usize].known.fenced, part.chain) >= part.stamp
    }

    /// How much of a component is known to be done in time, by such a clock.
    pub(super) fn in_time(&self, fenced: &[u32], component: u32) -> u32 {
        fenced.get(self.layout.time_of(component)).copied().unwrap_or(0)
    }

    /// What a chain knows.
    pub(crate) fn clock(&self, chain: u32) -> &[u32] {
        &self.runners[chain as usize].known.clock
    }
}
