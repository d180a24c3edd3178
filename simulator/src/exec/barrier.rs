//! CTA barriers: `bar.sync`, `bar.arrive`, `bar.red` and their `barrier` forms (PTX ISA, "Parallel
//! Synchronization: bar, barrier").
//!
//! Warps arrive, not threads: the instruction makes the executing thread wait for all threads of its warp that
//! have not exited, and marks the warp's arrival. So lanes gather first, each at its own instruction of that
//! barrier, until the rest of their warp is there or has exited. Then the warp arrives, once: it counts as 32
//! threads, also where it has fewer. `.arrive` gathers like the others, as the ISA says; only then do its lanes
//! go on, while those of `.sync` and `.red` wait for the other warps. Lanes that gather belong to no use of the barrier
//! yet: the arrival is part of the one that is in progress when it happens.
//!
//! Without a thread count a barrier waits for all warps of the CTA that have threads left, also if others
//! came to the same use of it with the count of the whole CTA. A barrier is ready for use again the moment it completes.
//! Two counts for one use, or an aligned barrier that lanes of one warp reach at different instructions, end
//! the launch with a fault; hardware leaves both undefined. Lanes of a warp that gather at different barriers
//! wait for ever.

use bugaroo_ptx::op::BarRed;

use super::data::{lanes, read_lane, row, write_lane};
use super::step::Flow;
use super::warp::State;
use super::{BARRIERS, Machine, Trouble};
use crate::alu::Width;
use crate::decoded::{self, BarrierAction};
use crate::fault::StopKind;

/// The state of one barrier of a CTA between its completions.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Barrier {
    /// Some warp has arrived.
    in_use: bool,
    /// Thread count that was given.
    count: Option<u32>,
    /// Somebody came without one, and so waits for all who have not exited.
    all: bool,
    /// Warps that have arrived, as bits.
    warps: u32,
    /// Threads that they count as.
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
        let program = self.given.program;
        let barrier = &program.barriers[index as usize];
        let consts = self.given.constants.base();
        let frame = self.residents.warps[w].fragments[fragment].rows;
        let lane = active.trailing_zeros();
        // SAFETY: the loader's slots, 32 bits wide.
        let value = |slot, lane| unsafe { read_lane(row(frame, consts, slot), Width::W32, lane) as u32 };
        let (id, count) = (value(barrier.id, lane as usize), barrier.count.map(|c| value(c, lane as usize)));
        // Constants are the same for all.
        let group = if barrier.id < 0 && barrier.count.is_none_or(|count| count < 0) {
            active
        } else {
            lanes(active)
                .filter(|l| value(barrier.id, *l) == id && barrier.count.map(|c| value(c, *l)) == count)
                .fold(0, |group, l| group | 1 << l)
        };
        let known = id < decoded::Barrier::INSERTED || barrier.inserted;
        if !known || count.is_some_and(|c| c == 0 || c % 32 != 0) {
            return Err(self.bad_barrier(id, count, lane));
        }
        self.progress.counts.barriers += u64::from(group.count_ones());
        let at = self.isolate(w, fragment, group, active);
        self.residents.warps[w].fragments[at].state = State::Gathering(id);
        self.gathered(w, id)?;
        Ok(Flow::Select)
    }

    fn bad_barrier(&self, barrier: u32, count: Option<u32>, lane: u32) -> Trouble {
        let count = count.unwrap_or(self.given.plan.warps_per_block * 32);
        Box::new((StopKind::BadBarrier { barrier, count }, lane))
    }

    /// Lets a warp arrive at a barrier if all its lanes that have not exited are there.
    fn gathered(&mut self, w: usize, id: u32) -> Result<(), Trouble> {
        let warp = &self.residents.warps[w];
        let here = warp.fragments.iter().filter(|f| f.state == State::Gathering(id));
        let here = here.fold(0, |lanes, f| lanes | f.mask);
        if here == 0 || here != warp.alive {
            return Ok(());
        }
        let (program, consts) = (self.given.program, self.given.constants.base());
        let full = self.given.plan.warps_per_block * 32;
        let (cta, bit) = (warp.cta as usize, 1 << warp.index);
        let mut state = self.residents.ctas[cta].barriers[id as usize];
        let mut first: Option<(u32, bool)> = None;
        // Where anybody looks on.
        let mut arrivals = self.hooks.watch.is_some().then_some([(0, 0, false); 32]);
        for at in 0..self.residents.warps[w].fragments.len() {
            // All lanes of the warp are here, so all its fragments are.
            let fragment = self.residents.warps[w].fragments[at];
            let barrier = &program.barriers[program.code[fragment.pc as usize].extra as usize];
            let lane = fragment.mask.trailing_zeros();
            // SAFETY: the loader's slot, 32 bits wide; what the lanes of a fragment gave is the same for all of them.
            let value =
                |slot| unsafe { read_lane(row(fragment.rows, consts, slot), Width::W32, lane as usize) };
            let count = barrier.count.map(|c| value(c) as u32);
            let (pc, aligned) = *first.get_or_insert((fragment.pc, barrier.aligned));
            if pc != fragment.pc && (aligned || barrier.aligned) {
                // Whoever looks on is told who were where.
                if let Some(arrivals) = &mut arrivals {
                    arrivals[at] = (fragment.pc, fragment.mask, barrier.action != BarrierAction::Arrive);
                }
                self.arrived(w, id, arrivals.as_ref());
                return Err(Box::new((StopKind::BarrierDivergence { barrier: id }, lane)));
            }
            // No count is the same as the count of all threads.
            if state.in_use && state.count.unwrap_or(full) != count.unwrap_or(full) {
                return Err(self.bad_barrier(id, count, lane));
            }
            state.in_use = true;
            state.count = state.count.or(count);
            state.all |= count.is_none();
            if let BarrierAction::Reduce(_, _, slot, negated) = barrier.action {
                // SAFETY: a predicate slot.
                let votes = unsafe { *row(fragment.rows, consts, slot).cast::<u32>() };
                let votes = votes ^ if negated { !0 } else { 0 };
                state.yes += (votes & fragment.mask).count_ones();
                state.votes += fragment.mask.count_ones();
            }
            let waits = barrier.action != BarrierAction::Arrive;
            if let Some(arrivals) = &mut arrivals {
                arrivals[at] = (fragment.pc, fragment.mask, waits);
            }
            let fragment = &mut self.residents.warps[w].fragments[at];
            if !waits {
                fragment.state = State::Ready;
                fragment.pc += 1;
            } else {
                fragment.state = State::Barrier(id);
            }
        }
        state.warps |= bit;
        state.arrived += 32;
        self.residents.ctas[cta].barriers[id as usize] = state;
        if self.hooks.model.is_some() {
            let pc = first.map_or(0, |(pc, _)| pc);
            self.model_arrived(w, id, here, pc);
        }
        self.arrived(w, id, arrivals.as_ref());
        self.try_release(cta, id, Some(w))
    }

    /// Tells who have arrived: instruction, lanes, and whether they wait, of as many parts of a warp as have lanes.
    fn arrived(&self, w: usize, id: u32, arrivals: Option<&[(u32, u32, bool); 32]>) {
        for (pc, mask, waits) in arrivals.into_iter().flatten().take_while(|arrival| arrival.1 != 0) {
            self.observed_arrive(w, *pc, *mask, id, *waits);
        }
    }

    /// Lanes of warp `w` have exited: what waits for them may go on.
    pub(super) fn lanes_exited(&mut self, w: usize) -> Result<(), Trouble> {
        let cta = self.residents.warps[w].cta as usize;
        if let Some(id) = self.residents.warps[w].fragments.iter().find_map(|f| match f.state {
            State::Gathering(id) => Some(id),
            _ => None,
        }) {
            self.gathered(w, id)?;
        }
        if self.residents.warps[w].alive == 0 {
            self.residents.ctas[cta].gone |= 1 << self.residents.warps[w].index;
            for id in 0..BARRIERS as u32 {
                if self.residents.ctas[cta].barriers[id as usize].in_use {
                    self.try_release(cta, id, Some(w))?;
                }
            }
        }
        self.complete_cluster(cta);
        self.asynchrony.progress();
        self.complete_masks(w)
    }

    /// Threads that have come to a barrier, and how many it takes.
    pub(super) fn arrivals(&self, cta: usize, id: u32) -> (u32, u32) {
        let state = &self.residents.ctas[cta].barriers[id as usize];
        if let (Some(count), false) = (state.count, state.all) {
            return (state.arrived, count);
        }
        let first = self.residents.ctas[cta].first_warp as usize;
        let warps = &self.residents.warps[first..first + self.given.plan.warps_per_block as usize];
        let arrived = warps.iter().filter(|warp| state.warps >> warp.index & 1 != 0);
        (arrived.map(|warp| warp.alive.count_ones()).sum(), self.residents.ctas[cta].alive)
    }

    /// Lanes of a warp that gather at a barrier, and how many the warp has left.
    pub(super) fn gathering(&self, w: usize, id: u32) -> (u32, u32) {
        let warp = &self.residents.warps[w];
        let here = warp.fragments.iter().filter(|f| f.state == State::Gathering(id));
        (here.map(|f| f.mask.count_ones()).sum(), warp.alive.count_ones())
    }

    /// Opens a barrier if everybody is there. `by` is the warp whose turn it is.
    fn try_release(&mut self, cta: usize, id: u32, by: Option<usize>) -> Result<(), Trouble> {
        let state = self.residents.ctas[cta].barriers[id as usize];
        let complete = match state.count {
            Some(count) if !state.all => state.arrived >= count,
            _ => {
                let gone = self.residents.ctas[cta].gone & !state.warps;
                state.arrived / 32 + gone.count_ones() >= self.given.plan.warps_per_block
            }
        };
        if !complete {
            return Ok(());
        }
        self.asynchrony.progress();
        self.residents.ctas[cta].barriers[id as usize] = Barrier::default();
        let first = self.residents.ctas[cta].first_warp as usize;
        let mut nobody = true;
        for w in first..first + self.given.plan.warps_per_block as usize {
            let mut let_go = 0;
            for at in 0..self.residents.warps[w].fragments.len() {
                let fragment = self.residents.warps[w].fragments[at];
                if fragment.state != State::Barrier(id) {
                    continue;
                }
                let inst = &self.given.program.code[fragment.pc as usize];
                let barrier = &self.given.program.barriers[inst.extra as usize];
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
                let fragment = &mut self.residents.warps[w].fragments[at];
                fragment.state = State::Ready;
                fragment.pc += 1;
                let_go |= fragment.mask;
            }
            if let_go != 0 {
                nobody = false;
                self.model_released(w, Some(id), let_go);
                self.observed_leave(w, let_go, id);
                if by != Some(w) {
                    self.enqueue(w as u32);
                    self.progress.woken = true;
                }
            }
        }
        if nobody {
            // The model has to know that the next arrival is another use's.
            self.model_released(first, Some(id), 0);
            self.observed_completed(cta as u32, id);
        }
        Ok(())
    }
}
