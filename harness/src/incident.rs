//! What launches did that is an error whatever the program makes of it: faults, traps, misuse of barriers, deadlocks.
//!
//! A trial may have thousands of them; those of the same kind in the same kernel at the same line are one, counted, and a
//! bounded number is kept.

use bugaroo_protocol::{BlockedThread, FaultKind, LaunchEnd, SourceLine};
use serde::{Deserialize, Serialize};

/// Distinct incidents that are kept of a trial.
pub const MOST_INCIDENTS: usize = 16;

/// A launch that did not complete.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FailedLaunch {
    /// From 0, over the whole process.
    pub ordinal: u64,
    /// As the PTX names it.
    pub kernel: String,
    /// How it ended.
    #[serde(flatten)]
    pub end: LaunchEnd,
}

/// One kind of error of one kernel at one line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Incident {
    /// The first launch that it ended.
    #[serde(flatten)]
    pub launch: FailedLaunch,
    /// Launches that it ended.
    pub count: u64,
}

/// What incidents have in common that count as the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IncidentKey {
    /// None for a deadlock.
    kind: Option<FaultKind>,
    kernel: String,
    source: Option<SourceLine>,
    /// Only where there is no source line.
    ptx_line: Option<u32>,
}

impl Incident {
    /// The incident that a launch is, if it is one. A launch that ran out of steps may only have been long.
    pub fn of(launch: &FailedLaunch) -> Option<Self> {
        match launch.end {
            LaunchEnd::Fault(_) | LaunchEnd::Deadlock(_) => Some(Self { launch: launch.clone(), count: 1 }),
            LaunchEnd::Complete | LaunchEnd::StepBudget(_) => None,
        }
    }

    /// Whether no thread could go on.
    pub fn is_deadlock(&self) -> bool {
        matches!(self.launch.end, LaunchEnd::Deadlock(_))
    }

    /// Where the thread stood, or the largest group of those that wait.
    pub fn at(&self) -> Option<&BlockedThread> {
        match &self.launch.end {
            LaunchEnd::Fault(fault) => Some(&fault.at),
            LaunchEnd::Deadlock(found) | LaunchEnd::StepBudget(found) => found.waiting.first(),
            LaunchEnd::Complete => None,
        }
    }

    /// See [`IncidentKey`]. Which threads of a deadlock come first depends on the schedule, so that it has no line.
    pub fn key(&self) -> IncidentKey {
        let kernel = self.launch.kernel.clone();
        match &self.launch.end {
            LaunchEnd::Fault(fault) => {
                let source = fault.at.source.clone();
                let ptx_line = fault.at.ptx_line.filter(|_| source.is_none());
                IncidentKey { kind: Some(fault.kind), kernel, source, ptx_line }
            }
            _ => IncidentKey { kind: None, kernel, source: None, ptx_line: None },
        }
    }
}

/// Distinct incidents, of which so many are kept.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Incidents {
    /// In the order in which they came first.
    pub kept: Vec<Incident>,
    /// Launches whose incident was not kept, as there were too many kinds.
    pub more: u64,
}

impl Incidents {
    /// Takes what a launch did.
    pub fn take(&mut self, launch: &FailedLaunch) {
        let Some(incident) = Incident::of(launch) else { return };
        let key = incident.key();
        if let Some(known) = self.kept.iter_mut().find(|known| known.key() == key) {
            known.count += 1;
        } else if self.kept.len() < MOST_INCIDENTS {
            self.kept.push(incident);
        } else {
            self.more += 1;
        }
    }

    /// Drops all but deadlocks.
    pub fn ignore_faults(&mut self) {
        self.kept.retain(Incident::is_deadlock);
        self.more = 0;
    }
}

#[cfg(test)]
pub(crate) mod tests;
