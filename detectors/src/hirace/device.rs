//! Races that device code has found (`bugaroo-device-handlers`, `hirace.cu`), as the findings and warnings that the native form would have
//! made of them. Nothing is looked at here.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use bugaroo_semantics::event::{
    Access, AccessKind, Addresses, Event, Lanes, SiteNumber, Values, WhoseBytes, WorkId,
};
use bugaroo_semantics::history::table::HistoryMachine;
use bugaroo_semantics::scope::Strength;
use bugaroo_semantics::{Observer, Wants};

use super::report::{self, Conflict, Reports};
use super::word::WordLayout;
use super::{HiraceOptions, LATE_CLOCK, NO_ROOM, PART_OF_A_WARP};
use crate::finding::{RaceDetector, RaceFinding, Warning};
use crate::watched::Watched;

/// A grid that device code has looked at.
#[derive(Clone, Copy, Debug)]
pub struct HiraceLooked {
    /// What observers know it by.
    pub grid: WorkId,
    /// Where the word's fields were.
    pub layout: WordLayout,
    /// Warps ran in lockstep.
    pub lockstep: bool,
    /// What observers know the program's instruction 0 by.
    pub first_site: SiteNumber,
}

/// A race as device code has it.
#[derive(Clone, Copy, Debug)]
pub struct Raced {
    /// The word that the element had. Its site is the program's, from the first instruction on.
    pub old: u64,
    /// That of the access.
    pub new: u64,
    /// The element.
    pub address: u64,
    /// Whose bytes.
    pub memory: WhoseBytes,
    /// The access: its instruction, as observers know it.
    pub site: SiteNumber,
    /// What it does.
    pub kind: AccessKind,
    /// Weak, or strong and for whom.
    pub strength: Strength,
    /// Bytes of one of its parts.
    pub size: u32,
    /// How often.
    pub count: u64,
}

/// What could not be looked at in a launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Missed {
    /// A clock had no room in the word.
    pub over: bool,
    /// Accesses of elements for which there was no room.
    pub refused: u64,
    /// Races for which there was no room in the report.
    pub lost: u64,
    /// Barriers at which not all threads of a warp were.
    pub partial: u64,
    /// The kernel's name, where it has barriers that need not wait for all threads of a block.
    pub counted: Option<String>,
    /// 64 bits do not hold the word.
    pub too_large: bool,
}

struct Nothing;

impl Values for Nothing {
    fn value(&self, _lane: u32, _element: u32) -> u128 {
        0
    }
}

/// What has been told of all launches, and how device code is to look at those to come.
#[derive(Debug)]
pub struct HiraceTold {
    /// As the native form has them.
    pub settings: HiraceOptions,
    /// Of grids of which not everything is looked at.
    watched: BTreeMap<WorkId, Watched>,
    reports: Reports,
}

impl HiraceTold {
    /// What of a grid that begins is looked at; None: everything.
    pub fn take_watched(&mut self, grid: WorkId) -> Option<Watched> {
        self.watched.remove(&grid)
    }

    /// A race.
    pub fn race(&mut self, launch: &HiraceLooked, raced: &Raced) {
        let Raced { old, new, address, memory, site, kind, strength, size, count } = *raced;
        let by = Lanes { grid: launch.grid, warp: 0, cta: 0, block: 0, first: 0, mask: 1 };
        let access = Access {
            by,
            site,
            kind,
            strength,
            acquire: false,
            release: false,
            memory,
            size,
            elements: 1,
            at: Addresses::Same(address),
            wrote: 0,
            held: 0,
            own: 0,
            sourced: 0,
            numbers: None,
            values: &Nothing,
        };
        let conflict = Conflict {
            access: &access,
            layout: launch.layout,
            machine: HistoryMachine::get(),
            first_site: launch.first_site,
            lockstep: launch.lockstep,
            count,
        };
        report::race(&mut self.reports, &conflict, old, new, address);
    }

    /// What was missed.
    pub fn missed(&mut self, missed: &Missed) {
        // Who of a block waits is not known to the device.
        if let Some(kernel) = &missed.counted {
            let what = format!(
                "hirace: kernel {kernel} has barriers with thread counts, which on the device count as barriers of all threads of a block, \
                 so races may be missed"
            );
            self.reports.warn(&what, 1);
        }
        let lost = "hirace: races were found for which the device's report had no room";
        for (what, count) in [
            (super::TOO_LARGE, u64::from(missed.too_large)),
            (LATE_CLOCK, u64::from(missed.over)),
            (NO_ROOM, missed.refused),
            (lost, missed.lost),
            (PART_OF_A_WARP, missed.partial),
        ] {
            if count > 0 {
                self.reports.warn(what, count);
            }
        }
    }
}

/// A detector of what device code tells.
#[derive(Debug)]
pub struct FromDevice {
    told: Rc<RefCell<HiraceTold>>,
}

impl Default for FromDevice {
    fn default() -> FromDevice {
        FromDevice::new(HiraceOptions::default())
    }
}

impl FromDevice {
    /// It has been told nothing.
    pub fn new(settings: HiraceOptions) -> FromDevice {
        let reports = report::reports(settings.most_races);
        let told = HiraceTold { settings, watched: BTreeMap::new(), reports };
        FromDevice { told: Rc::new(RefCell::new(told)) }
    }

    /// Where to tell it.
    pub fn told(&self) -> Rc<RefCell<HiraceTold>> {
        Rc::clone(&self.told)
    }
}

impl RaceDetector for FromDevice {
    fn name(&self) -> &'static str {
        "hirace"
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
