//! CTA barriers: `bar.sync`, `bar.arrive`, `bar.red` and their `barrier` forms (PTX ISA, "Parallel
//! Synchronization: bar, barrier").
//!
//! Threads are counted one by one, as since Volta. Without a thread count a barrier waits for all threads of
//! the CTA that have not exited. With one, a warp whose lanes are all there (exited ones aside) counts as 32
//! threads, as counts are in whole warps. A barrier is ready for use again the moment it completes. Two
//! counts for one barrier, or an aligned barrier that lanes of one warp reach at different instructions, end
//! the launch with a fault; hardware leaves both undefined.

use bugaroo_ptx::op::BarRed;

use super::data::{lanes, read_lane, row, write_lane};
use super::step::Flow;
use super::warp::State;
use super::{BARRIERS, Machine, Trouble};
use crate::alu::Width;
use crate::decoded::BarrierAction;
use crate::fault::FaultKind;

/// The state of one barrier of a CTA between its completions.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Barrier {
    /// Somebody has arrived.
    in_use: bool,
    /// Thread count that was given.
    count: Option<u32>,
    /// Threads that wait.
    waiting: u32,
    /// Threads that came with `bar.arrive`.
    arrived: u32,
    /// Threads whose predicate was true, and threads that gave one.
    yes: u32,
    votes: u32,
}

impl Machine<'_> {
    /// A fragment's active lanes come to a barrier.
    pub(super) fn barrier(
        &mut self,
        w: usize,
        fragment: usize,
        index: u32,
        active: u32,
    ) -> Result<Flow, Trouble> {
        let program = self.program;
        let barrier = &program.barriers[index as usize];
        let consts = self.constants.base();
        let frame = self.warps[w].fragments[fragment].rows;
        let lane = active.trailing_zeros();
        // SAFETY: the loader's slots, 32 bits wide.
        let value = |slot, lane| unsafe { read_lane(row(frame, consts, slot), Width::W32, lane) as u32 };
        let (id, count) = (value(barrier.id, lane as usize), barrier.count.map(|c| value(c, lane as usize)));
        let group = lanes(active)
            .filter(|l| value(barrier.id, *l) == id && barrier.count.map(|c| value(c, *l)) == count)
            .fold(0, |group, l| group | 1 << l);

        let full = self.plan.warps_per_block * 32;
        let bad = Box::new((FaultKind::BadBarrier { barrier: id, count: count.unwrap_or(full) }, lane));
        if id as usize >= BARRIERS || count.is_some_and(|c| c == 0 || c % 32 != 0) {
            return Err(bad);
        }
        let cta = self.warps[w].cta as usize;
        let state = &mut self.ctas[cta].barriers[id as usize];
        if state.in_use && state.count != count {
            // No count is the same as the count of all threads.
            if state.count.unwrap_or(full) != count.unwrap_or(full) {
                return Err(bad);
            }
            state.count = Some(full);
        } else {
            state.count = count;
        }
        state.in_use = true;
        if let BarrierAction::Reduce(_, _, slot, negated) = barrier.action {
            // SAFETY: a predicate slot.
            let votes = unsafe { *row(frame, consts, slot).cast::<u32>() } ^ if negated { !0 } else { 0 };
            state.yes += (votes & group).count_ones();
            state.votes += group.count_ones();
        }
        self.counts.barriers += u64::from(group.count_ones());
        if self.model.is_some() {
            self.model_arrived(w, id, group, self.warps[w].fragments[fragment].pc);
        }
        let whole = group == self.warps[w].alive;
        let at = self.isolate(w, fragment, group, active);
        let state = &mut self.ctas[cta].barriers[id as usize];
        let fragment = &mut self.warps[w].fragments[at];
        if barrier.action == BarrierAction::Arrive {
            fragment.pc += 1;
            state.arrived += if whole { 32 } else { group.count_ones() };
        } else {
            fragment.state = State::Barrier(id);
            state.waiting += group.count_ones();
        }
        self.try_release(cta, id, Some(w))?;
        Ok(Flow::Select)
    }

    /// Lanes of warp `w` have exited: what waits for them may go on.
    pub(super) fn lanes_exited(&mut self, w: usize) -> Result<(), Trouble> {
        let cta = self.warps[w].cta as usize;
        for id in 0..BARRIERS as u32 {
            if self.ctas[cta].barriers[id as usize].waiting > 0 {
                self.try_release(cta, id, Some(w))?;
            }
        }
        self.complete_cluster(cta);
        self.asynchrony.progress();
        self.complete_masks(w)
    }

    /// Threads that have come to a barrier, and how many it takes.
    pub(super) fn arrivals(&self, cta: usize, id: u32) -> (u32, u32) {
        let state = &self.ctas[cta].barriers[id as usize];
        let Some(count) = state.count else {
            return (state.waiting, self.ctas[cta].alive);
        };
        let first = self.ctas[cta].first_warp as usize;
        let warps = &self.warps[first..first + self.plan.warps_per_block as usize];
        let waiting = warps.iter().map(|warp| {
            let here = warp.fragments.iter().filter(|f| f.state == State::Barrier(id));
            let lanes = here.fold(0, |lanes, f| lanes | f.mask);
            if lanes != 0 && lanes == warp.alive { 32 } else { lanes.count_ones() }
        });
        (waiting.sum::<u32>() + state.arrived, count)
    }

    /// Opens a barrier if everybody is there. `by` is the warp whose turn it is.
    fn try_release(&mut self, cta: usize, id: u32, by: Option<usize>) -> Result<(), Trouble> {
        let (here, expected) = self.arrivals(cta, id);
        if here < expected {
            return Ok(());
        }
        self.asynchrony.progress();
        let state = std::mem::take(&mut self.ctas[cta].barriers[id as usize]);
        let first = self.ctas[cta].first_warp as usize;
        for w in first..first + self.plan.warps_per_block as usize {
            let mut released: Option<u32> = None;
            let mut let_go = 0;
            for at in 0..self.warps[w].fragments.len() {
                let fragment = self.warps[w].fragments[at];
                if fragment.state != State::Barrier(id) {
                    continue;
                }
                let inst = &self.program.code[fragment.pc as usize];
                let barrier = &self.program.barriers[inst.extra as usize];
                if barrier.aligned && released.is_some_and(|pc| pc != fragment.pc) {
                    let lane = fragment.mask.trailing_zeros();
                    return Err(Box::new((FaultKind::BarrierDivergence { barrier: id }, lane)));
                }
                released = Some(fragment.pc);
                if let BarrierAction::Reduce(op, dst, ..) = barrier.action {
                    let (value, width) = match op {
                        BarRed::Popc => (state.yes, Width::W32),
                        BarRed::And => (u32::from(state.yes == state.votes), Width::Pred),
                        BarRed::Or => (u32::from(state.yes != 0), Width::Pred),
                    };
                    let dst = fragment.rows.wrapping_add(dst as usize);
                    for lane in lanes(fragment.mask) {
                        // SAFETY: the loader's destination row.
                        unsafe { write_lane(dst, width, lane, u64::from(value)) };
                    }
                }
                let fragment = &mut self.warps[w].fragments[at];
                fragment.state = State::Ready;
                fragment.pc += 1;
                let_go |= fragment.mask;
            }
            self.model_released(w, Some(id), let_go);
            if released.is_some() && by != Some(w) {
                self.enqueue(w as u32);
                self.woken = true;
            }
        }
        Ok(())
    }
}
