//! Findings that are known: expected until a day, with a reason.

use bugaroo_protocol::Model;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};

/// A finding that does not make the night red, until a day.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expectation {
    /// What is expected.
    pub finding: Expected,
    /// Only under this model; None: under each.
    pub model: Option<Model>,
    /// Only where a place of the finding holds this text, such as `reduce.cu:41`; None: anywhere.
    pub place: Option<String>,
    /// Why it is known.
    pub reason: String,
    /// The last day on which it is expected.
    pub until: Date,
    /// Line of the plan.
    pub line: usize,
}

/// What can be expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Expected {
    /// Trials that end in this way.
    WrongResult,
    /// The same.
    Crash,
    /// The same.
    Deadlock,
    /// The same.
    Timeout,
    /// Any failing trial.
    Failure,
    /// A data race.
    Race,
    /// An error of a kernel, whatever the program made of it.
    KernelError,
    /// A kernel that is wrong, or cannot be verified.
    Verify,
    /// The program fails without injection.
    Baseline,
}

impl Expected {
    /// By their names.
    pub const ALL: [(&'static str, Expected); 9] = [
        ("wrong-result", Expected::WrongResult),
        ("crash", Expected::Crash),
        ("deadlock", Expected::Deadlock),
        ("timeout", Expected::Timeout),
        ("failure", Expected::Failure),
        ("race", Expected::Race),
        ("kernel-error", Expected::KernelError),
        ("verify", Expected::Verify),
        ("baseline", Expected::Baseline),
    ];

    /// Whether a finding of the other kind is one of these.
    pub fn covers(self, other: Expected) -> bool {
        use Expected::{Crash, Deadlock, Failure, Timeout, WrongResult};
        self == other || self == Failure && matches!(other, WrongResult | Crash | Deadlock | Timeout)
    }
}
