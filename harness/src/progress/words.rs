//! Lines for standard error.

use std::io::{self, Write};
use std::time::Duration;

use crate::baseline::Baseline;

pub(crate) fn say(line: &str) {
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

pub(crate) fn baseline_started(app: &str) -> String {
    format!("running {app} without injection first")
}

pub(crate) fn baseline_ended(baseline: &Baseline) -> String {
    let launches: u64 = baseline.launched.values().map(|kernel| kernel.launches).sum();
    format!(
        "it passes: {:.0} ms, {launches} launch{} of {} kernel{}",
        baseline.duration_ms,
        if launches == 1 { "" } else { "es" },
        baseline.launched.len(),
        if baseline.launched.len() == 1 { "" } else { "s" },
    )
}
