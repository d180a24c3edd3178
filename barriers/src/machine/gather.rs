//! How a warp arrives at a named barrier (PTX ISA, "bar, barrier"): the instruction makes the executing thread wait for all threads of
//! its warp that have not exited, and marks the warp's arrival, `.arrive` included. So chains come first, and when all that the warp has
//! left are there, the warp arrives: 32 threads, once. Then those that came by `arrive` go on.
//!
//! That wait orders nothing in memory: who came by `arrive` learns nothing of the others. But it does order time, and which use of a
//! barrier an arrival belongs to is a matter of time: a warp arrives when each of its threads has come or exited, so it is enough that
//! one of them knows that the earlier use is over. What such threads learn in time only is not handed on over other barriers: where
//! lanes of a warp part between their waits, an unsafe recycling can be reported that time rules out.
//!
//! The paper counts threads ([`crate::Program::with_paper_counts`]), and in lockstep a warp is always together: neither gathers.

use super::barrier::Comer;
use super::observer::Observer;
use super::part::Part;
use super::runner::State;
use super::state::Machine;
use crate::program::Count;
use crate::verdict::{Generation, Misuse, Recycling, RecyclingRule, Resource};

impl Machine<'_> {
    /// Whether warps have to gather at named barriers.
    pub(super) fn gathers(&self) -> bool {
        self.program.ptx_counts() && !self.program.warp_synchronous()
    }

    /// A chain comes to a named barrier.
    pub(super) fn come<O: Observer>(
        &mut self,
        chain: u32,
        index: u32,
        resource: Resource,
        count: Count,
        waits: bool,
        observer: &mut O,
    ) -> Result<(), Misuse> {
        let barrier = self.barrier(resource);
        let stamp = self.stamp(chain, index);
        let part = Part { chain, stamp, command: index, waits, orders: true };
        let warp = self.layout.chains[chain as usize].warp;
        self.comers[warp as usize].push(Comer { barrier, count, part });
        self.runners[chain as usize].state = State::Gathering(barrier);
        self.gather(warp, Some(chain), observer)
    }

    /// Lanes of a warp that have come to a barrier, and lanes that it has left.
    pub(super) fn gathered(&self, warp: u32, barrier: u32) -> (u32, u32) {
        let here = self.comers[warp as usize].iter().filter(|comer| comer.barrier == barrier);
        let here = here.fold(0, |lanes, comer| lanes | self.layout.chains[comer.part.chain as usize].lanes);
        (here, self.program.shape().lanes(warp) & !self.gone.lanes[warp as usize])
    }

    /// Lets a warp arrive, if all that it has left have come to one barrier.
    pub(super) fn gather<O: Observer>(
        &mut self,
        warp: u32,
        running: Option<u32>,
        observer: &mut O,
    ) -> Result<(), Misuse> {
        let Some(&Comer { barrier, part: first, .. }) = self.comers[warp as usize].first() else {
            return Ok(());
        };
        let (here, left) = self.gathered(warp, barrier);
        if here != left {
            return Ok(());
        }
        let mut comers = std::mem::take(&mut self.comers[warp as usize]);
        let last = &self.barriers[barrier as usize].before.needed;
        let known = |part: &Part| {
            self.came_before(first.chain, part, barrier)
                || comers.iter().any(|comer| self.knows_in_time(comer.part.chain, part))
        };
        if !last.iter().all(known) {
            // Who has exited did so before, and what it knew was over then.
            let gone = |chain: &u32| {
                let own = &self.layout.chains[*chain as usize];
                own.warp == warp && self.runners[*chain as usize].exited == u32::MAX
            };
            let mut knowers: Vec<u32> = comers.iter().map(|comer| comer.part.chain).collect();
            knowers.extend((0..self.layout.chains.len() as u32).filter(gone));
            self.check_recycling(&knowers, (first.chain, first.command), barrier);
        }
        for comer in &comers {
            let chain = comer.part.chain;
            let threads = self.layout.chains[chain as usize].lanes.count_ones();
            self.enrol(barrier, comer.part, comer.count, threads)?;
            if comer.part.waits {
                self.runners[chain as usize].state = State::AtBarrier(barrier);
            } else {
                self.runners[chain as usize].state = State::Ready;
                if Some(chain) != running {
                    self.ready.push_back(chain);
                }
            }
        }
        comers.clear();
        self.comers[warp as usize] = comers;
        let state = &mut self.barriers[barrier as usize];
        let bit = 1 << (warp % self.program.shape().warps_per_cta());
        if state.present.warps & bit != 0 {
            state.present.again = Some((first.chain, first.command));
        }
        state.present.weight += 32;
        state.present.warps |= bit;
        if state.present.again.is_some() && state.is_for_all() {
            self.twice_among_all(barrier);
        }
        // Counts are whole warps, so that never too many come.
        if self.is_complete(barrier).is_some() {
            self.complete(barrier, running, observer);
        }
        Ok(())
    }

    /// A warp has arrived twice at one use of a barrier for all threads: one of the two may be meant for another use, or there is one too
    /// many, as threads that exit are not waited for.
    #[cold]
    fn twice_among_all(&mut self, barrier: u32) {
        let Some((chain, command)) = self.barriers[barrier as usize].present.again.take() else { return };
        self.report_recycling(|machine| {
            let state = &machine.barriers[barrier as usize];
            let participants = machine.participants(&state.present.parts);
            Recycling {
                earlier: Generation {
                    resource: state.resource,
                    number: state.generation,
                    participants: participants.clone(),
                },
                later: state.generation + 1,
                place: machine.place(chain, command),
                knows_from: machine.runners[chain as usize].last_wait.map(|c| machine.place(chain, c)),
                unordered: participants,
                rule: RecyclingRule::EarlierComplete,
                count: 1,
            }
        });
    }

    /// Whether a participant of a named barrier's last generation is of the chain's own warp: what a warp does, it does one after the other.
    pub(super) fn came_before(&self, chain: u32, part: &Part, barrier: u32) -> bool {
        let warp = |chain: u32| self.layout.chains[chain as usize].warp;
        self.gathers()
            && matches!(self.barriers[barrier as usize].resource, Resource::Named { .. })
            && warp(chain) == warp(part.chain)
    }
}
