//! The record of one trial.

use bugaroo_protocol::{Diagnosis, LaunchEnd, StaleRead, Variation};
use serde::{Deserialize, Serialize};

use crate::hidden::Hidden;
use crate::incident::{FailedLaunch, Incident};
use crate::outcome::{Exit, Outcome};
use crate::race::trial::TrialRaces;

/// What is known of a failure, or of why a trial says nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// One line for a person.
    pub reason: String,
    /// The launch that did not complete, where there was one: deadlock diagnosis, fault.
    pub launch: Option<FailedLaunch>,
    /// Model `ptx`: loads that read older values than memory held, the likeliest to matter first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stale_reads: Vec<StaleRead>,
    /// The last lines of standard output.
    pub stdout: String,
    /// The last lines of standard error.
    pub stderr: String,
}

impl Failure {
    /// Who waits where, if the failed launch left threads waiting.
    pub fn diagnosis(&self) -> Option<&Diagnosis> {
        match &self.launch.as_ref()?.end {
            LaunchEnd::Deadlock(diagnosis) | LaunchEnd::StepBudget(diagnosis) => Some(diagnosis),
            LaunchEnd::Fault(_) | LaunchEnd::Complete => None,
        }
    }

    /// The last line that the program printed: on standard error, or else on standard output.
    pub fn last_line(&self) -> Option<&str> {
        let last = |text: &'_ str| text.lines().next_back().is_some_and(|line| !line.trim().is_empty());
        let text = if last(&self.stderr) { &self.stderr } else { &self.stdout };
        text.lines().next_back().filter(|line| !line.trim().is_empty())
    }
}

/// One finished trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrialRecord {
    /// Its index, from 0.
    pub trial: u64,
    /// Its seed.
    pub seed: u64,
    /// How it ended.
    pub outcome: Outcome,
    /// From the start of its process to the end.
    pub duration_ms: f64,
    /// How its process ended.
    pub exit: Exit,
    /// Kernel launches.
    pub launches: u64,
    /// Stores that were delayed.
    pub delayed_stores: u64,
    /// Writes that model `ptx` forgot for lack of memory: behaviours that might have come of them did not show.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub forgotten: u64,
    /// Digest of device memory after its last launch.
    pub digest: Option<String>,
    /// What is known of its failure, or of why it says nothing; None for a pass.
    pub failure: Option<Failure>,
    /// Errors of its launches, each once, whatever its outcome.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub incidents: Vec<Incident>,
    /// Launches whose error is not among them, as there were too many kinds.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more_incidents: u64,
    /// Races that its detectors found, whatever its outcome; None where none looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub races: Option<TrialRaces>,
    /// What it prints though it passes by its exit code, and runs without injection do not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hides: Option<Hidden>,
    /// How it was run, where it was not as its cell says: the trials of a cell that explores choose that one by one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variation: Option<Box<Variation>>,
}

/// Whether nothing was counted.
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl TrialRecord {
    /// Whether both trials ended the same way: same outcome, same exit, the same device memory, and the same races.
    pub fn agrees_with(&self, other: &TrialRecord) -> bool {
        let races = match (&self.races, &other.races) {
            (Some(races), Some(other)) if self.exit != Exit::Killed => races.agrees_with(other),
            // How far it came until it was killed is the machine's doing.
            _ if self.exit == Exit::Killed => true,
            (None, None) => true,
            _ => false,
        };
        races && (self.outcome, self.exit, &self.digest) == (other.outcome, other.exit, &other.digest)
    }

    /// Whether its detectors have found a race.
    pub fn has_races(&self) -> bool {
        self.races.as_ref().is_some_and(|races| !races.races.is_empty())
    }
}
