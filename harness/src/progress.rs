//! What is told while trials run: a trait, and who shows it. All of it goes to standard error, which
//! alone may be a terminal with somebody before it; where it cannot be written, nobody is told.

use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use crate::baseline::Baseline;
use crate::record::TrialRecord;

mod bar;
mod plain;

pub use bar::Bar;
pub use plain::Plain;

/// Something that happened.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// The runs without injection begin.
    BaselineStarted {
        /// Name of the program.
        app: &'a str,
    },
    /// They have passed.
    BaselineEnded {
        /// What they showed.
        baseline: &'a Baseline,
    },
    /// A number of trials begins.
    BatchStarted {
        /// What they are, in a few words.
        what: &'a str,
        /// How many there will be at most.
        trials: u64,
    },
    /// As many trials begin as there is time for.
    TimeStarted {
        /// What they are, in a few words.
        what: &'a str,
        /// How long trials will begin.
        time: Duration,
    },
    /// A trial has ended.
    TrialEnded(&'a TrialRecord),
    /// The trials begun last are over.
    BatchEnded,
    /// Something that the user should know, in one line.
    Note(&'a str),
}

/// Told what happens.
pub trait Reporter: Send + Sync {
    /// Told of one event.
    fn report(&self, event: Event<'_>);
}

/// Tells nobody.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Reporter for Silent {
    fn report(&self, _: Event<'_>) {}
}

/// A bar where standard error is a terminal, plain lines otherwise.
pub fn for_standard_error() -> Box<dyn Reporter> {
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    if io::stderr().is_terminal() && !dumb { Box::<Bar>::default() } else { Box::<Plain>::default() }
}

fn say(line: &str) {
    // Nobody listens any more: no reason to stop.
    let _ = writeln!(io::stderr().lock(), "bugaroo: {line}");
}

/// A time as it is given on the command line, roughly.
pub(crate) fn told(time: Duration) -> String {
    match time.as_secs() {
        0 => format!("{} ms", time.as_millis()),
        seconds @ 1..120 => format!("{seconds} s"),
        seconds @ 120..7200 => format!("{} min", (seconds + 30) / 60),
        seconds => format!("{:.1} h", seconds as f64 / 3600.0),
    }
}

fn baseline_started(app: &str) -> String {
    format!("running {app} without injection first")
}

fn baseline_ended(baseline: &Baseline) -> String {
    let launches: u64 = baseline.launched.values().map(|kernel| kernel.launches).sum();
    format!(
        "it passes: {:.0} ms, {launches} launch{} of {} kernel{}",
        baseline.duration_ms,
        if launches == 1 { "" } else { "es" },
        baseline.launched.len(),
        if baseline.launched.len() == 1 { "" } else { "s" },
    )
}

#[cfg(test)]
mod tests;
