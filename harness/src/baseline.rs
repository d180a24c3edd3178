//! The baseline: the program without injection, under a few seeds of the scheduler. It has to pass, or
//! no failure under injection would say anything; and it measures what a launch takes.

pub(crate) mod measure;
mod undisturbed;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use bugaroo_protocol::BlockedThread;
use serde::{Deserialize, Serialize};

use crate::findings::{Findings, SeenIncident};
use crate::hidden::Usual;
use crate::names::{demangled, readable};
use crate::oracle::reference::Reference;
use crate::outcome::Outcome;
use crate::record::Failure;
use crate::report::KernelUse;
use crate::schedules::Schedules;

/// Runs of the program without injection, each under a seed of its own.
pub const RUNS: u64 = 3;

/// A launch's default step budget is so many times what the largest launch of the baseline took…
///
/// Instrumented code executes ten to a hundred instructions for an access, and a spinning thread spins
/// for as long as a store is held back; a budget that ends a launch which would have ended by itself is
/// a false alarm, one that lets a hang run on costs seconds.
pub const BUDGET_FACTOR: u64 = 1000;

/// … and so many warp instructions more, for launches that are next to nothing.
pub const BUDGET_FLOOR: u64 = 50_000_000;

/// What the program does without injection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Baseline {
    /// Exit and output, as the oracle `reference` compares them.
    pub reference: Reference,
    /// Most warp instructions of any launch, in any of the runs.
    pub largest_launch: u64,
    /// Kernels that the first run launched.
    pub launched: BTreeMap<String, KernelUse>,
    /// All kernels of the modules that it loaded.
    pub kernels: BTreeSet<String>,
    /// What the first run took.
    pub duration_ms: f64,
    /// Why trials must not be forks of one process, in one line; None where they may.
    #[serde(default = "not_known")]
    pub cannot_fork: Option<String>,
    /// Errors of its launches, each once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub incidents: Vec<SeenIncident>,
    /// Runs that were made.
    #[serde(default = "runs")]
    pub runs: u64,
    /// What it prints, where nothing but its exit code is judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usual: Option<Usual>,
}

fn runs() -> u64 {
    RUNS
}

impl Baseline {
    /// How long the program took.
    pub(crate) fn duration(&self) -> Duration {
        Duration::try_from_secs_f64(self.duration_ms / 1000.0).unwrap_or_default()
    }
}

/// For baselines that were written down before there was a fork server.
fn not_known() -> Option<String> {
    Some("the run was begun by a version without a fork server".to_owned())
}

/// Groups of threads that are shown.
const SHOWN: usize = 8;

/// Where threads stand, in a line.
fn place(group: &BlockedThread) -> String {
    let source = group.source.as_ref().map(|source| format!(", {}:{}", source.file, source.line));
    let line = group.ptx_line.map(|line| format!(", PTX line {line}"));
    let [source, line] = [source, line].map(Option::unwrap_or_default);
    format!("{}{source}{line}: {}", demangled(&group.function), group.instruction.trim())
}

/// What is said of programs from before Volta, most often: reductions whose last warp has no `__syncwarp()`.
pub const LOCKSTEP_NOTE: &str = "it passes with --warp-synchronous, which has warps run in lockstep: it counts on that, without \
     __syncwarp(), and Volta and later schedule the threads of a warp independently";

/// The program fails without injection.
#[derive(Debug, Clone, PartialEq)]
pub struct BaselineFailure {
    /// The program.
    pub app: PathBuf,
    /// How it ended.
    pub outcome: Outcome,
    /// What is known of it.
    pub failure: Failure,
    /// Whether it came so far as to initialise the driver.
    pub used_driver: bool,
    /// Whether it counts on warps in lockstep, as far as runs tell.
    pub counts_on_lockstep: bool,
    /// What it does under other schedules; none where that cannot matter, or was not asked.
    pub schedules: Schedules,
    /// Errors of its launches, in all runs.
    pub findings: Findings,
    /// What is known of it for trials all the same.
    pub baseline: Baseline,
}

impl BaselineFailure {
    /// Whether that it fails is a finding: an error of a launch, or one that depends on the schedule.
    pub fn is_finding(&self) -> bool {
        self.schedules.some_pass() || !self.findings.is_empty()
    }
}

impl fmt::Display for BaselineFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { app, outcome, failure, used_driver, counts_on_lockstep, schedules, .. } = self;
        write!(f, "{} fails without injection: {outcome}: {}", app.display(), failure.reason)?;
        if !used_driver {
            write!(f, "; it did not get as far as to initialise the CUDA driver")?;
        }
        if schedules.total() > 0 {
            write!(f, "\n{schedules}")?;
        }
        // A process that was killed says nothing of its threads; under the schedules' step budget one does.
        let runs = [failure]
            .into_iter()
            .chain(schedules.cells.iter().flatten().filter_map(|run| run.failure.as_ref()));
        if let Some(found) = runs.filter_map(Failure::diagnosis).find(|found| !found.waiting.is_empty()) {
            write!(f, "\n{}:", readable(&found.summary))?;
            let mut places: Vec<String> = found.waiting.iter().map(place).collect();
            places.dedup();
            for place in places.iter().take(SHOWN) {
                write!(f, "\n  threads stand at {place}")?;
            }
        }
        for (name, text) in [("standard output", &failure.stdout), ("standard error", &failure.stderr)] {
            if !text.is_empty() {
                write!(f, "\nthe end of its {name}:")?;
                for line in text.lines() {
                    write!(f, "\n  | {line}")?;
                }
            }
        }
        if *counts_on_lockstep {
            write!(f, "\nnote: {LOCKSTEP_NOTE}")?;
        }
        Ok(())
    }
}
