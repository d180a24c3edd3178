//! Which trial of `race` runs how: detectors, memory model and scheduler take turns by the trial's index, so that a trial is
//! known by its index alone.
//!
//! The first trial is one sequentially consistent execution by the random scheduler: most races show there, and it is the
//! quickest. Then schedulers alternate, and every two trials the memory model changes. BARRACUDA and ScoRD count on warps in
//! lockstep and know of no weak outcomes: they look at trials without weak memory alone, in lockstep where nobody else looks on. Beside
//! other detectors they look at the same executions, which are not in lockstep then. Device code sees accesses in their order only
//! where memory is not weak: with handlers no trial has weak memory.

use bugaroo_protocol::{Detector, Model, Scheduler};
use serde::{Deserialize, Serialize};

use crate::variation::Variation;

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

/// How one trial looks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Look {
    /// Which detectors.
    pub detectors: Vec<Detector>,
    /// `none`, `store-buffer`, `ptx`: the weak memory that is shown.
    pub model: &'static str,
    /// `random`, `pct`.
    pub scheduler: &'static str,
}

impl Look {
    /// How a trial of this variation looks, its turn taken.
    pub fn of(variation: &Variation) -> Look {
        let weak = variation.pw > 0.0 || variation.model == Model::Ptx && variation.pr > 0.0;
        let model = match variation.model {
            _ if !weak => "none",
            Model::StoreBuffer => "store-buffer",
            Model::Ptx => "ptx",
            Model::Bugaroo => "bugaroo",
        };
        let scheduler = if variation.scheduler.is_random() { "random" } else { "pct" };
        Look { detectors: variation.race.clone(), model, scheduler }
    }
}

impl Turns {
    /// The variation of the trial with this index, that else goes as `base` says.
    pub fn of_trial(&self, base: &Variation, index: u64) -> Variation {
        let by_turns = if index % 2 == 1 { Scheduler::Pct } else { Scheduler::Random };
        let scheduler = self.scheduler.unwrap_or(by_turns);
        let of =
            |race: Vec<Detector>| Variation { turns: None, by_turns: false, race, scheduler, ..base.clone() };
        let none = || Variation { model: Model::StoreBuffer, pw: 0.0, pr: 0.0, ..of(self.detectors.clone()) };
        // Those who can look at weak memory.
        let can = |detector: &Detector| !detector.counts_on_lockstep();
        let others: Vec<Detector> = self.detectors.iter().copied().filter(can).collect();
        match (self.model, index / 2 % 3) {
            _ if others.is_empty() || base.handlers => none(),
            (Some(_), 0) if others.len() < self.detectors.len() => none(),
            (Some(model), _) => Variation { model, ..of(others) },
            (None, 0) => none(),
            (None, 1) => Variation { model: Model::StoreBuffer, ..of(others) },
            (None, _) => Variation { model: Model::Ptx, ..of(others) },
        }
    }
}
