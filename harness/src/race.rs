//! The races of a trial, as its detectors told them, and of a run, over all its trials.
//!
//! Bottom up: [`place`] says which races are one; [`trial`] sums up what one trial told; [`turns`] is which trial runs with
//! which detectors, scheduler and memory model; [`run`] merges the trials of a run.

pub mod compare;
mod place;
pub mod rule;
mod run;
mod scope;
pub mod settings;
mod trial;
mod turns;

pub use place::{Key, Place};
pub(crate) use run::one_line;
pub use run::{FoundRace, Looked, RaceSummary, RaceWarning};
pub use scope::{Scope, is_within_a_block};
pub use trial::{Gathered, MOST_RACES, TrialRaces};
pub use turns::{Look, Turns};

#[cfg(test)]
pub(crate) mod tests;
