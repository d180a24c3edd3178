//! Progress as lines, a few seconds apart: for logs.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::event::{ProgressEvent, Reporter};
use super::words::{baseline_ended, baseline_started, say};

/// Time between two lines.
const INTERVAL: Duration = Duration::from_secs(5);

/// Says lines.
#[derive(Debug, Default)]
pub struct PlainLines {
    batch: Mutex<Option<Batch>>,
}

/// The trials begun last.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) what: String,
    pub(super) amount: Amount,
    pub(super) done: u64,
    pub(super) failures: u64,
    pub(super) racy: u64,
    started: Instant,
    said: Instant,
}

/// What there is to be done.
#[derive(Clone, Copy, Debug)]
pub(super) enum Amount {
    /// So many trials at most.
    Trials(u64),
    /// What begins in this time.
    Time(Duration),
}

impl Batch {
    pub(super) fn new(what: &str, amount: Amount, now: Instant) -> Self {
        Self { what: what.to_owned(), amount, done: 0, failures: 0, racy: 0, started: now, said: now }
    }

    /// Counts a trial, and returns the line that is due.
    pub(super) fn trial_ended(&mut self, failed: bool, racy: bool, now: Instant) -> Option<String> {
        self.done += 1;
        self.failures += u64::from(failed);
        self.racy += u64::from(racy);
        let is_last = matches!(self.amount, Amount::Trials(trials) if self.done == trials);
        if is_last || now.duration_since(self.said) < INTERVAL {
            return None;
        }
        self.said = now;
        let elapsed = now.duration_since(self.started);
        let rate = self.done as f64 / elapsed.as_secs_f64();
        let left = match self.amount {
            Amount::Trials(trials) => trials.saturating_sub(self.done) as f64 / rate,
            Amount::Time(time) => time.saturating_sub(elapsed).as_secs_f64(),
        };
        Some(format!("{}, {rate:.1} trials/s, about {left:.0} s left", self.counts()))
    }

    /// The line when it is over.
    pub(super) fn ended(&self, now: Instant) -> String {
        let seconds = now.duration_since(self.started).as_secs_f64();
        format!("{} in {seconds:.1} s", self.counts())
    }

    fn counts(&self) -> String {
        let failures = if self.failures == 1 { "failure" } else { "failures" };
        let racy = if self.racy > 0 { format!(", {} with races", self.racy) } else { String::new() };
        let done = match self.amount {
            Amount::Trials(trials) => format!("{} of {trials} trials", self.done),
            Amount::Time(_) => format!("{} trial{}", self.done, if self.done == 1 { "" } else { "s" }),
        };
        format!("{}: {done}, {} {failures}{racy}", self.what, self.failures)
    }
}

impl Reporter for PlainLines {
    fn report(&self, event: ProgressEvent<'_>) {
        let mut batch = self.batch.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            ProgressEvent::BaselineStarted { app } => say(&baseline_started(app)),
            ProgressEvent::BaselineEnded { baseline } => say(&baseline_ended(baseline)),
            ProgressEvent::BatchStarted { what, trials } => {
                *batch = Some(Batch::new(what, Amount::Trials(trials), Instant::now()));
            }
            ProgressEvent::TimeStarted { what, time } => {
                *batch = Some(Batch::new(what, Amount::Time(time), Instant::now()));
            }
            ProgressEvent::TrialEnded(record) => {
                if let Some(batch) = &mut *batch
                    && let Some(line) =
                        batch.trial_ended(record.outcome.is_failure(), record.has_races(), Instant::now())
                {
                    say(&line);
                }
            }
            ProgressEvent::BatchEnded => {
                if let Some(batch) = batch.take() {
                    say(&batch.ended(Instant::now()));
                }
            }
            ProgressEvent::Note(text) => say(text),
        }
    }
}
