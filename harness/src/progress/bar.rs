//! Progress as a bar: for people at a terminal. It has no colours.

use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use super::event::{ProgressEvent, Reporter};
use super::words::{baseline_ended, baseline_started, say, told};

/// Draws a bar.
#[derive(Debug, Default)]
pub struct Bar {
    state: Mutex<Option<Shown>>,
}

/// A bar, and how many of its trials have failed or shown races.
#[derive(Debug)]
struct Shown {
    bar: ProgressBar,
    failures: u64,
    racy: u64,
}

impl Shown {
    fn new(bar: ProgressBar) -> Option<Self> {
        Some(Self { bar, failures: 0, racy: 0 })
    }
}

/// Runs without injection: how many there are to wait for is soon said.
const BASELINE: &str = "bugaroo: {prefix} {spinner}";

/// Trials.
const BATCH: &str = "{prefix} [{wide_bar}] {pos}/{len}  {rate}  {msg}  {elapsed}, {eta} left";

/// As many trials as there is time for.
const TIME: &str = "{prefix} {spinner} {pos} trials  {rate}  {msg}  {elapsed}";

fn draw(length: Option<u64>, template: &str, prefix: String, message: &'static str) -> ProgressBar {
    let rate = |state: &ProgressState, out: &mut dyn fmt::Write| {
        // The bar is drawn without it.
        let _ = write!(out, "{:.1} trials/s", state.per_sec());
    };
    let style = ProgressStyle::with_template(template)
        .expect("the templates above are well formed")
        .progress_chars("=> ")
        .with_key("rate", rate);
    let bar = ProgressBar::with_draw_target(length, ProgressDrawTarget::hidden());
    bar.set_style(style);
    bar.set_prefix(prefix);
    bar.set_message(message);
    // Shown only now, so that it is never seen half made.
    bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(10));
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

impl Reporter for Bar {
    fn report(&self, event: ProgressEvent<'_>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            ProgressEvent::BaselineStarted { app } => {
                *state = Shown::new(draw(None, BASELINE, baseline_started(app), ""));
            }
            ProgressEvent::BaselineEnded { baseline } => {
                finish(&mut state);
                say(&baseline_ended(baseline));
            }
            ProgressEvent::BatchStarted { what, trials } => {
                *state = Shown::new(draw(Some(trials), BATCH, what.to_owned(), "0 failures"));
            }
            ProgressEvent::TimeStarted { what, time } => {
                let what = format!("{what}, for {}", told(time));
                *state = Shown::new(draw(None, TIME, what, "0 failures"));
            }
            ProgressEvent::TrialEnded(record) => {
                if let Some(Shown { bar, failures, racy }) = &mut *state {
                    if record.outcome.is_failure() || record.has_races() {
                        *failures += u64::from(record.outcome.is_failure());
                        *racy += u64::from(record.has_races());
                        let s = if *failures == 1 { "" } else { "s" };
                        let races = if *racy > 0 { format!(", {racy} with races") } else { String::new() };
                        bar.set_message(format!("{failures} failure{s}{races}"));
                    }
                    bar.inc(1);
                }
            }
            ProgressEvent::BatchEnded => finish(&mut state),
            ProgressEvent::Note(text) => match &*state {
                Some(Shown { bar, .. }) => bar.suspend(|| say(text)),
                None => say(text),
            },
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        finish(self.state.get_mut().unwrap_or_else(PoisonError::into_inner));
    }
}

/// What comes after is a table that says it better.
fn finish(state: &mut Option<Shown>) {
    if let Some(Shown { bar, .. }) = state.take() {
        bar.finish_and_clear();
    }
}
