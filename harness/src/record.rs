//! The record of one trial.

use std::fmt;

use bugaroo_protocol::{Diagnosis, LaunchEnd, StaleRead};
use serde::{Deserialize, Serialize};

use crate::hidden::Hidden;
use crate::incident::Incident;
use crate::race::TrialRaces;
use crate::report::FailedLaunch;
use crate::variation::Variation;

/// How a trial ended, in the words of the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The oracle is content.
    Pass,
    /// The program ended by itself, and the oracle is not content.
    WrongResult,
    /// A signal ended the program, or a kernel faulted and the program failed.
    Crash,
    /// Threads of a kernel wait for each other for ever.
    Deadlock,
    /// The program, or a kernel, ran for longer than it may, and nothing went on on the device any more.
    Timeout,
    /// Its time was up while device work went on: it says nothing, neither good nor bad.
    Slow,
    /// A signal that neither we nor, as far as can be told, the program itself sent has ended it, twice: it says
    /// nothing either.
    Killed,
}

impl Outcome {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Outcome; 7] = [
        Outcome::Pass,
        Outcome::WrongResult,
        Outcome::Crash,
        Outcome::Deadlock,
        Outcome::Timeout,
        Outcome::Slow,
        Outcome::Killed,
    ];

    /// Whether it shows a bug.
    pub fn is_failure(self) -> bool {
        self.tells() && self != Outcome::Pass
    }

    /// Whether it says anything of the program: such trials are those that rates and conclusions rest on.
    pub fn tells(self) -> bool {
        !matches!(self, Outcome::Slow | Outcome::Killed)
    }

    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Pass => "pass",
            Outcome::WrongResult => "wrong-result",
            Outcome::Crash => "crash",
            Outcome::Deadlock => "deadlock",
            Outcome::Timeout => "timeout",
            Outcome::Slow => "slow",
            Outcome::Killed => "killed",
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Exit {
    /// By itself, with this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
    /// By us, when its time was up.
    Killed,
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Exit::Code(code) => write!(f, "exit code {code}"),
            Exit::Signal(signal) => match signal_name(signal) {
                Some(name) => write!(f, "signal {signal} ({name})"),
                None => write!(f, "signal {signal}"),
            },
            Exit::Killed => f.write_str("killed when its time was up"),
        }
    }
}

fn signal_name(signal: i32) -> Option<&'static str> {
    Some(match signal {
        libc::SIGILL => "SIGILL",
        libc::SIGTRAP => "SIGTRAP",
        libc::SIGABRT => "SIGABRT",
        libc::SIGBUS => "SIGBUS",
        libc::SIGFPE => "SIGFPE",
        libc::SIGKILL => "SIGKILL",
        libc::SIGSEGV => "SIGSEGV",
        libc::SIGPIPE => "SIGPIPE",
        libc::SIGTERM => "SIGTERM",
        libc::SIGINT => "SIGINT",
        libc::SIGHUP => "SIGHUP",
        libc::SIGQUIT => "SIGQUIT",
        libc::SIGXCPU => "SIGXCPU",
        libc::SIGXFSZ => "SIGXFSZ: more than a file may hold by this shell's limit, ulimit -f",
        _ => return None,
    })
}

impl Exit {
    /// Whether it was ended by a signal of the kind that comes from outside: of the out-of-memory killer, of a person, of a
    /// shell's limit. That we did not send it goes without saying: what we kill is [`Exit::Killed`].
    pub fn is_from_outside(self) -> bool {
        use libc::{SIGHUP, SIGINT, SIGKILL, SIGQUIT, SIGTERM, SIGXCPU};
        matches!(self, Exit::Signal(SIGHUP | SIGINT | SIGKILL | SIGQUIT | SIGTERM | SIGXCPU))
    }
}

/// What is known of a failure, or of why a trial says nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// One line for a person.
    pub reason: String,
    /// The launch that did not complete, where there was one: deadlock diagnosis, fault.
    pub launch: Option<FailedLaunch>,
    /// Model `ptx`: loads that read older values than memory held, the likeliest to matter first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stale_reads: Vec<StaleRead>,
    /// The last lines of standard output.
    pub stdout: String,
    /// The last lines of standard error.
    pub stderr: String,
}

impl Failure {
    /// Who waits where, if the failed launch left threads waiting.
    pub fn diagnosis(&self) -> Option<&Diagnosis> {
        match &self.launch.as_ref()?.end {
            LaunchEnd::Deadlock(diagnosis) | LaunchEnd::StepBudget(diagnosis) => Some(diagnosis),
            LaunchEnd::Fault(_) | LaunchEnd::Complete => None,
        }
    }

    /// The last line that the program printed: on standard error, or else on standard output.
    pub fn last_line(&self) -> Option<&str> {
        let last = |text: &'_ str| text.lines().next_back().is_some_and(|line| !line.trim().is_empty());
        let text = if last(&self.stderr) { &self.stderr } else { &self.stdout };
        text.lines().next_back().filter(|line| !line.trim().is_empty())
    }
}

/// One finished trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrialRecord {
    /// Its index, from 0.
    pub trial: u64,
    /// Its seed.
    pub seed: u64,
    /// How it ended.
    pub outcome: Outcome,
    /// From the start of its process to the end.
    pub duration_ms: f64,
    /// How its process ended.
    pub exit: Exit,
    /// Kernel launches.
    pub launches: u64,
    /// Stores that were delayed.
    pub delayed_stores: u64,
    /// Writes that model `ptx` forgot for lack of memory: behaviours that might have come of them did not show.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub forgotten: u64,
    /// Digest of device memory after its last launch.
    pub digest: Option<String>,
    /// What is known of its failure, or of why it says nothing; None for a pass.
    pub failure: Option<Failure>,
    /// Errors of its launches, each once, whatever its outcome.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub incidents: Vec<Incident>,
    /// Launches whose error is not among them, as there were too many kinds.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more_incidents: u64,
    /// Races that its detectors found, whatever its outcome; None where none looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub races: Option<TrialRaces>,
    /// What it prints though it passes by its exit code, and runs without injection do not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hides: Option<Hidden>,
    /// How it was run, where it was not as its cell says: the trials of a cell that explores choose that one by one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variation: Option<Box<Variation>>,
}

/// Whether nothing was counted.
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl TrialRecord {
    /// Whether both trials ended the same way: same outcome, same exit, the same device memory, and the same races.
    pub fn agrees_with(&self, other: &TrialRecord) -> bool {
        let races = match (&self.races, &other.races) {
            (Some(races), Some(other)) if self.exit != Exit::Killed => races.agrees_with(other),
            // How far it came until it was killed is the machine's doing.
            _ if self.exit == Exit::Killed => true,
            (None, None) => true,
            _ => false,
        };
        races && (self.outcome, self.exit, &self.digest) == (other.outcome, other.exit, &other.digest)
    }

    /// Whether its detectors have found a race.
    pub fn has_races(&self) -> bool {
        self.races.as_ref().is_some_and(|races| !races.races.is_empty())
    }
}
