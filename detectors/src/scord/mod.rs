//! ScoRD: races of global memory from a word of metadata for each four bytes, scopes and locks among them.
//!
//! Source: Kamath, George, Basu: "ScoRD: A Scoped Race Detector for GPUs" (ISCA'20). The word is that of its figure 7 ([`layout`],
//! [`metadata`]), checks are those of its tables III and IV ([`check`]), locks those of its section IV-A ([`locks`]), the cache
//! that of IV-B ([`cache`]), threads apart those of section VI. [`layout`], [`metadata`], [`check`] and [`locks`] work on one
//! word and small tables, and know nothing of events.
//!
//! # Where it departs from the paper
//! - The word is laid out for each launch ([`layout::EntryLayout::fit`]): block numbers are those in the grid, not of slots, as nothing orders the
//!   blocks that use a slot. A program's words have room for fences and for locks from its first fence and its first lock on.
//!   What is left over keeps the last access's instruction, so that both can be named, and that of the last modification: a read in order
//!   leaves the modification as what a later read races with ([`opponent`]).
//! - Whether a modification is ordered is kept ([`metadata::Written`]): it may be for the block and not for others. The paper's `Modified`
//!   says neither, so that a second reader behind a barrier would race, or one of another block would not.
//!   A write that passes all checks makes the readers before it forgotten.
//! - Condition (a) is for other warps only, as the text has it; (c) for other warps, and not behind a barrier. Scopes of atomics
//!   come first, strength comes last: one condition is told of each access.
//! - Condition (d) holds in either order: for the first atomic's scope, and for the second's where the first one's warp has had no device fence
//!   since.
//! - In the filter a lock of the device is, in its block, the same as one of the block ([`locks`]).
//! - A device fence of any warp orders what its block did before its last barrier, too ([`fences`]): HRF-relaxed-indirect has it
//!   so, and a barrier of the grid is made so. Its own read behind its fence does not make a warp's write unordered again.
//! - `.relaxed`, `.acquire` and `.release` loads and stores are younger than the paper: they are atomics of their scope. So
//!   is a strong store that opens a lock. Until the program was learnt they count as volatile. A release is a fence before its access too,
//!   and an acquire one behind it that makes locks active.
//! - A compare-and-swap that fails is a read, and takes no lock; one of who holds the lock opens it. A lock whose fence does not come before the next
//!   plain access of who took it is none: else any loop around a compare-and-swap would hold a lock for ever. An opening may have a
//!   wider scope than the lock. The table has whole addresses ([`locks`]). Of a filter with two halves, locks are common where both halves agree.
//! - Lanes that take locks side by side have tables of their own ([`held`]).
//! - Rows that are accessed by one or two bytes have metadata for each of these; with the cache, such accesses are not looked at.
//! - A fence of a warp that has accessed nothing since the last one does not count, so that counts wrap later.
//! - After a race the entry is as after a first access.
//! - Without the cache, loads of memory that the launch does not write are not looked at ([`bugaroo_semantics::Spares::unwritten`]): nobody of the
//!   grid can race with them, and no lock has to have its fence before them.
//! - Threads told apart (section VI): a count of how often lanes have come together takes the place of asking whether they have diverged
//!   now. Lanes of one instruction do not race with each other.
//! - Each grid begins with memory that nobody has accessed.
//!
//! # What it can miss
//! - Whoever accessed before the last one; readers that the last reader's order does not take in. A fence counts whether or not
//!   anybody has synchronised by it.
//! - Shared memory, grids that run at once, the host; accesses of asynchronous copies and through other proxies.
//! - What barriers with a thread count, barriers of clusters and mbarriers do not order: they count as barriers of all threads.
//! - Lanes of one warp, where warps are one.
//! - Locks that share a hash of six bits, of which the summary is made; the fifth lock of a warp. What the cache has replaced. Counts that have wrapped.
//! - A weak access right behind a volatile one of the same bytes, in one basic block.
//!
//! # What it can misreport
//! - Volatile accesses that wait for a volatile store or an atomic race with it where the writer has not fenced since: tables III and
//!   IV say so. So do weak accesses that fences order (c), and data that was initialised without the lock, though ordered (e, f).
//! - A block-scoped atomic and whoever of another block comes behind it, however ordered (d).
//! - A write behind a barrier of the block that another warp of it had read the bytes before, where another block had written them:
//!   shared by the device, they are not taken for ordered by the barrier (a).
//! - Order that a third warp hands on by a device fence, where the first one has fenced for its block alone (b).
//! - Data of which each thread of a block has a part, under a lock that one thread takes for all (e, f); and under a lock between whose
//!   compare-and-swap and fence the program or the compiler has put a plain access.
//! - Counts that have wrapped, which is told as a warning.

mod barriers;
mod cache;
pub mod check;
mod cta;
pub mod device;
pub mod fences;
mod grid;
mod held;
pub mod layout;
pub mod locks;
pub mod metadata;
mod opponent;
mod options;
mod raced;
mod report;
mod sweep;
pub mod update;
mod warp;

pub use options::{LayoutChoice, ScordOptions};

use std::collections::BTreeMap;

use bugaroo_semantics::event::{Access, Event, SiteNumber, WhoseBytes, WorkId};
use bugaroo_semantics::inferred::Role;
use bugaroo_semantics::scope::Scope;
use bugaroo_semantics::{Observer, Spares, Wants};

use crate::finding::{RaceDetector, RaceFinding, Warning};
use crate::watched::Watched;
use grid::{Grid, Program};
use report::Reports;

/// A warning.
const UNFORESEEN: &str = "scord: a kernel wrote to memory of which its text and its arguments do not say so; \
     reads of that memory before were not looked at";

/// The detector.
#[derive(Debug)]
pub struct Scord {
    options: ScordOptions,
    programs: BTreeMap<SiteNumber, Program>,
    /// Of grids of which not everything is looked at.
    watched: BTreeMap<WorkId, Watched>,
    grids: Vec<Grid>,
    /// Where the grid is that told something last.
    latest: usize,
    reports: Reports,
}

impl Default for Scord {
    fn default() -> Scord {
        Scord::new(ScordOptions::default())
    }
}

impl Scord {
    /// It has seen nothing.
    pub fn new(options: ScordOptions) -> Scord {
        let reports = report::reports(options.most_races);
        Scord {
            options,
            programs: BTreeMap::new(),
            watched: BTreeMap::new(),
            grids: Vec::new(),
            latest: 0,
            reports,
        }
    }

    /// Bytes of metadata, without what finds it and all other tables.
    pub fn metadata_bytes(&self) -> u64 {
        self.grids.iter().map(Grid::metadata_bytes).sum()
    }

    /// The grid, and where it reports.
    #[inline]
    fn grid(&mut self, id: WorkId) -> Option<(&mut Grid, &mut Reports)> {
        if self.grids.get(self.latest).is_none_or(|grid| grid.given.id != id) {
            self.latest = self.grids.iter().position(|grid| grid.given.id == id)?;
        }
        Some((&mut self.grids[self.latest], &mut self.reports))
    }

    fn end(&mut self, id: WorkId) {
        if let Some(at) = self.grids.iter().position(|grid| grid.given.id == id) {
            let mut grid = self.grids.remove(at);
            report::refused(&mut self.reports, grid.take_refused());
            let needs = &mut self.programs.entry(grid.given.first_site).or_default().needs;
            needs.fences |= grid.given.needs.fences;
            needs.locks |= grid.given.needs.locks;
        }
    }
}

impl RaceDetector for Scord {
    fn name(&self) -> &'static str {
        "scord"
    }

    fn learn_program(&mut self, first_site: SiteNumber, roles: &[Role]) {
        self.programs.entry(first_site).or_default().roles = Some(roles.into());
    }

    fn watch(&mut self, grid: WorkId, watched: Watched) {
        self.watched.insert(grid, watched);
    }

    /// Never: whether a fence or a lock has ordered two accesses is inferred.
    fn proven(&self) -> bool {
        false
    }

    fn take_findings(&mut self) -> Vec<RaceFinding> {
        self.reports.take_findings()
    }

    fn take_warnings(&mut self) -> Vec<Warning> {
        let refused = self.grids.iter_mut().map(Grid::take_refused).sum();
        report::refused(&mut self.reports, refused);
        self.reports.take_warnings()
    }

    fn held(&self) -> u64 {
        self.metadata_bytes() + self.grids.iter().map(Grid::table_bytes).sum::<u64>()
    }
}

impl Observer for Scord {
    fn wants(&self) -> Wants {
        Wants::default()
    }

    fn spares(&self) -> Spares {
        Spares { shared: true, covered: true, led: false, unwritten: self.options.cache.is_none() }
    }

    #[inline]
    fn access(&mut self, access: &Access<'_>) {
        if access.memory == WhoseBytes::Global
            && let Some((grid, reports)) = self.grid(access.by.grid)
        {
            grid.access(access, reports);
        }
    }

    fn event(&mut self, event: &Event<'_>) {
        match *event {
            Event::GridBegin { grid, shape, first_site, .. } => {
                self.end(grid);
                let program = self.programs.entry(first_site).or_default();
                let mut new = Grid::new((grid, first_site), shape, self.options, program, &mut self.reports);
                new.given.watched = self.watched.remove(&grid);
                self.grids.push(new);
            }
            Event::GridEnd { grid } => self.end(grid),
            Event::BlockBegin { grid, cta, block } => {
                if let Some((grid, _)) = self.grid(grid) {
                    grid.begin_block(cta, block);
                }
            }
            Event::BlockEnd { grid, cta } => {
                if let Some((grid, _)) = self.grid(grid) {
                    grid.end_block(cta);
                }
            }
            Event::Allocated(range) | Event::Freed(range) => {
                self.grids.iter_mut().for_each(|grid| grid.forget(range));
            }
            Event::MbarrierInit { by, at, .. } => {
                if let Some((grid, _)) = self.grid(by.grid) {
                    grid.forget(at);
                }
            }
            Event::UnforeseenWrite { .. } => self.reports.warn(UNFORESEEN, 1),
            Event::CopyIssued { .. } => {
                self.reports.warn_once("scord: accesses of asynchronous copies are not looked at");
            }
            Event::Fence { by, fence, .. } => {
                if let Some((grid, reports)) = self.grid(by.grid) {
                    grid.fence(&by, fence.scope != Scope::Cta, true, reports);
                }
            }
            Event::Exit(by) => {
                if let Some((grid, _)) = self.grid(by.grid) {
                    grid.exit(&by);
                }
            }
            _ => self.meeting(event),
        }
    }
}

impl Scord {
    /// Threads meet.
    fn meeting(&mut self, event: &Event<'_>) {
        match *event {
            Event::Arrive { by, barrier, waits, .. } => {
                if let Some((grid, _)) = self.grid(by.grid) {
                    grid.arrive(&by, barrier, waits);
                }
            }
            Event::Leave { by, barrier } => {
                if let Some((grid, reports)) = self.grid(by.grid) {
                    grid.leave(&by, barrier, reports);
                }
            }
            Event::WarpBarrier { by, .. } => {
                if let Some((grid, _)) = self.grid(by.grid) {
                    grid.warp_barrier(&by);
                }
            }
            Event::ClusterLeave(by) => {
                self.reports.warn_once("scord: barriers of clusters are unknown to it, and count as barriers of all their threads");
                if let Some((grid, reports)) = self.grid(by.grid) {
                    grid.cluster_leave(&by, reports);
                }
            }
            Event::MbarrierPhase { grid, .. } => {
                if let Some((grid, _)) = self.grid(grid) {
                    grid.phases = grid.phases.wrapping_add(1);
                }
            }
            Event::MbarrierPassed { by, .. } => {
                self.reports.warn_once(
                    "scord: mbarriers are unknown to it, and count as barriers of all threads of a block",
                );
                if let Some((grid, reports)) = self.grid(by.grid) {
                    grid.mbarrier_passed(&by, reports);
                }
            }
            _ => {}
        }
    }
}
