//! Arrivals that no use needs: at named barriers that never complete or that nobody waits at, and at mbarriers that nobody ever waits at or whose last phase
//! they leave unfinished.
//!
//! They do no harm, but somebody meant something by them. That the last phases of an mbarrier complete and nobody waits for these is how rings of
//! buffers end, so an mbarrier counts only if no phase of it is waited for.

use super::mbarrier::Mbarrier;
use super::part::Part;
use super::state::Machine;
use crate::verdict::{Generation, Resource};

impl Machine<'_> {
    fn use_of(&self, resource: Resource, number: u32, parts: &[Part]) -> Generation {
        Generation { resource, number, participants: self.participants(parts) }
    }

    /// Barriers that arrivals are left at in the end, which complete no use of them.
    pub(crate) fn unfinished(&self) -> Vec<Generation> {
        let left = self.barriers.iter().filter(|barrier| !barrier.present.parts.is_empty());
        let mut found: Vec<Generation> = left
            .map(|barrier| self.use_of(barrier.resource, barrier.generation, &barrier.present.parts))
            .collect();
        let mut mbarriers: Vec<_> =
            self.mbarriers.iter().filter(|(_, mbarrier)| mbarrier.arrivals().next().is_some()).collect();
        mbarriers.sort_by_key(|(address, _)| **address);
        for (address, mbarrier) in mbarriers {
            let parts: Vec<Part> = mbarrier.arrivals().copied().collect();
            found.push(self.use_of(Resource::Mbarrier { address: *address }, mbarrier.phase + 1, &parts));
        }
        found
    }

    /// Mbarriers with phases that are over, none of which anybody has waited for: the last one of each.
    pub(crate) fn never_waited(&self) -> Vec<Generation> {
        let mut found: Vec<_> = self.mbarriers.iter().filter(|(_, m)| m.is_never_waited()).collect();
        found.sort_by_key(|(address, _)| **address);
        let last = |(address, m): (&u32, &Mbarrier)| {
            self.use_of(Resource::Mbarrier { address: *address }, m.phase, &m.before.parts[0])
        };
        found.into_iter().map(last).collect()
    }
}
