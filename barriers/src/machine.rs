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

use std::collections::VecDeque;
use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::chains::{GROUPS, Layout, group_index};
use crate::program::{Count, Fenced, GroupKind, Opcode, Packed, Program};
use crate::verdict::{Generation, Misuse, Participant, Place, Recycling, Resource, Threads};

mod blocked;
mod gather;
mod mbarrier;
mod named;
mod relaxed;
mod surplus;
mod warpgroup;

use gather::Comer;
use mbarrier::Mbarrier;
pub(crate) use named::Barrier;
use relaxed::Relaxed;

/// Sees the accesses in an order that agrees with happens-before.
pub(crate) trait Observer {
    /// Whether it wants them at all.
    const WANTS_ACCESSES: bool = true;
    /// The commands `range` of a chain, synchronising ones left out by the observer.
    fn accesses(&mut self, context: &mut Context<'_>, range: Range<usize>);
    /// A barrier's generation is complete.
    fn completed(&mut self, _resource: Resource, _generation: u32, _parts: &[Part]) {}
    /// Somebody who did not take part in a generation, the last of its barrier, has waited for it.
    fn passed(&mut self, _resource: Resource, _part: &Part) {}
}

/// Sees nothing.
pub(crate) struct Nobody;

impl Observer for Nobody {
    const WANTS_ACCESSES: bool = false;
    fn accesses(&mut self, _context: &mut Context<'_>, _range: Range<usize>) {}
}

/// Where a chain stands while it makes accesses.
pub(crate) struct Context<'a> {
    pub program: &'a Program,
    pub layout: &'a Layout,
    pub chain: u32,
    pub warp: u32,
    pub lanes: u32,
    /// Registrations that the chain has made.
    pub epoch: u32,
    /// What happens before: component by component, how much of it.
    pub clock: &'a mut [u32],
    /// The same, of what a proxy fence has made visible to asynchronous copies ([`Layout::fenced_len`]).
    pub fenced: &'a [u32],
    /// By kind of group: the epoch of the copies now issued, and up to which the chain's threads have waited for their own.
    pub groups: [GroupState; GROUPS],
    /// The chain has waited at the cluster's barrier.
    pub met_cluster: bool,
    /// The phase into which copies that complete on an mbarrier are counted: component and phase.
    pub phase: Option<(u32, u32)>,
}

/// Where a chain's groups of asynchronous copies stand.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct GroupState {
    pub epoch: u32,
    pub waited: u32,
}

/// A registration: by whom, which, where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Part {
    pub chain: u32,
    /// The clock's component must have reached this for the registration to be known.
    pub stamp: u32,
    pub command: u32,
    pub waits: bool,
    /// Whether what its threads did before is known to those who wait: not so for copies, which stand for themselves.
    pub orders: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Ready,
    /// Waits at a barrier (index into `barriers`) or an mbarrier (its component).
    AtBarrier(u32),
    AtMbarrier(u32),
    AtCluster,
    /// Waits until its warpgroup has committed so many groups.
    AtWarpgroup(u32),
    /// Waits at a barrier for the rest of its own warp.
    Gathering(u32),
    Finished,
}

/// A chain as it runs.
#[derive(Debug)]
pub(crate) struct Runner {
    /// Index into the warp's synchronising commands.
    next: usize,
    /// First command whose accesses are still to be made.
    accesses_from: usize,
    registrations: u32,
    clock: Vec<u32>,
    fenced: Vec<u32>,
    state: State,
    last_wait: Option<u32>,
    groups: [GroupState; GROUPS],
    /// What relaxed arrivals and waits at mbarriers carry; none where there was no fence for them.
    relaxed: Option<Box<Relaxed>>,
    /// Epochs at which groups were committed.
    commits: [Vec<u32>; GROUPS],
    /// What was done in time when groups of `wgmma` were committed.
    committed: Vec<Vec<u32>>,
    /// The cluster barrier's generation that it arrived at and has not waited for.
    cluster: Option<u32>,
    met_cluster: bool,
    exited: u32,
}

pub(crate) struct Machine<'a> {
    program: &'a Program,
    layout: &'a Layout,
    pub runners: Vec<Runner>,
    ready: VecDeque<u32>,
    barriers: Vec<Barrier>,
    names: FxHashMap<Resource, u32>,
    mbarriers: FxHashMap<u32, Mbarrier>,
    /// For each CTA: threads that have exited.
    exited: Vec<u32>,
    /// For each warp: lanes that have exited.
    exited_lanes: Vec<u32>,
    /// For each CTA: its warps, as bits, of which all threads have exited.
    warps_gone: Vec<u32>,
    /// For each warp: who has come to a named barrier and waits for the rest of the warp.
    comers: Vec<Vec<Comer>>,
    pub completed: u64,
    pub recycling: Vec<Recycling>,
    /// The first use of each named barrier that nobody waited at.
    pub unwaited: Vec<Generation>,
    recycling_index: FxHashMap<(Resource, u32, u32), usize>,
}

/// Recycling errors that are kept apart.
const RECYCLING_LIMIT: usize = 256;

impl<'a> Machine<'a> {
    pub(crate) fn new(program: &'a Program, layout: &'a Layout) -> Machine<'a> {
        let components = layout.components as usize;
        let runner = |chain: u32| Runner {
            next: 0,
            accesses_from: 0,
            registrations: 0,
            clock: vec![0; components],
            fenced: vec![0; layout.fenced_len()],
            state: State::Ready,
            last_wait: None,
            groups: [GroupState::default(); GROUPS],
            relaxed: None,
            commits: Default::default(),
            committed: Vec::new(),
            cluster: None,
            met_cluster: false,
            exited: !layout.chains[chain as usize].lanes,
        };
        let chains = layout.chains.len() as u32;
        Machine {
            program,
            layout,
            runners: (0..chains).map(runner).collect(),
            ready: (0..chains).collect(),
            barriers: Vec::new(),
            names: FxHashMap::default(),
            mbarriers: FxHashMap::default(),
            exited: vec![0; program.shape().ctas as usize],
            exited_lanes: vec![0; program.warps().len()],
            warps_gone: vec![0; program.shape().ctas as usize],
            comers: vec![Vec::new(); program.warps().len()],
            completed: 0,
            recycling: Vec::new(),
            unwaited: Vec::new(),
            recycling_index: FxHashMap::default(),
        }
    }

    /// Runs until nobody can go on. A deadlock shows in [`Machine::is_done`].
    pub(crate) fn run<O: Observer>(&mut self, observer: &mut O) -> Result<(), Misuse> {
        while let Some(chain) = self.ready.pop_front() {
            self.run_chain(chain, observer)?;
        }
        Ok(())
    }

    pub(crate) fn is_done(&self) -> bool {
        self.runners.iter().all(|r| r.state == State::Finished)
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
            let Some(&index) = list.get(runner.next) else {
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
            runner.next += 1;
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
        let range = runner.accesses_from..upto;
        runner.accesses_from = upto;
        if range.is_empty() {
            return;
        }
        let c = &self.layout.chains[chain as usize];
        let mut context = Context {
            program: self.program,
            layout: self.layout,
            chain,
            warp: c.warp,
            lanes: c.lanes,
            epoch: runner.registrations,
            clock: &mut runner.clock,
            fenced: &runner.fenced,
            groups: runner.groups,
            met_cluster: runner.met_cluster,
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
                if self.runners[chain as usize].cluster.is_some() {
                    let place = self.place(chain, index);
                    return Err(Misuse::ClusterOrder { place });
                }
                let barrier = self.barrier(Resource::Cluster);
                let generation = self.barriers[barrier as usize].generation;
                self.runners[chain as usize].cluster = Some(generation);
                let all = Count::All;
                self.register(chain, command, index, Resource::Cluster, all, false, observer)?;
            }
            Opcode::ClusterWait => self.cluster_wait(chain, index, observer)?,
            Opcode::CommitGroup => {
                let runner = &mut self.runners[chain as usize];
                let kind = group_index(command.group());
                runner.groups[kind].epoch += 1;
                runner.commits[kind].push(runner.groups[kind].epoch);
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
        if runner.fenced.is_empty() {
            return;
        }
        if command.fenced() == Fenced::Inits {
            runner.fenced[inits] = stamp;
        } else {
            runner.fenced[..runner.clock.len()].copy_from_slice(&runner.clock);
            runner.fenced[chain as usize] = stamp;
        }
    }

    fn wait_group(&mut self, chain: u32, command: &Packed) {
        let own = &self.layout.chains[chain as usize];
        let kind = group_index(command.group());
        let alone = self.is_ordered_within(chain);
        let runner = &mut self.runners[chain as usize];
        let done = runner.commits[kind].len().checked_sub(command.a as usize + 1);
        if let Some(done) = done {
            let waited = &mut runner.groups[kind].waited;
            *waited = runner.commits[kind][done].max(*waited);
            if let (true, Some(component)) = (alone, own.groups[kind]) {
                runner.clock[component as usize] = *waited;
            }
        }
    }

    /// Whether the chain's own past is known to all its lanes: it has one lane, or runs in lockstep.
    fn is_ordered_within(&self, chain: u32) -> bool {
        self.program.warp_synchronous() || self.layout.chains[chain as usize].lanes.is_power_of_two()
    }

    /// Makes a registration and says what a clock must have reached for it to be known.
    fn stamp(&mut self, chain: u32, command: u32) -> u32 {
        let alone = self.is_ordered_within(chain);
        let lockstep = self.program.warp_synchronous();
        let runner = &mut self.runners[chain as usize];
        runner.registrations += 1;
        let stamp = if lockstep { command + 1 } else { runner.registrations };
        if alone {
            runner.clock[chain as usize] = stamp;
        }
        stamp
    }

    /// Joins what a chain knows and has done, with the registration `stamp`, into a barrier's clocks; where it `orders` nothing, which
    /// `mbarrier.init`s are fenced, and no more.
    fn contribute(&self, chain: u32, (stamp, orders): (u32, bool), clock: &mut [u32], fenced: &mut [u32]) {
        let runner = &self.runners[chain as usize];
        if !orders {
            let inits = clock.len();
            if let (Some(into), Some(from)) = (fenced.get_mut(inits..), runner.fenced.get(inits..)) {
                join(into, from);
            }
            self.join_time(chain, stamp, fenced);
            return;
        }
        join(clock, &runner.clock);
        join(fenced, &runner.fenced);
        clock[chain as usize] = clock[chain as usize].max(stamp);
        for (kind, component) in self.layout.chains[chain as usize].groups.iter().enumerate() {
            if let Some(component) = component {
                let slot = &mut clock[*component as usize];
                *slot = (*slot).max(runner.groups[kind].waited);
            }
        }
    }

    /// Joins what a chain knows and has done by now into the clock of time behind the others.
    fn join_time(&self, chain: u32, stamp: u32, fenced: &mut [u32]) {
        let runner = &self.runners[chain as usize];
        let time = self.layout.time_of(0);
        if let (Some(into), Some(from)) = (fenced.get_mut(time..), runner.fenced.get(time..)) {
            join(into, from);
            join(into, &runner.clock);
            into[chain as usize] = into[chain as usize].max(stamp);
        }
    }

    /// Whether a registration happens before what the chain does next.
    fn knows(&self, chain: u32, part: &Part) -> bool {
        self.runners[chain as usize].clock[part.chain as usize] >= part.stamp
    }

    /// Whether a registration comes before what the chain does next in time, whether memory follows or not.
    fn knows_in_time(&self, chain: u32, part: &Part) -> bool {
        self.knows(chain, part)
            || self.in_time(&self.runners[chain as usize].fenced, part.chain) >= part.stamp
    }

    /// How much of a component is known to be done in time, by such a clock.
    fn in_time(&self, fenced: &[u32], component: u32) -> u32 {
        fenced.get(self.layout.time_of(component)).copied().unwrap_or(0)
    }

    /// What a chain knows.
    pub(crate) fn clock(&self, chain: u32) -> &[u32] {
        &self.runners[chain as usize].clock
    }

    pub(crate) fn place(&self, chain: u32, command: u32) -> Place {
        place(self.program, self.layout, chain, command)
    }

    pub(crate) fn participants(&self, parts: &[Part]) -> Vec<Participant> {
        let participant =
            |part: &Part| Participant { place: self.place(part.chain, part.command), waits: part.waits };
        parts.iter().map(participant).collect()
    }

    fn report_recycling(&mut self, make: impl FnOnce(&Self) -> Recycling) {
        let error = make(self);
        let from = error.unordered.first().map_or(0, |p| p.place.origin);
        let key = (error.earlier.resource, from, error.place.origin);
        if let Some(&index) = self.recycling_index.get(&key) {
            self.recycling[index].count += 1;
        } else if self.recycling.len() < RECYCLING_LIMIT {
            self.recycling_index.insert(key, self.recycling.len());
            self.recycling.push(error);
        }
    }
}

/// The place of a chain's command; one past the last is the end of the program.
pub(crate) fn place(program: &Program, layout: &Layout, chain: u32, command: u32) -> Place {
    let c = &layout.chains[chain as usize];
    let shape = program.shape();
    let packed = program.warps()[c.warp as usize].packed();
    let (lanes, origin) = match packed.get(command as usize) {
        Some(p) => (p.lanes & c.lanes, p.origin),
        None => (c.lanes, packed.last().map_or(0, |p| p.origin)),
    };
    Place {
        threads: Threads { cta: shape.cta_of(c.warp), warp: c.warp % shape.warps_per_cta(), lanes },
        origin,
        command,
    }
}

pub(crate) fn join(into: &mut [u32], from: &[u32]) {
    for (a, b) in into.iter_mut().zip(from) {
        *a = (*a).max(*b);
    }
}
