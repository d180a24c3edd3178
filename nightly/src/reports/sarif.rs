//! SARIF, for tools that show results beside the source and know them again the next day.
//!
//! Source: OASIS, "Static Analysis Results Interchange Format (SARIF) Version 2.1.0". Written is one run with a rule for each kind of
//! finding, a result for each finding, and what the night does not say as notifications. Lines of the PTX are no places of
//! the program: a place without a line of the source has its kernel's name alone.

use std::path::Path;

use bugaroo_harness::sarif::{SCHEMA, physical, rule, uri};
use serde_json::{Value, json};

use crate::night::{Night, NightFinding, NightPlace, NightProgram};
use crate::plan::expect::Expected;

use super::files::{ReportError, SARIF, made};
use super::limits::{self, Limit};
use super::{diff, text};

/// The report, with the paths of files beneath a folder relative to it.
///
/// # Errors
/// When a value cannot be said in JSON.
pub fn text(night: &Night, root: Option<&Path>) -> Result<String, ReportError> {
    let text = serde_json::to_string_pretty(&log(night, root));
    text.map(|text| text + "\n").map_err(|error| made(SARIF, &error))
}

fn explained(kind: Expected) -> &'static str {
    match kind {
        Expected::WrongResult => {
            "The program's result is wrong when stores are delayed as the memory model allows."
        }
        Expected::Crash => "The program crashes when stores are delayed as the memory model allows.",
        Expected::Deadlock => "Threads of a kernel wait for each other for ever.",
        Expected::Timeout => "The program does not end in its time, and nothing goes on any more.",
        Expected::Failure => "A trial fails.",
        Expected::Race => "Two accesses to the same memory, and nothing orders them.",
        Expected::KernelError => "A fault, a trap, a misuse of a barrier or a deadlock of a kernel.",
        Expected::Verify => "A kernel's use of barriers is wrong, or cannot be verified.",
        Expected::Baseline => "The program fails although nothing is injected.",
    }
}

fn log(night: &Night, root: Option<&Path>) -> Value {
    let rules: Vec<Value> =
        Expected::ALL.into_iter().map(|(name, kind)| rule(name, explained(kind))).collect();
    let results: Vec<Value> = (night.programs.iter())
        .flat_map(|program| program.findings.iter().map(move |finding| result(night, program, finding, root)))
        .collect();
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "bugaroo", "version": night.bugaroo, "rules": rules } },
            // A run belongs to those of the same id up to the last slash.
            "automationDetails": { "id": format!("bugaroo nightly/{}/{}", night.plan, night.label) },
            "invocations": [invocation(night)],
            "columnKind": "unicodeCodePoints",
            "results": results,
            "properties": {
                "seed": night.seed.to_string(),
                "planSha256": night.plan_sha256,
                "comparedWith": night.compared_with,
            },
        }],
    })
}

fn invocation(night: &Night) -> Value {
    let notes: Vec<Value> = limits::all(night).iter().map(|limit| notification(night, limit)).collect();
    let mut invocation = json!({
        "executionSuccessful": night.complete && night.missing_shards.is_empty(),
        "toolExecutionNotifications": notes,
    });
    let times = [("startTimeUtc", Some(&night.began)), ("endTimeUtc", night.ended.as_ref())];
    for (name, time) in times {
        // The format has no place for what is no time.
        if let Some(time) = time.and_then(|time| time.parse::<jiff::Timestamp>().ok()) {
            invocation[name] = json!(time.to_string());
        }
    }
    invocation
}

fn notification(night: &Night, limit: &Limit) -> Value {
    let program = limit.program.and_then(|at| night.programs.get(at));
    let text = match program {
        Some(program) => format!("{}: {}", text::line(&program.name), limit.text),
        None => limit.text.clone(),
    };
    json!({ "level": limit.level.name(), "message": { "text": text } })
}

fn result(night: &Night, program: &NightProgram, finding: &NightFinding, root: Option<&Path>) -> Value {
    let kind = text::kind(finding.kind);
    let index = Expected::ALL.iter().position(|(_, known)| *known == finding.kind);
    let mut said = format!("{}: {}", text::line(&program.name), text::line(&finding.title));
    if !finding.message.is_empty() {
        said = format!("{said}\n{}", text::visible(&finding.message));
    }
    let suppressions: Vec<Value> = (finding.expected.iter())
        .map(
            |reason| json!({ "kind": "external", "status": "accepted", "justification": text::line(reason) }),
        )
        .collect();
    let mut result = json!({
        "ruleId": kind,
        "ruleIndex": index,
        "level": "error",
        "message": { "text": said },
        // The same line may be in two programs, and be wrong in one alone.
        "partialFingerprints": { "finding/v1": format!("{} {}", program.name, finding.fingerprint) },
        "suppressions": suppressions,
        "properties": {
            "program": program.name,
            "cells": finding.cells,
            "trialsSeen": finding.trials.seen,
            "trialsOf": finding.trials.of,
            "replay": finding.replay,
        },
    });
    let ptx: Vec<u32> = finding.places.iter().filter_map(|place| place.ptx_line).collect();
    if !ptx.is_empty() {
        result["properties"]["ptxLines"] = json!(ptx);
    }
    if night.compared_with.is_some() {
        result["baselineState"] = json!(if finding.new { "new" } else { "unchanged" });
    }
    places(&mut result, program, finding, root);
    cure(&mut result, finding, root);
    result
}

/// The place to look at first is where the result is; many tools show none that is in no file.
fn places(result: &mut Value, program: &NightProgram, finding: &NightFinding, root: Option<&Path>) {
    let in_file = finding.places.iter().position(|place| place.file.is_some() && place.line.is_some());
    let first = in_file.unwrap_or(0);
    result["locations"] = match finding.places.get(first) {
        Some(place) => json!([location(place, root)]),
        None => json!([{ "logicalLocations": [{ "name": program.name, "kind": "module" }] }]),
    };
    let others = finding.places.iter().enumerate().filter(|(at, _)| *at != first).map(|(_, place)| place);
    let related: Vec<Value> = others
        .enumerate()
        .map(|(id, place)| {
            let mut related = location(place, root);
            related["id"] = json!(id);
            related
        })
        .collect();
    if !related.is_empty() {
        result["relatedLocations"] = json!(related);
    }
}

fn location(place: &NightPlace, root: Option<&Path>) -> Value {
    let mut location =
        json!({ "logicalLocations": [{ "name": text::line(&place.kernel), "kind": "function" }] });
    if let (Some(file), Some(line)) = (&place.file, place.line) {
        location["physicalLocation"] = physical(&beneath(file, root), line);
    }
    if !place.role.is_empty() {
        location["message"] = json!({ "text": text::line(&place.role) });
    }
    location
}

/// A path relative to a folder that it is in, or else as it is.
fn beneath(file: &str, root: Option<&Path>) -> String {
    let inside = root.and_then(|root| Path::new(file).strip_prefix(root).ok());
    inside.map_or_else(|| file.to_owned(), |path| path.to_string_lossy().into_owned())
}

/// What would cure it: as edits where they can be read from the patch, or else the patch as it is.
fn cure(result: &mut Value, finding: &NightFinding, root: Option<&Path>) {
    if finding.patch.is_empty() {
        return;
    }
    let Some(files) = diff::read(&finding.patch) else {
        result["properties"]["patch"] = json!(finding.patch);
        return;
    };
    let change = |file: &diff::FileDiff| {
        // A file outside of the current folder stands in a patch without its first slash.
        let paths = finding.places.iter().filter_map(|place| place.file.as_deref());
        let whole = paths.filter(|path| path.strip_prefix('/') == Some(file.name.as_str())).min();
        let uri = uri(&beneath(whole.unwrap_or(&file.name), root));
        let replacements: Vec<Value> = (file.edits.iter())
            .map(|edit| {
                json!({
                    "deletedRegion": {
                        "startLine": edit.line,
                        "startColumn": 1,
                        "endLine": edit.line.saturating_add(edit.deleted),
                        "endColumn": 1,
                    },
                    "insertedContent": { "text": edit.inserted },
                })
            })
            .collect();
        json!({ "artifactLocation": { "uri": uri }, "replacements": replacements })
    };
    let mut fix = json!({ "artifactChanges": files.iter().map(change).collect::<Vec<_>>() });
    if !finding.patch_note.is_empty() {
        fix["description"] = json!({ "text": text::line(&finding.patch_note) });
    }
    result["fixes"] = json!([fix]);
}
