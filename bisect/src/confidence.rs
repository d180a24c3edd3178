//! How many trials without a failure it takes to say "passes".
//!
//! The paper decides each step of its search by one more execution (III.D). A failure that shows in
//! one trial of a hundred would then be taken for cured nearly always. Here the number follows from
//! the failure rate that was observed: were the failure still there at that rate, `n` trials without
//! one would happen with probability `(1 - rate)^n`, and `n` is chosen so that this is at most the
//! error allowed. What it can miss: a configuration that still fails, but far more rarely than the
//! one the rate was observed on. The last word is therefore a verification of the whole answer.

use bugaroo_harness::interval::lower_bound;

use crate::trials::Tally;

/// The confidence with which an answer as a whole is given.
pub const CONFIDENCE: f64 = 0.99;

/// Turns an observed failure rate into numbers of trials.
#[derive(Clone, Copy, Debug)]
pub struct Passing {
    /// A rate that the true one exceeds with confidence [`CONFIDENCE`].
    rate: f64,
    /// The error allowed to one question.
    error: f64,
}

impl Passing {
    /// From the trials that showed the failure, for a search that will ask `questions` questions: the
    /// error of the whole answer is shared out among them.
    pub fn observed(tally: &Tally, questions: usize) -> Self {
        Passing {
            rate: lower_bound(tally.failures(), tally.trials, CONFIDENCE),
            error: (1.0 - CONFIDENCE) / questions.max(1) as f64,
        }
    }

    /// Trials without a failure that make "passes", at least 1 and at most `limit`.
    pub fn trials(&self, limit: u64) -> u64 {
        if self.rate >= 1.0 {
            return 1;
        }
        let wanted = (self.error.ln() / (1.0 - self.rate).ln()).ceil();
        if wanted.is_finite() { (wanted as u64).clamp(1, limit.max(1)) } else { limit.max(1) }
    }
}
