//! Several detectors that look on together.

use bugaroo_semantics::event::{Access, Event};
use bugaroo_semantics::{Observer, Spares, Wants};

use crate::finding::RaceDetector;

/// Detectors that are told the same.
#[derive(Default)]
pub struct Set {
    detectors: Vec<Box<dyn RaceDetector>>,
}

impl std::fmt::Debug for Set {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.detectors.iter().map(|detector| detector.name())).finish()
    }
}

impl Set {
    /// These.
    pub fn new(detectors: Vec<Box<dyn RaceDetector>>) -> Set {
        Set { detectors }
    }

    /// Each of them.
    pub fn each(&mut self) -> impl Iterator<Item = &mut (dyn RaceDetector + 'static)> {
        self.detectors.iter_mut().map(|detector| &mut **detector)
    }
}

impl Observer for Set {
    fn wants(&self) -> Wants {
        self.detectors.iter().fold(Wants::default(), |wants, detector| wants.or(detector.wants()))
    }

    fn spares(&self) -> Spares {
        self.detectors.iter().map(|detector| detector.spares()).reduce(Spares::and).unwrap_or_default()
    }

    fn access(&mut self, access: &Access<'_>) {
        self.detectors.iter_mut().for_each(|detector| detector.access(access));
    }

    fn event(&mut self, event: &Event<'_>) {
        self.detectors.iter_mut().for_each(|detector| detector.event(event));
    }
}
