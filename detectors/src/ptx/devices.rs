//! What is kept where there are several devices: see [`super::beyond`].

use bugaroo_semantics::event::{Range, WorkId};
use bugaroo_semantics::scope::ThreadKey;
use rustc_hash::{FxHashMap, FxHashSet};

use super::few::Few;

/// What is kept where there are several devices.
#[derive(Debug, Default)]
pub(super) struct Devices {
    /// There are several.
    pub several: bool,
    /// By thread: grids whose messages it has read, and has not acquired from.
    pub heard: FxHashMap<(WorkId, ThreadKey), Few<WorkId>>,
    /// Grids that have done `fence.sc.sys`.
    pub fenced: FxHashSet<WorkId>,
    /// By granule: grids that have accessed it strongly since they did.
    pub behind: FxHashMap<u64, Few<WorkId>>,
    /// By grid: those behind whose fence its next one comes.
    pub met: FxHashMap<WorkId, Few<WorkId>>,
}

impl Devices {
    /// Nothing can race any more with work before this piece.
    pub fn retire(&mut self, before: WorkId) {
        if !self.several {
            return;
        }
        let old = |grids: &Few<WorkId>| grids.iter().all(|grid| *grid < before);
        self.heard.retain(|(grid, _), _| *grid >= before);
        self.fenced.retain(|grid| *grid >= before);
        self.behind.retain(|_, grids| !old(grids));
        self.met.retain(|grid, _| *grid >= before);
    }

    /// What a range had is forgotten.
    pub fn forget(&mut self, range: &Range) {
        if !self.behind.is_empty() {
            let end = range.address.saturating_add(range.bytes);
            self.behind.retain(|granule, _| !(range.address..end).contains(&(granule << 2)));
        }
    }

    /// Bytes, about.
    pub fn held(&self) -> u64 {
        ((self.heard.len() + self.behind.len() + self.met.len()) * 64 + self.fenced.len() * 8) as u64
    }
}
