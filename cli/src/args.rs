//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use bugaroo_protocol::amount::duration;
use clap::{Args, Parser, Subcommand};

pub use address::Address;
pub use bisect::BisectArgs;
pub use manual::{CompletionsArgs, ManArgs};
pub use nightly::{Executor, HistoryArgs, InitArgs, MergeArgs, NightlyArgs};
pub use race::{Detector, RaceArgs, RaceFormat};
pub use run::RunArgs;
pub use trial::{Program, TrialArgs};
pub use values::{Backend, Format, LitmusModel, Model, Scheduler};
use values::{one_probability, probability};
pub use verify::VerifyArgs;

/// Finds memory-model and synchronisation bugs in CUDA programs, without a GPU.
#[derive(Debug, Parser)]
#[command(name = "bugaroo", version, max_term_width = 100, after_help = START_AND_EXIT_CODES)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

const START_AND_EXIT_CODES: &str = "\
Start with:
  bugaroo run ./app     how often the program fails if its stores arrive late
  bugaroo bisect ./app  which fence is missing, as a patch
  bugaroo race ./app    data races, also of programs that never fail

Exit codes:
  0    nothing found
  1    findings (--error-exitcode changes it)
  2    usage
  3    the program fails without injection
  4    not supported, or not verifiable
  5    internal error, or trials that say nothing (slow, killed) and no findings; of replay: the trial did not go
       as recorded
  130  interrupted before anything was found";

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Runs trials of a program with its stores held back
    Run(RunArgs),
    /// Names missing and redundant fences, with source lines
    Bisect(BisectArgs),
    /// Counts instructions, fences and stores, and measures flush lengths, per kernel
    Profile(ProfileArgs),
    /// Lists fence, store, atomic and barrier sites: id, kernel, PTX line, source line
    Sites(SitesArgs),
    /// Runs a recorded trial again, exactly
    Replay(ReplayArgs),
    /// Looks for data races, under many schedules and memory models
    Race(RaceArgs),
    /// Proves kernels, of a PTX file or of a program as it launches them, free of barrier deadlock, unsafe barrier recycling and
    /// shared-memory races, or says why not
    Verify(VerifyArgs),
    /// Runs PTX litmus tests, and compares what they show with what the PTX memory model allows
    Litmus(LitmusArgs),
    /// Runs a plan of many programs, keeps what they came to, and says what is new
    Nightly(NightlyArgs),
    /// Writes a first plan for `nightly`, with a comment for each key
    Init(InitArgs),
    /// Shows how programs of a plan fared over the nights
    History(HistoryArgs),
    /// Puts the results of a night's shards together
    Merge(MergeArgs),
    /// Instruments a PTX file
    Instrument(InstrumentArgs),
    /// Prints what a shell needs to complete bugaroo's commands and options
    Completions(CompletionsArgs),
    /// Prints the manual page of bugaroo, or of one of its commands
    Man(ManArgs),
}

/// Options of `profile`. It has no findings, keeps no records, and needs all its trials.
#[derive(Clone, Debug, Args)]
pub struct ProfileArgs {
    /// Probability with which a store is delayed
    #[arg(long, value_name = "P", default_value = "0.75", value_parser = one_probability)]
    pub pw: f64,
    /// Injected trials that flush lengths are measured in; 0 counts only
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(..1 << 62))]
    pub trials: u64,
    #[command(flatten)]
    pub trial: TrialArgs,
    /// How to print the profile
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
    #[command(flatten)]
    pub program: Program,
}

/// Options of `sites`.
#[derive(Clone, Debug, Args)]
pub struct SitesArgs {
    /// How to print them
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
    /// Wall-clock time that the program may take, as 60s, 500ms, 2m [default: a minute]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub timeout: Option<Duration>,
    #[command(flatten)]
    pub program: Program,
}

/// Options of `replay`.
#[derive(Clone, Debug, Args)]
pub struct ReplayArgs {
    /// Directory of the run
    #[arg(value_name = "RUN_DIR")]
    pub run_dir: PathBuf,
    /// Trial, as CELL:INDEX, both from 0; in a run of one cell the index will do
    #[arg(value_name = "TRIAL")]
    pub trial: Address,
}

/// Options of `litmus`.
#[derive(Clone, Debug, Args)]
pub struct LitmusArgs {
    /// Memory model
    #[arg(long, value_enum, value_name = "M", default_value_t = LitmusModel::StoreBuffer)]
    pub model: LitmusModel,
    /// What executes the tests: the virtual GPU; tests on a real one are not in this version
    #[arg(long, value_enum, default_value_t = Backend::Auto)]
    pub backend: Backend,
    /// Delay stores by handlers that are injected into the tests' PTX, and not natively on the virtual GPU
    #[arg(long)]
    pub handlers: bool,
    /// Trials of each test
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..1 << 40))]
    pub trials: u64,
    /// Probabilities with which a store is delayed, in turn
    #[arg(long, value_name = "P[,P…]", value_delimiter = ',', default_value = "0.5,1", value_parser = probability)]
    pub pw: Vec<f64>,
    /// Model ptx: probability with which a load reads an older value than it has to
    #[arg(long, value_name = "P", default_value_t = 0.5, value_parser = probability)]
    pub pr: f64,
    /// Who runs next
    #[arg(long, value_enum, default_value_t = Scheduler::Random)]
    pub scheduler: Scheduler,
    /// Seed that all that is random stems from
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub seed: u64,
    /// Trials that run at the same time [default: number of processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,
    /// What each test may show [default: the outcomes.json beside the test, or in the folder above]
    #[arg(long, value_name = "FILE")]
    pub outcomes: Option<PathBuf>,
    /// How to print what was found
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
    /// What findings exit with
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub error_exitcode: u8,
    /// Tests, or directories of tests (.litmus)
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
}

/// Options of `instrument`.
#[derive(Clone, Debug, Args)]
pub struct InstrumentArgs {
    /// PTX file; - for standard input
    #[arg(value_name = "FILE.ptx")]
    pub file: PathBuf,
    /// Where to write the instrumented PTX [default: standard output]
    #[arg(short, long, value_name = "OUT.ptx")]
    pub output: Option<PathBuf>,
}

mod address;
pub mod apart;
mod bisect;
mod manual;
mod nightly;
mod race;
mod run;
#[cfg(test)]
mod tests;
mod trial;
mod values;
mod verify;
