//! Which trial of `race` runs how: detectors, memory model and scheduler take turns by the trial's index, so that a trial is
//! known by its index alone.
//!
//! The first trial is one sequentially consistent execution by the random scheduler: most races show there, and it is the
//! quickest. Then schedulers alternate, and every two trials the memory model changes. BARRACUDA and ScoRD count on warps in
//! lockstep and know of no weak outcomes: they look at trials without weak memory alone, in lockstep where nobody else looks on. Beside
//! other detectors they look at the same executions, which are not in lockstep then. Device code sees accesses in their order only
//! where memory is not weak: with handlers no trial has weak memory.

use serde::{Deserialize, Serialize};

use crate::choices::{Model, Scheduler};
use crate::race::Detector;

/// What takes turns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turns {
    /// The detectors.
    pub detectors: Vec<Detector>,
    /// The memory model of all trials but those that BARRACUDA and ScoRD look at; None: by turns none, `store-buffer` and `ptx`.
    pub model: Option<Model>,
    /// The scheduler of all trials; None: by turns.
    pub scheduler: Option<Scheduler>,
}

/// How one trial goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Turn {
    /// The detectors that look.
    pub detectors: Vec<Detector>,
    /// The weak memory that is shown; None: none.
    pub model: Option<Model>,
    /// Who runs next.
    pub scheduler: Scheduler,
}

impl Turns {
    /// The turn of the trial with this index. `handlers`: device code looks.
    pub(crate) fn of_trial(&self, handlers: bool, index: u64) -> Turn {
        let by_turns = if index % 2 == 1 { Scheduler::Pct } else { Scheduler::Random };
        let scheduler = self.scheduler.unwrap_or(by_turns);
        let none = || Turn { detectors: self.detectors.clone(), model: None, scheduler };
        // Those who can look at weak memory.
        let can = |detector: &Detector| !detector.counts_on_lockstep();
        let others: Vec<Detector> = self.detectors.iter().copied().filter(can).collect();
        let of = |model| Turn { detectors: others.clone(), model: Some(model), scheduler };
        match (self.model, index / 2 % 3) {
            _ if others.is_empty() || handlers => none(),
            (Some(_), 0) if others.len() < self.detectors.len() => none(),
            (Some(model), _) => of(model),
            (None, 0) => none(),
            (None, 1) => of(Model::StoreBuffer),
            (None, _) => of(Model::Ptx),
        }
    }
}
