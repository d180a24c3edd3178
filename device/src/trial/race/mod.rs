//! Race detectors: what they are told of the host's side, and what they find, in the words of the report.
//!
//! The orders name the detectors; the process has them from its first call of the API to its end, over all launches. The
//! simulator tells them what kernels do, [`order`] what the host has streams do and in which order. They change nothing:
//! what runs, and what it gives, is the same without them.
//!
//! **What is not seen.** Plain loads and stores of the host in page-locked or managed memory, where [`crate::trial::host_watch`] says
//! that it misses them. Memory of the program that the device does not reach. What a graph allocates and frees, used elsewhere. What a
//! grid does that is launched early (programmatic dependent launch) before it has waited for the one before it: a warning says so.

mod calls;
mod chains;
mod detectors;
mod ends;
pub mod grids;
mod known;
mod looker;
pub mod order;
mod programs;
pub mod watched;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use bugaroo_detectors::{Set, hirace, scord};
use bugaroo_protocol::{Backend, Detector, Model, Orders, RaceSettings};

use crate::trial::feeds::FeedsTold;
use crate::trial::host_watch::Keeper;
use crate::trial::injection::Injection;

use grids::Grids;
use looker::Looker;
use order::WorkOrder;
use programs::Programs;
use watched::Watching;

pub use detectors::look_with;

/// What detectors looked at, and what they could not look at.
#[derive(Debug, Default)]
pub struct RaceCounts {
    /// Accesses that were told up to now, of the looker's.
    pub(crate) accesses: u64,
    /// Bytes of them.
    pub(crate) bytes: u64,
    /// Accesses when detectors were weighed last.
    pub(crate) weighed: u64,
    /// Launches that nobody could look at since the last report.
    pub(crate) unwatched: u64,
    /// Launches since then of kernels that device code does not know, by what there is to say of it.
    pub(crate) blind: BTreeMap<String, u64>,
    /// Launches since then that may begin before what comes before them in their stream is done.
    pub early: u64,
}

/// What the process has for races.
#[derive(Debug)]
pub struct ProcessRaces {
    /// Who takes the races that device code has found, where it looks for them.
    pub told: Option<FeedsTold>,
    pub(crate) looker: Rc<RefCell<Looker>>,
    pub(crate) programs: Programs,
    pub(crate) grids: Grids,
    /// What is left out of launches, if anything.
    pub(crate) watching: Option<Watching>,
    lockstep: bool,
    /// What was looked at, and what was not.
    pub counts: RaceCounts,
    /// Keeps memory from the host while it may race with the device.
    pub keeper: Keeper,
}

/// What of the orders' wishes for races cannot be done, if anything.
pub fn unsupported(orders: &Orders) -> Option<String> {
    let names =
        || orders.variation.race.iter().map(|detector| detector.name()).collect::<Vec<_>>().join(", ");
    if orders.variation.race.is_empty() {
        return None;
    }
    if orders.backend == Backend::Cuda {
        return Some(format!(
            "race detectors ({}) look at the virtual GPU, and not at what backend cuda runs",
            names()
        ));
    }
    if orders.model() == Some(Model::Bugaroo) {
        return Some(format!(
            "race detectors ({}) look at the program's own instructions, and not at those of model bugaroo",
            names()
        ));
    }
    let of_one_kind = orders
        .variation
        .race
        .iter()
        .all(|detector| *detector == orders.variation.race[0] && *detector != Detector::Ptx);
    if orders.variation.handlers && !of_one_kind {
        return Some(format!(
            "race detectors ({}) with injected handlers: device code is there for barracuda, hirace and scord, one at a time: it \
             does not say which write a read has read, as ptx has to know",
            names()
        ));
    }
    let settings = &orders.variation.race_settings;
    let Some(options) = watched::of_scord(settings) else {
        return Some("settings of scord: the fields of a word do not fit into it".to_owned());
    };
    if orders.variation.handlers
        && orders.variation.race.contains(&Detector::Scord)
        && let Some(what) = scord::device::unsupported(&options)
    {
        return Some(format!("settings of scord with injected handlers: device code does not know {what}"));
    }
    if let Err(error) = Watching::new(&settings.watch) {
        return Some(format!("settings of detectors: {error}"));
    }
    let delays = orders.variation.pw != 0.0 && orders.model().is_some()
        || orders.variation.pr != 0.0 && orders.model() == Some(Model::Ptx);
    if orders.variation.handlers && delays {
        return Some(
            "race detectors with injected handlers: what device code sees is in the order of its accesses only without weak memory".to_owned(),
        );
    }
    None
}

impl ProcessRaces {
    /// For the detectors that the orders name, which there are; None where they name none. `device_looks`: device code looks for races where
    /// it can, and they are told what it has found. The settings are such
    /// that [`unsupported`] has nothing against them.
    pub fn new(wanted: &[Detector], settings: &RaceSettings, device_looks: bool) -> Option<ProcessRaces> {
        let mut detectors = detectors::make(wanted, settings)?;
        let mut told = None;
        match wanted {
            [Detector::Hirace, ..] if device_looks => {
                let from_device = hirace::device::FromDevice::new(watched::of_hirace(settings));
                told = Some(FeedsTold::Hirace(from_device.told()));
                detectors = vec![Box::new(from_device)];
            }
            [Detector::Scord, ..] if device_looks => {
                let options = watched::of_scord(settings).unwrap_or_default();
                let from_device = scord::device::FromDevice::new(options);
                told = Some(FeedsTold::Scord(from_device.told()));
                detectors = vec![Box::new(from_device)];
            }
            _ => {}
        }
        Some(ProcessRaces {
            told,
            looker: Rc::new(RefCell::new(Looker::new(Set::new(detectors)))),
            programs: Programs::default(),
            grids: Grids::default(),
            watching: Watching::new(&settings.watch).unwrap_or_default(),
            lockstep: wanted.iter().all(|detector| detector.counts_on_lockstep()),
            counts: RaceCounts::default(),
            keeper: Keeper::default(),
        })
    }

    /// The order of host work, which tells these detectors.
    pub fn order(&self) -> Box<WorkOrder> {
        Box::new(WorkOrder::new(Rc::clone(&self.looker)))
    }

    /// So many accesses of warps were looked at that nobody was told of.
    pub fn looked_at(&self, accesses: u64) {
        self.looker.borrow_mut().accesses += accesses;
    }

    /// Whether warps are to run in lockstep for the detectors' sake.
    pub fn in_lockstep(&self) -> bool {
        self.lockstep
    }
}

impl Injection {
    /// The race detectors that the orders name.
    pub fn race(&self) -> &[Detector] {
        self.orders.as_ref().map_or(&[], |orders| &orders.variation.race)
    }

    /// What they look at, and how much they keep.
    pub fn race_settings(&self) -> RaceSettings {
        self.orders.as_ref().map(|orders| orders.variation.race_settings.clone()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
