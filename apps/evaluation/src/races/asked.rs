//! What detectors have said: as it was reported, with what is needed to judge it later.

use std::collections::BTreeMap;

use race_suite::report::Reported;
use serde::{Deserialize, Serialize};

/// The answers about one program of a suite.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Asked {
    /// The suite.
    pub suite: String,
    /// The program, as the suite names it.
    pub program: String,
    /// SHA-256 of what it is made of. Answers about another program of that name are none.
    pub digest: String,
    /// Why it could not be built.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unbuilt: Option<String>,
    /// What its PTX has; None where it has none.
    pub code: Option<Code>,
    /// In the order in which they were made.
    pub runs: Vec<Run>,
}

/// What all detectors said about a program with the same arguments.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The program's own.
    pub arguments: Vec<String>,
    /// By detector.
    pub said: BTreeMap<String, Said>,
}

/// What one of them said.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Said {
    /// Why it said nothing at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// Executions that it looked at.
    pub trials: u64,
    /// Different races.
    pub races: Vec<Reported>,
    /// How the program's processes ended, by `exit code 0` and the like.
    pub exits: BTreeMap<String, u64>,
    /// Most host memory that detectors took in an execution.
    pub detector_bytes: u64,
}

/// What some PTX has, and how much of it BARRACUDA's logging needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Code {
    /// Static instructions.
    pub instructions: u64,
    /// Those that would be told, or why none can be.
    pub told: Result<Told, String>,
}

/// Static instructions that are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    /// All of them.
    pub all: u64,
    /// Without those that are told already (BARRACUDA, section 4.1).
    pub pruned: u64,
}

/// What BARRACUDA said about a program of `apps/`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AppAsked {
    /// The program.
    pub program: String,
    /// Its variant.
    pub variant: String,
    /// Of the kernels that the variant launches.
    pub code: Code,
    /// The launch: CTAs, and threads of each.
    pub launch: (u64, u64),
    /// Different races in global memory, and in shared memory.
    pub races: (u64, u64),
    /// What they are, each once, by kind and class: `write-read inter-block`.
    pub kinds: Vec<String>,
    /// Most host memory that the detector took in an execution.
    pub detector_bytes: u64,
}

impl Said {
    /// Whether any of its processes said that the result is wrong, or could not come to an end.
    pub fn failed(&self) -> bool {
        self.exits.iter().any(|(exit, count)| *count > 0 && exit != RIGHT)
    }
}

/// How a process ends whose result is right.
const RIGHT: &str = "exit code 0";

impl Asked {
    /// Whether something that should have been answered was not.
    pub fn is_incomplete(&self) -> bool {
        let refused = |said: &Said| said.refused.is_some();
        self.unbuilt.is_some() || self.runs.iter().any(|run| run.said.values().any(refused))
    }

    /// The answers in a few words: races by each detector, over all runs.
    pub fn told(&self) -> String {
        if self.unbuilt.is_some() {
            return "it does not build".to_owned();
        }
        let mut sums: BTreeMap<&str, usize> = BTreeMap::new();
        for (detector, said) in self.runs.iter().flat_map(|run| &run.said) {
            *sums.entry(detector).or_default() += said.races.len();
        }
        let each = sums.iter().map(|(detector, races)| format!("{detector} {races}"));
        each.collect::<Vec<_>>().join(", ")
    }

    /// What a detector said about the run with these arguments.
    pub fn said(&self, arguments: &[String], detector: &str) -> Option<&Said> {
        self.runs.iter().find(|run| run.arguments == arguments)?.said.get(detector)
    }
}

#[cfg(test)]
mod tests;
