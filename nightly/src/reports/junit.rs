//! JUnit XML, for continuous integration: a suite for each program, a case for each cell, each verified kernel and each program that
//! could not be run.
//!
//! Source: the schema that Jenkins publishes, as the crate `quick-junit` writes it. A cell with a failing trial fails,
//! however many passed: nothing is "flaky" here. What is expected is skipped, and what says nothing is an error. A night that is red,
//! or not whole, has a failure or an error in any case.

use std::time::Duration;

use quick_junit::{NonSuccessKind, Property, Report, TestCase, TestCaseStatus, TestSuite};

use crate::night::{
    Cell, Night, NightFinding, NightKernel, NightProgram, NightVerdict, NotRun, Stage, Status,
};
use crate::plan::expect::Expected;

use super::files::{JUNIT, ReportError, made};
use super::limits::{self, Level};
use super::text;
use super::totals::Totals;

/// Findings whose message stands in a case in full; the others have their title there.
const MOST_FINDINGS: usize = 50;
/// Most characters of a finding's message.
const MOST_MESSAGE: usize = 4000;

/// The report.
///
/// # Errors
/// When the crate that writes it refuses.
pub fn text(night: &Night) -> Result<String, ReportError> {
    let mut report = Report::new(text::line(&format!("bugaroo nightly {}", night.plan)));
    night.programs.iter().for_each(|program| {
        report.add_test_suite(suite(night, program));
    });
    let whole = whole(night, report.failures + report.errors > 0);
    if !whole.is_empty() {
        let mut suite = TestSuite::new("night");
        stamp(&mut suite, night);
        suite.add_test_cases(whole);
        report.add_test_suite(suite);
    }
    report.set_time(Duration::from_millis(Totals::of_night(night).spent_ms));
    report.to_string().map_err(|error| made(JUNIT, &error))
}

/// When the night began, where that is a time.
fn stamp(suite: &mut TestSuite, night: &Night) {
    if night.began.parse::<jiff::Timestamp>().is_ok() {
        suite.extra.insert("timestamp".into(), night.began.as_str().into());
    }
}

/// What is wrong with the night as a whole.
fn whole(night: &Night, shown: bool) -> Vec<TestCase> {
    let wrong: Vec<String> = (limits::all(night).into_iter())
        .filter(|limit| limit.level == Level::Error && limit.program.is_none())
        .map(|limit| limit.text)
        .collect();
    let mut cases: Vec<TestCase> = wrong
        .iter()
        .enumerate()
        .map(|(at, text)| {
            case("night", &format!("night {}", at + 1), failed(NonSuccessKind::Error, "incomplete", text))
        })
        .collect();
    if night.verdict == NightVerdict::Red && !shown && cases.is_empty() {
        let why = night.notes.iter().chain(night.programs.iter().flat_map(|program| &program.expectations));
        let why: Vec<String> = why.map(|note| text::line(note)).collect();
        let mut status = failed(NonSuccessKind::Error, "red", "the night is red");
        status.set_description(why.join("\n"));
        cases.push(case("night", "verdict", status));
    }
    cases
}

fn suite(night: &Night, program: &NightProgram) -> TestSuite {
    let mut suite = TestSuite::new(text::line(&program.name));
    stamp(&mut suite, night);
    suite.set_time(Duration::from_millis(Totals::of(program).spent_ms));
    suite.add_property(Property::new("run", text::line(&program.run.join(" "))));
    suite.add_property(Property::new("seed", night.seed.to_string()));
    if let Some(sha256) = &program.sha256 {
        suite.add_property(Property::new("sha256", text::line(sha256)));
    }
    suite.add_test_cases(program.error.as_ref().map(|error| of_error(program, error)));
    suite.add_test_cases(program.cells.iter().map(|cell| of_cell(program, cell)));
    suite.add_test_cases(program.kernels.iter().map(|kernel| of_kernel(program, kernel)));
    suite.add_test_cases(
        program.findings.iter().filter(|it| homeless(program, it)).map(|it| of_finding(program, it)),
    );
    suite
}

fn case(class: &str, name: &str, status: TestCaseStatus) -> TestCase {
    let mut case = TestCase::new(text::line(name), status);
    case.set_classname(text::line(class));
    case
}

fn failed(kind: NonSuccessKind, ty: &str, message: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(kind);
    status.set_type(ty).set_message(text::line(message));
    status
}

fn skipped(reason: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::skipped();
    status.set_message(text::line(&format!("expected: {reason}")));
    status
}

fn of_error(program: &NightProgram, error: &NotRun) -> TestCase {
    let stage = text::stage(error.stage);
    let mut status = match &error.expected {
        Some(reason) => skipped(reason),
        None => failed(NonSuccessKind::Error, stage, error.message.lines().next().unwrap_or(stage)),
    };
    let findings = program.findings.iter().filter(|it| it.kind == Expected::Baseline && it.cells.is_empty());
    let mut said = text::visible(&error.message).into_owned();
    said += &described(findings);
    status.set_description(said);
    case(&program.name, &format!("program: {stage}"), status)
}

fn of_cell(program: &NightProgram, cell: &Cell) -> TestCase {
    let findings: Vec<&NightFinding> =
        program.findings.iter().filter(|it| it.cells.contains(&cell.key)).collect();
    let rate = text::rate(cell);
    let mut status = match cell.status {
        // That a failing trial makes a failure is said here once more: a report must not depend on it.
        Status::Pass if cell.failures == 0 => TestCaseStatus::success(),
        Status::Pass | Status::Fail => failed(NonSuccessKind::Failure, kind(&findings), &rate),
        Status::Expected => {
            let reasons = findings.iter().filter_map(|finding| finding.expected.as_deref());
            skipped(reasons.min().unwrap_or(&cell.reason))
        }
        Status::Nothing => {
            let why = if cell.reason.is_empty() { &rate } else { &cell.reason };
            failed(NonSuccessKind::Error, "nothing", &format!("it says nothing: {why}"))
        }
    };
    if !matches!(status, TestCaseStatus::Success { .. }) {
        let mut said = rate;
        for line in [Some(text::line(&cell.reason)), text::change(&cell.change)].into_iter().flatten() {
            if !line.is_empty() {
                said = format!("{said}\n{line}");
            }
        }
        status.set_description(said + &described(findings.into_iter()));
    }
    let mut case = case(&program.name, &cell.key, status);
    case.set_time(Duration::from_millis(cell.spent_ms));
    case.add_property(Property::new("model", text::model(cell.model)));
    case.add_property(Property::new("pw", cell.pw.to_string()));
    case.add_property(Property::new("trials", cell.trials.to_string()));
    case.add_property(Property::new("failures", cell.failures.to_string()));
    if let Some(trial) = cell.first_failing_trial {
        case.add_property(Property::new("first_failing_trial", trial.to_string()));
    }
    for (outcome, trials) in &cell.outcomes {
        case.add_property(Property::new(format!("outcome.{outcome}"), trials.to_string()));
    }
    case
}

/// The kinds of findings that are not expected.
fn kind(findings: &[&NightFinding]) -> &'static str {
    let kinds = findings.iter().filter(|finding| finding.expected.is_none()).map(|finding| finding.kind);
    kinds.map(text::kind).next().unwrap_or("failure")
}

fn of_kernel(program: &NightProgram, kernel: &NightKernel) -> TestCase {
    let findings: Vec<&NightFinding> = program.findings.iter().filter(|it| it.is_about(kernel)).collect();
    let mut status = match kernel.status {
        Status::Pass => TestCaseStatus::success(),
        Status::Fail => failed(NonSuccessKind::Failure, "verify", &kernel.verdict),
        Status::Expected => {
            let reasons = findings.iter().filter_map(|finding| finding.expected.as_deref());
            skipped(reasons.min().unwrap_or(&kernel.verdict))
        }
        Status::Nothing => {
            failed(NonSuccessKind::Error, "nothing", &format!("it says nothing: {}", kernel.verdict))
        }
    };
    if !matches!(status, TestCaseStatus::Success { .. }) {
        status.set_description(text::visible(&kernel.text).into_owned() + &described(findings.into_iter()));
    }
    let mut case = case(&program.name, &format!("verify {}", kernel.name), status);
    case.add_property(Property::new("launches", kernel.launches.to_string()));
    case
}

/// Whether no other case tells of a finding.
fn homeless(program: &NightProgram, finding: &NightFinding) -> bool {
    let cell = program.cells.iter().any(|cell| finding.cells.contains(&cell.key));
    let kernel = program.kernels.iter().any(|kernel| finding.is_about(kernel));
    let baseline = finding.kind == Expected::Baseline
        && finding.cells.is_empty()
        && program.error.as_ref().is_some_and(|error| error.stage == Stage::Baseline);
    !(cell || kernel || baseline)
}

fn of_finding(program: &NightProgram, finding: &NightFinding) -> TestCase {
    let kind = text::kind(finding.kind);
    let mut status = match &finding.expected {
        Some(reason) => skipped(reason),
        None => failed(NonSuccessKind::Failure, kind, &finding.title),
    };
    status.set_description(described(std::iter::once(finding)).trim_start().to_owned());
    case(&program.name, &format!("{kind}: {}", text::short(&finding.title, 200)), status)
}

/// Findings, each with what shows it again.
fn described<'a>(findings: impl Iterator<Item = &'a NightFinding>) -> String {
    let mut said = String::new();
    for (at, finding) in findings.enumerate() {
        let news = if finding.new { "new " } else { "" };
        let title = format!("{news}{}: {}", text::kind(finding.kind), text::short(&finding.title, 500));
        if at >= MOST_FINDINGS {
            said = format!("{said}\n{title}");
            continue;
        }
        said = format!("{said}\n\n{title}\n{}", text::bounded(&finding.message, MOST_MESSAGE));
        if let Some(reason) = &finding.expected {
            said = format!("{said}\nexpected: {}", text::line(reason));
        }
        if !finding.replay.is_empty() {
            said = format!("{said}\nreplay:\n{}", text::visible(&finding.replay));
        }
    }
    said
}
