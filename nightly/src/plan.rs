//! The plan of a night: which programs, how each is run, how much of it, and what is expected.
//!
//! [`file`] is the TOML as it is written, `read` checks it, `hints` says what was meant, [`cells`] makes the cells of a program, [`first`] is the commented
//! plan that `bugaroo init` writes. All paths in a plan are relative to its folder.

pub mod cells;
pub mod expect;
mod file;
pub mod first;
mod hints;
mod read;
mod words;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Why a plan was not taken.
pub use bugaroo_harness::user_file::FileError as PlanError;
use bugaroo_harness::{Oracle, Suppressions};

pub use cells::{Cell, CellKind};
pub use expect::Expectation;

/// What is to be done in a night.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Its file, absolute.
    pub path: PathBuf,
    /// How the night is called: the file's stem, unless it says otherwise.
    pub name: String,
    /// SHA-256 of the file, in hexadecimal.
    pub sha256: String,
    /// Seed that all else that is random stems from; None: another one each night.
    pub seed: Option<u64>,
    /// Time for all trials together; None: the trials of the cells.
    pub budget: Option<Duration>,
    /// Trials that run at the same time; None: by processors and memory.
    pub jobs: Option<usize>,
    /// Where results are kept: the path of a file, or `postgres://…`.
    pub database: String,
    /// Folder of the reports and of the run directories.
    pub reports: PathBuf,
    /// Bytes that run directories of all nights may take.
    pub disk: u64,
    /// Whether missing fences are searched for in programs with new failures.
    pub search: bool,
    /// The programs, in the order of the file.
    pub programs: Vec<PlanProgram>,
    /// How the executor `slurm` submits it.
    pub slurm: Option<Slurm>,
}

/// A program of the plan.
#[derive(Clone, Debug)]
pub struct PlanProgram {
    /// How it is called: the name of its file, unless the plan says otherwise. No two are called the same.
    pub name: String,
    /// Line of its table in the plan, from 1.
    pub line: usize,
    /// Program and arguments.
    pub run: Vec<String>,
    /// Absolute path of its working directory.
    pub directory: PathBuf,
    /// Variables that its environment has besides ours.
    pub variables: BTreeMap<String, String>,
    /// Shell command that builds it, run in its directory.
    pub build: Option<String>,
    /// How long that may take.
    pub build_timeout: Duration,
    /// File that it finds on its standard input.
    pub stdin: Option<PathBuf>,
    /// What is run of it.
    pub cells: Vec<Cell>,
    /// Which kernels are verified, as regular expressions of their readable names; None: none. Empty: all.
    pub verify: Option<Vec<String>>,
    /// What says whether a trial did right.
    pub oracle: Oracle,
    /// Races that count for nothing.
    pub suppressions: Suppressions,
    /// Warps run in lockstep.
    pub warp_synchronous: bool,
    /// Virtual GPUs that it finds.
    pub devices: u32,
    /// Faults of kernels are no findings.
    pub ignore_faults: bool,
    /// How long a trial may take.
    pub timeout: Timeout,
    /// Findings that are known.
    pub expect: Vec<Expectation>,
}

/// How long a trial may take: so many times what the program takes without injection, and no less than the floor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timeout {
    /// Times.
    pub factor: f64,
    /// At least.
    pub floor: Duration,
}

impl Timeout {
    /// For a program that takes so long without injection.
    pub fn of(self, baseline: Duration) -> Duration {
        let wanted = Duration::try_from_secs_f64(baseline.as_secs_f64() * self.factor);
        wanted.unwrap_or(Duration::MAX).max(self.floor)
    }
}

/// How the executor `slurm` submits a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slurm {
    /// Tasks of the array, each a shard.
    pub shards: u32,
    /// `--partition`
    pub partition: Option<String>,
    /// `--gres`
    pub gres: Option<String>,
    /// `--time`
    pub time: Option<String>,
    /// `--mem`
    pub memory: Option<String>,
    /// `--cpus-per-task`
    pub cpus: u16,
    /// `--account`
    pub account: Option<String>,
    /// `--qos`
    pub qos: Option<String>,
    /// Other options of `sbatch`, as they are.
    pub options: Vec<String>,
    /// Tasks that run at the same time; None: as many as Slurm likes.
    pub at_a_time: Option<u32>,
    /// Folder that all nodes see, for the shards' results.
    pub folder: PathBuf,
}

impl Plan {
    /// The program of this name.
    pub fn program(&self, name: &str) -> Option<&PlanProgram> {
        self.programs.iter().find(|program| program.name == name)
    }

    /// The plan's folder, which its paths are relative to.
    pub fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("/"))
    }
}

#[cfg(test)]
mod tests;
