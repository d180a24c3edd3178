//! Which detectors are asked about which programs.
//!
//! HiRace's paper runs each program once with each graph: so do we, one execution a detector. For ScoRD's and BARRACUDA's suites it
//! is several, as a race that needs an order of two threads need not show in each.

use std::fs;
use std::path::Path;

use anyhow::Context as _;
use clap::ValueEnum;
use race_suite::suite::{LabelledProgram, programs_of};
use sha2::{Digest as _, Sha256};

/// A paper whose evaluation is done again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Paper {
    /// Tables I to IV and Figures 3 and 4
    Bugaroo,
    /// HiRace's Table II and its state machine
    Hirace,
    /// ScoRD's Tables VI and VII
    Scord,
    /// BARRACUDA's suite and its Table 1
    Barracuda,
}

impl Paper {
    /// All of them.
    pub const ALL: [Paper; 4] = [Paper::Bugaroo, Paper::Hirace, Paper::Scord, Paper::Barracuda];

    /// The suite that its detector is asked about.
    pub fn suite(self) -> Option<&'static str> {
        match self {
            Paper::Bugaroo => None,
            Paper::Hirace => Some(INDIGO),
            Paper::Scord => Some(SCOR),
            Paper::Barracuda => Some(PROGRAMS),
        }
    }
}

/// Irregular graph patterns.
pub const INDIGO: &str = "indigo";
/// Scoped programs.
pub const SCOR: &str = "scor";
/// Small programs of all kinds.
pub const PROGRAMS: &str = "programs";

/// ScoRD with its cache of metadata, as its section IV-B has it.
pub const SCORD_CACHE: &str = "scord-cache";

/// The detector that answers for one of the names in [`Question::detectors`], by which labels know it.
pub fn detector(name: &str) -> &str {
    if name == SCORD_CACHE { "scord" } else { name }
}

/// What is to be asked about one program.
#[derive(Clone, Debug)]
pub struct Question {
    /// The suite.
    pub suite: &'static str,
    /// The program.
    pub program: LabelledProgram,
    /// SHA-256 of what it is made of, its label left out.
    pub digest: String,
    /// What it is run with.
    pub runs: Vec<Vec<String>>,
    /// Who looks on.
    pub detectors: &'static [&'static str],
    /// Executions that each looks at; more where the label asks for more.
    pub trials: u32,
}

/// The questions of a suite; of the short form a sample of its programs.
///
/// # Errors
/// When the programs cannot be read.
pub fn of(suite: &'static str, short: bool) -> anyhow::Result<Vec<Question>> {
    let (detectors, trials): (&'static [&'static str], u32) = match suite {
        INDIGO => (&["hirace", "ptx", "barracuda", "scord"], 1),
        SCOR => (&["scord", SCORD_CACHE, "ptx", "barracuda", "hirace"], 8),
        _ => (&["barracuda"], 8),
    };
    let mut programs = programs_of(suite)?;
    if short {
        programs = sample(suite, programs);
    }
    let question = |program: LabelledProgram| {
        let digest = digest(&program)?;
        let mut runs = program.runs();
        if short && program.takes_graph {
            runs.retain(|own| SHORT_GRAPHS.iter().any(|graph| own[..] == [graph.to_string()]));
        }
        Ok(Question { suite, program, digest, runs, detectors, trials })
    };
    programs.into_iter().map(question).collect()
}

/// The graphs of the short form: the smallest, and one with which all races show.
const SHORT_GRAPHS: [u32; 2] = [0, 1];

/// A few of a suite, the same every time.
fn sample(suite: &str, programs: Vec<LabelledProgram>) -> Vec<LabelledProgram> {
    let take = |at: usize, program: &LabelledProgram| match suite {
        // All that there is of the first variant of four of the patterns.
        INDIGO => {
            let patterns = ["conditional_edge", "path_compression", "pull", "shared_sum"];
            let stem = program.path.file_stem().unwrap_or_default().to_string_lossy();
            let first = programs.iter().find(|other| other.path == program.path);
            let choice =
                |program: &LabelledProgram| program.name.split_once(']').map(|(choice, _)| choice.to_owned());
            patterns.contains(&&*stem) && first.is_some_and(|first| choice(first) == choice(program))
        }
        SCOR => at.is_multiple_of(8) || program.name.starts_with("reduction"),
        _ => at.is_multiple_of(24),
    };
    let taken: Vec<bool> = programs.iter().enumerate().map(|(at, program)| take(at, program)).collect();
    programs.into_iter().zip(taken).filter_map(|(program, taken)| taken.then_some(program)).collect()
}

/// The source without what is said about it, what it is built with, and the headers beside it.
fn digest(program: &LabelledProgram) -> anyhow::Result<String> {
    let mut hash = Sha256::new();
    // Lines keep their numbers.
    let own = program.source.lines().map(|line| if line.starts_with("// race") { "" } else { line });
    own.for_each(|line| hash.update(format!("{line}\n")));
    let label = &program.label;
    hash.update(format!("{:?} {} {} {}", program.defines, label.arch, label.trials, label.children));
    let folder = program.path.parent().unwrap_or(Path::new("."));
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut headers = entries.map(|entry| Ok(entry?.path())).collect::<anyhow::Result<Vec<_>>>()?;
    headers.retain(|path| path.extension().is_some_and(|kind| kind == "h"));
    headers.sort();
    for header in headers {
        hash.update(fs::read(&header).with_context(|| header.display().to_string())?);
    }
    Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests;
