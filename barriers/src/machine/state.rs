//! The machine: all chains as they run, the barriers, and what was found.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::barrier::{Barrier, Comer};
use super::known::Known;
use super::mbarrier::Mbarrier;
use super::part::Part;
use super::runner::{Runner, State};
use crate::chains::Layout;
use crate::program::WarpPrograms;
use crate::verdict::{Generation, Participant, Recycling, Resource, Threads, ThreadsPlace};

/// All chains as they run.
pub(crate) struct Machine<'a> {
    pub(super) program: &'a WarpPrograms,
    pub(super) layout: &'a Layout,
    pub runners: Vec<Runner>,
    pub(super) ready: VecDeque<u32>,
    pub(super) barriers: Vec<Barrier>,
    pub(super) names: FxHashMap<Resource, u32>,
    pub(super) mbarriers: FxHashMap<u32, Mbarrier>,
    pub(super) gone: Exits,
    /// For each warp: who has come to a named barrier and waits for the rest of the warp.
    pub(super) comers: Vec<Vec<Comer>>,
    pub uses: Uses,
}

/// Who has exited.
pub(super) struct Exits {
    /// For each CTA: threads.
    pub(super) threads: Vec<u32>,
    /// For each warp: lanes.
    pub(super) lanes: Vec<u32>,
    /// For each CTA: its warps, as bits, of which all threads have.
    pub(super) warps: Vec<u32>,
}

/// What was found of the uses of barriers.
#[derive(Default)]
pub(crate) struct Uses {
    /// How many are over.
    pub completed: u64,
    pub recycling: Vec<Recycling>,
    /// Where in that list an error of two uses by two places is.
    recycling_index: FxHashMap<(Resource, u32, u32), usize>,
    /// The first use of each named barrier that nobody waited at.
    pub unwaited: Vec<Generation>,
}

impl Uses {
    /// Notes an error, or counts it where it is known.
    fn report(&mut self, error: Recycling) {
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

/// Recycling errors that are kept apart.
const RECYCLING_LIMIT: usize = 256;

impl<'a> Machine<'a> {
    pub(crate) fn new(program: &'a WarpPrograms, layout: &'a Layout) -> Machine<'a> {
        let runner = |chain: u32| Runner::new(nothing(layout), !layout.chains[chain as usize].lanes);
        let chains = layout.chains.len() as u32;
        let (ctas, warps) = (program.shape().ctas as usize, program.warps().len());
        Machine {
            program,
            layout,
            runners: (0..chains).map(runner).collect(),
            ready: (0..chains).collect(),
            barriers: Vec::new(),
            names: FxHashMap::default(),
            mbarriers: FxHashMap::default(),
            gone: Exits { threads: vec![0; ctas], lanes: vec![0; warps], warps: vec![0; ctas] },
            comers: vec![Vec::new(); warps],
            uses: Uses::default(),
        }
    }

    /// What somebody knows who knows nothing.
    pub(super) fn nothing(&self) -> Known {
        nothing(self.layout)
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
        self.uses.report(error);
    }
}

fn nothing(layout: &Layout) -> Known {
    Known::nothing(layout.components as usize, layout.fenced_len())
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
