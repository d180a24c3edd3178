//! How trials and processes end.

use std::fmt;

use serde::{Deserialize, Serialize};

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
