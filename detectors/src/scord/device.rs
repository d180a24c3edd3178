//! Races that device code has found (`bugaroo-device-handlers`, `scord.cu`), as the findings and warnings that the native form would have
//! made of them. Nothing is looked at here.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use bugaroo_semantics::event::{
    Access, AccessKind, Addresses, Event, Lanes, Shape, SiteNumber, Values, WhoseBytes, WorkId,
};
use bugaroo_semantics::inferred::Role;
use bugaroo_semantics::scope::Strength;
use bugaroo_semantics::{Observer, Wants};

use super::check::RaceCondition;
use super::layout::{EntryLayout, LaunchFacts};
use super::options::{LayoutChoice, ScordOptions};
use super::raced::{Race, Sites};
use super::report::{self, Reports};
use crate::finding::{RaceDetector, RaceFinding, Warning};
use crate::watched::Watched;

/// A grid that device code has looked at.
#[derive(Clone, Debug)]
pub struct ScordLooked {
    /// What observers know it by.
    pub grid: WorkId,
    /// Where the word's fields were.
    pub layout: EntryLayout,
    /// What observers know the program's instruction 0 by.
    pub first_site: SiteNumber,
    /// The program's accesses: number of the instruction, kind, strength and bytes of an element.
    pub accesses: Vec<(u32, AccessKind, Strength, u32)>,
}

/// The word's layout for a launch of a program of so many instructions, which may fence, and take locks.
pub fn layout(
    choice: LayoutChoice,
    shape: &Shape,
    instructions: u32,
    fences: bool,
    locks: bool,
) -> EntryLayout {
    match choice {
        LayoutChoice::Paper => EntryLayout::paper(false),
        LayoutChoice::Given(layout) => layout,
        LayoutChoice::Fit => EntryLayout::fit(&LaunchFacts {
            blocks: shape.blocks,
            warps: shape.warps_per_cta,
            threads: false,
            tag: 0,
            sites: Some(instructions),
            fences,
            locks,
        }),
    }
}

/// What of these options device code does not do, if anything.
pub fn unsupported(options: &ScordOptions) -> Option<&'static str> {
    let apart = "threads of a warp apart";
    match options {
        ScordOptions { cache: Some(_), .. } => Some("metadata as a cache"),
        ScordOptions { independent_threads: true, .. } => Some(apart),
        ScordOptions { layout: LayoutChoice::Given(layout), .. } => {
            let widths = layout.widths();
            (widths.thread > 0 || widths.epoch > 0).then_some(apart)
        }
        _ => None,
    }
}

/// By instruction, as [`Role`]s say: whether an access of it is not looked at, as one before has told all that it could tell.
pub fn is_covered(role: &Role, strength: Strength) -> bool {
    role.covered && strength == Strength::Weak
}

/// A race as device code has it.
#[derive(Clone, Copy, Debug)]
pub struct Raced {
    /// The word that the piece of memory had.
    pub old: u64,
    /// Which condition makes it a race.
    pub condition: RaceCondition,
    /// Where the access begins.
    pub address: u64,
    /// Where its piece of memory begins.
    pub at: u64,
    /// Bytes of that.
    pub piece: u32,
    /// The block that accesses, and the thread in there.
    pub by: (u64, u32),
    /// The access's number in its program.
    pub number: u32,
    /// What it does.
    pub kind: AccessKind,
    /// Weak, or strong and for whom.
    pub strength: Strength,
    /// Bytes of an element.
    pub size: u32,
    /// Whether it counts as a write.
    pub writes: bool,
    /// How often.
    pub count: u64,
}

/// What could not be looked at in a launch, or not well.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Missed {
    /// Accesses of bytes for which there was no room.
    pub refused: u64,
    /// Races for which there was no room in the report.
    pub lost: u64,
    /// The kernel's name, where it has barriers that need not wait for all threads of a block.
    pub counted: Option<String>,
    /// A count has wrapped.
    pub wrapped: bool,
    /// A table of locks was full.
    pub full: bool,
    /// The grid has more blocks than a word has numbers for.
    pub blocks: bool,
}

struct Nothing;

impl Values for Nothing {
    fn value(&self, _lane: u32, _element: u32) -> u128 {
        0
    }
}

/// What has been told of all launches, and how device code is to look at those to come.
#[derive(Debug)]
pub struct ScordTold {
    /// As the native form has them, but for what is [`unsupported`].
    pub options: ScordOptions,
    /// Of grids of which not everything is looked at.
    watched: BTreeMap<WorkId, Watched>,
    reports: Reports,
}

impl ScordTold {
    /// What of a grid that begins is looked at; None: everything.
    pub fn take_watched(&mut self, grid: WorkId) -> Option<Watched> {
        self.watched.remove(&grid)
    }

    /// The races of a launch.
    pub fn races(&mut self, launch: &ScordLooked, races: &[Raced]) {
        let sites = Sites::known(launch.first_site, &launch.accesses);
        for raced in races {
            self.race(launch, &sites, raced);
        }
    }

    fn race(&mut self, launch: &ScordLooked, sites: &Sites, raced: &Raced) {
        let (block, thread) = raced.by;
        let lane = thread % 32;
        let by = Lanes { grid: launch.grid, warp: 0, cta: 0, block, first: thread - lane, mask: 1 << lane };
        let access = Access {
            by,
            site: launch.first_site.wrapping_add(raced.number),
            kind: raced.kind,
            strength: raced.strength,
            acquire: false,
            release: false,
            memory: WhoseBytes::Global,
            size: raced.size,
            elements: 1,
            at: Addresses::Same(raced.address),
            wrote: 0,
            held: 0,
            own: 0,
            sourced: 0,
            numbers: None,
            values: &Nothing,
        };
        let md = launch.layout.unpack(raced.old);
        let own = (launch.layout.block(block), thread / 32) == (md.block, md.warp);
        let race = Race {
            condition: raced.condition,
            layout: &launch.layout,
            sites,
            md,
            own,
            at: raced.at,
            piece: raced.piece,
            lane,
            writes: raced.writes,
            strong: raced.strength != Strength::Weak,
            count: raced.count,
        };
        report::race(&mut self.reports, &access, launch.layout.block(block), &race);
    }

    /// What was missed.
    pub fn missed(&mut self, missed: &Missed) {
        report::refused(&mut self.reports, missed.refused);
        if missed.lost > 0 {
            let what = "scord: races were found for which the device's report had no room";
            self.reports.warn(what, missed.lost);
        }
        for (what, is_so) in [(report::TOO_MANY_BLOCKS, missed.blocks), (report::WRAPPED, missed.wrapped)] {
            if is_so {
                self.reports.warn(what, 1);
            }
        }
        // Who of a block waits is not known to the device.
        if let Some(kernel) = &missed.counted {
            let what = format!(
                "scord: kernel {kernel} has barriers with thread counts, which on the device count as barriers of all threads of a block, \
                 so races may be missed"
            );
            self.reports.warn(&what, 1);
        }
        if missed.full {
            self.reports.warn_once(report::TOO_MANY_LOCKS);
        }
    }
}

/// A detector of what device code tells.
#[derive(Debug)]
pub struct FromDevice {
    told: Rc<RefCell<ScordTold>>,
}

impl Default for FromDevice {
    fn default() -> FromDevice {
        FromDevice::new(ScordOptions::default())
    }
}

impl FromDevice {
    /// It has been told nothing.
    pub fn new(options: ScordOptions) -> FromDevice {
        let reports = report::reports(options.most_races);
        let told = ScordTold { options, watched: BTreeMap::new(), reports };
        FromDevice { told: Rc::new(RefCell::new(told)) }
    }

    /// Where to tell it.
    pub fn told(&self) -> Rc<RefCell<ScordTold>> {
        Rc::clone(&self.told)
    }
}

impl RaceDetector for FromDevice {
    fn name(&self) -> &'static str {
        "scord"
    }

    fn watch(&mut self, grid: WorkId, watched: Watched) {
        self.told.borrow_mut().watched.insert(grid, watched);
    }

    fn proven(&self) -> bool {
        false
    }

    fn take_findings(&mut self) -> Vec<RaceFinding> {
        self.told.borrow_mut().reports.take_findings()
    }

    fn take_warnings(&mut self) -> Vec<Warning> {
        self.told.borrow_mut().reports.take_warnings()
    }

    /// The words are the device's.
    fn held(&self) -> u64 {
        0
    }
}

impl Observer for FromDevice {
    fn wants(&self) -> Wants {
        Wants::default()
    }

    fn access(&mut self, _: &Access<'_>) {}

    fn event(&mut self, _: &Event<'_>) {}
}
