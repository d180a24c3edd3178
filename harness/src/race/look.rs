//! How one trial looks for races.

use bugaroo_protocol::{Detector, Model, Variation};

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
