//! Detectors by their names in the orders.

use std::sync::OnceLock;

use bugaroo_detectors::{Barracuda, ExactDetector, Hirace, RaceDetector as Looks, Scord};
use bugaroo_protocol::{Detector, RaceSettings};

use super::watched;

/// Makes detectors.
type Make = fn() -> Vec<Box<dyn Looks>>;

/// What looks on in place of the orders' detectors.
static OTHERS: OnceLock<Make> = OnceLock::new();

/// Lets others look on in place of the detectors that the orders name, if they name any: for programs that this library is a
/// part of, before they initialise it. What they find is reported as the first detector of the orders.
pub fn look_with(make: Make) {
    // Once is enough: a process has one set of detectors.
    let _ = OTHERS.set(make);
}

fn make_one(detector: Detector, settings: &RaceSettings) -> Box<dyn Looks> {
    match detector {
        Detector::Barracuda => Box::new(Barracuda::new()),
        Detector::Ptx => Box::new(ExactDetector::new()),
        Detector::Hirace => Box::new(Hirace::new(watched::of_hirace(settings))),
        Detector::Scord => Box::new(Scord::new(watched::of_scord(settings).unwrap_or_default())),
    }
}

/// Those of the orders; None where they name none.
pub fn make(wanted: &[Detector], settings: &RaceSettings) -> Option<Vec<Box<dyn Looks>>> {
    if wanted.is_empty() {
        return None;
    }
    if let Some(others) = OTHERS.get() {
        return Some(others());
    }
    // A name twice is one detector.
    let mut names = wanted.to_vec();
    names.sort_unstable();
    names.dedup();
    Some(names.into_iter().map(|name| make_one(name, settings)).collect())
}
