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
use std::iter;
use std::time::{Duration, Instant};

use bugaroo_protocol::{Backend, Model, Scheduler};

use crate::capture::{Output, printable};
use crate::error::Error;
use crate::oracle::{Oracle, proposal};
use crate::progress::{Event, Reporter};
use crate::record::{Exit, Outcome, TrialRecord};
use crate::session::{Session, Stop};
use crate::variation::Variation;

/// Schedules that a program is run under which fails without injection.
pub const SCHEDULES: u64 = 50;
/// Schedules that a program's output is compared under.
pub const COMPARED: u64 = 20;
/// No more of them are begun after this time: a program that hangs takes its whole timeout in each.
const ENOUGH: Duration = Duration::from_secs(90);
/// Begun at a time.
const AT_A_TIME: u64 = 5;
/// Bytes of a line that are shown.
const SHOWN: usize = 200;

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

/// Runs a program that fails without injection under other schedules.
///
/// # Errors
/// When a run cannot be made at all, or on the user's wish to stop.
pub async fn examine(session: &Session, hangs: bool, reporter: &dyn Reporter) -> Result<Schedules, Error> {
    let variations = variations();
    let mut cells = vec![Vec::new(); variations.len()];
    let each = SCHEDULES / variations.len() as u64;
    let at_a_time = if hangs { 1 } else { AT_A_TIME };
    let started = Instant::now();
    reporter.report(Event::BatchStarted { what: "schedules without injection", trials: SCHEDULES });
    for first in (0..each).step_by(at_a_time as usize) {
        for (variation, cell) in variations.iter().zip(&mut cells) {
            let indices = first..(first + at_a_time).min(each);
            cell.extend(session.trials(variation, indices, Stop::Never, reporter).await?);
        }
        if started.elapsed() > ENOUGH {
            break;
        }
    }
    reporter.report(Event::BatchEnded);
    Ok(Schedules { cells })
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

/// Compares a program's output under some schedules with that of its first run.
///
/// # Errors
/// [`Error::OutputDiffers`], when a run cannot be made at all, or on the user's wish to stop.
pub async fn compare_output(session: &Session, first: &Output, reporter: &dyn Reporter) -> Result<(), Error> {
    if session.settings().backend != Backend::Sim {
        // A real GPU has a schedule of its own: the runs of the baseline have to do.
        return Ok(());
    }
    let variations = variations();
    let each = COMPARED / variations.len() as u64;
    let oracle = &session.settings().oracle;
    let mut others: Vec<Output> = Vec::new();
    let mut differ = 0;
    reporter.report(Event::BatchStarted { what: "outputs without injection", trials: COMPARED });
    for variation in &variations {
        let on_end = |full: &crate::session::FullTrial| {
            // One that fails by itself is told as such by its trial.
            let by_itself = matches!(full.record.exit, Exit::Code(_));
            let reference = &session.baseline().reference;
            if by_itself && full.record.exit == reference.exit && !oracle.agrees(reference, &full.stdout) {
                differ += 1;
                if others.iter().all(|other| other.digest != full.stdout.digest) {
                    others.push(full.stdout.clone());
                }
            }
            Ok(())
        };
        session.full_trials_with(variation, 0..each, Stop::Never, reporter, on_end).await?;
    }
    reporter.report(Event::BatchEnded);
    let Some(other) = others.first() else { return Ok(()) };
    let (mut compared, mut proposal) = ([first, other].map(|output| output.head.clone()), None);
    if let Oracle::Reference(comparison) = oracle {
        // What is ignored is no difference to show.
        if let [Some(one), Some(other)] = [first, other].map(|output| comparison.lines(output))
            && !comparison.is_exact()
        {
            compared = [one.into_bytes(), other.into_bytes()];
        }
        let outputs: Vec<Output> = iter::once(first).chain(&others).cloned().collect();
        proposal = proposal::propose(&outputs, comparison);
    }
    let (line, [one, another]) = differing_line(&compared[0], &compared[1]);
    let differs = OutputDiffers { differ, of: COMPARED, line, first: one, other: another, proposal };
    Err(Error::OutputDiffers { app: session.target().app.clone(), differs: Box::new(differs) })
}

/// The number of the first line that differs, and both lines.
fn differing_line(one: &[u8], other: &[u8]) -> (Option<u64>, [String; 2]) {
    let shown = |line: Option<&[u8]>| match line {
        None => "(nothing more)".to_owned(),
        Some(line) => printable(&String::from_utf8_lossy(&line[..line.len().min(SHOWN)])),
    };
    let mut lines = [one, other].map(|text| {
        let ends = text.strip_suffix(b"\n").unwrap_or(text);
        (!text.is_empty()).then(|| ends.split(|&byte| byte == b'\n')).into_iter().flatten()
    });
    let mut number = 0;
    loop {
        number += 1;
        let [one, other] = lines.each_mut().map(Iterator::next);
        if one != other {
            return (Some(number), [shown(one), shown(other)]);
        }
        if one.is_none() {
            return (None, [String::new(), String::new()]);
        }
    }
}

#[cfg(test)]
mod tests;
