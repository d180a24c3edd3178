//! How a night goes, on standard error: a bar where that is a terminal, a line now and then otherwise.

use std::cell::Cell;
use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use bugaroo_nightly::work::Tell;
use indicatif::{ProgressBar, ProgressStyle};

use crate::output::{note, thousands};

/// Time between two lines.
const EACH: Duration = Duration::from_secs(60);

/// Shows how a night goes.
pub struct Progress {
    bar: Option<ProgressBar>,
    last: Cell<Instant>,
}

impl Progress {
    /// Nothing is done yet.
    pub fn new() -> Self {
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let bar = (io::stderr().is_terminal() && !dumb).then(|| {
            let bar = ProgressBar::new_spinner();
            // The template is constant.
            if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {msg}") {
                bar.set_style(style);
            }
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        });
        Self { bar, last: Cell::new(Instant::now()) }
    }

    /// Clears the bar away.
    pub fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Tell for Progress {
    fn line(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| note(text)),
            None => note(text),
        }
    }

    fn trials(&self, done: u64, planned: Option<u64>) {
        let of = planned.map_or(String::new(), |planned| format!(" of {}", thousands(planned)));
        let text = format!("{}{of} trials", thousands(done));
        match &self.bar {
            Some(bar) => bar.set_message(text),
            None if self.last.get().elapsed() >= EACH => {
                self.last.set(Instant::now());
                note(text);
            }
            None => {}
        }
    }
}
