//! The races of a trial, as its detectors told them, and of a run, over all its trials.
//!
//! Bottom up: [`place`] says which races are one; [`trial`] sums up what one trial told; [`look`] is how one looked; [`run`] merges the trials of a run.

pub mod compare;
mod look;
mod place;
pub mod rule;
mod run;
mod scope;
pub mod settings;
pub(crate) mod trial;
mod words;

pub use look::Look;
pub use place::{RaceKey, RacePlace};
pub use run::{FoundRace, Looked, RaceSummary, RaceWarning};
pub use scope::{RaceScope, is_within_a_block};
pub use trial::{Gathered, MOST_RACES, TrialRaces};
pub(crate) use words::one_line;

#[cfg(test)]
pub(crate) mod tests;
