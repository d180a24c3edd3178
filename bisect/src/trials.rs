//! What a search asks for: trials of one configuration, and how many of them failed.

use std::collections::BTreeSet;
use std::future::Future;

use bugaroo_protocol::{SiteId, Space};

/// What one step of a search varies. Everything else (model, p_w, seeds, oracle) stays as the run has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Configuration {
    /// Which space's stores are delayed.
    pub space: Space,
    /// Only this kernel's stores are delayed; None: every kernel's.
    pub kernel: Option<String>,
    /// Access sites that a fence is executed right after.
    pub with_fence: BTreeSet<SiteId>,
    /// Fences of the program that do nothing.
    pub without_fence: BTreeSet<SiteId>,
}

impl Configuration {
    /// The program as it stands, with all its stores delayed.
    pub fn whole() -> Self {
        Configuration {
            space: Space::Both,
            kernel: None,
            with_fence: BTreeSet::new(),
            without_fence: BTreeSet::new(),
        }
    }
}

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
/// The same index stands for the same seed in every configuration, so that two configurations meet
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
        configuration: &Configuration,
        indices: Vec<u64>,
        until_failure: bool,
    ) -> impl Future<Output = Result<Tally, Self::Error>>;
}
