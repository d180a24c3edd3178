//! Progress as lines, a few seconds apart: for logs.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::{Event, Reporter, baseline_ended, baseline_started, say};

/// Time between two lines.
const INTERVAL: Duration = Duration::from_secs(5);

/// Says lines.
#[derive(Debug, Default)]
pub struct Plain {
    batch: Mutex<Option<Batch>>,
}

/// The trials begun last.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) what: String,
    pub(super) trials: u64,
    pub(super) done: u64,
    pub(super) failures: u64,
    pub(super) racy: u64,
    started: Instant,
    said: Instant,
}

impl Batch {
    pub(super) fn new(what: &str, trials: u64, now: Instant) -> Self {
        Self { what: what.to_owned(), trials, done: 0, failures: 0, racy: 0, started: now, said: now }
    }

    /// Counts a trial, and returns the line that is due.
    pub(super) fn trial_ended(&mut self, failed: bool, racy: bool, now: Instant) -> Option<String> {
        self.done += 1;
        self.failures += u64::from(failed);
        self.racy += u64::from(racy);
        if self.done == self.trials || now.duration_since(self.said) < INTERVAL {
            return None;
        }
        self.said = now;
        let rate = self.done as f64 / now.duration_since(self.started).as_secs_f64();
        let left = (self.trials - self.done.min(self.trials)) as f64 / rate;
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
        format!("{}: {} of {} trials, {} {failures}{racy}", self.what, self.done, self.trials, self.failures)
    }
}

impl Reporter for Plain {
    fn report(&self, event: Event<'_>) {
        let mut batch = self.batch.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            Event::BaselineStarted { app } => say(&baseline_started(app)),
            Event::BaselineEnded { baseline } => say(&baseline_ended(baseline)),
            Event::BatchStarted { what, trials } => *batch = Some(Batch::new(what, trials, Instant::now())),
            Event::TrialEnded(record) => {
                if let Some(batch) = &mut *batch
                    && let Some(line) =
                        batch.trial_ended(record.outcome.is_failure(), record.has_races(), Instant::now())
                {
                    say(&line);
                }
            }
            Event::BatchEnded => {
                if let Some(batch) = batch.take() {
                    say(&batch.ended(Instant::now()));
                }
            }
            Event::Note(text) => say(text),
        }
    }
}
