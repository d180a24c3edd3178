//! What of the device's work the host knows to be done: along each chain, up to which piece.
//!
//! Pieces of a chain come in the order of their numbers. So whoever knows a piece knows all before it in its chain, and only
//! what these have waited for in other chains has to be remembered, until it is known.

use std::collections::{BTreeMap, VecDeque};

use bugaroo_semantics::event::WorkId;

use super::chains::{Chains, HOST};

/// See the head.
#[derive(Debug)]
pub struct Known {
    /// All before this piece the host knows, or has done itself.
    first: WorkId,
    upto: BTreeMap<u32, WorkId>,
    /// By chain, pieces that the host does not know, and what they come behind in other chains.
    joins: BTreeMap<u32, VecDeque<(WorkId, Vec<WorkId>)>>,
    /// By chain, the last piece that has touched memory that the host reaches, as long as the host does not know it.
    touched: BTreeMap<u32, WorkId>,
}

impl Default for Known {
    fn default() -> Known {
        Known { first: 1, upto: BTreeMap::new(), joins: BTreeMap::new(), touched: BTreeMap::new() }
    }
}

impl Known {
    /// The first piece that the host does not know.
    pub fn first_unknown(&mut self, chains: &Chains) -> WorkId {
        while let Some(chain) = chains.of(self.first)
            && (chain == HOST || self.is_known(self.first, chain))
        {
            self.first += 1;
        }
        self.first
    }

    /// A piece of a chain is told, behind these. The host's own pieces know what they come behind.
    pub fn told(&mut self, work: WorkId, chain: u32, after: &[WorkId], chains: &Chains) {
        if chain == HOST {
            return self.learn(after, chains);
        }
        let other = |before: &&WorkId| {
            chains.of(**before).is_some_and(|of| of != chain && of != HOST && !self.is_known(**before, of))
        };
        let others: Vec<WorkId> = after.iter().filter(other).copied().collect();
        if !others.is_empty() {
            self.joins.entry(chain).or_default().push_back((work, others));
        }
    }

    fn is_known(&self, work: WorkId, chain: u32) -> bool {
        self.upto.get(&chain).is_some_and(|upto| *upto >= work)
    }

    /// The host comes behind these.
    fn learn(&mut self, after: &[WorkId], chains: &Chains) {
        let mut left = after.to_vec();
        while let Some(work) = left.pop() {
            let Some(chain) = chains.of(work).filter(|chain| *chain != HOST) else { continue };
            if self.is_known(work, chain) {
                continue;
            }
            self.upto.insert(chain, work);
            if let Some(joins) = self.joins.get_mut(&chain) {
                let known = joins.partition_point(|(join, _)| *join <= work);
                left.extend(joins.drain(..known).flat_map(|(_, before)| before));
            }
            if self.touched.get(&chain).is_some_and(|touched| *touched <= work) {
                self.touched.remove(&chain);
            }
        }
    }

    /// A piece has touched memory that the host reaches.
    pub fn touched(&mut self, work: WorkId, chains: &Chains) {
        let Some(chain) = chains.of(work).filter(|chain| *chain != HOST) else { return };
        if !self.is_known(work, chain) {
            let last = self.touched.entry(chain).or_default();
            *last = (*last).max(work);
        }
    }

    /// Whether there is such a piece that the host does not know.
    pub fn any_touched(&self) -> bool {
        !self.touched.is_empty()
    }
}
