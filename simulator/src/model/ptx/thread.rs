//! What the machine keeps for a thread.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::stale::Edge;
use bugaroo_semantics::clocks::View;
use bugaroo_semantics::clocks::release::Entries;
use bugaroo_semantics::location::{GranuleSpan, Location, Value};
use bugaroo_semantics::scope::{Strength, ThreadKey};

/// A load whose value has not been drawn yet.
#[derive(Clone, Debug)]
pub struct Late {
    /// What the caller calls it by.
    pub token: u64,
    /// What it loads.
    pub span: GranuleSpan,
    /// How.
    pub strength: Strength,
    /// The lower half of the count of its thread's accesses at which it is due.
    pub(super) due: u32,
    /// What the program calls the instruction.
    pub origin: u32,
    /// It is pending beyond a release of its thread.
    pub(super) passed: Option<Passed>,
}

/// What a load that is pending beyond a release of its thread may read.
#[derive(Clone, Debug)]
pub(super) struct Passed {
    /// What its thread knew.
    pub view: Rc<View>,
    pub floor: u64,
    /// Who knows of its thread's doings up to this time comes after the load.
    pub limit: u64,
}

/// What strong reads of a location have come across, for a later fence or acquire there to take.
#[derive(Clone, Debug)]
pub(super) struct Banked {
    pub entries: Entries,
    /// When.
    pub time: u64,
}

#[derive(Clone, Debug)]
// What every access looks at comes first, in one line of the host's cache.
#[repr(C, align(64))]
pub struct ThreadState {
    pub(super) random: u64,
    pub(super) view: Rc<View>,
    pub(super) key: ThreadKey,
    /// Stale reads in a row.
    pub(super) stale_run: u32,
    /// It has begun and not ended.
    pub(super) lives: bool,
    pub(super) loads: Loads,
    pub(super) hands: Releases,
    pub(super) edges: Edges,
}

/// Loads whose values are drawn late.
#[derive(Clone, Debug)]
pub(super) struct Loads {
    pub(super) late: Vec<Late>,
    /// Late loads that have been resolved and not been handed out.
    pub(super) settled: Vec<(Late, Value)>,
}

/// What a thread hands over with its writes, and may take with its fences.
#[derive(Clone, Debug)]
pub(super) struct Releases {
    /// What its strong stores carry: what its fences have released.
    pub(super) fences: Entries,
    /// What its strong stores to a location carry besides, as it has released there.
    pub(super) released_at: BTreeMap<Location, Entries>,
    pub(super) bank: BTreeMap<Location, Banked>,
    /// What it handed over last by an atomic that wrote nothing, and what the message then carried.
    pub(super) handed: Option<Box<(Entries, Entries)>>,
}

/// For explanations: when a thread last synchronised.
#[derive(Clone, Debug)]
pub(super) struct Edges {
    /// For explanations: when it last released, and acquired.
    pub(super) released: Edge,
    pub(super) acquired: Edge,
    /// And when it met others at a barrier.
    pub(super) met: u64,
}

impl Default for ThreadState {
    fn default() -> ThreadState {
        ThreadState {
            key: ThreadKey::NOBODY,
            lives: false,
            view: Rc::default(),
            random: 0,
            stale_run: 0,
            loads: Loads { late: Vec::new(), settled: Vec::new() },
            hands: Releases {
                fences: None,
                released_at: BTreeMap::new(),
                bank: BTreeMap::new(),
                handed: None,
            },
            edges: Edges { released: Edge::default(), acquired: Edge::default(), met: 0 },
        }
    }
}

impl ThreadState {
    /// A thread begins in this slot, where another may have been.
    pub(super) fn begin(&mut self, key: ThreadKey, random: u64) {
        let late = std::mem::take(&mut self.loads.late);
        *self = ThreadState { key, random, lives: true, ..ThreadState::default() };
        // Its memory serves again.
        self.loads.late = late;
        self.loads.late.clear();
    }
}
