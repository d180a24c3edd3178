//! A program's runs under several schedules, with nothing delayed: see [`crate::schedules`].

use std::iter;
use std::time::{Duration, Instant};

use bugaroo_protocol::Backend;

use super::{FullTrial, Session, Stop};
use crate::capture::{Output, printable};
use crate::error::Error;
use crate::oracle::{Oracle, proposal};
use crate::outcome::Exit;
use crate::progress::{ProgressEvent, Reporter};
use crate::schedules::{COMPARED, OutputDiffers, SCHEDULES, Schedules, variations};

/// No more of them are begun after this time: a program that hangs takes its whole timeout in each.
const ENOUGH: Duration = Duration::from_secs(90);
/// Begun at a time.
const AT_A_TIME: u64 = 5;
/// Bytes of a line that are shown.
const SHOWN: usize = 200;

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
    reporter.report(ProgressEvent::BatchStarted { what: "schedules without injection", trials: SCHEDULES });
    for first in (0..each).step_by(at_a_time as usize) {
        for (variation, cell) in variations.iter().zip(&mut cells) {
            let indices = first..(first + at_a_time).min(each);
            cell.extend(session.trials(variation, indices, Stop::Never, reporter).await?);
        }
        if started.elapsed() > ENOUGH {
            break;
        }
    }
    reporter.report(ProgressEvent::BatchEnded);
    Ok(Schedules { cells })
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
    reporter.report(ProgressEvent::BatchStarted { what: "outputs without injection", trials: COMPARED });
    for variation in &variations {
        let on_end = |full: &FullTrial| {
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
    reporter.report(ProgressEvent::BatchEnded);
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
