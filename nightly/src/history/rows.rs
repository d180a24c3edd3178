//! What is written of a night.

use std::collections::{BTreeMap, BTreeSet};

use bugaroo_harness::{ForkServerUse, Outcome, TrialRecord, Variation};
use serde::{Deserialize, Serialize};

use crate::hides::Hides;
use crate::night::{NightFinding, NotRun};
use crate::plan::CellKind;

/// Under this name, and its sentence behind it, studies keep what detectors could not look at.
pub const UNSEEN: &str = "unseen ";

/// Which night.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    /// Name of the plan.
    pub plan: String,
    /// How the night is called.
    pub label: String,
}

/// A night.
#[derive(Clone, Debug, PartialEq)]
pub struct NightRow {
    /// Which.
    pub key: Key,
    /// SHA-256 of the plan.
    pub plan_sha256: String,
    /// Seed that all trials stem from.
    pub seed: u64,
    /// When it began, in milliseconds since 1970.
    pub began: i64,
    /// When it ended; None: it runs, or was killed.
    pub ended: Option<i64>,
    /// Whether all of the plan was done.
    pub complete: bool,
    /// Of how many parts it is made.
    pub shards: u32,
    /// Version of Bugaroo.
    pub bugaroo: String,
    /// What the reader should know, a line each.
    pub notes: Vec<String>,
}

/// What is known of a program before its trials.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProgramFacts {
    /// Its place in the plan.
    pub place: usize,
    /// Program and arguments.
    pub run: Vec<String>,
    /// SHA-256 of its file.
    pub sha256: Option<String>,
    /// Why it was not run, or not to the end.
    pub error: Option<NotRun>,
    /// What it takes without injection.
    pub baseline_ms: Option<f64>,
    /// Whether trials were forks of one process.
    pub fork_server: Option<ForkServerUse>,
    /// What the reader should know, a line each.
    pub notes: Vec<String>,
}

/// A cell, as the plan has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellFacts {
    /// Its place in the program.
    pub place: usize,
    /// What its trials look for.
    pub kind: CellKind,
    /// How they run.
    pub variation: Variation,
    /// Trials that are planned.
    pub planned: Option<u64>,
}

/// What trials come to, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// By outcome, in the order of [`Outcome::ALL`].
    pub outcomes: [u64; Outcome::ALL.len()],
    /// Stores that were delayed.
    pub delayed_stores: u64,
    /// Trials in which the model forgot writes.
    pub forgetful: u64,
    /// Those writes.
    pub forgotten: u64,
}

impl Tally {
    /// Counts one more.
    pub fn add(&mut self, record: &TrialRecord) {
        self.outcomes[record.outcome as usize] += 1;
        self.delayed_stores += record.delayed_stores;
        self.forgetful += u64::from(record.forgotten > 0);
        self.forgotten += record.forgotten;
    }

    /// Adds what others come to.
    pub fn merge(&mut self, other: &Self) {
        for (sum, more) in self.outcomes.iter_mut().zip(other.outcomes) {
            *sum += more;
        }
        self.delayed_stores += other.delayed_stores;
        self.forgetful += other.forgetful;
        self.forgotten += other.forgotten;
    }

    /// Trials.
    pub fn trials(&self) -> u64 {
        self.outcomes.iter().sum()
    }

    /// Trials that passed or failed.
    pub fn told(&self) -> u64 {
        self.sum(Outcome::tells)
    }

    /// Trials that failed.
    pub fn failures(&self) -> u64 {
        self.sum(Outcome::is_failure)
    }

    fn sum(&self, of: impl Fn(Outcome) -> bool) -> u64 {
        Outcome::ALL.into_iter().filter(|&outcome| of(outcome)).map(|o| self.outcomes[o as usize]).sum()
    }
}

/// Trials of a cell that were counted together: `first`, `first + step`, …
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    /// The program.
    pub program: String,
    /// The cell.
    pub cell: String,
    /// Index of the first trial.
    pub first: u64,
    /// From one to the next: the number of shards.
    pub step: u64,
    /// What they come to.
    pub tally: Tally,
    /// Those that did not simply pass.
    pub trials: Vec<TrialRow>,
    /// In how many of them each finding was seen, by its fingerprint.
    pub sightings: BTreeMap<String, Sighting>,
    /// What detectors could not look at: a sentence each without its end.
    pub unseen: BTreeSet<String>,
    /// What those hide that pass.
    pub hides: Option<Hides>,
    /// Wall-clock time that they took.
    pub milliseconds: u64,
}

/// How often a batch saw a finding.
#[derive(Clone, Debug, PartialEq)]
pub struct Sighting {
    /// Trials.
    pub trials: u64,
    /// The first of them; None where the database has an earlier one already.
    pub example: Option<Example>,
}

/// The first trial that showed a finding.
#[derive(Clone, Debug, PartialEq)]
pub struct Example {
    /// Its index.
    pub trial: u64,
    /// What it showed.
    pub finding: NightFinding,
}

/// A trial that did not simply pass.
#[derive(Clone, Debug, PartialEq)]
pub struct TrialRow {
    /// Its index.
    pub trial: u64,
    /// Its seed.
    pub seed: u64,
    /// How it ended.
    pub outcome: Outcome,
    /// How it was run, where it chose that itself.
    pub variation: Option<Variation>,
    /// All that is known of it, where that was kept.
    pub record: Option<TrialRecord>,
}
