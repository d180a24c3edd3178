//! Progress as a bar: for people at a terminal. It has no colours.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::{Event, Reporter, baseline_ended, baseline_started, say};

/// Draws a bar.
#[derive(Debug, Default)]
pub struct Bar {
    state: Mutex<Option<(ProgressBar, u64)>>,
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("the templates below are well formed").progress_chars("=> ")
}

fn draw(length: Option<u64>, template: &str, message: String) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(length, ProgressDrawTarget::stderr_with_hz(10));
    bar.set_style(style(template));
    bar.set_message(message);
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

impl Reporter for Bar {
    fn report(&self, event: Event<'_>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            Event::BaselineStarted { app } => {
                *state = Some((draw(None, "bugaroo: {msg} {spinner}", baseline_started(app)), 0));
            }
            Event::BaselineEnded { baseline } => {
                finish(&mut state);
                say(&baseline_ended(baseline));
            }
            Event::BatchStarted { what, trials } => {
                let template =
                    "{prefix} [{bar:30}] {pos}/{len}  {per_sec:.1}  {msg}  {elapsed} gone, {eta} left";
                let bar = draw(Some(trials), template, "0 failures".to_owned());
                bar.set_prefix(what.to_owned());
                *state = Some((bar, 0));
            }
            Event::TrialEnded(record) => {
                if let Some((bar, failures)) = &mut *state {
                    if record.outcome.is_failure() {
                        *failures += 1;
                        bar.set_message(format!(
                            "{failures} failure{}",
                            if *failures == 1 { "" } else { "s" }
                        ));
                    }
                    bar.inc(1);
                }
            }
            Event::BatchEnded => finish(&mut state),
            Event::Note(text) => match &*state {
                Some((bar, _)) => bar.suspend(|| say(text)),
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
fn finish(state: &mut Option<(ProgressBar, u64)>) {
    if let Some((bar, _)) = state.take() {
        bar.finish_and_clear();
    }
}
