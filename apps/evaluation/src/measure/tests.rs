use super::*;

#[test]
fn what_profile_prints_is_read() {
    let text = r#"{"schema": 1, "app": "x", "interrupted": false, "kernels": [], "total": {
        "name": "total", "launches": 2, "dynamic_instructions": 7, "fences": 6, "barriers": 1, "shared_stores": 5,
        "global_stores": 4, "static_fences": 3, "delayed_stores": 2,
        "flush_lengths": {"global": {"1": 3, "34": 1}, "shared": {}}, "buffer_bytes": 4096}, "warnings": []}"#;
    let profile: ProfileJson = serde_json::from_str(text).unwrap();
    assert_eq!((profile.total.dynamic_instructions, profile.total.buffer_bytes), (7, 4096));
    assert_eq!(profile.total.flush_lengths.global, BTreeMap::from([(1, 3), (34, 1)]));
}

#[test]
fn what_run_prints_is_read() {
    let text = r#"{"schema": 1, "interrupted": false, "cells": [{"pw": 0.75, "trials": 4, "failures": 1, "rate": 0.25,
        "ci95": [0.01, 0.8], "outcomes": {"pass": 3, "wrong-result": 1}, "first_failing_trial": 2}], "run_dir": "r"}"#;
    let run: RunJson = serde_json::from_str(text).unwrap();
    let [cell] = &run.cells[..] else { panic!("{run:?}") };
    assert_eq!((cell.pw, cell.rate(), cell.ci95), (0.75, 0.25, [0.01, 0.8]));
    assert_eq!(cell.outcomes["wrong-result"], 1);
}

#[test]
fn each_row_has_records_of_its_own() {
    let out = Path::new("/somewhere/evaluation");
    assert_eq!(
        run_dir(out, "cbe_dot", "no_fence", "bugaroo").unwrap(),
        "/somewhere/evaluation/runs/cbe_dot-no_fence-bugaroo"
    );
}

#[test]
fn what_takes_long_is_repeated_less_often() {
    let repetitions = |name: &str, short| repetitions(crate::catalog::program(name).unwrap(), short, 11);
    assert_eq!([repetitions("cbe_dot", false), repetitions("streamcluster", false)], [11, 4]);
    assert_eq!(repetitions("streamcluster", true), 11);
}
