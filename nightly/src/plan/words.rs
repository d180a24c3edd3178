//! Words of a plan that name something: models, schedulers, detectors, findings.

use bugaroo_protocol::{Detector, Model, Scheduler};

/// Models by their names.
pub const MODELS: [(&str, Model); 3] =
    [("bugaroo", Model::Bugaroo), ("store-buffer", Model::StoreBuffer), ("ptx", Model::Ptx)];

/// Schedulers by their names.
pub const SCHEDULERS: [(&str, Scheduler); 2] = [("random", Scheduler::Random), ("pct", Scheduler::Pct)];

/// A model as it is written.
pub fn model(model: Model) -> &'static str {
    MODELS.iter().find(|(_, known)| *known == model).map_or("", |(name, _)| name)
}

/// A scheduler as it is written.
pub fn scheduler(scheduler: Scheduler) -> &'static str {
    SCHEDULERS.iter().find(|(_, known)| *known == scheduler).map_or("", |(name, _)| name)
}

/// Detectors by their names.
pub fn detectors() -> Vec<(&'static str, Detector)> {
    Detector::ALL.into_iter().map(|detector| (detector.name(), detector)).collect()
}

/// What of a list has this name.
///
/// # Errors
/// What to say where nothing has.
pub fn named<T: Copy>(what: &str, name: &str, all: &[(&str, T)]) -> Result<T, String> {
    match all.iter().find(|(known, _)| *known == name) {
        Some((_, found)) => Ok(*found),
        None => {
            let names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
            let close = bugaroo_harness::user_file::closest(name, names.iter().copied());
            Err(format!("`{name}` is no {what}{close}: {} are", names.join(", ")))
        }
    }
}
