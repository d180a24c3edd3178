//! How many trials without a failure it takes to say "passes".
//!
//! The paper decides each step of its search by one more execution (III.D). A failure that shows in one
//! trial of five hundred would then be taken for cured nearly always. Here the number follows from what
//! was seen of the failure, by two rules.
//!
//! **With a rate that was observed.** After `f` failures in `T` trials, a failure that is still there at
//! the same rate lets the next `n` trials pass with probability `B(f, T - f + 1 + n) / B(f, T - f + 1)`
//! (`B`: Euler's beta function), that is, the chance averaged over all that the rate may be. `n` is the
//! smallest number that brings this down to the error allowed. Where the trials were run until the
//! `f`-th failure, the stated error holds for every true rate, not only on average: for a small rate `r`,
//! `r T` is a gamma variable of shape `f`, and the expectation of `exp(-r n)` comes out as
//! `(1 + n / T)^-f`, which is the error allowed. So few failures cost many trials later (1 failure: 99 T
//! for an error of 1 %; 4: 2.2 T; 20: 0.26 T), and measuring longer than that saves is waste.
//!
//! **Without one**, where a whole program or a fence left out is to be called good: the trials that a
//! failure at the rate of [`SearchLimits::rare`] would pass with probability [`ALPHA`]. Rarer failures may be
//! missed, and the report says so.

use statrs::function::beta::ln_beta;

/// Error allowed to each conclusion that the answer rests on: that a rate of at least [`SearchLimits::rare`]
/// would have stayed unseen.
pub const ALPHA: f64 = 0.01;

/// The same for the first of all, that the program passes as it stands: there all else ends.
pub const FIRST_ALPHA: f64 = 0.003;

/// How many times `--trials` one question may take where an observed rate demands it.
pub const CAP: u64 = 20;

/// What was seen of a failure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rate {
    /// Failures.
    pub failures: u64,
    /// In so many trials.
    pub trials: u64,
}

impl Rate {
    /// The failures by the trials; 1 without trials.
    pub fn mean(&self) -> f64 {
        if self.trials == 0 { 1.0 } else { self.failures as f64 / self.trials as f64 }
    }

    /// Natural logarithm of the probability that `passes` more trials pass while the failure is still
    /// there.
    pub fn ln_unseen(&self, passes: u64) -> f64 {
        if self.failures == 0 {
            return 0.0;
        }
        let (failures, rest) = (self.failures as f64, (self.trials - self.failures + 1) as f64);
        ln_beta(failures, rest + passes as f64) - ln_beta(failures, rest)
    }

    /// Trials without a failure that make "passes" with this error, `limit` at most.
    pub fn passes(&self, error: f64, limit: u64) -> u64 {
        let unseen = |passes| self.ln_unseen(passes) > error.ln();
        let (mut low, mut high) = (0, 1);
        while high < limit && unseen(high) {
            (low, high) = (high, high * 2);
        }
        high = high.min(limit);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if unseen(middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
        high.max(1)
    }
}

/// Trials that a failure of this rate passes with a probability of at most `error`.
pub fn certain(rate: f64, error: f64) -> u64 {
    (error.ln() / (1.0 - rate.min(0.999)).ln()).ceil() as u64
}

/// How thorough a search is: all of it follows from `--trials`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchLimits {
    /// `--trials`.
    pub trials: u64,
}

impl SearchLimits {
    /// The failure rate that the search is made to see: 2 in `--trials`. What fails more rarely may be
    /// missed.
    pub fn rare(&self) -> f64 {
        (2.0 / self.trials.max(1) as f64).min(0.999)
    }

    /// Trials without a failure that make "passes" where no rate is known.
    pub fn full(&self) -> u64 {
        certain(self.rare(), ALPHA)
    }

    /// Most trials that one question may take.
    pub fn cap(&self) -> u64 {
        self.trials.saturating_mul(CAP).max(self.full())
    }
}

#[cfg(test)]
mod tests;
