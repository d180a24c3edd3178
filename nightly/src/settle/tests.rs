use std::fs;

use bugaroo_protocol::Model;
use jiff::civil::{Date, date};
use serde_json::{Value, json};

use super::settle;
use crate::night::{Night, NightProgram, NightVerdict, Stage, Status};
use crate::plan::Plan;

const KEY: &str = "store-buffer pw=0.75";
const TODAY: Date = date(2030, 6, 15);

/// A plan of one program with these expectations: what, further keys, the day.
fn plan(expectations: &[(&str, &str, &str)]) -> Plan {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.toml");
    let mut text =
        "[[program]]\nname = \"app\"\nrun = [\"./app\"]\nmodels = [\"store-buffer\", \"ptx\"]\n".to_owned();
    for (finding, more, until) in expectations {
        text += &format!(
            "[[program.expect]]\nfinding = \"{finding}\"\n{more}\nuntil = {until}\nreason = \"known\"\n"
        );
    }
    fs::write(&path, text).unwrap();
    Plan::read(&path).unwrap()
}

/// A cell with so many passes and failures, of this model.
fn cell(model: Model, pass: u64, wrong: u64) -> Value {
    let name = if model == Model::Ptx { "ptx" } else { "store-buffer" };
    let mut outcomes = json!({});
    for (outcome, count) in [("pass", pass), ("wrong-result", wrong)] {
        if count > 0 {
            outcomes[outcome] = json!(count);
        }
    }
    json!({
        "key": format!("{name} pw=0.75"), "kind": "trials", "model": name, "pw": 0.75, "pr": 0.5, "buffer": 256,
        "scheduler": "random", "trials": pass + wrong, "planned": pass + wrong, "failures": wrong, "rate": 0.0,
        "ci95": [0.0, 1.0], "outcomes": outcomes, "first_failing_trial": null, "delayed_stores": 1, "forgetful": 0,
        "spent_ms": 1, "status": "pass", "reason": "", "change": { "kind": "first" }, "before": [],
    })
}

/// A finding of these cells, at a line.
fn finding(kind: &str, line: u32, cells: &[&str]) -> Value {
    json!({
        "fingerprint": format!("{kind} {line}"), "kind": kind, "title": format!("{kind} at {line}"), "message": "",
        "places": [{ "role": "store", "kernel": "k", "file": "a.cu", "line": line, "ptx_line": null, "excerpt": null }],
        "cells": cells, "trials": { "seen": 1, "of": 10 }, "replay": "", "patch": "", "patch_note": "", "new": true,
        "expected": null,
    })
}

fn night(cells: &[Value], findings: &[Value]) -> Night {
    let program = json!({
        "name": "app", "run": ["./app"], "sha256": null, "error": null, "baseline_ms": null,
        "without_fork_server": null, "cells": cells, "findings": findings, "kernels": [], "flush_lengths": {},
        "expectations": [], "notes": [],
    });
    serde_json::from_value(json!({
        "schema": 1, "plan": "p", "label": "n", "plan_sha256": "", "seed": 1, "began": "", "ended": null,
        "complete": true, "shards": 1, "missing_shards": [], "bugaroo": "0", "verdict": "green",
        "compared_with": null, "programs": [program], "notes": [],
    }))
    .unwrap()
}

/// Settles it: the verdict, and how the first cell stands.
fn settled(night: &mut Night, plan: &Plan) -> (NightVerdict, Status) {
    settle(night, plan, TODAY);
    (night.verdict, night.programs[0].cells[0].status)
}

#[test]
fn a_night_without_findings_is_green() {
    let mut night = night(&[cell(Model::StoreBuffer, 10, 0)], &[]);
    assert_eq!(settled(&mut night, &plan(&[])), (NightVerdict::Green, Status::Pass));
    assert_eq!(night.notes, Vec::<String>::new());
}

#[test]
fn one_failing_trial_makes_it_red() {
    let mut night = night(&[cell(Model::StoreBuffer, 9999, 1)], &[finding("wrong-result", 4, &[KEY])]);
    assert_eq!(settled(&mut night, &plan(&[])), (NightVerdict::Red, Status::Fail));
    assert_eq!(night.programs[0].cells[0].reason, "wrong-result at 4");
}

#[test]
fn failures_are_red_even_without_a_finding() {
    let mut night = night(&[cell(Model::StoreBuffer, 9, 1)], &[]);
    assert_eq!(settled(&mut night, &plan(&[])).1, Status::Fail);
}

#[test]
fn what_is_expected_is_so_until_its_day() {
    let known = |until| plan(&[("failure", "", until)]);
    let fresh = || night(&[cell(Model::StoreBuffer, 9, 1)], &[finding("wrong-result", 4, &[KEY])]);
    let mut last_day = fresh();
    assert_eq!(settled(&mut last_day, &known("2030-06-15")), (NightVerdict::Green, Status::Expected));
    assert_eq!(last_day.programs[0].findings[0].expected.as_deref(), Some("known"));
    let mut day_after = fresh();
    assert_eq!(settled(&mut day_after, &known("2030-06-14")), (NightVerdict::Red, Status::Fail));
    let said = &day_after.programs[0].expectations;
    assert!(said.len() == 1 && said[0].contains("has expired on 2030-06-14"), "{said:?}");
}

#[test]
fn an_expectation_of_one_kind_covers_no_other() {
    let mut night = night(&[cell(Model::StoreBuffer, 9, 1)], &[finding("wrong-result", 4, &[KEY])]);
    let plan = plan(&[("deadlock", "", "2031-01-01")]);
    assert_eq!(settled(&mut night, &plan), (NightVerdict::Red, Status::Fail));
    let said = &night.programs[0].expectations;
    assert!(said.len() == 1 && said[0].contains("expected and not seen"), "{said:?}");
}

#[test]
fn an_expectation_holds_at_its_place_and_under_its_model_only() {
    let both = [cell(Model::StoreBuffer, 9, 1), cell(Model::Ptx, 9, 1)];
    for (more, green) in [
        ("place = \"a.cu:4\"", true),
        ("place = \"a.cu:5\"", false),
        ("model = \"store-buffer\"", true),
        ("model = \"ptx\"", false),
    ] {
        let mut night = night(&both[..1], &[finding("wrong-result", 4, &[KEY])]);
        let verdict = settled(&mut night, &plan(&[("wrong-result", more, "2031-01-01")])).0;
        assert_eq!(verdict == NightVerdict::Green, green, "{more}");
    }
    // What both models show is not known under one of them, but it was seen.
    let found = [finding("wrong-result", 4, &[KEY, "ptx pw=0.75"])];
    let mut one = night(&both, &found);
    let under = |model: &'static str| ("wrong-result", model, "2031-01-01");
    let (ptx, buffers) = (under("model = \"ptx\""), under("model = \"store-buffer\""));
    assert_eq!(settled(&mut one, &plan(&[ptx])).0, NightVerdict::Red);
    assert_eq!(one.programs[0].expectations, Vec::<String>::new());
    // Two expectations know it under both.
    let mut two = night(&both, &found);
    assert_eq!(settled(&mut two, &plan(&[ptx, buffers])), (NightVerdict::Green, Status::Expected));
    assert_eq!(two.programs[0].expectations, Vec::<String>::new());
}

#[test]
fn an_expectation_under_a_model_says_nothing_of_trials_that_choose_theirs() {
    let mut explored = cell(Model::StoreBuffer, 9, 1);
    explored["kind"] = json!("explore");
    explored["key"] = json!("explore");
    let fresh = || night(&[explored.clone()], &[finding("wrong-result", 4, &["explore"])]);
    let known = |more| plan(&[("failure", more, "2031-01-01")]);
    assert_eq!(settled(&mut fresh(), &known("model = \"store-buffer\"")).0, NightVerdict::Red);
    assert_eq!(settled(&mut fresh(), &known("")).0, NightVerdict::Green);
}

/// A night whose kernel `k` has this verdict.
fn verified(verdict: &str, status: &str, findings: &[Value]) -> Night {
    let mut night = night(&[], findings);
    let kernel = json!({ "name": "k", "verdict": verdict, "launches": 1, "status": status, "text": "" });
    night.programs[0].kernels = vec![serde_json::from_value(kernel).unwrap()];
    night
}

#[test]
fn each_error_of_a_kernel_is_expected_by_itself() {
    let found = [finding("verify", 4, &[]), finding("verify", 9, &[])];
    let at = |line| ("verify", line, "2031-01-01");
    let (first, second) = (at("place = \"a.cu:4\""), at("place = \"a.cu:9\""));
    for (expected, green) in [
        (&[first][..], false),
        (&[first, second], true),
        (&[at("")], true),
        (&[at("place = \"b.cu:4\"")], false),
    ] {
        let mut night = verified("race", "fail", &found);
        settle(&mut night, &plan(expected), TODAY);
        assert_eq!(night.verdict == NightVerdict::Green, green, "{expected:?}");
        let status = if green { Status::Expected } else { Status::Fail };
        assert_eq!(night.programs[0].kernels[0].status, status, "{expected:?}");
    }
    // One that has expired does not hide another.
    let mut night = verified("race", "fail", &found[..1]);
    settle(&mut night, &plan(&[("verify", "", "2030-01-01"), at("")]), TODAY);
    assert_eq!(night.programs[0].kernels[0].status, Status::Expected);
}

#[test]
fn a_kernel_without_a_verdict_tests_nothing() {
    let mut night = verified("not-verifiable", "nothing", &[]);
    settle(&mut night, &plan(&[]), TODAY);
    assert_eq!(night.verdict, NightVerdict::Red);
    assert!(night.notes[0].starts_with("nothing was tested"), "{:?}", night.notes);
    let mut night = verified("verified", "pass", &[]);
    settle(&mut night, &plan(&[]), TODAY);
    assert_eq!(night.verdict, NightVerdict::Green);
}

#[test]
fn unexpected_findings_come_first_and_new_ones_before_known_ones() {
    let mut old = finding("crash", 7, &[KEY]);
    old["new"] = json!(false);
    let found = [finding("wrong-result", 4, &[KEY]), old, finding("crash", 9, &[KEY])];
    let mut night = night(&[cell(Model::StoreBuffer, 9, 3)], &found);
    settle(&mut night, &plan(&[("wrong-result", "", "2031-01-01")]), TODAY);
    let order: Vec<&str> = night.programs[0].findings.iter().map(|f| f.fingerprint.as_str()).collect();
    assert_eq!(order, ["crash 9", "crash 7", "wrong-result 4"]);
}

#[test]
fn a_night_that_tested_nothing_is_red() {
    let mut none = night(&[cell(Model::StoreBuffer, 0, 0)], &[]);
    assert_eq!(settled(&mut none, &plan(&[])), (NightVerdict::Red, Status::Nothing));
    assert!(none.notes[0].starts_with("nothing was tested"), "{:?}", none.notes);
    let mut slow = cell(Model::StoreBuffer, 0, 0);
    slow["trials"] = json!(5);
    slow["outcomes"] = json!({ "slow": 3, "killed": 2 });
    let mut night = night(&[slow], &[]);
    assert_eq!(settled(&mut night, &plan(&[])), (NightVerdict::Red, Status::Nothing));
    assert!(night.programs[0].cells[0].reason.contains("slow"), "{night:?}");
}

#[test]
fn a_program_that_fails_without_injection_is_red_unless_that_is_known() {
    let broken = || {
        let mut night = night(&[cell(Model::StoreBuffer, 0, 0)], &[]);
        let error = json!({ "stage": "baseline", "message": "exit code 3", "expected": null });
        night.programs[0].error = Some(serde_json::from_value(error).unwrap());
        night
    };
    let mut unknown = broken();
    settle(&mut unknown, &plan(&[]), TODAY);
    assert_eq!(unknown.programs[0].cells[0].reason, "the program fails without injection");
    let mut known = broken();
    settle(&mut known, &plan(&[("baseline", "", "2031-01-01")]), TODAY);
    let error = known.programs[0].error.as_ref().unwrap();
    assert_eq!(error.expected.as_deref(), Some("known"));
    // Expected or not, nothing was tested.
    assert_eq!((unknown.verdict, known.verdict), (NightVerdict::Red, NightVerdict::Red));
    // Beside another program that was, the one that is known to fail is no news.
    let baseline = plan(&[("baseline", "", "2031-01-01")]);
    let mut beside = broken();
    let other = night(&[cell(Model::StoreBuffer, 9, 0)], &[]);
    beside.programs.extend(
        other.programs.into_iter().map(|program| NightProgram { name: "other".to_owned(), ..program }),
    );
    assert_eq!(settled(&mut beside, &baseline), (NightVerdict::Green, Status::Expected));
    // That it was not built is another matter.
    let mut unbuilt = broken();
    unbuilt.programs[0].error.as_mut().unwrap().stage = Stage::Build;
    assert_eq!(settled(&mut unbuilt, &baseline), (NightVerdict::Red, Status::Nothing));
    assert!(unbuilt.programs[0].expectations[0].contains("expected and not seen"));
}

#[test]
fn missing_shards_make_it_red_and_are_named() {
    let mut night = night(&[cell(Model::StoreBuffer, 10, 0)], &[]);
    night.missing_shards = vec![2, 5];
    assert_eq!(settled(&mut night, &plan(&[])).0, NightVerdict::Red);
    assert_eq!(night.notes, ["the results of these shards are missing: 2, 5"]);
}

#[test]
fn a_night_that_is_not_complete_is_red() {
    let mut night = night(&[cell(Model::StoreBuffer, 10, 0)], &[]);
    night.complete = false;
    assert_eq!(settled(&mut night, &plan(&[])), (NightVerdict::Red, Status::Pass));
    let mut stopped = super::tests::night(&[cell(Model::StoreBuffer, 0, 0)], &[]);
    stopped.complete = false;
    settle(&mut stopped, &plan(&[]), TODAY);
    assert_eq!(stopped.programs[0].cells[0].reason, "no trial was run: the night was stopped");
}
