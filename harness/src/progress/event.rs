//! What happens while trials run, and who is told.

use std::time::Duration;

use crate::baseline::Baseline;
use crate::record::TrialRecord;

/// Something that happened.
#[derive(Clone, Copy, Debug)]
pub enum ProgressEvent<'a> {
    /// The runs without injection begin.
    BaselineStarted {
        /// Name of the program.
        app: &'a str,
    },
    /// They have passed.
    BaselineEnded {
        /// What they showed.
        baseline: &'a Baseline,
    },
    /// A number of trials begins.
    BatchStarted {
        /// What they are, in a few words.
        what: &'a str,
        /// How many there will be at most.
        trials: u64,
    },
    /// As many trials begin as there is time for.
    TimeStarted {
        /// What they are, in a few words.
        what: &'a str,
        /// How long trials will begin.
        time: Duration,
    },
    /// A trial has ended.
    TrialEnded(&'a TrialRecord),
    /// The trials begun last are over.
    BatchEnded,
    /// Something that the user should know, in one line.
    Note(&'a str),
}

/// Told what happens.
pub trait Reporter: Send + Sync {
    /// Told of one event.
    fn report(&self, event: ProgressEvent<'_>);
}

/// Tells nobody.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Reporter for Silent {
    fn report(&self, _: ProgressEvent<'_>) {}
}
