//! What the machine keeps for a thread.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::stale::Edge;
use bugaroo_semantics::clocks::View;
use bugaroo_semantics::clocks::release::Entries;
use bugaroo_semantics::location::{Location, Span, Value};
use bugaroo_semantics::scope::{Strength, ThreadKey};

/// A store that waits. It becomes a message when it is due, in the order of the granules' stores.
#[derive(Clone, Debug)]
pub(super) struct Waiting {
    pub span: Span,
    pub value: Value,
    pub strength: Strength,
    pub due: u64,
    pub origin: u32,
    /// What it is called by whoever looks on.
    pub name: u64,
}

/// A load whose value has not been drawn yet.
#[derive(Clone, Debug)]
pub struct Late {
    /// What the caller calls it by.
    pub token: u64,
    /// What it loads.
    pub span: Span,
    /// How.
    pub strength: Strength,
    pub(super) due: u64,
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
pub struct ThreadState {
    pub(super) key: ThreadKey,
    /// It has begun and not ended.
    pub(super) lives: bool,
    pub(super) view: Rc<View>,
    /// Its own accesses so far: what waiting is counted in.
    pub(super) count: u64,
    pub(super) random: u64,
    /// Stale reads in a row.
    pub(super) stale_run: u32,
    pub(super) waiting: Vec<Waiting>,
    /// The first moment at which something of it is due.
    pub(super) due: u64,
    pub(super) late: Vec<Late>,
    /// Late loads that have been resolved and not been handed out.
    pub(super) settled: Vec<(Late, Value)>,
    /// What its strong stores carry: what its fences have released.
    pub(super) fences: Entries,
    /// What its strong stores to a location carry besides, as it has released there.
    pub(super) released_at: BTreeMap<Location, Entries>,
    pub(super) bank: BTreeMap<Location, Banked>,
    /// What it handed over last by an atomic that wrote nothing, and what the message then carried.
    pub(super) handed: Option<Box<(Entries, Entries)>>,
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
            count: 0,
            random: 0,
            stale_run: 0,
            waiting: Vec::new(),
            due: u64::MAX,
            late: Vec::new(),
            settled: Vec::new(),
            fences: None,
            released_at: BTreeMap::new(),
            bank: BTreeMap::new(),
            handed: None,
            released: Edge::default(),
            acquired: Edge::default(),
            met: 0,
        }
    }
}

impl ThreadState {
    /// A thread begins in this slot, where another may have been.
    pub(super) fn begin(&mut self, key: ThreadKey, random: u64) {
        let lists = (std::mem::take(&mut self.waiting), std::mem::take(&mut self.late));
        *self = ThreadState { key, random, lives: true, ..ThreadState::default() };
        // Their memory serves again.
        (self.waiting, self.late) = lists;
        self.waiting.clear();
        self.late.clear();
    }

    /// Recomputes when something is due next.
    pub(super) fn set_due(&mut self) {
        let stores = self.waiting.iter().map(|store| store.due);
        self.due = stores.fold(self.first_late(), u64::min);
    }

    /// When the first of its late loads is due.
    pub(super) fn first_late(&self) -> u64 {
        self.late.iter().map(|load| load.due).min().unwrap_or(u64::MAX)
    }
}
