//! What other schedules do to a program, with nothing delayed.
//!
//! A program that fails without injection is run under [`SCHEDULES`] schedules, half of them by each scheduler: where it passes
//! under some, the failure is a race or a missing barrier that needs no weak memory, and that is a finding. What it
//! misses: a schedule that fails in fewer of them; and a program that passes and fails by chance of its own (the time, the
//! addresses that the system gives it) looks the same.
//!
//! A program whose output is compared with that of its first run has to print the same under each of [`COMPARED`] schedules.

use std::collections::BTreeMap;
use std::fmt;

use bugaroo_protocol::{Model, Scheduler, Variation};

use crate::outcome::Outcome;
use crate::record::TrialRecord;

/// Schedules that a program is run under which fails without injection.
pub const SCHEDULES: u64 = 50;
/// Schedules that a program's output is compared under.
pub const COMPARED: u64 = 20;
/// What is run: nothing delayed, no older value read, by each of the schedulers.
pub fn variations() -> Vec<Variation> {
    let plain = Variation { model: Model::StoreBuffer, pw: 0.0, pr: 0.0, ..Variation::default() };
    [Scheduler::Random, Scheduler::Pct].map(|scheduler| Variation { scheduler, ..plain.clone() }).into()
}

/// A program's runs under different schedules without injection.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schedules {
    /// By scheduler, as in [`variations`]; the indices are those of trials.
    pub cells: Vec<Vec<TrialRecord>>,
}

impl Schedules {
    /// How many there were.
    pub fn total(&self) -> u64 {
        self.cells.iter().map(|cell| cell.len() as u64).sum()
    }

    /// How many did not pass.
    pub fn failures(&self) -> u64 {
        self.cells.iter().flatten().filter(|record| record.outcome.is_failure()).count() as u64
    }

    /// Whether it passed under some.
    pub fn some_pass(&self) -> bool {
        self.failures() < self.total()
    }

    /// The runs, as trials of cells.
    pub fn by_address(&self) -> BTreeMap<(usize, u64), TrialRecord> {
        let cells = self.cells.iter().enumerate();
        let trials = |(cell, records): (usize, &Vec<TrialRecord>)| {
            records.iter().map(|record| ((cell, record.trial), record.clone())).collect::<Vec<_>>()
        };
        cells.flat_map(trials).collect()
    }

    /// How many had which outcome, in words.
    fn outcomes(&self) -> String {
        let count = |outcome| {
            let with = self.cells.iter().flatten().filter(|record| record.outcome == outcome).count();
            (with > 0).then(|| format!("{with} {outcome}"))
        };
        Outcome::ALL.into_iter().filter_map(count).collect::<Vec<_>>().join(", ")
    }
}

impl fmt::Display for Schedules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (failures, total) = (self.failures(), self.total());
        if self.some_pass() {
            write!(
                f,
                "it fails under {failures} of {total} schedules without injection and passes under the others ({}): a race \
                 or a missing barrier that needs no weak memory",
                self.outcomes()
            )
        } else {
            write!(f, "it fails under each of {total} schedules without injection ({})", self.outcomes())
        }
    }
}

/// The program's output is not its own measure: it differs without injection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputDiffers {
    /// Runs whose output was another than the first's.
    pub differ: u64,
    /// Runs that were compared.
    pub of: u64,
    /// The first line that differs, from 1, of those that are compared; None where it is too far behind to be known.
    pub line: Option<u64>,
    /// The line in the first run.
    pub first: String,
    /// The line in another.
    pub other: String,
    /// Options with which they are the same, if any are known.
    pub proposal: Option<String>,
}

impl fmt::Display for OutputDiffers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { differ, of, line, first, other, proposal } = self;
        write!(
            f,
            "--oracle reference cannot judge this program: its standard output is not the same under each schedule without \
             injection ({differ} of {of} differ from the first run's)"
        )?;
        if let Some(line) = line {
            write!(
                f,
                "\nline {line} of what is compared is\n  | {first}\nin the first run, and in another\n  | {other}"
            )?;
        }
        match proposal {
            Some(options) => {
                write!(f, "\nto compare the rest, as far as these runs tell: --oracle reference {options}")
            }
            None => {
                write!(
                    f,
                    "\nlet another oracle say what is right, or have the program print nothing that may differ"
                )
            }
        }
    }
}
