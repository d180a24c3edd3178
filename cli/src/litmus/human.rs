//! What litmus tests showed, for people.

use std::fmt::Write;
use std::io::IsTerminal;

use bugaroo_litmus::{ConditionTarget, LitmusReport, TestReport, Totals};
use clap::ValueEnum;

use crate::args::{LitmusArgs, LitmusModel};
use crate::output::{shell_word, table, thousands};

/// The whole report.
pub fn human(report: &LitmusReport, args: &LitmusArgs) -> String {
    let red = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let mut text = String::new();
    if !report.tests.is_empty() {
        text += &tests(report, red);
        text.push('\n');
        text += &shapes(report);
        text.push('\n');
    }
    for test in report.tests.iter().filter(|test| test.fails()) {
        text += &paint(&failure(test, args), red);
    }
    text + &summary(report)
}

fn tests(report: &LitmusReport, red: bool) -> String {
    let header = ["test", "verdict", "outcomes", "weak", "target"];
    let text = table(&header, &[2, 3], report.tests.iter().map(row));
    // Lines are painted as a whole, or columns would not line up.
    let failing = std::iter::once(false).chain(report.tests.iter().map(TestReport::fails));
    text.lines().zip(failing).map(|(line, fails)| paint(&format!("{line}\n"), red && fails)).collect()
}

fn row(test: &TestReport) -> Vec<String> {
    let of = |seen: usize, all: Option<usize>| match all {
        Some(all) => format!("{seen}/{all}"),
        None => seen.to_string(),
    };
    let verdict = if test.forbidden_seen > 0 {
        "FORBIDDEN"
    } else if test.first_failed_trial.is_some() {
        "FAILS"
    } else if test.is_open() {
        "-"
    } else {
        "ok"
    };
    let allowed = test.outcomes.iter().filter(|outcome| outcome.allowed != Some(false)).count();
    let target = match (test.target_first_trial, test.quantifier) {
        (_, None) => "-".to_owned(),
        (Some(first), _) => format!("shown, {} of {}, first in trial {first}", test.target_seen, test.trials),
        (None, _) => "not shown".to_owned(),
    };
    let kind = test.target.map(|target| format!("{}: ", target.name())).unwrap_or_default();
    vec![
        test.name.clone(),
        verdict.to_owned(),
        of(allowed, test.allowed_outcomes),
        of(test.weak_seen, test.weak_outcomes),
        kind + &target,
    ]
}

fn shapes(report: &LitmusReport) -> String {
    let header = ["shape", "tests", "with forbidden", "weak targets shown", "median first trial"];
    let row = |name: &str, totals: &Totals| {
        let shown = format!("{}/{}", totals.weak_targets_shown, totals.weak_targets);
        let median = totals.median_first_trial.map_or("-".to_owned(), |trial| trial.to_string());
        let counts = [totals.tests, totals.tests_with_forbidden].map(|count| count.to_string());
        let [tests, forbidden] = counts;
        vec![name.to_owned(), tests, forbidden, shown, median]
    };
    let rows = report.shapes.iter().map(|(name, totals)| row(name, totals));
    let all = (report.shapes.len() > 1).then(|| row("all", &report.totals));
    table(&header, &[1, 2, 3, 4], rows.chain(all))
}

/// What must not be seen, and how to see it again.
fn failure(test: &TestReport, args: &LitmusArgs) -> String {
    let mut text = String::new();
    let state = |values: &[u64]| {
        let pairs = test.keys.iter().zip(values).map(|(key, value)| format!("{key}={value}"));
        pairs.collect::<Vec<_>>().join(" ")
    };
    for outcome in test.outcomes.iter().filter(|outcome| outcome.allowed == Some(false)) {
        let (state, count, first) = (state(&outcome.values), outcome.count, outcome.first_trial);
        let _ = writeln!(
            text,
            "{}: {state} is forbidden: in {count} of {} trials, first in trial {first}",
            test.name, test.trials
        );
    }
    if let (Some(first), Some(quantifier)) = (test.first_failed_trial, test.quantifier) {
        let _ = writeln!(text, "{}: the condition ({quantifier}) fails, first in trial {first}", test.name);
    }
    if let Some(trial) = test.first_failing_trial() {
        let _ = writeln!(text, "  {}", command(test, args, trial + 1));
    }
    text
}

/// The command that shows a test's first so many trials again.
fn command(test: &TestReport, args: &LitmusArgs, trials: u64) -> String {
    let word = |value: &dyn Fn() -> Option<String>| value().unwrap_or_default();
    let model = word(&|| args.model.to_possible_value().map(|value| value.get_name().to_owned()));
    let scheduler = word(&|| args.scheduler.to_possible_value().map(|value| value.get_name().to_owned()));
    let pw: Vec<_> = args.pw.iter().map(f64::to_string).collect();
    let outcomes =
        args.outcomes.as_ref().map(|path| format!(" --outcomes {}", shell_word(&path.to_string_lossy())));
    let handlers = if args.handlers { " --handlers" } else { "" };
    let pr = if args.model == LitmusModel::Ptx { format!(" --pr {}", args.pr) } else { String::new() };
    format!(
        "bugaroo litmus --model {model}{handlers}{pr} --scheduler {scheduler} --pw {} --seed {} --trials {trials}{} {}",
        pw.join(","),
        args.seed,
        outcomes.unwrap_or_default(),
        shell_word(&test.path.to_string_lossy())
    )
}

fn summary(report: &LitmusReport) -> String {
    let totals = &report.totals;
    let mut text = format!(
        "{} tests, {} trials, {} trials/s: ",
        totals.tests,
        thousands(totals.trials),
        thousands(report.trials_per_second.round() as u64)
    );
    let known = report.tests.iter().any(|test| test.allowed_outcomes.is_some());
    if known {
        let _ = write!(text, "{} with a forbidden outcome", totals.tests_with_forbidden);
    }
    if totals.conditions_failed > 0 || !known {
        let _ = write!(
            text,
            "{}{} with a failed condition",
            if known { ", " } else { "" },
            totals.conditions_failed
        );
    }
    if totals.weak_targets > 0 {
        let _ = write!(text, ", {} of {} weak targets shown", totals.weak_targets_shown, totals.weak_targets);
    }
    let forbidden =
        report.tests.iter().filter(|test| test.target == Some(ConditionTarget::Forbidden)).count();
    if forbidden > 0 {
        let _ = write!(text, ", {forbidden} targets are forbidden");
    }
    if !report.skipped.is_empty() {
        let _ = write!(text, ", {} not run", report.skipped.len());
    }
    text.push('\n');
    text
}

fn paint(text: &str, red: bool) -> String {
    if !red {
        return text.to_owned();
    }
    text.lines().map(|line| format!("\x1b[31m{line}\x1b[0m\n")).collect()
}
