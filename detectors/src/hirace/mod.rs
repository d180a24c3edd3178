//! HiRace: a state machine for each element of memory.
//!
//! Source: Jacobson, Burtscher, Gopalakrishnan: "HiRace: Accurate and Fast Source-Level Race Checking of GPU Programs" (SC'24).
//! The shadow word is that of figure 2 ([`word`]), its update algorithm 1, and the machine that of section III, derived anew
//! ([`bugaroo_semantics::history`]).
//!
//! # What counts
//! Order comes from barriers of blocks and warps alone. Accesses are reads, writes, atomics of block scope, and other atomics.
//! Two atomics do not race where the scope of each takes in the other's thread. What flags, fences and locks order is reported,
//! as in the paper: this detector is for programs that synchronise by barriers.
//!
//! # Where it departs from the paper
//! - It looks at what instructions access and not at variables of the source. An element is as large as the smallest access that
//!   its page has had ([`page`]).
//! - The word has room to spare for the last access's instruction and action, so that reports can name them. Widths
//!   follow the grid and the program ([`WordLayout::fit`]).
//! - The warp clock counts from the last barrier of the block on, which needs fewer bits.
//! - A clock that is not later than the last access's orders nothing; the paper asks whether it differs. The two are one but
//!   for barriers that not all threads take part in.
//! - `.relaxed`, acquiring and releasing accesses are younger than the paper: they are atomics of their scope. Volatile accesses
//!   are plain.
//! - A wait for an mbarrier counts as a barrier of the block.
//! - A weak access that an earlier one of its basic block has covered ([`bugaroo_semantics::inferred::Role::covered`]) is not looked at. The two
//!   are of one thread and the same bytes, the earlier one conflicts with whatever the later one does, and their thread passes no
//!   barrier between them. So nothing is ordered between the one and a third access that is not between the other and that one:
//!   whoever races with the later one races with the earlier one. The report names that one.
//! - A weak load of what a later store of its basic block overwrites ([`bugaroo_semantics::inferred::Role::overwritten`]) is not looked at, for
//!   the same reason: whoever races with the load races with the store. The report names the store. Where a launch ends by a fault
//!   between the two, the load is missed.
//! - An access that goes a constant further than an earlier one of its basic block ([`bugaroo_semantics::inferred::Role::led_by`]) counts as done
//!   when that one is done. The two are of one thread, and there is no barrier between them: whatever is ordered with the one is ordered
//!   with the other, so that the same elements race. Of two threads that race the other one may be told to have come first. Where a
//!   launch ends by a fault between the two, the later one counts all the same.
//! - Where warps run in lockstep, threads of one warp are one.
//! - Loads of memory that the launch does not write are not looked at ([`bugaroo_semantics::Spares::unwritten`]): nobody of the grid can race
//!   with them. What is not written is known from the kernel's text and its arguments; every store that goes there all the same is noticed.
//!
//! # What it can miss
//! - Races with reads that came before such a store: told as a warning.
//! - Races between threads of which one was at a barrier that the other was not at: barriers of some warps of the block,
//!   `__syncwarp()` with a mask. Each is told as a warning.
//! - A second race of the same element: the state of a race stays.
//! - Accesses of asynchronous copies and through other proxies; other grids and the host.
//! - All of a grid from the moment on at which a clock has no room in the word, and elements for which there is no room: each is
//!   told as a warning.
//!
//! # What it can misreport
//! Against the memory model: all that is ordered otherwise than by barriers, barriers of clusters among them; and a relaxed or
//! acquiring load beside a plain load of a word that nobody has written yet, since such loads are atomics. Of several accesses of which one
//! races, the word names the last one: where that is another, a report says what is known of the one that races, and that it is
//! forgotten ([`crate::Finding::forgotten`]).

mod clocks;
pub mod device;
mod elements;
mod follow;
mod grid;
mod known;
mod learnt;
mod page;
mod places;
mod quick;
mod report;
mod row;
mod sizes;
mod step;
mod word;

use std::collections::BTreeMap;
use std::rc::Rc;

use bugaroo_semantics::event::{Access, Event, SiteNumber, WhoseBytes, WorkId};
use bugaroo_semantics::inferred::Role;
use bugaroo_semantics::{Observer, Spares, Wants};

pub use word::{Widths, WordLayout};

use crate::finding::{RaceDetector, RaceFinding, Warning};
use crate::watched::Watched;
use elements::Room;
use grid::Grid;
use learnt::Learnt;
use report::Reports;

/// Bytes that shadow words may take if nothing else is said.
pub const MOST_BYTES: u64 = 4 << 30;

/// Warnings.
const PART_OF_A_WARP: &str =
    "hirace: __syncwarp() with a mask counts as one of the whole warp, so races may be missed";
const PART_OF_A_BLOCK: &str =
    "hirace: a barrier at which not all threads of a block wait counts as one of all, so races may be missed";
const LATE_CLOCK: &str = "hirace: a grid has passed more barriers than the shadow word can count, and was not looked at from there on";
const NO_ROOM: &str =
    "hirace: accesses were not looked at for want of room for shadow words, so races may be missed";
const UNFORESEEN: &str = "hirace: a kernel wrote to memory of which its text and its arguments do not say so; \
     reads of that memory before were not looked at";
const TOO_LARGE: &str = "hirace: a grid is too large for the shadow word, and was not looked at";

/// What to look at, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HiraceOptions {
    /// Of the word's fields.
    pub widths: Widths,
    /// Bytes that shadow words may take.
    pub most_bytes: u64,
    /// Different races that are told; None: all.
    pub most_races: Option<u64>,
}

impl Default for HiraceOptions {
    fn default() -> HiraceOptions {
        HiraceOptions { widths: Widths::default(), most_bytes: MOST_BYTES, most_races: None }
    }
}

/// The detector.
#[derive(Debug)]
pub struct Hirace {
    settings: HiraceOptions,
    programs: BTreeMap<SiteNumber, Rc<Learnt>>,
    /// Of grids of which not everything is looked at.
    watched: BTreeMap<WorkId, Watched>,
    grids: Vec<Grid>,
    /// Where the grid is that told something last.
    latest: usize,
    room: Room,
    reports: Reports,
}

impl Default for Hirace {
    fn default() -> Hirace {
        Hirace::new(HiraceOptions::default())
    }
}

impl Hirace {
    /// It has seen nothing.
    pub fn new(settings: HiraceOptions) -> Hirace {
        let room = Room::new(settings.most_bytes);
        let reports = report::reports(settings.most_races);
        Hirace {
            settings,
            programs: BTreeMap::new(),
            watched: BTreeMap::new(),
            grids: Vec::new(),
            latest: 0,
            room,
            reports,
        }
    }

    #[inline]
    fn grid(&mut self, id: WorkId) -> Option<&mut Grid> {
        if self.grids.get(self.latest).is_none_or(|grid| grid.id != id) {
            self.latest = self.grids.iter().position(|grid| grid.id == id)?;
        }
        self.grids.get_mut(self.latest)
    }

    /// A grid has ended, or there is no more to say of it.
    fn end(&mut self, id: WorkId) {
        let Some(at) = self.grids.iter().position(|grid| grid.id == id) else { return };
        let grid = self.grids.remove(at);
        for (count, what) in
            [(grid.clocks.partial_blocks, PART_OF_A_BLOCK), (grid.clocks.partial_warps, PART_OF_A_WARP)]
        {
            if count > 0 {
                self.reports.warn(what, count);
            }
        }
        grid.end(&mut self.room);
    }

    /// Ends the grid's detection where a clock has become too late.
    fn check_clocks(&mut self, id: WorkId) {
        if self.grid(id).is_some_and(|grid| grid.clocks.over) {
            self.end(id);
            self.reports.warn(LATE_CLOCK, 1);
        }
    }
}

impl RaceDetector for Hirace {
    fn name(&self) -> &'static str {
        "hirace"
    }

    fn learn_program(&mut self, first_site: SiteNumber, roles: &[Role]) {
        self.programs.insert(first_site, Rc::new(Learnt::new(roles)));
    }

    fn watch(&mut self, grid: WorkId, watched: Watched) {
        self.watched.insert(grid, watched);
    }

    /// Barriers are all that it knows of the model.
    fn proven(&self) -> bool {
        false
    }

    fn take_findings(&mut self) -> Vec<RaceFinding> {
        self.reports.take_findings()
    }

    fn take_warnings(&mut self) -> Vec<Warning> {
        let refused = std::mem::take(&mut self.room.refused);
        if refused > 0 {
            self.reports.warn(NO_ROOM, refused);
        }
        self.reports.take_warnings()
    }

    fn held(&self) -> u64 {
        self.room.bytes() + self.grids.iter().map(Grid::bytes).sum::<u64>()
    }
}

impl Observer for Hirace {
    fn wants(&self) -> Wants {
        Wants::default()
    }

    fn spares(&self) -> Spares {
        // Who goes by whom is known of programs that were learnt alone.
        Spares { shared: false, covered: true, led: !self.programs.is_empty(), unwritten: true }
    }

    #[inline]
    fn access(&mut self, access: &Access<'_>) {
        if self.grid(access.by.grid).is_some() {
            self.grids[self.latest].access(access, &mut self.reports, &mut self.room);
        }
    }

    fn event(&mut self, event: &Event<'_>) {
        match *event {
            Event::GridBegin { grid, shape, lockstep, first_site } => {
                self.end(grid);
                let learnt = self.programs.get(&first_site).cloned().unwrap_or_default();
                let watched = self.watched.remove(&grid);
                match WordLayout::fit(&shape, learnt.len(), self.settings.widths) {
                    Some(layout) => {
                        let learnt = (first_site, learnt);
                        let mut new = Grid::new(grid, &shape, lockstep, learnt, layout, &mut self.room);
                        new.watched = watched;
                        self.grids.push(new);
                    }
                    None => self.reports.warn(TOO_LARGE, 1),
                }
            }
            Event::GridEnd { grid } => self.end(grid),
            Event::BlockBegin { grid, cta, .. } => {
                if self.grid(grid).is_some() {
                    self.grids[self.latest].begin_block(cta, &mut self.room);
                }
            }
            Event::Allocated(range) | Event::Freed(range) => {
                self.grids.iter_mut().for_each(|grid| grid.forget(range.memory, range.address, range.bytes));
            }
            Event::MbarrierInit { by, at, .. } => {
                if let Some(grid) = self.grid(by.grid) {
                    grid.forget(at.memory, at.address, at.bytes);
                }
            }
            Event::UnforeseenWrite { .. } => self.reports.warn(UNFORESEEN, 1),
            Event::ClusterLeave(_) => {
                let what = "hirace: it does not know barriers of clusters, and reports what they order";
                self.reports.warn_once(what);
            }
            Event::CopyIssued { .. } => {
                self.reports.warn_once("hirace: accesses of asynchronous copies are not looked at");
            }
            _ => self.meeting(event),
        }
    }
}

impl Hirace {
    /// Threads come to barriers, go on behind them, or end.
    fn meeting(&mut self, event: &Event<'_>) {
        let id = match *event {
            Event::Exit(by)
            | Event::Arrive { by, .. }
            | Event::Leave { by, .. }
            | Event::WarpBarrier { by, .. }
            | Event::MbarrierPassed { by, .. } => by.grid,
            Event::Completed { grid, .. } | Event::MbarrierPhase { grid, .. } => grid,
            _ => return,
        };
        let Some(grid) = self.grid(id) else { return };
        let clocks = &mut grid.clocks;
        match *event {
            Event::Exit(by) => clocks.exit(&by),
            Event::Arrive { by, barrier, waits, .. } => clocks.arrive(&by, barrier, waits),
            Event::Leave { by, barrier } => clocks.leave(&by, barrier),
            Event::Completed { cta, barrier, .. } => clocks.completed(cta, barrier),
            Event::WarpBarrier { by, .. } => clocks.meet(&by),
            Event::MbarrierPhase { at, .. } => {
                if let WhoseBytes::Shared(slot) = at.memory {
                    clocks.phase(slot, at.address);
                }
            }
            Event::MbarrierPassed { by, at, .. } => clocks.passed(&by, at.address),
            _ => {}
        }
        self.check_clocks(id);
    }
}
