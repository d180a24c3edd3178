//! Named barriers and the barrier of a cluster, as they happen in this one order of execution (PTX ISA, "Parallel Synchronization:
//! bar, barrier", "barrier.cluster").
//!
//! Threads are counted one by one; without a count a barrier waits for all threads of the CTA that have not exited. With one,
//! a warp whose lanes are all there counts as 32 threads. In lockstep a warp comes as a whole, whichever of its lanes come.

use bugaroo_ptx::op::BarRed;
use bugaroo_simulator::alu::Width;
use bugaroo_simulator::decoded::BarrierAction;

use super::machine::Machine;
use super::refusal::Refusal;
use super::registers::{Why, lanes};
use super::step::Flow;
use super::warp::State;
use crate::program::{Action, Count};

/// A named barrier between its completions.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Named {
    in_use: bool,
    count: Option<u32>,
    arrived: u32,
    /// Threads whose predicate was true, and threads that gave one.
    yes: u32,
    votes: u32,
    /// A vote was not known.
    why: Option<Why>,
}

impl Machine<'_> {
    /// `bar`, `barrier`
    pub fn barrier(
        &mut self,
        w: usize,
        fragment: usize,
        pc: u32,
        index: u32,
        active: u32,
    ) -> Result<Flow, Refusal> {
        let barrier = self.set.image.barriers[index as usize];
        let at = self.warps[w].fragments[fragment];
        let registers = &self.frames[at.frame as usize].registers;
        for (slot, what) in
            [(Some(barrier.id), "the number of a barrier"), (barrier.count, "the thread count of a barrier")]
        {
            let Some(slot) = slot else { continue };
            let missing = active & !registers.known(slot);
            if missing != 0 {
                let lane = missing.trailing_zeros() as usize;
                return Err(self.unknown(w, pc, lane, what, registers.why(slot)));
            }
        }
        let value = |slot, lane| registers.read(slot, Width::W32, lane) as u32;
        let lane = active.trailing_zeros() as usize;
        let (id, count) = (value(barrier.id, lane), barrier.count.map(|c| value(c, lane)));
        let mut group = lanes(active)
            .filter(|l| value(barrier.id, *l) == id && barrier.count.map(|c| value(c, *l)) == count)
            .fold(0, |group, l| group | 1 << l);
        let votes = match barrier.action {
            BarrierAction::Reduce(_, _, slot, negated) => {
                let yes = registers.predicate(slot) ^ if negated { !0 } else { 0 };
                let unknown = group & !registers.known(slot) != 0;
                Some((yes & group, unknown.then(|| registers.why(slot))))
            }
            _ => None,
        };
        if self.set.lockstep && group == active {
            group = self.warps[w].alive;
        }
        let how_many = count.map_or(Count::All, Count::Threads);
        let action = match barrier.action {
            BarrierAction::Arrive => Action::Arrive { id, count: how_many },
            _ => Action::Sync { id, count: how_many },
        };
        self.emit(w, group, pc, action)?;
        let cta = self.warps[w].cta as usize;
        // What is wrong with the counts, the checker says: here the last one holds.
        let state = &mut self.ctas[cta].barriers[id as usize];
        state.count = count;
        state.in_use = true;
        if let Some((yes, unknown)) = votes {
            state.yes += yes.count_ones();
            state.votes += (group & active).count_ones();
            state.why = state.why.or(unknown.map(|why| if why == Why::NEVER { Why::at(pc) } else { why }));
        }
        let whole = group == self.warps[w].alive;
        let own = group & active;
        let part = self.warps[w].isolate(fragment, own, active);
        let state = &mut self.ctas[cta].barriers[id as usize];
        if barrier.action == BarrierAction::Arrive {
            self.warps[w].fragments[part].pc += 1;
            state.arrived += if whole { 32 } else { group.count_ones() };
        } else {
            self.warps[w].fragments[part].state = State::Barrier(id);
        }
        self.try_release(cta, id)?;
        Ok(Flow::Select)
    }

    /// Threads that have come to a barrier, and how many it takes.
    fn arrivals(&self, cta: usize, id: u32) -> (u32, u32) {
        let state = &self.ctas[cta].barriers[id as usize];
        let own = self.warps.iter().filter(|warp| warp.cta as usize == cta);
        let (mut threads, mut padded) = (0, 0);
        for warp in own {
            let here = warp.fragments.iter().filter(|f| f.state == State::Barrier(id));
            let here = here.fold(0, |lanes, f| lanes | f.mask);
            let all = here != 0 && (here == warp.alive || self.set.lockstep);
            threads += if all { warp.alive.count_ones() } else { here.count_ones() };
            padded += if all { 32 } else { here.count_ones() };
        }
        match state.count {
            None => (threads, self.ctas[cta].alive),
            Some(count) => (padded + state.arrived, count),
        }
    }

    /// Opens a barrier if everybody is there.
    pub fn try_release(&mut self, cta: usize, id: u32) -> Result<(), Refusal> {
        if !self.ctas[cta].barriers[id as usize].in_use {
            return Ok(());
        }
        let (here, expected) = self.arrivals(cta, id);
        if here < expected {
            return Ok(());
        }
        let state = std::mem::take(&mut self.ctas[cta].barriers[id as usize]);
        let image = self.set.image;
        for warp in self.warps.iter_mut().filter(|warp| warp.cta as usize == cta) {
            for fragment in warp.fragments.iter_mut().filter(|f| f.state == State::Barrier(id)) {
                let barrier = image.barriers[image.code[fragment.pc as usize].extra as usize];
                if let BarrierAction::Reduce(op, dst, ..) = barrier.action {
                    let (value, width) = match op {
                        BarRed::Popc => (state.yes, Width::W32),
                        BarRed::And => (u32::from(state.yes == state.votes), Width::Pred),
                        BarRed::Or => (u32::from(state.yes != 0), Width::Pred),
                    };
                    let registers = &mut self.frames[fragment.frame as usize].registers;
                    lanes(fragment.mask).for_each(|lane| registers.write(dst, width, lane, u64::from(value)));
                    let known = if state.why.is_none() { !0 } else { 0 };
                    registers.mark(dst, fragment.mask, known, state.why.unwrap_or(Why::NEVER));
                }
                fragment.state = State::Ready;
                fragment.pc += 1;
            }
        }
        Ok(())
    }

    /// `barrier.cluster.arrive`, `barrier.cluster.wait`
    pub fn cluster_barrier(
        &mut self,
        w: usize,
        fragment: usize,
        pc: u32,
        wait: bool,
        active: u32,
    ) -> Result<Flow, Refusal> {
        self.emit(w, active, pc, if wait { Action::ClusterWait } else { Action::ClusterArrive })?;
        if !wait {
            self.cluster_arrived[w] |= active;
            self.warps[w].fragments[fragment].pc += 1;
            self.complete_cluster();
            return Ok(Flow::Select);
        }
        let waiting = active & self.cluster_arrived[w];
        if waiting == 0 {
            return Ok(Flow::Next);
        }
        let through = active & !waiting;
        if through != 0 {
            let at = self.warps[w].split(fragment, through);
            self.warps[w].fragments[at].pc += 1;
        }
        let at = self.warps[w].isolate(fragment, waiting, waiting);
        self.warps[w].fragments[at].state = State::Cluster;
        Ok(Flow::Select)
    }

    /// Opens the cluster's barrier when everybody who has not exited is there.
    pub fn complete_cluster(&mut self) {
        if self.cluster_arrived.iter().all(|lanes| *lanes == 0) {
            return;
        }
        let missing = |(w, warp): (usize, &super::warp::Warp)| warp.alive & !self.cluster_arrived[w] != 0;
        if self.warps.iter().enumerate().any(missing) {
            return;
        }
        for (w, warp) in self.warps.iter_mut().enumerate() {
            self.cluster_arrived[w] = 0;
            for fragment in warp.fragments.iter_mut().filter(|f| f.state == State::Cluster) {
                fragment.state = State::Ready;
                fragment.pc += 1;
            }
        }
    }
}
