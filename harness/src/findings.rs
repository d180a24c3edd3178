//! What was found besides failing trials: incidents ([`crate::incident`]) of all runs of a program, each once, with how often
//! it came.

use std::collections::BTreeMap;

use bugaroo_protocol::{BlockedThread, FaultAccess, FaultKind, LaunchEnd, NearAllocation, SourceLine};
use serde::{Deserialize, Serialize};

use crate::incident::{Incident, IncidentKey};
use crate::names::{demangled, readable};
use crate::record::TrialRecord;

/// Distinct findings that are told of a run.
pub const MOST_FINDINGS: usize = 100;

/// An incident, and how many runs of the program without injection had it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SeenIncident {
    /// What the first of them did.
    #[serde(flatten)]
    pub incident: Incident,
    /// Runs.
    pub runs: u64,
}

impl SeenIncident {
    /// Takes the incidents of one more run in.
    pub fn add(all: &mut Vec<SeenIncident>, incidents: &[Incident]) {
        for incident in incidents {
            let key = incident.key();
            match all.iter_mut().find(|seen| seen.incident.key() == key) {
                Some(seen) => seen.runs += 1,
                None => all.push(SeenIncident { incident: incident.clone(), runs: 1 }),
            }
        }
    }
}

/// What kind of error a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum FindingKind {
    /// A fault.
    Fault(FaultKind),
    /// `deadlock`
    Deadlock(DeadlockKind),
}

/// See [`FindingKind::Deadlock`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DeadlockKind {
    /// As it is written.
    Deadlock,
}

/// Of how many runs, how many had it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    /// Those that had it.
    pub seen: u64,
    /// All of them.
    pub of: u64,
}

/// An error that was seen, whatever the program made of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// Which.
    pub kind: FindingKind,
    /// The kernel, demangled.
    pub kernel: String,
    /// The same as the PTX names it.
    pub kernel_mangled: String,
    /// Place of the launch among all launches of its run, from 0.
    pub launch: u64,
    /// One line for a person.
    pub summary: String,
    /// What the thread did, in words.
    pub what: String,
    /// Its line in the source.
    pub source: Option<SourceLine>,
    /// Its line in the PTX.
    pub ptx_line: Option<u32>,
    /// Load, store or atomic, where it is one.
    pub access: Option<FaultAccess>,
    /// The address, where it is about one.
    pub address: Option<u64>,
    /// Bytes accessed.
    pub size: Option<u32>,
    /// The allocation that the address came close to.
    pub allocation: Option<NearAllocation>,
    /// The thread; of a deadlock the groups of threads that wait, the largest first.
    pub threads: Vec<BlockedThread>,
    /// Runs without injection that had it.
    pub without_injection: Share,
    /// Trials that had it.
    pub trials: Share,
    /// The first of them, as `replay` is told.
    pub first_trial: Option<String>,
    #[serde(skip)]
    key: IncidentKey,
}

impl Finding {
    fn new(incident: &Incident) -> Option<Self> {
        let launch = &incident.launch;
        let at = incident.at();
        let plain = Self {
            kind: FindingKind::Deadlock(DeadlockKind::Deadlock),
            kernel: demangled(&launch.kernel),
            kernel_mangled: launch.kernel.clone(),
            launch: launch.ordinal,
            summary: String::new(),
            what: String::new(),
            source: at.and_then(|at| at.source.clone()),
            ptx_line: at.and_then(|at| at.ptx_line),
            access: None,
            address: None,
            size: None,
            allocation: None,
            threads: Vec::new(),
            without_injection: Share::default(),
            trials: Share::default(),
            first_trial: None,
            key: incident.key(),
        };
        match launch.end.clone() {
            LaunchEnd::Fault(fault) => Some(Self {
                kind: FindingKind::Fault(fault.kind),
                summary: readable(&fault.summary),
                what: fault.what,
                access: fault.access,
                address: fault.address,
                size: fault.size,
                allocation: fault.allocation,
                threads: vec![fault.at],
                ..plain
            }),
            LaunchEnd::Deadlock(found) => {
                Some(Self { summary: readable(&found.summary), threads: found.waiting, ..plain })
            }
            LaunchEnd::Complete | LaunchEnd::StepBudget(_) => None,
        }
    }
}

/// All findings of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    /// Those of the runs without injection first, then in order of the trials.
    pub all: Vec<Finding>,
    /// Launches whose error is not among them, as there were too many kinds.
    pub more: u64,
    /// Runs without injection.
    runs: u64,
}

impl Findings {
    /// Those of runs without injection, of which there were `runs`.
    pub fn without_injection(seen: &[SeenIncident], runs: u64) -> Self {
        let told = |seen: &SeenIncident| {
            let share = Share { seen: seen.runs, of: runs };
            Some(Finding { without_injection: share, ..Finding::new(&seen.incident)? })
        };
        Self { all: seen.iter().filter_map(told).take(MOST_FINDINGS).collect(), more: 0, runs }
    }

    /// Takes trials in, by cell and index; `address` is how `replay` is told which.
    pub fn add_trials(
        &mut self,
        trials: &BTreeMap<(usize, u64), TrialRecord>,
        address: impl Fn(usize, u64) -> String,
    ) {
        for (&(cell, trial), record) in trials {
            self.more += record.more_incidents;
            for incident in &record.incidents {
                let key = incident.key();
                if !self.all.iter().any(|known| known.key == key) {
                    match Finding::new(incident) {
                        Some(finding) if self.all.len() < MOST_FINDINGS => self.all.push(finding),
                        _ => {
                            self.more += incident.count;
                            continue;
                        }
                    }
                }
                for known in self.all.iter_mut().filter(|known| known.key == key) {
                    known.trials.seen += 1;
                    known.first_trial.get_or_insert_with(|| address(cell, trial));
                }
            }
        }
        for finding in &mut self.all {
            finding.trials.of = trials.len() as u64;
            finding.without_injection.of = self.runs;
        }
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty() && self.more == 0
    }
}

#[cfg(test)]
mod tests;
