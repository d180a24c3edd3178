//! Looks on for the detectors: hands all on to them, and finds the kernels that talk with the host while they run.
//!
//! A kernel talks with the host when it makes a strong access of system scope to memory that the host reaches (page-locked,
//! managed, or a word that streams write and wait for), or a fence of system scope while there is such memory. The host's
//! own loads and stores are not seen, so nobody can tell what such a kernel and the host know of each other: nothing is said of
//! accesses of such a kernel against those of other work.

use std::collections::{BTreeMap, BTreeSet};

use bugaroo_detectors::Set;
use bugaroo_ptx::types::Scope;
use bugaroo_semantics::event::{Access, Event, WhoseBytes, WorkId};
use bugaroo_semantics::scope::Strength;
use bugaroo_semantics::{Observer, Spares, Wants};

/// See the head.
#[derive(Debug)]
pub struct Looker {
    /// The detectors.
    pub set: Set,
    /// Accesses so far, in warps.
    pub accesses: u64,
    /// Memory that the host reaches: first address and bytes.
    shared: BTreeMap<u64, u64>,
    /// How often that has changed.
    shared_version: u64,
    /// From the first byte of it to the one behind the last, or more.
    extent: (u64, u64),
    /// Pieces of work that have touched it, since somebody asked.
    touched: BTreeSet<WorkId>,
    /// Grids that have talked with the host.
    talking: BTreeSet<WorkId>,
    /// Those that run, or have ended since the host was told.
    unheard: BTreeSet<WorkId>,
    running: BTreeSet<WorkId>,
}

impl Looker {
    /// For these detectors.
    pub fn new(set: Set) -> Looker {
        Looker {
            set,
            accesses: 0,
            shared: BTreeMap::new(),
            shared_version: 0,
            extent: (u64::MAX, 0),
            touched: BTreeSet::new(),
            talking: BTreeSet::new(),
            unheard: BTreeSet::new(),
            running: BTreeSet::new(),
        }
    }

    /// The host reaches this memory.
    pub fn shared(&mut self, address: u64, bytes: u64) {
        let known = self.shared.entry(address).or_default();
        if *known < bytes {
            *known = bytes;
            self.shared_version += 1;
            let (first, end) = self.extent;
            self.extent = (first.min(address), end.max(address.saturating_add(bytes)));
        }
    }

    /// What the host reaches, and how often that has changed.
    pub fn shared_memory(&self) -> (&BTreeMap<u64, u64>, u64) {
        (&self.shared, self.shared_version)
    }

    /// Pieces of work that have touched it since this was asked last.
    pub fn take_touched(&mut self) -> BTreeSet<WorkId> {
        std::mem::take(&mut self.touched)
    }

    /// Memory that begins here is no more.
    pub fn unshared(&mut self, address: u64) {
        if self.shared.remove(&address).is_some() {
            self.shared_version += 1;
        }
    }

    /// Whether a grid has talked with the host.
    pub fn talks(&self, grid: WorkId) -> bool {
        self.talking.contains(&grid)
    }

    /// Nobody asks for grids before this piece of work any more.
    pub fn retire(&mut self, before: WorkId) {
        if self.talking.first().is_some_and(|first| *first < before) {
            self.talking = self.talking.split_off(&before);
        }
    }

    /// Grids that the host may know something of that it was not told to know.
    pub fn heard(&mut self) -> Vec<WorkId> {
        let unheard: Vec<WorkId> = self.unheard.iter().copied().collect();
        let running = &self.running;
        self.unheard.retain(|grid| running.contains(grid));
        unheard
    }

    fn talk(&mut self, grid: WorkId) {
        if self.talking.insert(grid) {
            self.unheard.insert(grid);
        }
    }

    fn reaches_host(&self, access: &Access<'_>) -> bool {
        access.by.each().any(|lane| {
            let address = access.address(lane);
            let below = self.shared.range(..=address).next_back();
            below.is_some_and(|(first, bytes)| address - first < *bytes)
        })
    }
}

impl Observer for Looker {
    fn wants(&self) -> Wants {
        self.set.wants()
    }

    // What it looks at itself is global memory, and what is covered has been touched before. What goes by another access
    // may go to memory of the host though that one does not.
    fn spares(&self) -> Spares {
        let spares = self.set.spares();
        let alone = self.extent.1 == 0;
        Spares { led: spares.led && alone, unwritten: spares.unwritten && alone, ..spares }
    }

    fn access(&mut self, access: &Access<'_>) {
        self.accesses += 1;
        let grid = access.by.grid;
        if self.extent.1 != 0 && access.memory == WhoseBytes::Global && !self.touched.contains(&grid) {
            let within = |lane| {
                let address = access.address(lane);
                address >= self.extent.0 && address < self.extent.1
            };
            if access.by.each().any(within) && self.reaches_host(access) {
                self.touched.insert(grid);
            }
        }
        let strong = access.strength == Strength::Strong(Scope::Sys);
        if strong && access.memory == WhoseBytes::Global && self.reaches_host(access) {
            self.talk(access.by.grid);
        }
        self.set.access(access);
    }

    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Fence { by, fence, .. } if fence.scope == Scope::Sys && !self.shared.is_empty() => {
                self.talk(by.grid);
            }
            Event::HostAccess { work, range, .. } => {
                let end = range.address.saturating_add(range.bytes);
                let last = self.shared.range(..end).next_back();
                if last.is_some_and(|(first, bytes)| first.saturating_add(*bytes) > range.address) {
                    self.touched.insert(*work);
                }
            }
            Event::GridBegin { grid, .. } => {
                self.running.insert(*grid);
            }
            Event::GridEnd { grid } => {
                self.running.remove(grid);
            }
            _ => {}
        }
        self.set.event(event);
    }
}
