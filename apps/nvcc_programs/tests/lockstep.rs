//! `--warp-synchronous` from the command line, under the models that are simulated: it orders a warp for itself alone.

use std::path::Path;

use crate::support::{Runtime, build, nvcc, run};
use serde_json::Value;

const MODELS: [&str; 2] = ["store-buffer", "ptx"];

/// A run's exit code, and its report.
fn trials(options: &[&str], program: &[&Path]) -> (Option<i32>, Value) {
    let fixed = ["--warp-synchronous", "--seed", "7", "--format", "json"];
    let ran = run(&[options, &fixed].concat(), program);
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    let report = serde_json::from_slice(&ran.stdout).unwrap_or_else(|_| panic!("no report: {said}"));
    (ran.status.code(), report)
}

#[test]
fn a_missing_fence_between_two_warps_shows() {
    let Some(nvcc) = nvcc() else { return };
    let program = build(&nvcc, "two_warps.cu", Runtime::Static);
    for model in MODELS {
        let options = ["run", "--model", model, "--trials", "1000", "--pw", "0.75"];
        let (code, report) = trials(&options, &[&program, Path::new("fenced")]);
        assert_eq!((code, &report["cells"][0]["failures"]), (Some(0), &0.into()), "{model}: {report:#}");
        let (code, report) = trials(&options, &[&program]);
        assert_eq!(code, Some(1), "{model}: {report:#}");
        assert!(report["cells"][0]["failures"].as_u64() > Some(2), "{model}: {report:#}");
    }
}

#[test]
fn such_trials_can_be_replayed_and_searched() {
    let Some(nvcc) = nvcc() else { return };
    let program = build(&nvcc, "two_warps.cu", Runtime::Static);
    for model in MODELS {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let out = folder.path().join("run");
        let out = out.to_str().expect("a path in UTF-8");
        let options = ["run", "--model", model, "--trials", "100", "--pw", "0.75", "--out", out];
        let (_, report) = trials(&options, &[&program]);
        let failing = report["cells"][0]["first_failing_trial"].as_u64().expect("some trial fails");
        let replayed = run(&["replay", out, &failing.to_string()], &[]);
        let printed = String::from_utf8_lossy(&replayed.stdout).into_owned();
        assert_eq!(replayed.status.code(), Some(1), "{model}: {printed}");
        assert!(printed.contains("as recorded") && !printed.contains("NOT"), "{model}: {printed}");

        let (code, report) = trials(&["bisect", "--model", model], &[&program]);
        assert_eq!(code, Some(1), "{model}: {report:#}");
        assert!(report["missing"].as_array().is_some_and(|found| !found.is_empty()), "{model}: {report:#}");
    }
}
