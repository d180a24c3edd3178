//! What comes behind a part of a grid: what its threads have launched, and had copied and filled.
//!
//! Source: CUDA C++ Programming Guide, "CUDA Dynamic Parallelism", version 2: what the launching thread has done comes before the child
//! grid, and of its parent's other threads what that thread knows. What the threads do else, and what it does later, runs beside the child.
//! A tail launch comes behind all of its parent, and so does what waits for the parent: that ends with its children.

use std::rc::Rc;

use bugaroo_semantics::clocks::View;
use bugaroo_semantics::event::{Lanes, WorkId};
use rustc_hash::FxHashMap;

use super::Ptx;
use super::record::{COPY, HOST, Record};
use super::state::Grid;
use super::works::Works;

/// Parts of grids, by what comes behind them.
#[derive(Debug, Default)]
pub(super) struct Children {
    /// What its threads knew, by grid, for each of its requests.
    asked: FxHashMap<WorkId, Vec<Rc<View>>>,
    /// By piece: of which grids it comes behind a part, and what of each.
    behind: FxHashMap<WorkId, Vec<(WorkId, Rc<View>)>>,
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

    /// A piece comes behind these, of which `asked` is one.
    fn add(&mut self, works: &Works, id: WorkId, after: &[WorkId], asked: Option<(WorkId, u32)>) {
        if self.asked.is_empty() && self.behind.is_empty() {
            return;
        }
        let mut parts: Vec<(WorkId, Rc<View>)> = Vec::new();
        let mut add = |grid: WorkId, view: &Rc<View>| match parts.iter_mut().find(|part| part.0 == grid) {
            Some(part) => part.1 = bugaroo_semantics::clocks::joined(&part.1, view),
            None => parts.push((grid, Rc::clone(view))),
        };
        let requests = |grid: WorkId| self.asked.get(&grid).map(Vec::as_slice).unwrap_or_default();
        let own = asked.and_then(|(grid, number)| Some((grid, requests(grid).get(number as usize)?)));
        if let Some((grid, view)) = own {
            add(grid, view);
        }
        for before in after {
            self.behind.get(before).into_iter().flatten().for_each(|(grid, view)| add(*grid, view));
        }
        // What comes behind anything that is behind all of a grid is, too.
        let own = own.map(|own| own.0);
        parts.retain(|(grid, _)| {
            let is_whole = |before: &WorkId| {
                let itself = before == grid && own != Some(*grid);
                itself
                    || (before != grid
                        && works.ordered(*grid, *before)
                        && self.part(*grid, *before).is_none())
            };
            !after.iter().any(is_whole)
        });
        if !parts.is_empty() {
            self.behind.insert(id, parts);
        }
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

impl Ptx {
    /// A thread of a grid asks for something.
    pub(super) fn asked(&mut self, by: &Lanes, number: u32) {
        let Some(grid) = self.grids.get_mut(&by.grid) else { return };
        grid.ensure(by);
        let lane = by.mask.trailing_zeros();
        let time = grid.ctas[by.cta as usize].clock;
        let known = grid.warps[by.warp as usize].views.of(lane);
        let view = Grid::own_view(known, by.block as u32, by.first + lane, time);
        grid.tick(by.cta);
        let views = self.works.children.asked.entry(by.grid).or_default();
        // They come in their order.
        if views.len() == number as usize {
            views.push(view);
        }
    }
}

impl Works {
    /// What a piece comes behind a part of: it and what it comes behind are known.
    pub(super) fn parts(
        &mut self,
        id: WorkId,
        before: Option<WorkId>,
        after: &[WorkId],
        asked: Option<(WorkId, u32)>,
    ) {
        let mut children = std::mem::take(&mut self.children);
        let all: Vec<WorkId> = after
            .iter()
            .copied()
            .chain(before.filter(|before| asked.is_none_or(|asked| asked.0 != *before)))
            .collect();
        children.add(self, id, &all, asked);
        self.children = children;
    }
}
