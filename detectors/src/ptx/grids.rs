//! The grids under way, by their work. They are few, and asked for with every access.

use bugaroo_semantics::event::WorkId;

use super::state::Grid;

/// Grids.
#[derive(Debug, Default)]
pub(super) struct Grids {
    ids: Vec<WorkId>,
    grids: Vec<Grid>,
}

impl Grids {
    #[inline]
    fn at(&self, id: &WorkId) -> Option<usize> {
        self.ids.iter().position(|other| other == id)
    }

    #[inline]
    pub fn get(&self, id: &WorkId) -> Option<&Grid> {
        self.at(id).map(|at| &self.grids[at])
    }

    #[inline]
    pub fn get_mut(&mut self, id: &WorkId) -> Option<&mut Grid> {
        self.at(id).map(|at| &mut self.grids[at])
    }

    pub fn contains_key(&self, id: &WorkId) -> bool {
        self.ids.contains(id)
    }

    pub fn insert(&mut self, id: WorkId, grid: Grid) {
        match self.get_mut(&id) {
            Some(there) => *there = grid,
            None => {
                self.ids.push(id);
                self.grids.push(grid);
            }
        }
    }

    pub fn remove(&mut self, id: &WorkId) -> Option<Grid> {
        self.at(id).map(|at| {
            self.ids.remove(at);
            self.grids.remove(at)
        })
    }

    pub fn values(&self) -> impl Iterator<Item = &Grid> {
        self.grids.iter()
    }
}
