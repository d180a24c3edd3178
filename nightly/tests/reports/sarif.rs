//! SARIF: what the specification requires, and what readers of it lean on.

use std::collections::BTreeSet;
use std::path::Path;

use bugaroo_nightly::night::Night;
use bugaroo_nightly::reports;
use serde_json::{Value, json};

use super::nights;

fn read(night: &Night) -> Value {
    let text = reports::sarif::text(night, Some(Path::new("/home/ci/project"))).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value[name].as_array().map_or(&[], Vec::as_slice)
}

/// Holds a location against the specification: what it has is well-formed.
fn check(location: &Value) {
    let physical = &location["physicalLocation"];
    if !physical.is_null() {
        let uri = physical["artifactLocation"]["uri"].as_str().unwrap();
        assert!(uri.bytes().all(|byte| byte.is_ascii_graphic() && !b"<>\"\\^`{}|".contains(&byte)), "{uri}");
        assert!(physical["region"]["startLine"].as_u64().unwrap() >= 1);
    }
    assert!(!list(location, "logicalLocations").is_empty());
}

#[test]
fn every_night_has_what_the_specification_requires() {
    for (name, night) in nights::all() {
        let log = read(&night);
        assert_eq!(log["version"], "2.1.0");
        assert!(log["$schema"].as_str().unwrap().ends_with("sarif-schema-2.1.0.json"));
        let run = &log["runs"][0];
        let driver = &run["tool"]["driver"];
        assert_eq!(driver["name"], "bugaroo");
        let rules: Vec<&Value> = list(driver, "rules").iter().map(|rule| &rule["id"]).collect();
        assert_eq!(rules.iter().map(|id| id.as_str()).collect::<BTreeSet<_>>().len(), 9, "no rule twice");
        assert!(run["invocations"][0]["executionSuccessful"].is_boolean());
        for note in list(&run["invocations"][0], "toolExecutionNotifications") {
            assert!(["error", "warning", "note"].contains(&note["level"].as_str().unwrap()));
            assert!(!note["message"]["text"].as_str().unwrap().is_empty());
        }
        let all: usize = night.programs.iter().map(|program| program.findings.len()).sum();
        assert_eq!(list(run, "results").len(), all, "{name}");
        for result in list(run, "results") {
            assert_eq!(result["level"], "error");
            assert_eq!(rules[result["ruleIndex"].as_u64().unwrap() as usize], &result["ruleId"]);
            assert!(!result["message"]["text"].as_str().unwrap().is_empty());
            assert!(result["partialFingerprints"]["finding/v1"].is_string());
            assert_eq!(list(result, "locations").len(), 1);
            list(result, "locations").iter().chain(list(result, "relatedLocations")).for_each(check);
        }
    }
}

#[test]
fn a_race_has_its_two_places_its_cure_and_whether_it_is_new() {
    let night = nights::mixed();
    let log = read(&night);
    let result = &log["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], "race");
    assert_eq!(result["baselineState"], "new");
    assert_eq!(log["runs"][0]["results"][1]["baselineState"], "unchanged");
    let at = &result["locations"][0]["physicalLocation"];
    assert_eq!(at["artifactLocation"]["uri"], "src/reduce.cu");
    assert_eq!(at["region"]["startLine"], 40);
    assert_eq!(result["relatedLocations"][0]["message"]["text"], "first access");
    let change = &result["fixes"][0]["artifactChanges"][0];
    assert_eq!(change["artifactLocation"]["uri"], "src/reduce.cu");
    let region = json!({ "startLine": 42, "startColumn": 1, "endLine": 42, "endColumn": 1 });
    let replacement =
        json!({ "deletedRegion": region, "insertedContent": { "text": "        __threadfence();\n" } });
    assert_eq!(change["replacements"], json!([replacement]));
    assert_eq!(result["suppressions"], json!([]));
    assert_eq!(log["runs"][0]["invocations"][0]["executionSuccessful"], false);
    let notes = list(&log["runs"][0]["invocations"][0], "toolExecutionNotifications");
    for part in ["shards 3, 7", "identifier", "4 trials slow", "the disk had room"] {
        assert!(
            notes.iter().any(|note| note["message"]["text"].as_str().unwrap().contains(part)),
            "{part}: {notes:#?}"
        );
    }
}

#[test]
fn a_night_without_one_before_compares_nothing() {
    let log = read(&Night { compared_with: None, ..nights::mixed() });
    let results = list(&log["runs"][0], "results");
    assert!(!results.is_empty() && results.iter().all(|result| result.get("baselineState").is_none()));
}

#[test]
fn what_is_expected_is_suppressed_with_its_reason() {
    let log = read(&nights::mixed());
    let suppressed: Vec<&Value> = list(&log["runs"][0], "results")
        .iter()
        .filter(|result| !list(result, "suppressions").is_empty())
        .collect();
    let [one] = suppressed[..] else { panic!("{suppressed:?}") };
    assert_eq!(one["suppressions"][0]["kind"], "external");
    assert_eq!(one["suppressions"][0]["justification"], "known since the port; see the file's head");
}

#[test]
fn paths_beneath_the_folder_are_relative_and_others_are_whole() {
    let mut night = nights::mixed();
    let finding = &mut night.programs[0].findings[0];
    finding.places[0].file = Some("/home/ci/project/src/a b.cu".into());
    finding.places[1].file = Some("/usr/include/cub/ü.cuh".into());
    finding.patch = "a fence after line 40".into();
    let result = &read(&night)["runs"][0]["results"][0];
    let uri = |location: &Value| location["physicalLocation"]["artifactLocation"]["uri"].clone();
    assert_eq!(uri(&result["locations"][0]), "src/a%20b.cu");
    assert_eq!(uri(&result["relatedLocations"][0]), "file:///usr/include/cub/%C3%BC.cuh");
    assert_eq!(result["properties"]["patch"], "a fence after line 40");
    assert!(result.get("fixes").is_none());
}

#[test]
fn a_place_in_no_file_has_its_kernel_alone() {
    let mut night = nights::mixed();
    for place in &mut night.programs[0].findings[0].places {
        (place.file, place.line) = (None, None);
    }
    let result = &read(&night)["runs"][0]["results"][0];
    assert!(result["locations"][0].get("physicalLocation").is_none());
    assert_eq!(
        result["locations"][0]["logicalLocations"][0]["name"],
        "reduce(float const*, float*, unsigned int)"
    );
    assert_eq!(result["properties"]["ptxLines"], json!([280, 280]));
}
