//! What a run will take, told before it starts; and where a trial is long, which of the program's arguments may make it shorter: at the
//! latest while the program runs for the first time.
//!
//! What it can miss: a trial that injection makes much longer than the run without, a program whose help does not tell of sizes, and
//! one that has no help.

use std::ffi::OsString;
use std::sync::LazyLock;
use std::thread;
use std::time::Duration;

use regex::Regex;

use super::Session;
use crate::capture::{Keep, printable};
use crate::process::{Patience, ProgramCall};
use crate::progress::told;
use crate::progress::{ProgressEvent, Reporter};
use crate::trial::Ground;

/// From here on a trial is long.
const LONG: Duration = Duration::from_secs(2);
/// For so long the program runs without injection before the user is told what that means for trials.
pub(super) const SILENT: Duration = Duration::from_secs(20);
/// From here on a run is long.
const LONG_RUN: Duration = Duration::from_secs(60);
/// Less than this is not told apart.
const SOON: Duration = Duration::from_secs(10);
/// How long the program may take to print its help: one that does not know the argument does its work instead.
const HELP_TIME: Duration = Duration::from_secs(2);
/// Lines of its help that are shown.
const SHOWN: usize = 4;
/// Characters of such a line that are shown.
const WIDTH: usize = 100;

/// A line of a help that describes an option.
static OPTION: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^\s*[\[<(]?-{1,2}[A-Za-z]").expect("a constant expression, which a test compiles")
});

/// What makes a program take longer.
static AMOUNT: LazyLock<Regex> = LazyLock::new(|| {
    let words = "sizes?|length|elements?|elems?|iterations?|iters?|steps?|width|height|dim|dims|dimensions?|batch|rows?|cols|columns?|\
                 points?|bod(?:y|ies)|particles?|vertices|nodes?|edges?|runs|repeats?|repetitions?|frames?|samples?|count|number of";
    Regex::new(&format!(r"(?i)\b(?:{words})\b")).expect("a constant expression, which a test compiles")
});

impl Session {
    /// Lines for the user ahead of so many trials, of which no time bounds the number.
    pub(crate) async fn ahead(&self, trials: u64) -> Vec<String> {
        let one = self.baseline().duration();
        let at_a_time = thread::available_parallelism().map_or(1, usize::from);
        let at_a_time = self.settings().jobs.map_or(at_a_time, |jobs| jobs.clamp(1, at_a_time));
        let mut lines: Vec<String> = estimate(trials, one, at_a_time).into_iter().collect();
        // Else it was told while they ran.
        if one >= LONG && one * self.baseline().runs as u32 <= SILENT {
            lines.extend(smaller(&self.shared.ground).await);
        }
        lines
    }
}

/// Tells the user, once the runs without injection have taken so long, what to expect. It never ends.
pub(super) async fn while_it_runs(
    ground: &Ground,
    silent: Duration,
    reporter: &dyn Reporter,
) -> std::convert::Infallible {
    tokio::time::sleep(silent).await;
    let long = told(silent);
    let line = format!("it has run for {long} without injection so far; trials take as long, or longer");
    reporter.report(ProgressEvent::Note(&line));
    let smaller = smaller(ground).await;
    if smaller.is_empty() {
        reporter.report(ProgressEvent::Note("a smaller input may show the same in less time"));
    }
    for line in smaller {
        reporter.report(ProgressEvent::Note(&line));
    }
    std::future::pending().await
}

/// Which arguments of the program may make a trial shorter.
async fn smaller(ground: &Ground) -> Vec<String> {
    let sizes = help(ground).await.map(|help| sizes(&help)).unwrap_or_default();
    let first = "a smaller size may show the same in less time; its --help says:".to_owned();
    let first = (!sizes.is_empty()).then_some(first);
    first.into_iter().chain(sizes.into_iter().map(|line| format!("  {line}"))).collect()
}

/// What the program says of its arguments, unless it has a script for its first.
async fn help(ground: &Ground) -> Option<String> {
    let target = &ground.target;
    if target.args.first().is_some_and(|first| target.directory.join(first).is_file()) {
        return None;
    }
    let arguments = [OsString::from("--help")];
    let program = ProgramCall {
        path: target.app.clone(),
        arguments: &arguments,
        directory: target.directory.clone(),
        variables: &target.variables,
        input: None,
        patience: Patience::exactly(HELP_TIME),
        keep: Keep { head: true, ..Keep::default() },
    };
    let environment = ground.library.environment(ground.settings.backend, &target.variables);
    let ended = program.run(&environment).await.ok()?;
    let (stdout, stderr) = (ended.stdout.head, ended.stderr.last_lines(usize::MAX, usize::MAX));
    Some(format!("{}\n{stderr}", String::from_utf8_lossy(&stdout)))
}

/// How long all will take, if each takes as long as the run without injection.
fn estimate(trials: u64, one: Duration, at_a_time: usize) -> Option<String> {
    if trials <= 1 {
        return None;
    }
    let all = Duration::try_from_secs_f64(one.as_secs_f64() * trials as f64 / at_a_time as f64);
    let all = all.unwrap_or(Duration::MAX);
    let how_long = if all < SOON { "less than 10 s".to_owned() } else { format!("about {}", told(all)) };
    let advice = match all {
        _ if all >= LONG_RUN => {
            "; delaying stores may take longer. --trials N makes it fewer, --for 10m bounds the time"
        }
        _ if all >= SOON => "; delaying stores may take longer",
        _ => "",
    };
    Some(format!("{trials} trials, {at_a_time} at a time: {how_long} at that pace{advice}"))
}

/// Lines of a help that describe sizes and numbers.
fn sizes(help: &str) -> Vec<String> {
    let describes = |line: &&str| OPTION.is_match(line) && AMOUNT.is_match(line);
    let shown = |line: &str| printable(line.trim().chars().take(WIDTH).collect::<String>().as_str());
    help.lines().filter(describes).take(SHOWN).map(shown).collect()
}

#[cfg(test)]
mod tests;
