//! Requests of threads, and pieces of work that come behind parts of grids ([`super::children`]).

use std::rc::Rc;

use bugaroo_semantics::clocks::View;
use bugaroo_semantics::event::{Lanes, WorkId};

use super::children::Children;
use super::detector::ExactDetector;

use super::works::Works;

impl Children {
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
}

impl ExactDetector {
    /// A thread of a grid asks for something.
    pub(super) fn asked(&mut self, by: &Lanes, number: u32) {
        let Some(grid) = self.grids.get_mut(&by.grid) else { return };
        grid.ensure(by);
        let lane = by.mask.trailing_zeros();
        let time = grid.ctas[by.cta as usize].clock;
        let known = grid.warps[by.warp as usize].views.of(lane);
        let view = known.own_view(by.block as u32, by.first + lane, time);
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
