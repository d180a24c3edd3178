//! The races of a trial, as its detectors told them, and of a run, over all its trials.
//!
//! Bottom up: [`place`] says which races are one; [`trial`] sums up what one trial told; [`turns`] is which trial runs with
//! which detectors, scheduler and memory model; [`run`] merges the trials of a run.

pub mod compare;
mod look;
mod place;
pub mod rule;
mod run;
mod scope;
pub mod settings;
pub(crate) mod trial;
pub(crate) mod turns;
mod words;

pub use look::Look;
pub use place::{Key, Place};
pub use run::{FoundRace, Looked, RaceSummary, RaceWarning};
pub use scope::{Scope, is_within_a_block};
pub use trial::{Gathered, MOST_RACES, TrialRaces};
pub use turns::Turns;
pub(crate) use words::one_line;

#[cfg(test)]
pub(crate) mod tests;
