//! What a night came to, in the shape of its JSON report (schema 1): what all reports are made of.
//!
//! Made of the results by [`crate::history`]; nothing here depends on how the night was divided or how often it was resumed.
//! What depends on the clock is in fields whose names end in `_ms`, or are `began` and `ended`.

use std::collections::BTreeMap;

use bugaroo_harness::Outcome;
use bugaroo_harness::findings::Share;
use bugaroo_protocol::{Model, Scheduler};
use serde::{Deserialize, Serialize};

use crate::plan::CellKind;
use crate::plan::expect::Expected;

/// Version of the JSON report. Raised whenever it changes shape.
pub const SCHEMA: u32 = 1;

/// A night.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Night {
    /// [`SCHEMA`].
    pub schema: u32,
    /// Name of the plan.
    pub plan: String,
    /// How the night is called.
    pub label: String,
    /// SHA-256 of the plan.
    pub plan_sha256: String,
    /// Seed that all trials stem from.
    pub seed: u64,
    /// When it began, as RFC 3339 in UTC.
    pub began: String,
    /// When it ended; None: it was killed, or still runs.
    pub ended: Option<String>,
    /// Whether all of the plan was done.
    pub complete: bool,
    /// Shards, counted from 1, whose results are not there.
    pub missing_shards: Vec<u32>,
    /// Version of Bugaroo.
    pub bugaroo: String,
    /// What it comes to.
    pub verdict: NightVerdict,
    /// Label of the night that it is compared with; None: it is the first.
    pub compared_with: Option<String>,
    /// The programs, in the order of the plan.
    pub programs: Vec<NightProgram>,
    /// What the reader should know of the night as a whole, a line each.
    pub notes: Vec<String>,
}

/// What a night comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NightVerdict {
    /// Nothing was found but what is expected.
    Green,
    /// Something was found, could not be run, or nothing was tested.
    Red,
}

/// A program of a night.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NightProgram {
    /// Its name in the plan.
    pub name: String,
    /// Program and arguments.
    pub run: Vec<String>,
    /// SHA-256 of its file.
    pub sha256: Option<String>,
    /// Why it was not run, or not to the end.
    pub error: Option<NotRun>,
    /// What the program takes without injection.
    pub baseline_ms: Option<f64>,
    /// Why its trials were not forks of one process; None: they were, or there was none.
    pub without_fork_server: Option<String>,
    /// What is run of it.
    pub cells: Vec<Cell>,
    /// What was found, the news first.
    pub findings: Vec<NightFinding>,
    /// Kernels that were verified.
    pub kernels: Vec<NightKernel>,
    /// Flush lengths by memory space and length: how many entries store buffers held when they drained.
    pub flush_lengths: BTreeMap<String, BTreeMap<u64, u64>>,
    /// What its explorations have come to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explored: Option<Exploration>,
    /// Expectations that have expired, or whose finding was not seen, a line each.
    pub expectations: Vec<String>,
    /// What the reader should know, a line each.
    pub notes: Vec<String>,
}

/// Why a program was not run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotRun {
    /// How far it came.
    pub stage: Stage,
    /// What went wrong, for a person; may have several lines.
    pub message: String,
    /// The reason for which it is expected; None: it is not.
    pub expected: Option<String>,
}

/// How far a program came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// Its build step.
    Build,
    /// It is not there, or cannot be started.
    Start,
    /// It fails without injection.
    Baseline,
    /// It cannot be run by this version.
    Unsupported,
    /// Its trials.
    Trials,
}

/// A cell of a program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// Its name, the same each night: `ptx pw=0.75`.
    pub key: String,
    /// What its trials look for.
    pub kind: CellKind,
    /// The memory model; for races one of several.
    pub model: Model,
    /// Probability with which a store is delayed.
    pub pw: f64,
    /// Model `ptx`: probability with which a load reads an older value.
    pub pr: f64,
    /// Entries of the store buffers.
    pub buffer: u32,
    /// Who runs next.
    pub scheduler: Scheduler,
    /// Trials that have ended.
    pub trials: u64,
    /// Trials that were planned; None: as many as the time allowed.
    pub planned: Option<u64>,
    /// Those that failed. Slow and killed ones say nothing.
    pub failures: u64,
    /// Their share of those that passed or failed; None where there are none.
    pub rate: Option<f64>,
    /// The 95 % Clopper–Pearson interval of the rate.
    pub ci95: [f64; 2],
    /// Trials by outcome; outcomes without any are left out.
    pub outcomes: BTreeMap<Outcome, u64>,
    /// Index of the first trial that failed.
    pub first_failing_trial: Option<u64>,
    /// Stores that were delayed.
    pub delayed_stores: u64,
    /// Trials in which the model forgot writes for lack of memory.
    pub forgetful: u64,
    /// Time that its trials took.
    pub spent_ms: u64,
    /// What it comes to.
    pub status: Status,
    /// Why, in a line; empty for a plain pass.
    pub reason: String,
    /// How its rate differs from the nights before.
    pub change: Change,
    /// Its rates in earlier nights, the last 30, oldest first.
    pub before: Vec<Past>,
}

/// What a cell or a kernel comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Nothing was found. One failing trial is enough for it not to be said.
    Pass,
    /// Something was found that is not expected.
    Fail,
    /// All that was found is expected.
    Expected,
    /// It says nothing: no trial ran, or none told anything.
    Nothing,
}

/// How a rate differs from the nights before.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Change {
    /// There is no earlier night.
    First,
    /// Nothing that chance does not explain.
    None,
    /// It never failed before.
    New {
        /// Trials of earlier nights, all of which passed.
        passed: u64,
    },
    /// It fails more often, or less.
    Changed {
        /// The rate of the nights before.
        before: f64,
        /// The probability of such a difference by chance, corrected for the number of cells.
        p: f64,
    },
    /// It failed before, and does not any more.
    Cured {
        /// The rate of the nights before.
        before: f64,
        /// The probability of no failure at that rate, corrected for the number of cells.
        p: f64,
    },
}

/// A cell in an earlier night.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Past {
    /// The night.
    pub label: String,
    /// Trials that passed or failed.
    pub told: u64,
    /// Those that failed.
    pub failures: u64,
}

/// What the explorations of a program have come to, of all shards together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exploration {
    /// Trials.
    pub trials: u64,
    /// Different things that they have shown.
    pub things: u64,
    /// How many that were after so many trials; empty where several shards have explored.
    pub growth: Vec<(u64, u64)>,
    /// By configuration.
    pub arms: Vec<ExploredArm>,
    /// Places where threads were seen to meet: trials may hold threads back there.
    pub places: u64,
    /// Trials that did so.
    pub held_trials: u64,
    /// Those of them that failed.
    pub held_failures: u64,
    /// Trials that switched threads at all of them and nowhere else.
    #[serde(default)]
    pub switched_trials: u64,
    /// Those of them that failed.
    #[serde(default)]
    pub switched_failures: u64,
    /// Trials in which instructions were delayed each time or never.
    #[serde(default)]
    pub swarm_trials: u64,
    /// Those of them that failed.
    #[serde(default)]
    pub swarm_failures: u64,
    /// The first trial that failed.
    pub first_failure: Option<ExploredFailure>,
    /// How often there was something that was not counted, for lack of room.
    pub left_out: u64,
}

/// A configuration of an exploration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExploredArm {
    /// Its name.
    pub key: String,
    /// Its trials.
    pub trials: u64,
    /// Those that failed.
    pub failures: u64,
    /// Those that have shown something that no trial before had.
    pub new: u64,
}

/// The first failure of an exploration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExploredFailure {
    /// Index of the trial.
    pub trial: u64,
    /// How many trials of its shard had ended by then, itself included.
    pub after: u64,
    /// Name of its configuration.
    pub arm: String,
    /// Whether it held threads back.
    pub held: bool,
    /// Whether it switched threads where they meet, and nowhere else.
    #[serde(default)]
    pub switched: bool,
    /// Whether its instructions were delayed each time or never.
    #[serde(default)]
    pub swarm: bool,
}

/// Something that was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NightFinding {
    /// Stays the same as long as the program's lines do.
    pub fingerprint: String,
    /// What it is.
    pub kind: Expected,
    /// One line.
    pub title: String,
    /// All that is to be said, as lines for a person.
    pub message: String,
    /// The places that it is about, the one to look at first.
    pub places: Vec<NightPlace>,
    /// Cells that showed it, by their keys.
    pub cells: Vec<String>,
    /// Trials that showed it, of those of these cells.
    pub trials: Share,
    /// Commands that show it again, one a line; empty where nothing does.
    pub replay: String,
    /// What would cure it: a unified diff; empty where none is known.
    pub patch: String,
    /// What the patch rests on, in a line.
    pub patch_note: String,
    /// Whether no earlier night has seen it.
    pub new: bool,
    /// The reason for which it is expected or suppressed; None: it is not.
    pub expected: Option<String>,
}

impl NightFinding {
    /// Whether it came of verifying this kernel.
    pub fn is_about(&self, kernel: &NightKernel) -> bool {
        self.kind == Expected::Verify && self.places.iter().any(|place| place.kernel == kernel.name)
    }
}

/// A place in a program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NightPlace {
    /// What happens there: `first access`, `second access`, `fault`, `fence missing`.
    pub role: String,
    /// The kernel or function, demangled.
    pub kernel: String,
    /// Source file as the compiler saw it; None: no line information.
    pub file: Option<String>,
    /// Line of the source, from 1.
    pub line: Option<u32>,
    /// Line of the PTX, from 1.
    pub ptx_line: Option<u32>,
    /// Lines around it, where the file could be read: the first one's number and the texts.
    pub excerpt: Option<Excerpt>,
}

/// Some lines of a source file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Excerpt {
    /// Number of the first, from 1.
    pub first: u32,
    /// The lines, without their ends.
    pub lines: Vec<String>,
}

/// A kernel that was verified.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NightKernel {
    /// Its name, demangled.
    pub name: String,
    /// As `bugaroo verify` says it: `verified`, `deadlock`, `races`, `not verifiable` and the like.
    pub verdict: String,
    /// Launches that the verdict is about.
    pub launches: u64,
    /// What it comes to.
    pub status: Status,
    /// The verdict in full, as lines for a person.
    pub text: String,
}
