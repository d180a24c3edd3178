//! BARRACUDA: happens-before over warps in lockstep.
//!
//! Source: Eizenberg, Peng, Pigli, Mansky, Devietti: "BARRACUDA: Binary-level Analysis of Runtime RAces in CUDA programs"
//! (PLDI'17). Trace operations are those of its section 3.1, rules those of its figures 2 and 3, clocks and shadow memory
//! those of its section 4.3.
//!
//! # How events become trace operations
//! - An access is `rd`, `wr` or `atm` of each lane and byte; `endi` of the group that its lanes are in follows.
//! - An access that acquires or releases is `acq`, `rel` or `ar` of each lane, and nothing else: it takes no part in races. It
//!   does where it says so itself (`.acquire`, `.release`, `.acq_rel`), or where the program's text implies it
//!   ([`Barracuda::learn`]). Until a program was learnt, only the former counts.
//! - `Split` is `if`, `Join` is `fi`. `else` tells nothing that matters to the rules ([`warp`]). In lockstep, lanes of several
//!   entries of the stack that access memory together have come together. Where a compiler lays out a side of a branch in pieces, the
//!   sides take turns: neither has ended, and none of them knows of the other.
//! - A barrier that all threads of a block have come to is `bar`.
//!
//! # Where it departs from the paper
//! - A thread's own time may jump at a join: orders stay the same ([`clock`]).
//! - The map of SPARSEVC has whole blocks and warps for keys, too, and comes on top of what the other formats say.
//! - Shadow memory is kept by rows of 128 bytes, each byte with its own history ([`shadow`]).
//! - Threads that have exited are no barrier divergence, and what they did is ordered before the barriers that complete without them.
//! - Values are compared byte by byte where lanes of one instruction write the same bytes.
//! - `.relaxed` accesses are younger than the paper: they do not race with each other nor with atomics. Neither do volatile
//!   ones, until the program was learnt and it is known which they are; from then on they are plain, as in the paper.
//! - Barriers with a thread count join those who come; `bar.arrive` releases to those who wait. mbarriers, and the barrier of
//!   a cluster, order whoever gets past behind everybody who has ever arrived, `.relaxed` or not.
//! - Grids: what is in one grid does not race with what is in another, nor with the host.
//!
//! # What it can miss
//! - What the inference of acquires and releases orders by mistake ([`bugaroo_semantics::inferred`]); what an acquire has not read.
//! - Accesses of asynchronous copies and through other proxies are not looked at, nor are mbarriers' own bytes.
//! - Scopes of atomics, and atomics that overlap in part: the paper has one atomic bit.
//! - A store that an atomic has overwritten is not there any more for the next atomic; nor is anything for a later write.
//! - Reads beyond [`MOST_MARKS`] marks in lists, grids of 2^32 warps and more, and grids in which a warp accesses memory 2^32
//!   times: each is told as a warning.
//! - A warp whose lanes come to one barrier instruction in different rounds of a loop ([`parts`]).
//!
//! # What it can misreport
//! Fences count where the text puts them beside an access; a program that orders accesses by fences further away is
//! accused ([`Barracuda::rests_on_inference`]). Where warps do not run in lockstep, lanes that parted at a branch count as apart until
//! the next barrier: a program that relies on their being together is accused, and the PTX model bears that out.

mod barrier;
mod check;
mod clock;
mod grid;
mod mark;
mod part;
mod parts;
mod report;
mod shadow;
mod sparse;
mod sync;
mod warp;

use std::collections::BTreeMap;
use std::rc::Rc;

use bugaroo_semantics::event::{Access, Event, SiteNumber, WorkId};
use bugaroo_semantics::inferred::Role;
use bugaroo_semantics::{Observer, Wants};

pub use clock::ClockFormat;

use crate::finding::{RaceDetector, RaceFinding, Warning};
use grid::{Grid, Limits, Meeting};
use report::Reports;

/// Marks that lists of the shadow memory hold at most: about 1.5 GiB of them.
pub const MOST_MARKS: u64 = 32 << 20;

/// What the clocks of the running grids take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClockUse {
    /// Stack entries in the formats CONVERGED, DIVERGED, NESTEDDIVERGED, SPARSEVC.
    pub entries: [u64; 4],
    /// Their bytes; what several share is counted for each.
    pub bytes: u64,
    /// Threads whose clocks they are.
    pub threads: u64,
}

/// The detector.
#[derive(Debug)]
pub struct Barracuda {
    programs: BTreeMap<SiteNumber, Rc<[Role]>>,
    grids: Vec<Grid>,
    /// Where the grid is that told something last.
    latest: usize,
    reports: Reports,
    limits: Limits,
    /// Marks that lists may hold at most.
    marks: i64,
    inferred: bool,
}

impl Default for Barracuda {
    fn default() -> Barracuda {
        Barracuda::new()
    }
}

impl Barracuda {
    /// It has seen nothing.
    pub fn new() -> Barracuda {
        Barracuda::with_marks(MOST_MARKS)
    }

    /// With room for so many marks in lists of the shadow memory.
    pub fn with_marks(marks: u64) -> Barracuda {
        let marks = i64::try_from(marks).unwrap_or(i64::MAX);
        Barracuda {
            marks,
            programs: BTreeMap::new(),
            grids: Vec::new(),
            latest: 0,
            reports: Reports::default(),
            limits: Limits { room: marks, lost: 0 },
            inferred: false,
        }
    }

    /// Says what a program's instructions are, from its first on, before a grid of it begins:
    /// [`bugaroo_semantics::inferred::roles`] of its text.
    pub fn learn(&mut self, first_site: SiteNumber, roles: Vec<Role>) {
        self.programs.insert(first_site, roles.into());
    }

    /// Whether findings rest on what was inferred from fences. So they do from the first fence that a thread has executed on: there was a
    /// synchronisation then that is no barrier and does not say among whom it is, and whether two accesses are
    /// ordered by it depends on where fences stand in the text. Before it all order comes from lockstep, barriers, and
    /// accesses that say that they acquire or release.
    pub fn rests_on_inference(&self) -> bool {
        self.inferred
    }

    /// What the clocks take now.
    pub fn clock_use(&self) -> ClockUse {
        let mut all = ClockUse::default();
        for grid in &self.grids {
            grid.formats(&mut |format, bytes, threads| {
                all.entries[format as usize] += 1;
                all.bytes += bytes;
                all.threads += u64::from(threads);
            });
        }
        all
    }

    #[inline]
    fn grid(&mut self, id: WorkId) -> Option<&mut Grid> {
        if self.grids.get(self.latest).is_none_or(|grid| grid.given.id != id) {
            self.latest = self.grids.iter().position(|grid| grid.given.id == id)?;
        }
        let grid = &mut self.grids[self.latest];
        (!grid.given_up).then_some(grid)
    }

    fn begin(&mut self, grid: Grid) {
        if grid.given_up {
            self.reports.all.warn("barracuda: a grid has too many warps to be looked at", 1);
        }
        self.grids.retain(|other| other.given.id != grid.given.id);
        self.grids.push(grid);
    }
}

impl RaceDetector for Barracuda {
    fn name(&self) -> &'static str {
        "barracuda"
    }

    fn learn_program(&mut self, first_site: SiteNumber, roles: &[Role]) {
        self.learn(first_site, roles.to_vec());
    }

    fn proven(&self) -> bool {
        !self.rests_on_inference()
    }

    fn take_findings(&mut self) -> Vec<RaceFinding> {
        self.reports.all.take_findings()
    }

    fn take_warnings(&mut self) -> Vec<Warning> {
        let lost = std::mem::take(&mut self.limits.lost);
        if lost > 0 {
            self.reports
                .all
                .warn("barracuda: reads were forgotten for want of room, so races may be missed", lost);
        }
        self.reports.all.take_warnings()
    }

    fn held(&self) -> u64 {
        let marks = self.marks.saturating_sub(self.limits.room).max(0) as u64;
        marks * size_of::<mark::Mark>() as u64 + self.grids.iter().map(Grid::bytes).sum::<u64>()
    }
}

impl Observer for Barracuda {
    fn wants(&self) -> Wants {
        Wants { branches: true, sources: false, before: false }
    }

    fn access(&mut self, access: &Access<'_>) {
        if self.grid(access.by.grid).is_none() {
            return;
        }
        let grid = &mut self.grids[self.latest];
        grid.access(access, &mut self.reports, &mut self.limits);
        if grid.given_up {
            self.reports
                .all
                .warn("barracuda: a warp has accessed memory too often for the rest to be looked at", 1);
        }
    }

    fn event(&mut self, event: &Event<'_>) {
        match *event {
            Event::GridBegin { grid, shape, lockstep, first_site } => {
                let roles = self.programs.get(&first_site).cloned().unwrap_or_default();
                self.begin(Grid::new(grid, shape, lockstep, first_site, roles));
            }
            Event::GridEnd { grid: id } => {
                if let Some(at) = self.grids.iter().position(|grid| grid.given.id == id) {
                    self.grids.remove(at).end(&mut self.reports, &mut self.limits);
                }
            }
            Event::BlockBegin { grid, cta, block } => {
                if self.grid(grid).is_some() {
                    self.grids[self.latest].begin_block(cta, block, &mut self.limits);
                }
            }
            Event::BlockEnd { grid, cta } => {
                if self.grid(grid).is_some() {
                    self.grids[self.latest].end_block(cta, &mut self.reports);
                }
            }
            Event::Allocated(range) | Event::Freed(range) => {
                for grid in &mut self.grids {
                    grid.forget(range.memory, range.address, range.bytes);
                }
            }
            Event::Fence { .. } => self.inferred = true,
            Event::Arrive { by, site, barrier, waits } => {
                if self.grid(by.grid).is_some() {
                    self.grids[self.latest].arrive(&by, site, barrier, waits, &mut self.reports);
                }
            }
            Event::Split { by, site, taken, .. } => {
                let Some(grid) = self.grid(by.grid) else { return };
                grid.split(&by, taken, site);
                if !grid.in_lockstep() {
                    let what = "barracuda: warps do not run in lockstep; lanes that part count as apart until a barrier";
                    self.reports.all.warn_once(what);
                }
            }
            Event::CopyIssued { .. } => {
                self.reports.all.warn_once("barracuda: accesses of asynchronous copies are not looked at");
            }
            Event::MbarrierInit { by, at, .. } => {
                if let Some(grid) = self.grid(by.grid) {
                    grid.forget(at.memory, at.address, at.bytes);
                }
            }
            _ => self.meeting(event),
        }
    }
}

impl Barracuda {
    /// Threads leave, meet or end.
    fn meeting(&mut self, event: &Event<'_>) {
        let (by, meeting, tells) = match *event {
            Event::Leave { by, barrier } => {
                if self.grid(by.grid).is_some() {
                    self.grids[self.latest].complete(by.cta, barrier, &mut self.reports);
                }
                return;
            }
            Event::Completed { grid, cta, barrier } => {
                if self.grid(grid).is_some() {
                    self.grids[self.latest].complete(cta, barrier, &mut self.reports);
                }
                return;
            }
            Event::WarpBarrier { by, .. } => {
                if let Some(grid) = self.grid(by.grid) {
                    grid.warp_barrier(&by);
                }
                return;
            }
            Event::Join(by) => {
                if let Some(grid) = self.grid(by.grid) {
                    grid.join(&by);
                }
                return;
            }
            Event::Exit(by) => {
                if let Some(grid) = self.grid(by.grid) {
                    grid.exit(&by);
                }
                return;
            }
            Event::ClusterArrive { by, .. } => (by, Meeting::Cluster, true),
            Event::ClusterLeave(by) => (by, Meeting::Cluster, false),
            Event::MbarrierArrive { by, at, .. } => (by, Meeting::Mbarrier(at.memory, at.address), true),
            Event::MbarrierPassed { by, at, .. } => (by, Meeting::Mbarrier(at.memory, at.address), false),
            _ => return,
        };
        let Some(grid) = self.grid(by.grid) else { return };
        if tells {
            grid.tell(&by, meeting);
        } else {
            grid.hear(&by, meeting);
        }
    }
}
