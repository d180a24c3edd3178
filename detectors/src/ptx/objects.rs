//! The mbarriers of a grid, and who has made them ([`super::mbarriers`]).

use bugaroo_semantics::scope::ThreadKey;
use rustc_hash::FxHashMap;

use super::places::Place;
use super::record::Record;

/// The mbarriers of a grid.
#[derive(Debug, Default)]
pub(super) struct Objects {
    /// The last initialisation, or the end, of each.
    pub(super) made: FxHashMap<Place, Record>,
    /// When threads have last initialised one that they have done no fence for.
    pub(super) unfenced: FxHashMap<ThreadKey, u32>,
    /// And one that they have.
    pub(super) fenced: FxHashMap<ThreadKey, u32>,
}

impl Objects {
    /// The shared memory of a slot is new.
    pub fn forget(&mut self, slot: u32) {
        self.made.retain(|place, _| (place.0, place.1) != (1, slot));
    }

    /// A thread has done a proxy fence.
    pub fn fence(&mut self, thread: ThreadKey) {
        if let Some(time) = self.unfenced.remove(&thread) {
            self.fenced.insert(thread, time);
        }
    }

    /// Up to when a thread has initialised mbarriers and done a fence for them.
    pub fn fenced(&self, thread: ThreadKey) -> Option<u32> {
        self.fenced.get(&thread).copied()
    }

    /// Bytes, about.
    pub fn held(&self) -> u64 {
        (self.made.capacity() * (size_of::<(Place, Record)>() + 1)) as u64
    }
}
