//! What `race` takes.

use std::path::PathBuf;
use std::time::Duration;

use bugaroo_protocol::amount::duration;
use clap::builder::ArgPredicate;
use clap::{Args, ValueEnum};

use super::trial::{Program, TrialArgs};
use super::values::{Format, MOST_TRIALS, probability};

/// Options of `race`.
#[derive(Clone, Debug, Args)]
pub struct RaceArgs {
    /// Which detector
    #[arg(long, value_enum, default_value_t = Detector::Ptx)]
    pub detector: Detector,
    /// Executions that are looked at; the first is one without weak memory, then schedulers and memory models take turns
    #[arg(
        long, value_name = "N", default_value_t = 100, default_value_if("time", ArgPredicate::IsPresent, MOST_TRIALS),
        value_parser = clap::value_parser!(u64).range(1..1 << 62)
    )]
    pub trials: u64,
    /// Look at as many executions as begin in this time, as 90s, 10m, 8h; --trials bounds them as well where it is given
    #[arg(long = "for", id = "time", value_name = "TIME", value_parser = duration)]
    pub time: Option<Duration>,
    /// Probability with which a store is delayed, in the trials that show weak memory [default: 0.75]
    #[arg(long, value_name = "P", value_parser = one_probability)]
    pub pw: Option<f64>,
    #[command(flatten)]
    pub trial: TrialArgs,
    /// What hirace and scord look at, how much they keep, and how their words are laid out
    #[arg(long, value_name = "FILE.toml")]
    pub detector_config: Option<PathBuf>,
    /// Races that are known, and of which nothing is to be heard; may be repeated
    #[arg(long, value_name = "FILE.toml")]
    pub suppressions: Vec<PathBuf>,
    /// Stop at the first trial that shows something
    #[arg(long)]
    pub until_failure: bool,
    /// Directory for the records; that of an earlier run goes on with it, also with more --trials
    /// [default: a new one under ~/.local/state/bugaroo/runs]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// How to print what was found
    #[arg(long, value_enum, default_value_t = RaceFormat::Human)]
    pub format: RaceFormat,
    /// What findings exit with
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub error_exitcode: u8,
    #[command(flatten)]
    pub program: Program,
}

/// Race detectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Detector {
    /// Exact for each execution, by the PTX memory model
    Ptx,
    /// BARRACUDA: happens-before, with warps in lockstep
    Barracuda,
    /// HiRace: a state machine in eight bytes an element, for programs that synchronise by barriers
    Hirace,
    /// ScoRD: races of global memory by scopes of fences and atomics, and by locks, with warps in lockstep
    Scord,
    /// All that are there
    All,
}

/// How races are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RaceFormat {
    /// For people
    Human,
    /// One JSON object on standard output
    Json,
    /// One SARIF 2.1.0 log on standard output, for code review tools
    Sarif,
}

impl RaceFormat {
    /// How errors are printed; those of SARIF are its own.
    pub fn of_errors(self) -> Format {
        if self == RaceFormat::Json { Format::Json } else { Format::Human }
    }
}

fn one_probability(text: &str) -> Result<f64, String> {
    if text.contains(',') { Err("race takes one --pw".to_owned()) } else { probability(text) }
}
