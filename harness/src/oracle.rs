//! Oracles: what says whether a trial that ended by itself did right.
//!
//! | oracle | content when |
//! |---|---|
//! | `exit` | the exit code is 0 |
//! | `reference` | standard output and exit code are those of the run without injection; lines that are ignored and a tolerance for numbers are [`Comparison`]'s |
//! | `memory` | the exit code, and what device memory holds at the end, are those of the run without injection ([`memory`]) |
//! | `stdout:REGEX` | the expression matches somewhere in standard output (`^` and `$` match at lines) |
//! | `none` | always: what counts is told otherwise (races, errors of kernels). A program that aborts has ended by itself |
//! | `race` | its detectors have found no race that is not suppressed; as `none` else |
//! | `cmd:CMD` | the shell command CMD, with the standard output on its input and the exit code in `BUGAROO_EXIT_CODE`, exits with 0 |
//!
//! `stdout:` reads the first 16 MiB and the last 64 KiB of the output, `cmd:` the first 16 MiB.

pub(crate) mod comparison;
pub(crate) mod error;
pub(crate) mod memory;
pub(crate) mod proposal;
pub(crate) mod reference;
pub(crate) mod verdict;

use std::ffi::OsString;
use std::fmt;
use std::io::{self, Seek, Write};
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

use bugaroo_protocol::LaunchEnd;
pub use comparison::{COMPARED_BYTES, Comparison, ComparisonText};
pub use error::ParseOracleError;
pub use memory::{Piece, ReferenceMemory};
pub use reference::Reference;
use regex::bytes::{Regex, RegexBuilder};
pub use verdict::OracleVerdict;

use crate::capture::{Keep, Output};
use crate::incident::FailedLaunch;
use crate::outcome::Exit;
use crate::process::{NO_VARIABLES, Patience, ProgramCall};

/// The variable in which a command finds the trial's exit code.
pub const EXIT_CODE_VARIABLE: &str = "BUGAROO_EXIT_CODE";

/// Says whether a trial did right.
#[derive(Clone, Debug)]
pub enum Oracle {
    /// Exit code 0.
    Exit,
    /// The same standard output and exit code as without injection, but for what the comparison passes over.
    Reference(Comparison),
    /// The same exit code, and device memory that holds the same at the end, as without injection.
    Memory,
    /// Standard output matches.
    Stdout(Regex),
    /// A shell command is content.
    Command(String),
    /// Whatever a program says of itself is right.
    None,
    /// The same, and no detector has found a race.
    Race,
}

impl FromStr for Oracle {
    type Err = ParseOracleError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once(':') {
            None if text == "exit" => Ok(Oracle::Exit),
            None if text == "reference" => Ok(Oracle::Reference(Comparison::default())),
            None if text == "memory" => Ok(Oracle::Memory),
            None if text == "none" => Ok(Oracle::None),
            None if text == "race" => Ok(Oracle::Race),
            Some(("stdout", pattern)) => {
                Ok(Oracle::Stdout(RegexBuilder::new(pattern).multi_line(true).build()?))
            }
            Some(("cmd", command)) if command.trim().is_empty() => Err(ParseOracleError::NoCommand),
            Some(("cmd", command)) => Ok(Oracle::Command(command.to_owned())),
            _ => Err(ParseOracleError::Unknown(text.to_owned())),
        }
    }
}

impl fmt::Display for Oracle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Oracle::Exit => f.write_str("exit"),
            Oracle::Reference(_) => f.write_str("reference"),
            Oracle::Memory => f.write_str("memory"),
            Oracle::Stdout(pattern) => write!(f, "stdout:{pattern}"),
            Oracle::Command(command) => write!(f, "cmd:{command}"),
            Oracle::None => f.write_str("none"),
            Oracle::Race => f.write_str("race"),
        }
    }
}

impl Oracle {
    /// What it passes over, where it compares outputs.
    pub fn comparison(&self) -> Option<&Comparison> {
        match self {
            Oracle::Reference(comparison) => Some(comparison),
            _ => None,
        }
    }

    /// The same, where outputs are compared but for this. No other oracle compares any.
    ///
    /// # Errors
    /// When an expression is none, when the tolerance is not between 0 and 1, and with another oracle where anything is to be passed
    /// over.
    pub fn passing_over(self, text: &ComparisonText) -> Result<Oracle, ParseOracleError> {
        match self {
            Oracle::Reference(_) => Ok(Oracle::Reference(Comparison::try_from(text)?)),
            other if text.is_exact() => Ok(other),
            other => Err(ParseOracleError::ComparesNothing(other.to_string())),
        }
    }

    /// Whether it compares trials with the run without injection, which then has to pass.
    pub fn compares(&self) -> bool {
        matches!(self, Oracle::Reference(_) | Oracle::Memory)
    }

    /// What it needs of a trial's standard output.
    pub fn keep(&self) -> Keep {
        Keep {
            // Of `reference`, to say which line differs.
            head: !matches!(self, Oracle::Exit | Oracle::Memory | Oracle::None | Oracle::Race),
            digest: matches!(self, Oracle::Reference(_)),
        }
    }

    /// What the others are compared with, of the first run without injection.
    pub(crate) fn reference(&self, exit: Exit, stdout: &Output) -> Reference {
        let lines = match self {
            Oracle::Reference(comparison) if !comparison.is_exact() => comparison.lines(stdout),
            _ => None,
        };
        Reference { exit, stdout_sha256: stdout.digest.clone(), lines, memory: None }
    }

    /// Whether outputs that it needs are too long for it.
    pub(crate) fn cannot_compare(&self, reference: &Reference) -> bool {
        matches!(self, Oracle::Reference(comparison) if !comparison.is_exact() && reference.lines.is_none())
    }

    /// Whether an output is that of the first run without injection, as far as it compares outputs.
    pub(crate) fn agrees(&self, reference: &Reference, stdout: &Output) -> bool {
        match (self, &reference.lines) {
            (Oracle::Reference(comparison), Some(lines)) => comparison.agrees(lines, stdout),
            _ => reference.stdout_sha256 == stdout.digest,
        }
    }

    /// Whether a program that has aborted has ended by itself: where its exit code says nothing, neither does that. A launch
    /// that left threads waiting counts all the same.
    pub(crate) fn takes_abort(&self, exit: Exit, launch: Option<&FailedLaunch>) -> bool {
        let waits = launch.is_some_and(|launch| !matches!(launch.end, LaunchEnd::Fault(_)));
        matches!(self, Oracle::None | Oracle::Race) && exit == Exit::Signal(libc::SIGABRT) && !waits
    }

    /// Judges a trial that ended by itself. Without a reference there is nothing to differ from.
    ///
    /// A command runs in `directory`, for no longer than `timeout`.
    ///
    /// # Errors
    /// When a command cannot be started.
    pub async fn judge(
        &self,
        exit: Exit,
        stdout: &Output,
        reference: Option<&Reference>,
        directory: &Path,
        timeout: Duration,
    ) -> io::Result<OracleVerdict> {
        Ok(match self {
            Oracle::Exit => verdict(exit == Exit::Code(0), || exit.to_string()),
            Oracle::Reference(_) => match reference {
                Some(reference) if reference.exit != exit => {
                    OracleVerdict::Discontent(format!("{exit}, but {} without injection", reference.exit))
                }
                // A program that failed without injection left nothing to compare with but how it should end.
                Some(Reference { stdout_sha256: None, .. }) => OracleVerdict::Content,
                Some(reference) => verdict(self.agrees(reference, stdout), || {
                    "standard output differs from that without injection".to_owned()
                }),
                None => OracleVerdict::Content,
            },
            Oracle::Stdout(pattern) => {
                let matches = pattern.is_match(&stdout.head)
                    || (stdout.head_is_cut() && pattern.is_match(&stdout.tail));
                verdict(matches, || format!("standard output does not match {pattern} ({exit})"))
            }
            Oracle::Command(command) => ask(command, exit, stdout, directory, timeout).await?,
            // Memory and races are no output: they are judged where they are known.
            Oracle::Memory | Oracle::None | Oracle::Race => OracleVerdict::Content,
        })
    }
}

fn verdict(content: bool, reason: impl FnOnce() -> String) -> OracleVerdict {
    if content { OracleVerdict::Content } else { OracleVerdict::Discontent(reason()) }
}

async fn ask(
    command: &str,
    exit: Exit,
    stdout: &Output,
    directory: &Path,
    timeout: Duration,
) -> io::Result<OracleVerdict> {
    // A file and not a pipe: a command need not read what it is given.
    let mut input = tempfile::tempfile()?;
    input.write_all(&stdout.head)?;
    input.rewind()?;
    let code = match exit {
        Exit::Code(code) => code.to_string(),
        Exit::Signal(_) | Exit::Killed => String::new(),
    };
    let arguments = [OsString::from("-c"), command.into()];
    let program = ProgramCall {
        path: "/bin/sh".into(),
        arguments: &arguments,
        directory: directory.to_owned(),
        variables: &NO_VARIABLES,
        input: Some(input),
        patience: Patience::exactly(timeout),
        keep: Keep::default(),
    };
    let ended = program.run(&[(EXIT_CODE_VARIABLE, code.into())]).await?;
    Ok(verdict(ended.exit == Exit::Code(0), || {
        let said = ended.stderr.last_lines(1, 200);
        let colon = if said.is_empty() { "" } else { ": " };
        format!("the oracle's command is not content ({}){colon}{said}", ended.exit)
    }))
}

#[cfg(test)]
mod tests;
