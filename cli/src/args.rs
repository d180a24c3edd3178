//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use bugaroo_harness::Oracle;
use bugaroo_protocol::amount::{bytes, duration};
use bugaroo_protocol::{MOST_DEVICES, SiteId};
use clap::builder::ArgPredicate;
use clap::{Args, Parser, Subcommand, ValueEnum};

pub use address::Address;
pub use bisect::BisectArgs;
pub use manual::{CompletionsArgs, ManArgs};
pub use nightly::{Executor, HistoryArgs, InitArgs, MergeArgs, NightlyArgs};
pub use race::{Detector, RaceArgs, RaceFormat};
pub use verify::{VerifyArgs, program_apart};

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

/// The program under test. Everything after its name is its own.
#[derive(Clone, Debug, Args)]
pub struct Program {
    /// Program under test, then its arguments
    #[arg(required = true, trailing_var_arg = true, num_args = 1.., value_name = "APP")]
    command: Vec<String>,
}

impl Program {
    /// The program as it was named, and its arguments.
    pub fn split(&self) -> (&str, &[String]) {
        let (app, args) = self.command.split_first().expect("clap requires at least one value");
        (app, args)
    }
}

/// Trials where a time bounds them and no number is given.
const MOST_TRIALS: &str = "4611686018427387903";

/// Options of all commands that run trials: how a trial goes.
#[derive(Clone, Debug, Args)]
pub struct TrialArgs {
    /// Seed that all else that is random stems from [default: random, or that of the run in --out; of
    /// bisect and profile: 0]
    #[arg(long, value_name = "S")]
    pub seed: Option<u64>,
    /// Trials that run at the same time [default: number of processors; three times that where trials are short and
    /// forked]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,
    /// Wall-clock time that a trial may take, as 60s, 500ms, 2m [default: a minute, or 50 times what the program
    /// takes without injection, or 10 times the longest trial of its model, whichever is most; ten times that while its
    /// kernels get somewhere]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub timeout: Option<Duration>,
    /// Warp instructions that one launch may execute [default: 1000 times the largest launch without
    /// injection, and 50 million more]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub step_budget: Option<u64>,
    /// Model ptx: probability with which a load reads an older value than it has to
    #[arg(long, value_name = "P", default_value = "0.5", value_parser = one_probability)]
    pub pr: f64,
    /// Model ptx: memory that a launch's histories may take, as 512M or 4G; what is forgotten beyond is told
    #[arg(long, value_name = "BYTES", default_value = "1G", value_parser = bytes)]
    pub model_memory: u64,
    /// Entries of each thread's store buffers
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..))]
    pub buffer: u32,
    /// Which memory's stores are delayed
    #[arg(long, value_enum, default_value_t = Space::Both)]
    pub space: Space,
    /// Delay the stores of kernels with matching names only
    #[arg(long, value_name = "REGEX", value_parser = pattern)]
    pub kernel: Option<String>,
    /// Which memory behaviour is shown [default: store-buffer; of bisect: store-buffer first, then ptx; of race: none,
    /// store-buffer and ptx by turns]
    #[arg(long, value_enum)]
    pub model: Option<Model>,
    /// Who runs next on the virtual GPU [default: random; of bisect and race: both by turns]
    #[arg(long, value_enum)]
    pub scheduler: Option<Scheduler>,
    /// With --scheduler pct: how many orderings of instructions a bug may need to show, at least 1 [default: 3]
    #[arg(long, value_name = "N", requires = "scheduler", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub pct_depth: Option<u32>,
    /// Have warps run in lockstep, as before Volta: for programs that count on it, without __syncwarp(); on the
    /// virtual GPU
    #[arg(long, conflicts_with = "handlers")]
    pub warp_synchronous: bool,
    /// What executes the kernels
    #[arg(long, value_enum, default_value_t = Backend::Auto)]
    pub backend: Backend,
    /// Virtual GPUs that the program finds. With more than one, stores that are ordered at device scope alone may be late for
    /// the others
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_DEVICES)))]
    pub devices: u32,
    /// Omit this fence; may be repeated
    #[arg(long, value_name = "SITE", value_delimiter = ',')]
    pub without_fence: Vec<SiteId>,
    /// Insert a fence after this access; may be repeated
    #[arg(long, value_name = "SITE", value_delimiter = ',')]
    pub with_fence: Vec<SiteId>,
    /// Make this fence act at CTA scope only, as __threadfence_block() does; may be repeated
    #[arg(long, value_name = "SITE", value_delimiter = ',')]
    pub narrow_fence: Vec<SiteId>,
    /// Delay stores by handlers that are injected into the program's PTX, as on a real GPU, and not natively on the
    /// virtual one; of race: have injected code log what the program does, as BARRACUDA does, and look at that
    #[arg(long)]
    pub handlers: bool,
    /// What says whether a trial did right: exit (code 0), reference (prints the same as without
    /// injection), memory (device memory holds the same at the end), stdout:REGEX, cmd:CMD (a shell command that gets the output, and the exit code in
    /// BUGAROO_EXIT_CODE), none (whatever the program says), race (of bisect: no data race) [default: exit; of
    /// race: none]
    #[arg(long, value_name = "ORACLE")]
    pub oracle: Option<Oracle>,
    /// With --oracle reference: lines of the output that match count for nothing; may be repeated
    #[arg(long, value_name = "REGEX", value_parser = pattern)]
    pub ignore_lines: Vec<String>,
    /// With --oracle reference: numbers with a decimal point or an exponent may differ by this share of the larger one,
    /// as 1e-5
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub tolerance: Option<f64>,
    /// Take faults and traps of kernels for no findings: for programs that provoke them, to test how they handle errors
    #[arg(long)]
    pub ignore_faults: bool,
    /// Start a process for each trial, and not one that trials are forked from
    #[arg(long)]
    pub no_fork_server: bool,
}

/// Options of `run` and `bisect`.
#[derive(Clone, Debug, Args)]
pub struct RunArgs {
    /// Probabilities with which a store is delayed; each makes a cell of trials of its own
    #[arg(long, value_name = "P[,P…]", value_delimiter = ',', default_value = "0.75", value_parser = probability)]
    pub pw: Vec<f64>,
    /// Trials of each cell; of bisect: how thorough to be, so that failures which show in 2 of N trials
    /// are found
    #[arg(
        long, value_name = "N", default_value_t = 1000, default_value_if("time", ArgPredicate::IsPresent, MOST_TRIALS),
        value_parser = clap::value_parser!(u64).range(1..1 << 62)
    )]
    pub trials: u64,
    /// Run as many trials as begin in this time, shared out among the cells, as 90s, 10m, 8h; --trials bounds them as well where it
    /// is given. Not of bisect
    #[arg(long = "for", id = "time", value_name = "TIME", value_parser = duration)]
    pub time: Option<Duration>,
    #[command(flatten)]
    pub trial: TrialArgs,
    /// Stop at the first failing trial
    #[arg(long)]
    pub until_failure: bool,
    /// Directory for the records; that of an earlier run goes on with it, also with more --trials
    /// [default: a new one under ~/.local/state/bugaroo/runs]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// How to print what was found
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
    /// What findings exit with
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub error_exitcode: u8,
    #[command(flatten)]
    pub program: Program,
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

/// How findings are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    Human,
    /// One JSON object on standard output
    Json,
}

/// Which memory's stores are delayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Space {
    /// Shared and global
    Both,
    /// Shared only
    Shared,
    /// Global only
    Global,
}

impl From<Space> for bugaroo_protocol::Space {
    fn from(space: Space) -> Self {
        match space {
            Space::Both => Self::Both,
            Space::Shared => Self::Shared,
            Space::Global => Self::Global,
        }
    }
}

/// Which memory behaviour is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Model {
    /// The paper's algorithm to the letter
    Bugaroo,
    /// Sound store buffers
    StoreBuffer,
    /// The PTX memory model (virtual GPU only)
    Ptx,
}

impl From<Model> for bugaroo_protocol::Model {
    fn from(model: Model) -> Self {
        match model {
            Model::Bugaroo => Self::Bugaroo,
            Model::StoreBuffer => Self::StoreBuffer,
            Model::Ptx => Self::Ptx,
        }
    }
}

/// Which memory behaviour litmus tests are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LitmusModel {
    /// Interleavings of whole instructions
    Sc,
    /// The paper's algorithm to the letter
    Bugaroo,
    /// Sound store buffers
    StoreBuffer,
    /// The PTX memory model
    Ptx,
}

/// Who runs next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Scheduler {
    /// Anyone, at any time
    Random,
    /// Random priorities with few changes (probabilistic concurrency testing)
    Pct,
}

impl From<Scheduler> for bugaroo_protocol::Scheduler {
    fn from(scheduler: Scheduler) -> Self {
        match scheduler {
            Scheduler::Random => Self::Random,
            Scheduler::Pct => Self::Pct,
        }
    }
}

/// What executes the kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Backend {
    /// The virtual GPU: only there a trial can be replayed exactly
    Auto,
    /// The virtual GPU
    Sim,
    /// A real GPU: modules are rewritten on their way to its driver
    Cuda,
}

fn probability(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(p) if (0.0..=1.0).contains(&p) => Ok(p),
        Ok(_) => Err("a probability is from 0 to 1".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

fn share(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(share) if share > 0.0 && share < 1.0 => Ok(share),
        Ok(_) => Err("a tolerance is between 0 and 1, as 1e-5".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

fn one_probability(text: &str) -> Result<f64, String> {
    if text.contains(',') { Err("profile takes one --pw".to_owned()) } else { probability(text) }
}

fn pattern(text: &str) -> Result<String, regex::Error> {
    regex::Regex::new(text).map(|_| text.to_owned())
}

mod address;
mod bisect;
mod manual;
mod nightly;
mod race;
#[cfg(test)]
mod tests;
mod verify;
