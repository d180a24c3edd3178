//! What a search asks for: trials of one variation, and how many of them failed.

use std::future::Future;

use bugaroo_harness::Variation;

/// What a number of trials showed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Trials that ended.
    pub trials: u64,
    /// Indices of those that failed, ascending.
    pub failing: Vec<u64>,
}

impl Tally {
    /// How many failed.
    pub fn failures(&self) -> u64 {
        self.failing.len() as u64
    }

    /// Adds another tally's trials.
    pub fn absorb(&mut self, other: Tally) {
        self.trials += other.trials;
        self.failing.extend(other.failing);
        self.failing.sort_unstable();
    }
}

/// Whatever can run trials: the harness, or a model of a program in a test.
///
/// The same index stands for the same seed in every variation, so that two variations meet
/// the same coin flips (the paper, III.D, step 1).
pub trait Trials {
    /// Why trials could not be run at all.
    type Error;

    /// Runs the trials of these indices, in this order; with `until_failure` stops as soon as one has
    /// failed (trials that ran beside it still count).
    ///
    /// # Errors
    /// When trials cannot be run at all; a failing trial is no error.
    fn run(
        &self,
        variation: &Variation,
        indices: Vec<u64>,
        until_failure: bool,
    ) -> impl Future<Output = Result<Tally, Self::Error>>;
}
