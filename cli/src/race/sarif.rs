//! Races as a SARIF log, for tools that show results beside the source.
//!
//! Source: OASIS, "Static Analysis Results Interchange Format (SARIF) Version 2.1.0". Written is one run with a rule for each
//! kind of race and for errors of kernels; a result for each race, at its later access, with the earlier one related to it.
//! Lines of the PTX are no places of the program: an access without a line of the source has its kernel's name alone.

use bugaroo_harness::names::demangled;
use bugaroo_harness::sarif::{SCHEMA, physical, rule};
use bugaroo_harness::suppressions::RuleText;
use bugaroo_harness::{Finding, FoundRace};
use bugaroo_protocol::{Race, RaceKind, RaceParty};
use serde_json::{Value, json};

use super::shown::Shown;
use crate::exit::Exit;
use bugaroo_harness::words::race as words;

/// What launches do that is an error whatever the program makes of it.
const KERNEL_ERROR: &str = "kernel-error";

/// What a kind of race is.
fn explained(kind: RaceKind) -> &'static str {
    match kind {
        RaceKind::WriteWrite => "Two writes to the same memory, and nothing orders them.",
        RaceKind::WriteRead => "A write and a later read of the same memory, and nothing orders them.",
        RaceKind::ReadWrite => "A read and a later write of the same memory, and nothing orders them.",
        RaceKind::AccessWrite => {
            "An access and a later write of the same memory, and nothing orders them; the detector has not kept what the first one was."
        }
        RaceKind::BranchOrder => {
            "Two accesses whose order is that in which a warp executes the sides of a branch."
        }
        RaceKind::BarrierDivergence => "Threads of a block that are not all there at a barrier.",
    }
}

fn rules() -> Vec<Value> {
    let mut rules: Vec<Value> =
        RaceKind::ALL.into_iter().map(|kind| rule(kind.name(), explained(kind))).collect();
    rules.push(rule(KERNEL_ERROR, "A fault, a trap, a misuse of a barrier or a deadlock of a kernel."));
    rules
}

/// A log with these results.
fn with(results: Vec<Value>, invocation: Value) -> Value {
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "bugaroo", "version": env!("CARGO_PKG_VERSION"), "rules": rules() } },
            "invocations": [invocation],
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

/// The log of a command that came to nothing.
pub fn failed(error: &str, exit: Exit) -> Value {
    let invocation = json!({
        "executionSuccessful": false,
        "exitCode": exit.code(),
        "toolExecutionNotifications": [{ "level": "error", "message": { "text": error } }],
    });
    with(Vec::new(), invocation)
}

/// The log of all that was found.
pub fn log(shown: &Shown<'_>, exit: Exit) -> Value {
    let rules: Vec<&RuleText> = shown.rules.texts().collect();
    let mut results: Vec<Value> = shown.races.races.iter().map(|found| result(found, &rules)).collect();
    results.extend(shown.summary.findings.all.iter().map(kernel_error));
    let warnings = shown.races.warnings.iter().map(|warning| warning.what.clone());
    let notes: Vec<Value> = warnings
        .chain(shown.summary.warnings.iter().cloned())
        .map(|text| json!({ "level": "warning", "message": { "text": text } }))
        .collect();
    let invocation = json!({
        "executionSuccessful": !shown.summary.interrupted,
        "exitCode": exit.code(),
        "toolExecutionNotifications": notes,
    });
    with(results, invocation)
}

fn result(found: &FoundRace, rules: &[&RuleText]) -> Value {
    let race = &found.race;
    let [edge, cure] = words::missing(race);
    let index = RaceKind::ALL.iter().position(|kind| *kind == race.kind);
    let text = format!(
        "{}: {}; then {}. {}. Missing: {edge}; what adds it: {cure}. Seen in {} of {} trials.",
        words::title(race),
        words::does(&race.first),
        words::does(&race.second),
        words::memory(race),
        found.trials.seen,
        found.trials.of
    );
    let suppressed = found.suppressed.and_then(|at| rules.get(at));
    let suppressions: Vec<Value> = suppressed
        .iter()
        .map(|rule| json!({ "kind": "external", "justification": rule.reason, "status": "accepted" }))
        .collect();
    let mut earlier = location(&race.first);
    earlier["id"] = json!(0);
    earlier["message"] = json!({ "text": format!("first: {}", words::does(&race.first)) });
    json!({
        "ruleId": race.kind.name(),
        "ruleIndex": index,
        "level": "error",
        "message": { "text": text },
        "locations": [location(&race.second)],
        "relatedLocations": [earlier],
        "suppressions": suppressions,
        "partialFingerprints": { "places/v1": fingerprint(race) },
        "occurrenceCount": found.race.count.max(1),
        "properties": {
            "detector": race.detector,
            "class": race.class,
            "space": if race.shared { "shared" } else { "global" },
            "missing": race.missing,
            "proven": race.proven,
            "trials": found.trials.seen,
            "firstFailingTrial": found.first_trial,
        },
    })
}

fn kernel_error(finding: &Finding) -> Value {
    let said = if finding.summary.is_empty() { &finding.what } else { &finding.summary };
    let at = finding.source.as_ref().map(|at| physical(&at.file, at.line));
    let mut location = json!({ "logicalLocations": [logical(&finding.kernel, &finding.kernel_mangled)] });
    if let Some(at) = at {
        location["physicalLocation"] = at;
    }
    json!({
        "ruleId": KERNEL_ERROR,
        "ruleIndex": RaceKind::ALL.len(),
        "level": "error",
        "message": { "text": format!("kernel {}: {said}", finding.kernel) },
        "locations": [location],
        "properties": { "kind": finding.kind },
    })
}

/// What stays the same as long as the two lines do.
fn fingerprint(race: &Race) -> String {
    let mut places = [words::place(&race.first), words::place(&race.second)];
    places.sort();
    format!("{} {} {}", race.kind.name(), places[0], places[1])
}

fn location(party: &RaceParty) -> Value {
    let mut location = json!({ "logicalLocations": [logical(&demangled(&party.kernel), &party.kernel)] });
    if let Some(source) = words::source(party) {
        location["physicalLocation"] = physical(&source.file, source.line);
    }
    location
}

fn logical(name: &str, mangled: &str) -> Value {
    json!({ "name": name, "decoratedName": mangled, "kind": "function" })
}
