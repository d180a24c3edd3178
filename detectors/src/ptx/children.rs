//! What comes behind a part of a grid: what its threads have launched, and had copied and filled.
//!
//! Source: CUDA C++ Programming Guide, "CUDA Dynamic Parallelism", version 2: what the launching thread has done comes before the child
//! grid, and of its parent's other threads what that thread knows. What the threads do else, and what it does later, runs beside the child.
//! A tail launch comes behind all of its parent, and so does what waits for the parent: that ends with its children.

use std::rc::Rc;

use bugaroo_semantics::clocks::View;
use bugaroo_semantics::event::WorkId;
use rustc_hash::FxHashMap;

use super::record::{COPY, HOST, Record};

/// Parts of grids, by what comes behind them.
#[derive(Debug, Default)]
pub(super) struct Children {
    /// What its threads knew, by grid, for each of its requests.
    pub(super) asked: FxHashMap<WorkId, Vec<Rc<View>>>,
    /// By piece: of which grids it comes behind a part, and what of each.
    pub(super) behind: FxHashMap<WorkId, Vec<(WorkId, Rc<View>)>>,
}

impl Children {
    /// Of a grid, what comes before a piece that is behind it; None where that is all.
    #[inline]
    pub fn part(&self, grid: WorkId, of: WorkId) -> Option<&Rc<View>> {
        if self.behind.is_empty() {
            return None;
        }
        let behind = self.behind.get(&of)?;
        behind.iter().find(|part| part.0 == grid).map(|part| &part.1)
    }

    /// The grids of which a piece comes behind a part.
    pub fn parents(&self, of: WorkId) -> impl Iterator<Item = WorkId> + '_ {
        self.behind.get(&of).into_iter().flatten().map(|part| part.0)
    }

    /// Nothing can race any more with work before this piece.
    pub fn retire(&mut self, before: WorkId) {
        self.asked.retain(|grid, _| *grid >= before);
        self.behind.retain(|work, _| *work >= before);
    }

    /// Bytes, about: what views share is counted for none.
    pub fn held(&self) -> u64 {
        let asked: usize = self.asked.values().map(|views| 32 + views.len() * 8).sum();
        let behind: usize = self.behind.values().map(|parts| 40 + parts.len() * 16).sum();
        (asked + behind) as u64
    }
}

/// Whether what a record has comes before a part of whose grid alone the newer one's work is behind can be told from what the part has.
#[inline]
pub(super) fn is_told_apart(old: &Record, new: &Record) -> bool {
    !old.is(COPY) && !old.is(HOST) && !new.is(COPY)
}
