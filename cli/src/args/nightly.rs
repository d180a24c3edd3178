//! What `nightly`, `init`, `history` and `merge` take.

use std::path::PathBuf;

use bugaroo_nightly::shard::Shard;
use clap::{Args, ValueEnum};

use super::values::Format;

/// Options of `nightly`.
#[derive(Clone, Debug, Args)]
pub struct NightlyArgs {
    /// The plan; `bugaroo init` writes a first one
    #[arg(value_name = "PLAN.toml")]
    pub plan: PathBuf,
    /// Run this part of the plan only, into a file of its own that `bugaroo merge` takes; counted from 1: 1/8 is the first of eight
    #[arg(long, value_name = "I/N", conflicts_with = "executor")]
    pub shard: Option<Shard>,
    /// Where it runs
    #[arg(long, value_enum, default_value_t = Executor::Local)]
    pub executor: Executor,
    /// With --executor slurm: submit a night once more whose job has left shards missing; they go on from their results
    #[arg(long)]
    pub again: bool,
    /// How the night is called; an unfinished night of that name goes on [default: the time; of shards, the day]
    #[arg(long, value_name = "NAME")]
    pub night: Option<String>,
    /// Seed that all trials stem from [default: the plan's, or one by the night's name]
    #[arg(long, value_name = "S")]
    pub seed: Option<u64>,
    /// Trials that run at the same time [default: the plan's, or by processors and memory]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,
    /// File for the results, in the place of the plan's database
    #[arg(long, value_name = "FILE")]
    pub results: Option<PathBuf>,
    /// Say what would run, and how long it would take by what earlier nights took; run nothing
    #[arg(long)]
    pub dry_run: bool,
    /// How to print what the night came to
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
    /// What findings exit with
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub error_exitcode: u8,
}

/// Where a night runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Executor {
    /// On this machine
    Local,
    /// As an array job of Slurm, a shard a task; the plan says how many, and where
    Slurm,
}

/// Options of `init`.
#[derive(Clone, Debug, Args)]
pub struct InitArgs {
    /// Where to write the plan; what is there is not overwritten
    #[arg(long, short, value_name = "FILE", default_value = "nightly.toml")]
    pub output: PathBuf,
    /// Programs to put into it
    #[arg(value_name = "APP")]
    pub programs: Vec<String>,
}

/// Options of `history`.
#[derive(Clone, Debug, Args)]
pub struct HistoryArgs {
    /// Program, as the plan calls it; without one, the nights are listed
    #[arg(value_name = "PROGRAM")]
    pub program: Option<String>,
    /// The plan whose nights are meant
    #[arg(long, value_name = "PLAN.toml", default_value = "nightly.toml")]
    pub plan: PathBuf,
    /// How to print it
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
}

/// Options of `merge`.
#[derive(Clone, Debug, Args)]
pub struct MergeArgs {
    /// The plan
    #[arg(value_name = "PLAN.toml")]
    pub plan: PathBuf,
    /// The shards' results
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// File for the results, in the place of the plan's database
    #[arg(long, value_name = "FILE")]
    pub results: Option<PathBuf>,
    /// How to print what the night came to
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
    /// What findings exit with
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub error_exitcode: u8,
}
