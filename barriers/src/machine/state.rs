//! The machine: all chains as they run, the barriers, and what was found.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::barrier::{Barrier, Comer};
use super::mbarrier::Mbarrier;
use super::part::Part;
use super::runner::{GroupState, Runner, State};
use crate::chains::{GROUPS, Layout};
use crate::program::WarpPrograms;
use crate::verdict::{Generation, Participant, Recycling, Resource, Threads, ThreadsPlace};

pub(crate) struct Machine<'a> {
    pub(super) program: &'a WarpPrograms,
    pub(super) layout: &'a Layout,
    pub runners: Vec<Runner>,
    pub(super) ready: VecDeque<u32>,
    pub(super) barriers: Vec<Barrier>,
    pub(super) names: FxHashMap<Resource, u32>,
    pub(super) mbarriers: FxHashMap<u32, Mbarrier>,
    /// For each CTA: threads that have exited.
    pub(super) exited: Vec<u32>,
    /// For each warp: lanes that have exited.
    pub(super) exited_lanes: Vec<u32>,
    /// For each CTA: its warps, as bits, of which all threads have exited.
    pub(super) warps_gone: Vec<u32>,
    /// For each warp: who has come to a named barrier and waits for the rest of the warp.
    pub(super) comers: Vec<Vec<Comer>>,
    pub completed: u64,
    pub recycling: Vec<Recycling>,
    /// The first use of each named barrier that nobody waited at.
    pub unwaited: Vec<Generation>,
    pub(super) recycling_index: FxHashMap<(Resource, u32, u32), usize>,
}

/// Recycling errors that are kept apart.
const RECYCLING_LIMIT: usize = 256;

impl<'a> Machine<'a> {
    pub(crate) fn new(program: &'a WarpPrograms, layout: &'a Layout) -> Machine<'a> {
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

    pub(crate) fn is_done(&self) -> bool {
        self.runners.iter().all(|r| r.state == State::Finished)
    }

    pub(crate) fn place(&self, chain: u32, command: u32) -> ThreadsPlace {
        place(self.program, self.layout, chain, command)
    }

    pub(crate) fn participants(&self, parts: &[Part]) -> Vec<Participant> {
        let participant =
            |part: &Part| Participant { place: self.place(part.chain, part.command), waits: part.waits };
        parts.iter().map(participant).collect()
    }

    pub(super) fn report_recycling(&mut self, make: impl FnOnce(&Self) -> Recycling) {
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
pub(crate) fn place(program: &WarpPrograms, layout: &Layout, chain: u32, command: u32) -> ThreadsPlace {
    let c = &layout.chains[chain as usize];
    let shape = program.shape();
    let packed = program.warps()[c.warp as usize].packed();
    let (lanes, origin) = match packed.get(command as usize) {
        Some(p) => (p.lanes & c.lanes, p.origin),
        None => (c.lanes, packed.last().map_or(0, |p| p.origin)),
    };
    ThreadsPlace {
        threads: Threads { cta: shape.cta_of(c.warp), warp: c.warp % shape.warps_per_cta(), lanes },
        origin,
        command,
    }
}
