//! The command line.

use std::path::PathBuf;

use bugaroo_protocol::Model;
use clap::{Parser, ValueEnum};

use crate::catalog::{self, PROGRAMS, Program};
use crate::races::questions::Paper;

/// Regenerates Tables I to IV and Figures 3 and 4 of the Bugaroo paper, and the tables of what the race detectors' papers find, ours
/// beside the papers'.
///
/// Needs `cargo build --release --workspace`, and for the race detectors the compiler that `apps/rebuild-ptx --install` installs. Writes
/// README.md, figure3.svg, figure4.svg, hirace-machine.txt and evaluation.json. After Ctrl-C, the same command goes on where it was.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100, after_help = EXIT_CODES)]
pub struct Options {
    /// Trials of each cell of Table IV [default: 1000; with --short 100]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..1 << 32))]
    pub trials: Option<u64>,

    /// The form for CI: fewer trials and timings, a smaller streamcluster, model store-buffer alone, a few programs for the race detectors
    #[arg(long)]
    pub short: bool,

    /// Memory behaviour; may be repeated [default: all; with --short store-buffer]
    #[arg(long, value_enum)]
    pub model: Vec<ModelName>,

    /// Where results go, and where those of an earlier run are gone on with
    #[arg(long, value_name = "DIR", default_value = "evaluation")]
    pub out: PathBuf,

    /// Measure what is of this paper alone; may be repeated [default: all; with --only bugaroo]
    #[arg(long, value_enum)]
    pub paper: Vec<Paper>,

    /// Of the programs of the Bugaroo paper measure this one alone; may be repeated
    #[arg(long, value_name = "PROGRAM", value_parser = program)]
    pub only: Vec<&'static Program>,

    /// Seed of all runs
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,

    /// Folder of bugaroo, libcuda.so and the programs [default: that of this command]
    #[arg(long, value_name = "DIR")]
    pub bin: Option<PathBuf>,
}

const EXIT_CODES: &str = "\
Exit codes:
  0    measured; every difference in kind has a known cause
  1    a difference in kind without a known cause, or a failure of a correct variant under store-buffer
  2    usage
  3    something could not be measured
  130  interrupted";

/// A model, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ModelName {
    /// Sound store buffers
    StoreBuffer,
    /// The paper's algorithm to the letter
    Bugaroo,
    /// All of the PTX memory model
    Ptx,
}

impl From<ModelName> for Model {
    fn from(name: ModelName) -> Self {
        match name {
            ModelName::StoreBuffer => Model::StoreBuffer,
            ModelName::Bugaroo => Model::Bugaroo,
            ModelName::Ptx => Model::Ptx,
        }
    }
}

fn program(name: &str) -> Result<&'static Program, String> {
    let names = || PROGRAMS.map(|program| program.name).join(", ");
    catalog::program(name).ok_or_else(|| format!("it is none of {}", names()))
}

impl Options {
    /// Trials of each cell.
    pub fn trials(&self) -> u64 {
        self.trials.unwrap_or(if self.short { 100 } else { 1000 })
    }

    /// Times that each program is timed.
    pub fn timings(&self) -> u64 {
        if self.short { 3 } else { 11 }
    }

    /// Injected trials that flush lengths are of.
    pub fn profile_trials(&self) -> u64 {
        if self.short { 3 } else { 10 }
    }

    /// The models, each once, the default first.
    pub fn models(&self) -> Vec<Model> {
        let wanted = |model: &ModelName| {
            if self.model.is_empty() {
                !self.short || *model == ModelName::StoreBuffer
            } else {
                self.model.contains(model)
            }
        };
        [ModelName::StoreBuffer, ModelName::Bugaroo, ModelName::Ptx]
            .into_iter()
            .filter(wanted)
            .map(Model::from)
            .collect()
    }

    /// The papers, each once.
    pub fn papers(&self) -> Vec<Paper> {
        let wanted = |paper: &Paper| match &self.paper[..] {
            [] => self.only.is_empty() || *paper == Paper::Bugaroo,
            some => some.contains(paper),
        };
        Paper::ALL.into_iter().filter(wanted).collect()
    }

    /// The programs, each once, in the paper's order.
    pub fn programs(&self) -> Vec<&'static Program> {
        let wanted = |program: &&Program| {
            self.only.is_empty() || self.only.iter().any(|only| only.name == program.name)
        };
        PROGRAMS.iter().filter(wanted).collect()
    }
}

#[cfg(test)]
mod tests;
