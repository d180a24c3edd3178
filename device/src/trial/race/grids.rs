//! Names of the grids that may be told of in a race. A program launches few kernels at few places, often.

use std::collections::{HashMap, VecDeque};
use std::rc::Rc;

use bugaroo_semantics::event::{SiteNumber, WorkId};

/// A grid, for the report.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RaceGrid {
    /// Its name.
    pub kernel: Rc<str>,
    /// Extents of the grid and of a block.
    pub shape: ([u32; 3], [u32; 3]),
    /// The call that launched it.
    pub site: SiteNumber,
}

/// See the head.
#[derive(Debug, Default)]
pub struct Grids {
    kinds: Vec<RaceGrid>,
    numbers: HashMap<RaceGrid, u32>,
    /// By their work, which kind.
    all: VecDeque<(WorkId, u32)>,
}

impl Grids {
    /// A grid begins.
    pub fn insert(&mut self, work: WorkId, grid: RaceGrid) {
        let kinds = &mut self.kinds;
        let number = *self.numbers.entry(grid).or_insert_with_key(|grid| {
            kinds.push(grid.clone());
            // As many as launches, at most, which have numbers of 32 bits.
            (kinds.len() - 1) as u32
        });
        let at = self.all.partition_point(|(other, _)| *other < work);
        self.all.insert(at, (work, number));
    }

    /// The grid of a piece of work.
    pub fn get(&self, work: WorkId) -> Option<&RaceGrid> {
        let at = self.all.binary_search_by_key(&work, |grid| grid.0).ok()?;
        self.kinds.get(self.all[at].1 as usize)
    }

    /// Nobody asks for those before this piece any more.
    pub fn retire(&mut self, before: WorkId) {
        while self.all.front().is_some_and(|(work, _)| *work < before) {
            self.all.pop_front();
        }
    }
}
