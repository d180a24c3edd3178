//! What a search asks for: trials of one variation, and which of them failed.

use std::future::Future;

use bugaroo_harness::{Conflicts, Error, Outcome, Variation};
use bugaroo_protocol::Race;

/// What a number of trials showed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrialTally {
    /// Trials that passed or failed.
    pub trials: u64,
    /// Indices of those that say nothing: slow ones, and killed ones.
    pub untold: Vec<u64>,
    /// Those that passed while the model forgot something for lack of memory: their passing says less.
    pub forgetful: u64,
    /// Indices of those that failed, in the order in which they were asked for.
    pub failing: Vec<u64>,
}

impl TrialTally {
    /// How many failed.
    pub fn failures(&self) -> u64 {
        self.failing.len() as u64
    }
}

/// How a trial ended, and what that is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shown {
    /// How it ended.
    pub outcome: Outcome,
    /// The model forgot something for lack of memory, so that not all could show.
    pub forgot: bool,
}

impl From<Outcome> for Shown {
    fn from(outcome: Outcome) -> Shown {
        Shown { outcome, forgot: false }
    }
}

/// What a look at one trial showed.
#[derive(Clone, Debug)]
pub struct LookedAt {
    /// How it ended.
    pub outcome: Outcome,
    /// Accesses whose order nothing settles.
    pub conflicts: Conflicts,
    /// Races that count, where trials look for races; conflicts are not looked for then.
    pub races: Vec<Race>,
}

/// Told of each trial as it ends: its index and how it ended.
pub type OnEnd<'a> = &'a mut dyn FnMut(u64, Shown) -> Result<(), Error>;

/// Whatever can run trials: the harness, or a model of a program in a test.
///
/// The same index stands for the same seed in every variation, so that two variations meet
/// the same coin flips (the paper, III.D, step 1). A trial is determined by its variation and index.
pub trait Trials {
    /// Runs the trials of these indices, in this order; with `until_failure` no trial after the first
    /// failing one needs to run (those that did may be told to `ended` all the same).
    ///
    /// # Errors
    /// When trials cannot be run at all, and whatever `ended` gives; a failing trial is no error.
    fn run(
        &self,
        variation: &Variation,
        indices: Vec<u64>,
        until_failure: bool,
        ended: OnEnd<'_>,
    ) -> impl Future<Output = Result<(), Error>>;

    /// Runs one trial again, and looks for accesses whose order nothing settles, or for its races. It ends as it does without.
    ///
    /// # Errors
    /// When it cannot be run at all; a failing trial is no error.
    fn look(&self, variation: &Variation, index: u64) -> impl Future<Output = Result<LookedAt, Error>>;
}
