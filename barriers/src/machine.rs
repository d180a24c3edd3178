//! One execution of the thread programs, with what is ordered in every execution.
//!
//! Source: PLDI 2015, section 3.3 (the barrier map), Figure 4 (well-synchronised) and section 5.2 (latest happens-before
//! points). One execution is run; each chain carries a clock: for every other chain, how many of its registrations at barriers
//! happen before what the chain does next (the paper's latest happens-before point). A barrier's clock joins those of its
//! participants, each with its own registration; who waits at it takes the barrier's clock over. So an access `a` happens
//! before `b` in every execution exactly if `b`'s clock counts the registration that follows `a`.
//! Earliest happens-after points are this relation read backwards; the race test needs only one of the two.
//!
//! Well-synchronised: whoever registers for generation k+1 of a barrier must know that generation k is complete. Figure 4 asks
//! for a path from some `sync` of generation k. A generation of arrivals alone has none, and then Figure 4 asks for nothing,
//! which is unsound (`arrive 0 2` twice in both of two threads). Here the question is whether all registrations of generation k
//! are known: the same where somebody syncs, and right where nobody does.
//!
//! Mbarriers: an arrival at phase k must know that phase k-1 is complete; a wait for phase k must know the same (the parity
//! would mean another phase), and phase k+1 must not complete before the wait was made (its parity would be the other again).
//! A copy's issue orders nothing of its thread's own accesses for those who wait for the copy: they need an arrival for that. But it
//! orders time, which is enough for these rules; what is known in time alone stands in a clock of its own.
//!
//! [`runner`] has what is known of a chain, [`barrier`] and [`mbarrier`] of those objects, [`state`] all of it together. Here each chain goes from
//! command to command; [`named`], [`gather`], [`phases`], [`relaxed`] and [`warpgroup`] say what these do.

use crate::chains::group_index;
use crate::program::{Count, Fenced, GroupKind, Opcode, Packed};
use crate::verdict::{Misuse, Resource};

mod barrier;
mod blocked;
mod clocks;
mod gather;
mod known;
mod mbarrier;
mod named;
mod observer;
mod part;
mod phases;
mod relaxed;
mod runner;
mod state;
mod surplus;
mod warpgroup;

pub(crate) use observer::{Context, Nobody, Observer};
pub(crate) use part::Part;
pub(crate) use state::{Machine, place};

use runner::State;

impl<'a> Machine<'a> {
    /// Runs until nobody can go on. A deadlock shows in [`Machine::is_done`].
    pub(crate) fn run<O: Observer>(&mut self, observer: &mut O) -> Result<(), Misuse> {
        while let Some(chain) = self.ready.pop_front() {
            self.run_chain(chain, observer)?;
        }
        Ok(())
    }

    fn run_chain<O: Observer>(&mut self, chain: u32, observer: &mut O) -> Result<(), Misuse> {
        let layout = self.layout;
        let (warp, lanes) = {
            let c = &layout.chains[chain as usize];
            (c.warp, c.lanes)
        };
        let commands = self.program.warps()[warp as usize].packed();
        let list = &layout.synchronising[warp as usize];
        loop {
            let runner = &mut self.runners[chain as usize];
            let Some(&index) = list.get(runner.at.next) else {
                if O::WANTS_ACCESSES {
                    self.observe(chain, commands.len(), None, observer);
                }
                let rest = lanes & !self.runners[chain as usize].exited;
                let rest = if self.program.has_open_end() { 0 } else { rest };
                self.exit(chain, rest, commands.len() as u32, observer)?;
                self.runners[chain as usize].state = State::Finished;
                if layout.chains[chain as usize].groups[group_index(GroupKind::Wgmma)].is_some() {
                    self.wake_warpgroup(chain);
                }
                return Ok(());
            };
            runner.at.next += 1;
            let command = &commands[index as usize];
            if command.lanes & lanes == 0 {
                continue;
            }
            if O::WANTS_ACCESSES {
                self.observe(chain, index as usize, None, observer);
            }
            self.step(chain, command, index, observer)?;
            if self.runners[chain as usize].state != State::Ready {
                return Ok(());
            }
        }
    }

    fn observe<O: Observer>(&mut self, chain: u32, upto: usize, phase: Option<(u32, u32)>, observer: &mut O) {
        let runner = &mut self.runners[chain as usize];
        let range = runner.at.accesses_from..upto;
        runner.at.accesses_from = upto;
        if range.is_empty() {
            return;
        }
        let own = &self.layout.chains[chain as usize];
        let mut context = Context {
            program: self.program,
            layout: self.layout,
            chain,
            own,
            epoch: runner.registrations,
            clock: &mut runner.known.clock,
            fenced: &runner.known.fenced,
            groups: runner.copies.groups,
            met_cluster: runner.cluster.met,
            phase,
        };
        observer.accesses(&mut context, range);
    }

    fn step<O: Observer>(
        &mut self,
        chain: u32,
        command: &Packed,
        index: u32,
        observer: &mut O,
    ) -> Result<(), Misuse> {
        let warp = self.layout.chains[chain as usize].warp;
        let cta = self.program.shape().cta_of(warp);
        let named = |id| Resource::Named { cta, id };
        match command.opcode() {
            Opcode::Sync | Opcode::Arrive => {
                let (count, waits) = (command.count(), command.opcode() == Opcode::Sync);
                if self.gathers() {
                    self.come(chain, index, named(command.a), count, waits, observer)?;
                } else {
                    self.register(chain, command, index, named(command.a), count, waits, observer)?;
                }
            }
            Opcode::WarpSync => self.warp_sync(chain, command, index, observer)?,
            Opcode::Exit => {
                let lanes = command.lanes & self.layout.chains[chain as usize].lanes;
                self.exit(chain, lanes, index, observer)?;
            }
            Opcode::ClusterArrive => {
                if self.runners[chain as usize].cluster.arrived.is_some() {
                    let place = self.place(chain, index);
                    return Err(Misuse::ClusterOrder { place });
                }
                let barrier = self.barrier(Resource::Cluster);
                let generation = self.barriers[barrier as usize].generation;
                self.runners[chain as usize].cluster.arrived = Some(generation);
                let all = Count::All;
                self.register(chain, command, index, Resource::Cluster, all, false, observer)?;
            }
            Opcode::ClusterWait => self.cluster_wait(chain, index, observer)?,
            Opcode::CommitGroup => {
                let runner = &mut self.runners[chain as usize];
                let kind = group_index(command.group());
                runner.copies.groups[kind].epoch += 1;
                runner.copies.commits[kind].push(runner.copies.groups[kind].epoch);
                if command.group() == GroupKind::Wgmma {
                    self.commit_warpgroup(chain, index);
                }
            }
            Opcode::WaitGroup if command.group() == GroupKind::Wgmma => self.wait_warpgroup(chain, command),
            Opcode::WaitGroup => self.wait_group(chain, command),
            Opcode::Fence => self.fence(chain, command, index),
            Opcode::Access => {
                let Some(address) = command.completion().mbarrier() else {
                    return Ok(());
                };
                let phase = self.complete_copy(chain, command, index, address, observer)?;
                if O::WANTS_ACCESSES {
                    self.observe(chain, index as usize + 1, Some(phase), observer);
                }
                self.advance_mbarrier(address, observer)?;
            }
            Opcode::MbarrierInit
            | Opcode::MbarrierInval
            | Opcode::MbarrierArrive
            | Opcode::MbarrierCompleteTx
            | Opcode::MbarrierWait
            | Opcode::CpAsyncArrive => self.mbarrier_step(chain, command, index, observer)?,
        }
        Ok(())
    }

    fn fence(&mut self, chain: u32, command: &Packed, index: u32) {
        // A registration of its own, so that accesses before and after it lie in different epochs.
        let stamp = self.stamp(chain, index);
        if command.fenced() == Fenced::Memory {
            return self.fence_memory(chain, stamp);
        }
        let inits = self.layout.inits_of(chain);
        let runner = &mut self.runners[chain as usize];
        if runner.known.fenced.is_empty() {
            return;
        }
        if command.fenced() == Fenced::Inits {
            runner.known.fenced[inits] = stamp;
        } else {
            runner.known.fenced[..runner.known.clock.len()].copy_from_slice(&runner.known.clock);
            runner.known.fenced[chain as usize] = stamp;
        }
    }

    fn wait_group(&mut self, chain: u32, command: &Packed) {
        let own = &self.layout.chains[chain as usize];
        let kind = group_index(command.group());
        let alone = self.is_ordered_within(chain);
        let runner = &mut self.runners[chain as usize];
        let done = runner.copies.commits[kind].len().checked_sub(command.a as usize + 1);
        if let Some(done) = done {
            let waited = &mut runner.copies.groups[kind].waited;
            *waited = runner.copies.commits[kind][done].max(*waited);
            if let (true, Some(component)) = (alone, own.groups[kind]) {
                runner.known.clock[component as usize] = *waited;
            }
        }
    }
}
