//! Which pieces of work follow each other without a gap: chains, as few as they may be, since detectors pay for each.
//!
//! A stream is a chain, and so is the host. What belongs to no stream (nodes of graphs, what kernels launch) gets a chain
//! without a name: that of a piece right before it, if nobody else went on with it, or one whose last piece it is
//! known to come behind: whoever waits for such a last piece owns the chain, and what comes behind the owner may have it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use bugaroo_semantics::event::WorkId;

use crate::lane::Lane;

/// The host's chain. Threads of the host are one: how they wait for each other nobody sees.
pub const HOST: u32 = 0;

/// The chains so far.
#[derive(Debug)]
pub struct Chains {
    lanes: BTreeMap<Lane, u32>,
    /// The last piece of each chain; 0: none.
    tips: Vec<WorkId>,
    /// The chain of each piece that is not retired, and the number of the first of them.
    of: VecDeque<u32>,
    first: WorkId,
    /// Those without a name.
    nameless: BTreeSet<u32>,
    /// Nameless chains whose last piece somebody has waited for: by the chain of who did, and which piece of it that was.
    idle: BTreeMap<u32, Vec<(WorkId, u32)>>,
    is_idle: BTreeSet<u32>,
}

impl Chains {
    /// The host's alone.
    pub fn new() -> Chains {
        Chains {
            lanes: BTreeMap::new(),
            tips: vec![0],
            of: VecDeque::new(),
            first: 1,
            nameless: BTreeSet::new(),
            idle: BTreeMap::new(),
            is_idle: BTreeSet::new(),
        }
    }

    fn new_chain(&mut self) -> u32 {
        self.tips.push(0);
        u32::try_from(self.tips.len() - 1).expect("there are fewer chains than pieces of work")
    }

    /// The chain of a piece; None where it is retired.
    pub fn of(&self, work: WorkId) -> Option<u32> {
        self.of.get(work.checked_sub(self.first)? as usize).copied()
    }

    /// Everything before this piece comes before all that goes on or is to come.
    pub fn retire(&mut self, before: WorkId) {
        while self.first < before && self.of.pop_front().is_some() {
            self.first += 1;
        }
    }

    /// The chain of a stream.
    pub fn lane(&mut self, lane: Lane) -> u32 {
        if let Some(chain) = self.lanes.get(&lane) {
            return *chain;
        }
        let chain = self.new_chain();
        self.lanes.insert(lane, chain);
        chain
    }

    /// A chain for a piece that is in no stream and comes behind these.
    pub fn nameless(&mut self, after: &[WorkId]) -> u32 {
        for before in after {
            let Some(chain) = self.of(*before) else { continue };
            let last = self.tips[chain as usize] == *before;
            if last && self.nameless.contains(&chain) && !self.is_idle.contains(&chain) {
                return chain;
            }
        }
        for before in after {
            let Some(owner) = self.of(*before) else { continue };
            let Some(idle) = self.idle.get_mut(&owner) else { continue };
            if let Some(at) = idle.iter().position(|(since, _)| since <= before) {
                let (_, chain) = idle.swap_remove(at);
                self.is_idle.remove(&chain);
                return chain;
            }
        }
        let chain = self.new_chain();
        self.nameless.insert(chain);
        chain
    }

    /// A piece is told: it is the last one of its chain.
    pub fn told(&mut self, work: WorkId, chain: u32, after: &[WorkId]) {
        debug_assert_eq!(
            work as usize,
            self.first as usize + self.of.len(),
            "pieces are told in the order of their numbers"
        );
        self.of.push_back(chain);
        self.tips[chain as usize] = work;
        for before in after {
            let Some(waited) = self.of(*before).filter(|waited| *waited != chain) else { continue };
            let last = self.tips[waited as usize] == *before;
            if last && self.nameless.contains(&waited) && self.is_idle.insert(waited) {
                self.idle.entry(chain).or_default().push((work, waited));
            }
        }
    }

    /// The last piece of every chain.
    pub fn tips(&self) -> impl Iterator<Item = WorkId> + '_ {
        self.tips.iter().copied().filter(|tip| *tip != 0)
    }
}
