//! Named barriers and the barrier of a cluster, as they happen in this one order of execution (PTX ISA, "Parallel Synchronization:
//! bar, barrier", "barrier.cluster").
//!
//! Warps arrive: lanes wait at a barrier until all that their warp has left are there, and count as 32 threads then, once; those that
//! came by `arrive` go on, the others wait for the other warps. Without a count a barrier waits for all warps of the CTA that have threads
//! left. In lockstep a warp comes as a whole, whichever of its lanes come.

use bugaroo_ptx::op::BarRed;
use bugaroo_simulator::alu::Width;
use bugaroo_simulator::decoded::BarrierAction;

use super::held::named::Named;
use super::held::warp::{Flow, Fragment, State, Warp};
use super::machine::Machine;
use super::refusal::Refusal;
use super::registers::{Why, lanes};
use super::symbol::Symbol;
use crate::program::{CommandAction, Count};
use crate::verdict::{Misuse, Resource, Threads, ThreadsPlace};

fn count_of(count: Option<u32>) -> Count {
    count.map_or(Count::All, Count::Threads)
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
        let barrier = self.set.code.image.barriers[index as usize];
        let at = self.warps[w].fragments[fragment];
        let registers = &self.calls.frames[at.frame as usize].registers;
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
        if self.set.lockstep && group == active {
            group = self.warps[w].alive;
        }
        let how_many = count_of(count);
        let action = match barrier.action {
            BarrierAction::Arrive => CommandAction::Arrive { id, count: how_many },
            _ => CommandAction::Sync { id, count: how_many },
        };
        self.emit(w, group, pc, action)?;
        let part = self.warps[w].isolate(fragment, group & active, active);
        self.warps[w].fragments[part].state = State::Gathering(id);
        self.gathered(w, id)?;
        Ok(Flow::Select)
    }

    /// Lets a warp arrive at a barrier if all its lanes that have not exited are there.
    fn gathered(&mut self, w: usize, id: u32) -> Result<(), Refusal> {
        let image = self.set.code.image;
        let warp = &self.warps[w];
        let comes = |f: &Fragment| f.state == State::Gathering(id);
        let here = warp.fragments.iter().filter(|f| comes(f)).fold(0, |lanes, f| lanes | f.mask);
        if here == 0 || here != warp.alive && !self.set.lockstep {
            return Ok(());
        }
        let (cta, index) = (warp.own.cta as usize, warp.own.index);
        let mut state = self.ctas[cta].barriers[id as usize];
        let mut first: Option<(u32, bool)> = None;
        for at in 0..self.warps[w].fragments.len() {
            let fragment = self.warps[w].fragments[at];
            if !comes(&fragment) {
                continue;
            }
            let pc = fragment.pc;
            let barrier = image.barriers[image.code[pc as usize].extra as usize];
            let lane = fragment.mask.trailing_zeros() as usize;
            let (before, aligned) = *first.get_or_insert((pc, barrier.aligned));
            if pc != before && (aligned || barrier.aligned) {
                let message = format!(
                    "threads of one warp come to barrier {id} at different instructions, which `bar` and `.aligned` do not allow"
                );
                return Err(self.illegal(w, pc, lane, message));
            }
            let registers = &self.calls.frames[fragment.frame as usize].registers;
            let count = barrier.count.map(|slot| registers.read(slot, Width::W32, lane) as u32);
            let threads = Threads { cta: cta as u32, warp: index, lanes: fragment.mask };
            let place = ThreadsPlace { threads, origin: pc, command: 0 };
            let full = self.set.extent.block.iter().product::<u32>().next_multiple_of(32);
            let first = *state.first.get_or_insert(place);
            let how_many = |all: bool| if all { Count::All } else { count_of(state.come.count) };
            if first != place && state.come.count.unwrap_or(full) != count.unwrap_or(full) {
                self.course.misuse = Some(Misuse::CountsDiffer {
                    resource: Resource::Named { cta: cta as u32, id },
                    generation: state.uses + 1,
                    first,
                    first_count: how_many(state.come.all),
                    second: place,
                    second_count: count_of(count),
                });
                return Ok(());
            }
            state.come.count = count.or(state.come.count);
            state.come.all |= count.is_none();
            if let BarrierAction::Reduce(_, _, slot, negated) = barrier.action {
                let yes = registers.predicate(slot) ^ if negated { !0 } else { 0 };
                state.come.yes += (yes & fragment.mask).count_ones();
                state.come.votes += fragment.mask.count_ones();
                if fragment.mask & (!registers.known(slot) | self.warps[w].leavers.lanes) != 0 {
                    let why = registers.why(slot);
                    state.come.why =
                        state.come.why.or(Some(if why == Why::NEVER { Why::at(pc) } else { why }));
                }
            }
            let fragment = &mut self.warps[w].fragments[at];
            if barrier.action == BarrierAction::Arrive {
                fragment.state = State::Ready;
                fragment.pc += 1;
            } else {
                fragment.state = State::Barrier(id);
            }
        }
        state.come.warps |= 1 << index;
        state.come.arrived += 32;
        self.ctas[cta].barriers[id as usize] = state;
        self.try_release(cta, id)
    }

    /// Lanes of a warp have exited: what waits for them may go on.
    pub fn barriers_after_exit(&mut self, w: usize) -> Result<(), Refusal> {
        let gathering = self.warps[w].fragments.iter().find_map(|f| match f.state {
            State::Gathering(id) => Some(id),
            _ => None,
        });
        if let Some(id) = gathering {
            self.gathered(w, id)?;
        }
        let cta = self.warps[w].own.cta as usize;
        (0..16).try_for_each(|id| self.try_release(cta, id))
    }

    /// Opens a barrier if everybody is there.
    fn try_release(&mut self, cta: usize, id: u32) -> Result<(), Refusal> {
        let state = self.ctas[cta].barriers[id as usize];
        if state.first.is_none() {
            return Ok(());
        }
        let complete = match state.come.count {
            Some(count) if !state.come.all => state.come.arrived >= count,
            _ => {
                let own = self.warps.iter().filter(|warp| warp.own.cta as usize == cta);
                let gone = |warp: &&Warp| warp.alive == 0 && state.come.warps >> warp.own.index & 1 == 0;
                state.come.arrived / 32 + own.clone().filter(gone).count() as u32 >= own.count() as u32
            }
        };
        if !complete {
            return Ok(());
        }
        self.show_sums();
        let all = self.meet_all(id);
        self.ctas[cta].barriers[id as usize] = Named { uses: state.uses + 1, ..Named::default() };
        let image = self.set.code.image;
        // What is not known is the same for all who ask alike.
        let mut named: [Option<Symbol>; 3] = [None; 3];
        for warp in self.warps.iter_mut().filter(|warp| warp.own.cta as usize == cta) {
            for fragment in warp.fragments.iter_mut().filter(|f| f.state == State::Barrier(id)) {
                let barrier = image.barriers[image.code[fragment.pc as usize].extra as usize];
                if let BarrierAction::Reduce(op, dst, ..) = barrier.action {
                    let (value, width) = match op {
                        BarRed::Popc => (state.come.yes, Width::W32),
                        BarRed::And => (u32::from(state.come.yes == state.come.votes), Width::Pred),
                        BarRed::Or => (u32::from(state.come.yes != 0), Width::Pred),
                    };
                    let registers = &mut self.calls.frames[fragment.frame as usize].registers;
                    lanes(fragment.mask).for_each(|lane| registers.write(dst, width, lane, u64::from(value)));
                    let known = if state.come.why.is_none() { !0 } else { 0 };
                    registers.mark(dst, fragment.mask, known, state.come.why.unwrap_or(Why::NEVER));
                    if known == 0 {
                        let symbol =
                            *named[op as usize].get_or_insert_with(|| self.known.symbols.content(false));
                        let decided =
                            if width == Width::Pred { self.known.symbols.decided(symbol) } else { None };
                        match decided {
                            Some(holds) => registers.set_predicate(dst, fragment.mask, holds),
                            None => {
                                lanes(fragment.mask).for_each(|lane| registers.set_symbol(dst, lane, symbol))
                            }
                        }
                    }
                }
                fragment.state = State::Ready;
                fragment.pc += 1;
            }
        }
        if all {
            self.cut();
        }
        Ok(())
    }

    /// `barrier.cluster.arrive`, `barrier.cluster.wait`
    pub fn cluster_barrier(
        &mut self,
        w: usize,
        fragment: usize,
        pc: u32,
        [wait, relaxed]: [bool; 2],
        active: u32,
    ) -> Result<Flow, Refusal> {
        if !self.set.extent.clustered {
            return Err(self.no_cluster(w, pc, active.trailing_zeros() as usize));
        }
        // A fence just before releases what a relaxed arrival does not.
        let (released, commands) = self.warps[w].released;
        let fenced = active & !released == 0 && commands == self.out.warps()[w].len();
        let arrival = CommandAction::ClusterArrive { relaxed: relaxed && !fenced };
        self.emit(w, active, pc, if wait { CommandAction::ClusterWait } else { arrival })?;
        if !wait {
            self.course.cluster_arrived[w] |= active;
            self.warps[w].fragments[fragment].pc += 1;
            self.complete_cluster();
            return Ok(Flow::Select);
        }
        let waiting = active & self.course.cluster_arrived[w];
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
        if self.course.cluster_arrived.iter().all(|lanes| *lanes == 0) {
            return;
        }
        let missing = |(w, warp): (usize, &Warp)| warp.alive & !self.course.cluster_arrived[w] != 0;
        if self.warps.iter().enumerate().any(missing) {
            return;
        }
        self.show_sums();
        for (w, warp) in self.warps.iter_mut().enumerate() {
            self.course.cluster_arrived[w] = 0;
            for fragment in warp.fragments.iter_mut().filter(|f| f.state == State::Cluster) {
                fragment.state = State::Ready;
                fragment.pc += 1;
            }
        }
    }
}
