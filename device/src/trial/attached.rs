//! A launch that device code looks at, from its begin to its end: where its module finds its memory, and who is told of it.

use std::cell::RefCell;
use std::rc::Rc;

use bugaroo_semantics::Observer;
use bugaroo_semantics::event::{Event, Shape, WorkId};
use bugaroo_simulator::{LaunchWatch, Memory};

use crate::trial::looking::{Arrays, entries, words};

/// Memory of a launch.
#[derive(Debug)]
pub(crate) struct Allocated<S> {
    /// What the module's variable says of it.
    pub state: S,
    pub arrays: Arrays,
    /// Entries of the report.
    pub races: u64,
}

impl<S> Allocated<S> {
    /// What `make` takes; None, and nothing is taken, where there is no room for all of it.
    pub fn new(
        races: u64,
        memory: &mut Memory,
        make: impl FnOnce(&mut Arrays, &mut Memory) -> Option<S>,
    ) -> Option<Allocated<S>> {
        let mut arrays = Arrays::default();
        let Some(state) = make(&mut arrays, memory) else {
            arrays.free(memory);
            return None;
        };
        Some(Allocated { state, arrays, races })
    }

    /// The entries of the report at this address.
    pub fn report<const N: usize>(&self, memory: &Memory, report: u64) -> Vec<[u64; N]> {
        entries(memory, report, self.races)
    }
}

/// A launch from its begin to its end.
pub(crate) struct Attached {
    /// Address of the module's variable.
    variable: u64,
    grid: WorkId,
    observer: Rc<RefCell<dyn Observer>>,
}

impl Attached {
    /// The grid begins. `watch`: who is told that it does, and ends.
    pub fn begin(variable: u64, (shape, lockstep): (Shape, bool), watch: LaunchWatch) -> Attached {
        let LaunchWatch { observer, grid, first_site } = watch;
        observer.borrow_mut().event(&Event::GridBegin { grid, shape, lockstep, first_site });
        Attached { variable, grid, observer }
    }

    /// Says to the module where the launch's memory is, or, by the state that is all 0, that there is none. There is one place for
    /// all launches of a module.
    pub fn say(&self, state: &[u8], memory: &mut Memory) {
        // The variable lives as long as its module.
        let _ = memory.write(self.variable, state);
    }

    /// The grid has ended: its memory goes back.
    pub fn end(&self, arrays: &Arrays, memory: &mut Memory) {
        arrays.free(memory);
        self.observer.borrow_mut().event(&Event::GridEnd { grid: self.grid });
    }
}

/// How many accesses of warps were looked at: each of these slots of blocks, which are so many bytes apart, has counted its own there.
pub(crate) fn accesses(memory: &Memory, first: u64, slots: u32, apart: u64) -> u64 {
    let of_slot = |slot| words(memory, first + slot * apart);
    (0..u64::from(slots)).filter_map(of_slot).map(|[accesses]: [u64; 1]| accesses).sum()
}
