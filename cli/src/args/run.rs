//! What `run` takes.

use std::path::PathBuf;
use std::time::Duration;

use bugaroo_protocol::amount::duration;
use clap::Args;
use clap::builder::ArgPredicate;

use super::trial::{Program, TrialArgs};
use super::values::{Format, MOST_TRIALS, probability};

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
