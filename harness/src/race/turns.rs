//! Which trial of `race` runs how: detectors, memory model and scheduler take turns by the trial's index, so that a trial is
//! known by its index alone.
//!
//! The first trial is one sequentially consistent execution by the random scheduler: most races show there, and it is the
//! quickest. Then schedulers alternate, and every two trials the memory model changes. BARRACUDA counts on warps in lockstep
//! and knows of no weak outcomes: its trials are its own, always without weak memory; beside other detectors it has every
//! second one.

use bugaroo_protocol::{Detector, Model, Scheduler};
use serde::{Deserialize, Serialize};

use crate::variation::Variation;

/// What takes turns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turns {
    /// The detectors.
    pub detectors: Vec<Detector>,
    /// The memory model of all trials but BARRACUDA's; None: by turns none, `store-buffer` and `ptx`.
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
        let lockstep = |detector: &&Detector| **detector == Detector::Barracuda;
        let (barracuda, others): (Vec<&Detector>, Vec<&Detector>) = self.detectors.iter().partition(lockstep);
        let both = !barracuda.is_empty() && !others.is_empty();
        let (alone, turn) = match both {
            true => (index % 2 == 1, index / 2),
            false => (others.is_empty(), index),
        };
        let race = if alone { barracuda } else { others }.into_iter().copied().collect();
        let by_turns = if turn % 2 == 1 { Scheduler::Pct } else { Scheduler::Random };
        let scheduler = self.scheduler.unwrap_or(by_turns);
        let plain = Variation { turns: None, by_turns: false, race, scheduler, ..base.clone() };
        let none = |plain| Variation { model: Model::StoreBuffer, pw: 0.0, pr: 0.0, ..plain };
        match (self.model, turn / 2 % 3) {
            _ if alone => none(plain),
            (Some(model), _) => Variation { model, ..plain },
            (None, 0) => none(plain),
            (None, 1) => Variation { model: Model::StoreBuffer, ..plain },
            (None, _) => Variation { model: Model::Ptx, ..plain },
        }
    }
}
