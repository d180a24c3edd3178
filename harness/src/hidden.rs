//! What a passing trial hides: its exit code is 0, but it prints what no run without injection prints.
//!
//! Many programs print `FAIL` and exit with 0. With the oracle `exit` such a trial passes. So the lines of a trial are held against
//! those of the runs without injection, and the user is told of two things:
//!
//! - a line that tells of a failure (`FAIL`, `FAILED`, `FAILURE`, `ERROR` as it stands, `mismatch` in any case), if no run
//!   without injection printed such a line, whatever its numbers;
//! - a line that all runs without injection printed, and that is missing.
//!
//! It is a hint, and changes no outcome. What it can miss: output on standard error or in files; an output of which not all is
//! kept (more than [`crate::capture::TAIL_BYTES`]) is only looked at for words of failure, in what is kept of it.
//! Lines that vary without injection, and lines with a time or a speed, are never missed.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;
use serde::{Deserialize, Serialize};

use crate::capture::Output;

/// Words of failure.
static FAILURE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\b(?:FAIL|FAILED|FAILURE|ERROR|ERRORS|(?i:mismatch|mismatches|mismatched))\b")
        .expect("a constant expression, which a test compiles")
});

/// A number with a unit of time or speed.
static MEASURED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)\d\s*(?:[nuµm]?s|sec|secs|seconds?|msec|usec|minutes?|[kmgt]?i?b(?:ytes)?/s|[kmgt]?flops?(?:/s)?|hz|[kmg]hz|fps)\b|\d\s*%|time|elapsed|bandwidth|speed")
        .expect("a constant expression, which a test compiles")
});

/// What programs print without injection, as far as a passing trial is held against it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usual {
    /// Lines that every run printed, without those that tell of times; empty where not all of an output was kept.
    pub always: BTreeSet<String>,
    /// Lines with a word of failure that a run printed all the same, their numbers replaced by `#`.
    pub words: BTreeSet<String>,
}

/// What a passing trial hides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hidden {
    /// The first line that tells of a failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub says: Option<String>,
    /// The first line that all runs without injection printed and it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lacks: Option<String>,
}

impl Usual {
    /// What runs without injection print; there is at least one.
    pub fn of<'a>(outputs: impl IntoIterator<Item = &'a Output>) -> Self {
        let mut always: Option<BTreeSet<String>> = None;
        let mut words = BTreeSet::new();
        for output in outputs {
            let lines = lines(output);
            words.extend(lines.iter().filter(|line| FAILURE.is_match(line)).map(|line| shape(line)));
            let whole = output.bytes == output.tail.len() as u64;
            let lines: BTreeSet<String> = lines.into_iter().filter(|_| whole).collect();
            always = Some(match always {
                None => lines,
                Some(before) => before.intersection(&lines).cloned().collect(),
            });
        }
        let mut always = always.unwrap_or_default();
        always.retain(|line| !MEASURED.is_match(line));
        Self { always, words }
    }

    /// What a trial that passes by its exit code hides, if it does.
    pub fn hidden(&self, output: &Output) -> Option<Hidden> {
        let lines = lines(output);
        let unusual = |line: &&String| FAILURE.is_match(line) && !self.words.contains(&shape(line));
        let says = lines.iter().find(unusual).cloned();
        let whole = output.bytes == output.tail.len() as u64;
        let lines: BTreeSet<String> = lines.into_iter().collect();
        let lacks = self.always.iter().find(|line| whole && !lines.contains(*line)).cloned();
        (says.is_some() || lacks.is_some()).then_some(Hidden { says, lacks })
    }
}

impl Hidden {
    /// The value of `--oracle` with which such a trial fails, and one without injection does not.
    pub fn oracle(&self) -> String {
        match (&self.lacks, &self.says) {
            (Some(line), _) => format!("stdout:^{}$", regex::escape(line)),
            (None, Some(line)) => {
                let word = FAILURE.find(line).map_or("", |word| word.as_str());
                format!("cmd:! grep -qw {word}")
            }
            (None, None) => "reference".to_owned(),
        }
    }
}

/// Most characters of a line that are looked at.
const LONGEST: usize = 200;

/// Lines that hold something, without the space around them. Longer ones are left out: they are data.
fn lines(output: &Output) -> Vec<String> {
    let text = output.last_lines(usize::MAX, usize::MAX);
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && line.len() <= LONGEST);
    lines.map(str::to_owned).collect()
}

/// A line with its numbers replaced.
fn shape(line: &str) -> String {
    let mut shape = String::new();
    for c in line.chars() {
        match c {
            '0'..='9' if shape.ends_with('#') => {}
            '0'..='9' => shape.push('#'),
            c => shape.push(c),
        }
    }
    shape
}

#[cfg(test)]
mod tests;
