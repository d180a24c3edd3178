//! The whole way on a real program: `cbe_dot` on the virtual GPU, through the built `libcuda.so`.
//!
//! Seeds are fixed, so every count is the same on every machine. The trials are fewer than a user's
//! thousand; the evaluation does the whole table.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use assert_cmd::Command;
use serde_json::Value;
use tempfile::TempDir;

const VARIANTS: [&str; 3] = ["original_2_fence", "1_fence", "no_fence"];

/// The built program, beside the built `bugaroo`.
fn cbe_dot() -> PathBuf {
    let built = Path::new(env!("CARGO_BIN_EXE_bugaroo")).with_file_name("cbe_dot");
    assert!(
        built.exists() && built.with_file_name("libcuda.so").exists(),
        "{} or libcuda.so beside it is missing: build the whole workspace first, in the same profile",
        built.display()
    );
    built
}

/// Runs `bugaroo COMMAND OPTIONS… cbe_dot --variant VARIANT` in an empty state folder.
fn bugaroo(state: &TempDir, options: &[&str], variant: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_bugaroo"))
        .env("XDG_STATE_HOME", state.path())
        .env_remove("BUGAROO_DRIVER")
        // Source lines are relative to here.
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))
        .args(options)
        .arg(cbe_dot())
        .args(["--variant", variant])
        .output()
        .expect("bugaroo can be started")
}

/// What a command printed as JSON, after it ended with this code.
fn json(output: &Output, code: i32) -> Value {
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{error}");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|wrong| panic!("{wrong}: {error}"))
}

/// The line of `kernel.cu` that holds this text.
fn line_of(text: &str) -> u64 {
    let kernel = Path::new(env!("CARGO_MANIFEST_DIR")).join("../apps/cbe_dot/kernel.cu");
    let source = fs::read_to_string(kernel).expect("kernel.cu is in the repository");
    source.lines().position(|line| line.contains(text)).expect("the kernel has such a line") as u64 + 1
}

fn state() -> TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

/// The paper's Table IV for `cbe_dot`, under one model.
fn table_iv(model: &str) {
    for variant in VARIANTS {
        let state = state();
        let options = ["run", "--model", model, "--pw", "0.25,0.5,0.75,1", "--trials", "100", "--seed", "1"];
        let output = bugaroo(&state, &[&options[..], &["--format", "json"]].concat(), variant);
        let report = json(&output, i32::from(variant == "no_fence"));
        let rates: Vec<f64> = report["cells"]
            .as_array()
            .expect("cells")
            .iter()
            .map(|cell| cell["rate"].as_f64().expect("a rate"))
            .collect();
        if variant == "no_fence" {
            assert!(rates[0] > 0.5 && rates[1..].iter().all(|rate| *rate > 0.9), "{model}: {rates:?}");
        } else {
            assert_eq!(rates, [0.0; 4], "{model} {variant}");
        }
    }
}

#[test]
fn table_iv_under_store_buffer() {
    table_iv("store-buffer");
}

#[test]
fn table_iv_under_the_papers_own_model() {
    table_iv("bugaroo");
}

#[test]
fn bisect_names_the_lines_of_lock_and_unlock_whatever_the_seed() {
    let state = state();
    let answer = |seed: &str| {
        let options = ["bisect", "--trials", "100", "--seed", seed, "--format", "json"];
        let report = json(&bugaroo(&state, &options, "no_fence"), 1);
        // With 100 trials, failures of 1 in 50 are to be seen.
        assert_eq!(report["assurance"]["rate"], 0.02);
        let verified = &report["verified"];
        assert_eq!(verified["failures"], 0, "{verified}");
        for (at, model) in ["store-buffer", "ptx"].iter().enumerate() {
            let by = &verified["by_model"][at];
            assert_eq!((&by["model"], &by["failures"]), (&Value::from(*model), &0.into()), "{verified}");
            assert!(by["trials"].as_u64().is_some_and(|trials| trials >= 228), "{verified}");
        }
        let mut missing = report["missing"].clone();
        for fence in missing.as_array_mut().expect("missing fences") {
            fence.as_object_mut().expect("a fence").remove("trials");
        }
        (missing, report["redundant"].clone())
    };
    let (missing, redundant) = answer("1");
    // The lock's, which loads need, and the unlock's: each in the function that does the atomic.
    assert_eq!(missing.as_array().map(Vec::len), Some(2), "{missing:#}");
    for (at, line) in [(0, "atomicCAS(mutex, 0, 1)"), (1, "atomicExch(mutex, 0);")] {
        assert_eq!(missing[at]["source"]["file"], "apps/cbe_dot/kernel.cu");
        assert_eq!(missing[at]["access"]["source"]["line"], line_of(line), "{missing:#}");
        assert_eq!(missing[at]["scope"], "gpu");
    }
    assert_eq!(redundant, Value::Array(vec![]));
    for seed in ["2", "3"] {
        assert_eq!(answer(seed), (missing.clone(), redundant.clone()), "seed {seed}");
    }
}

#[test]
fn bisect_finds_the_locks_fence_redundant_and_says_what_the_model_cannot_show() {
    let state = state();
    let options = ["bisect", "--model", "store-buffer", "--trials", "100", "--format", "json"];
    let report = json(&bugaroo(&state, &options, "original_2_fence"), 1);
    assert_eq!(report["missing"], Value::Array(vec![]));
    let redundant = report["redundant"].as_array().expect("redundant fences");
    assert_eq!(redundant.len(), 1, "{report:#}");
    assert_eq!(redundant[0]["model"], "store-buffer");
    assert_eq!(redundant[0]["source"]["line"], line_of("if constexpr (kFence) __threadfence();"));
    assert!(report["caveats"][0].as_str().expect("a caveat").contains("missing acquire"));
    // One model alone makes no patch; both need it.
    assert_eq!(report["patch"], "");
    assert!(report["unpatched"][0].as_str().expect("a reason").contains("under store-buffer alone"));
    let options = ["bisect", "--trials", "100", "--format", "json"];
    let report = json(&bugaroo(&state, &options, "original_2_fence"), 0);
    assert_eq!(report["redundant"], Value::Array(vec![]));
}

#[test]
fn bisect_shows_the_fence_to_add_as_a_diff_and_goes_on_where_it_was_cut_off() {
    let state = state();
    let out = state.path().join("search");
    let directory = out.to_str().expect("a UTF-8 path");
    // One trial at a time: of those that run beside the one that answers a question, some are written down and some not.
    let options = ["bisect", "--trials", "20", "--jobs", "1", "--out", directory];
    let output = bugaroo(&state, &options, "no_fence");
    let (text, error) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(text.contains("\n+    __threadfence();\n"), "{text}");
    let report = fs::read(out.join("bisect.json")).expect("the report");

    // As a kill leaves it: half of the trials, the last of them cut off.
    let path = out.join("trials.jsonl");
    let trials = fs::read_to_string(&path).expect("trials");
    fs::write(&path, &trials[..trials.len() / 2]).expect("trials");
    fs::remove_file(out.join("bisect.json")).expect("the report");
    let again = bugaroo(&state, &options, "no_fence");
    let error = String::from_utf8_lossy(&again.stderr);
    assert_eq!((again.status.code(), &again.stdout), (Some(1), &output.stdout), "{error}");
    assert!(error.contains("going on with the search in"), "{error}");
    assert_eq!(fs::read(out.join("bisect.json")).expect("the report"), report);
    assert!(fs::read_to_string(&path).expect("trials").lines().count() >= trials.lines().count() - 1);

    let other = bugaroo(&state, &options, "1_fence");
    let error = String::from_utf8_lossy(&other.stderr);
    assert_eq!(other.status.code(), Some(2), "{error}");
    assert!(error.contains("args is ["), "{error}");
}

#[test]
fn two_hundred_failing_trials_replay_to_the_same_outcome_and_memory() {
    let state = state();
    let out = state.path().join("run");
    let directory = out.to_str().expect("a UTF-8 path");
    let options = ["run", "--trials", "205", "--seed", "3", "--out", directory, "--format", "json"];
    json(&bugaroo(&state, &options, "no_fence"), 1);
    let records = fs::read_to_string(out.join("trials.jsonl")).expect("records");
    let failing: Vec<Value> = records
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("a record a line"))
        .filter(|record| record["outcome"] == "wrong-result")
        .take(200)
        .collect();
    assert_eq!(failing.len(), 200);
    for record in failing {
        assert!(record["digest"].is_string(), "memory is compared, too: {record}");
        let replay = Command::new(env!("CARGO_BIN_EXE_bugaroo"))
            .args(["replay", directory, &record["trial"].to_string()])
            .output()
            .expect("bugaroo can be started");
        let text = String::from_utf8_lossy(&replay.stdout);
        // 1: it failed again, as recorded; 5 would say that it went otherwise.
        assert_eq!(replay.status.code(), Some(1), "{text}");
        assert!(text.contains("as recorded: outcome") && text.contains("device memory"), "{text}");
    }
}
