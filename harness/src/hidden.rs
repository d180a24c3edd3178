//! What a passing trial hides: its exit code is 0, but it prints what no run without injection prints.
//!
//! Many programs print `FAIL` and exit with 0. With the oracle `exit` such a trial passes. So the lines of a trial are held against
//! those of the runs without injection, and the user is told of two things:
//!
//! - a line that tells of a failure (`FAIL`, `FAILED`, `FAILURE`, `ERROR` as it stands, `mismatch` or `test failed` in any case), if no run
//!   without injection printed such a line, whatever its numbers;
//! - a line that all runs without injection printed, and that is missing.
//!
//! And where a run without injection that passes by its exit code prints a word of failure, beside no number 0 and no `no`, the user is
//! told that before the trials ([`tells_of_failure`]).
//!
//! It is a hint, and changes no outcome. What it can miss: output on standard error or in files; an output of which not all is
//! kept (more than [`crate::capture::TAIL_BYTES`]) is only looked at for words of failure, in what is kept of it; a line more
//! without such a word, another order of lines, a line that comes more or less often. What it can tell wrongly: a line that
//! is the same in the few runs without injection by chance, and may rightly vary.
//! Lines that vary without injection, and lines with a time or a speed, are never missed.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;
use serde::{Deserialize, Serialize};

use crate::capture::{Output, printable};

/// Words of failure.
static FAILURE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\b(?:FAIL|FAILED|FAILURE|ERROR|ERRORS|(?i:mismatch|mismatches|mismatched|tests? failed))\b")
        .expect("a constant expression, which a test compiles")
});

/// What takes a word of failure back: `0 mismatches`, `ERROR: none`, `L2 ERROR = 1e-7`, of which nobody but the program knows what it means.
static NONE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:no|none|not|without|if)\b|(?:^|[^\w.])(?:0+(?:\.\d+)?|\.\d+)(?:e-?\d+)?(?:$|[^\w.])|\b\d[\d.]*e-\d+\b")
        .expect("a constant expression, which a test compiles")
});

/// A number with a unit of time or speed.
static MEASURED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)\d\s*(?:[nuµm]?s|sec|secs|seconds?|msec|usec|minutes?|[kmgt]?i?b(?:ytes)?/s|[kmgt]?flops?(?:/s)?|hz|[kmg]hz|fps)\b|\d\s*%|time|elapsed|bandwidth|speed")
        .expect("a constant expression, which a test compiles")
});

/// What moves a terminal's cursor or colours its text.
static ESCAPE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\x1b\[[0-9;?]*[A-Za-z]").expect("a constant expression, which a test compiles")
});

/// What programs print without injection, as far as a passing trial is held against it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usual {
    /// Lines that every run printed, without those that tell of times; empty where not all of an output was kept.
    pub always: BTreeSet<String>,
    /// Lines with a word of failure that a run printed all the same, their numbers replaced by `#`.
    pub words: BTreeSet<String>,
    /// Whether all of their output was kept.
    #[serde(default)]
    pub whole: bool,
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
    /// The value of `--oracle` with which such a trial fails and the runs without injection pass. None where none is known to
    /// do so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oracle: Option<String>,
}

impl Usual {
    /// What runs without injection print; there is at least one.
    pub fn of<'a>(outputs: impl IntoIterator<Item = &'a Output>) -> Self {
        let mut always: Option<BTreeSet<String>> = None;
        let (mut words, mut all_whole) = (BTreeSet::new(), true);
        for output in outputs {
            let lines = lines(output);
            let readable = lines.iter().map(|line| readable(line));
            words.extend(readable.filter(|line| FAILURE.is_match(line)).map(|line| shape(&line)));
            all_whole &= is_whole(output);
            let lines: BTreeSet<String> = lines.into_iter().collect();
            always = Some(match always {
                None => lines,
                Some(before) => before.intersection(&lines).cloned().collect(),
            });
        }
        let mut always = always.unwrap_or_default();
        always.retain(|line| all_whole && is_plain(line) && !tells_of_time(line));
        Self { always, words, whole: all_whole }
    }

    /// What a trial that passes by its exit code hides, if it does.
    pub fn hidden(&self, output: &Output) -> Option<Hidden> {
        let lines = lines(output);
        let unusual = |line: &&String| {
            let line = readable(line);
            FAILURE.is_match(&line) && !self.words.contains(&shape(&line))
        };
        let says = lines.iter().find(unusual).cloned();
        let lines: BTreeSet<String> = lines.into_iter().collect();
        let lacks = self.always.iter().find(|line| is_whole(output) && !lines.contains(*line)).cloned();
        let oracle = match (&lacks, &says) {
            (None, None) => return None,
            // Lines are known without the space around them.
            (Some(line), _) => Some(format!(r"stdout:^\s*{}\s*$", regex::escape(line))),
            (None, Some(line)) => self.without(line),
        };
        Some(Hidden { says: says.map(|line| readable(&line)), lacks, oracle })
    }

    /// An oracle that is not content with a line of failure, and is with what runs without injection print.
    fn without(&self, line: &str) -> Option<String> {
        if !self.whole || !is_plain(line) {
            return None;
        }
        let word = FAILURE.find(line)?.as_str();
        let usual = |usual: &&String| FAILURE.find_iter(usual).any(|found| found.as_str() == word);
        if !self.words.iter().any(|line| usual(&line)) {
            // Two words are one argument.
            let quote = if word.contains(' ') { "'" } else { "" };
            return Some(format!("cmd:! grep -qw {quote}{word}{quote}"));
        }
        // The program prints the word anyway: the whole line, then.
        let part = shape(line);
        let quoted = line.replace('\'', r"'\''");
        (!self.words.iter().any(|usual| usual.contains(&part)))
            .then(|| format!("cmd:! grep -qF -e '{quoted}'"))
    }
}

/// The first line of an output that tells of a failure.
pub fn tells_of_failure(output: &Output) -> Option<String> {
    let mut readable = lines(output).into_iter().map(|line| readable(&line));
    readable.find(|line| FAILURE.is_match(line) && !NONE.is_match(line))
}

/// Whether a line tells of a time or a speed.
pub(crate) fn tells_of_time(line: &str) -> bool {
    MEASURED.is_match(line)
}

/// Most bytes of a line that are looked at.
const LONGEST: usize = 200;

/// Whether all of an output was kept.
fn is_whole(output: &Output) -> bool {
    output.bytes == output.tail.len() as u64
}

/// Lines that hold something, without the space around them. Longer ones are left out: they are data.
fn lines(output: &Output) -> Vec<String> {
    let text = String::from_utf8_lossy(&output.tail);
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && line.len() <= LONGEST);
    lines.map(str::to_owned).collect()
}

/// Whether an oracle finds a line as it stands here: nothing in it was replaced, moves the cursor or colours the text.
fn is_plain(line: &str) -> bool {
    !printable(line).contains(char::REPLACEMENT_CHARACTER)
}

/// A line as a person sees it, without what moves a terminal's cursor.
fn readable(line: &str) -> String {
    printable(&ESCAPE.replace_all(line, "")).trim().to_owned()
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
