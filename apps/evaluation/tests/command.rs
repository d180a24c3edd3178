//! The whole command, with the built `bugaroo` and programs, on few trials.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

/// `evaluation` with these arguments, its results in a folder of our own.
fn evaluation(place: &TempDir, arguments: &[&str]) -> Command {
    let built = Path::new(env!("CARGO_BIN_EXE_evaluation"));
    for file in ["bugaroo", "libcuda.so", "cbe_dot", "kmeans"] {
        assert!(
            built.with_file_name(file).exists(),
            "{file} is missing beside {}: build the whole workspace first, in the same profile",
            built.display()
        );
    }
    let mut command = Command::new(built);
    command.arg("--out").arg(out(place)).args(arguments).stdin(Stdio::null());
    command
}

fn out(place: &TempDir) -> PathBuf {
    place.path().join("evaluation")
}

fn run(place: &TempDir, arguments: &[&str], code: i32) -> Output {
    let output = evaluation(place, arguments).output().expect("the command can be started");
    assert_eq!(output.status.code(), Some(code), "{}", String::from_utf8_lossy(&output.stderr));
    output
}

fn results(place: &TempDir) -> Value {
    let text = fs::read(out(place).join("evaluation.json")).expect("there are results");
    serde_json::from_slice(&text).expect("they are JSON")
}

#[test]
fn a_later_run_adds_to_the_results_and_measures_nothing_twice() {
    let place = tempfile::tempdir().unwrap();
    let common = ["--short", "--trials", "3"];
    run(&place, &[&common[..], &["--only", "kmeans"]].concat(), 0);
    let first = results(&place);
    let both = [&common[..], &["--only", "kmeans", "--only", "cbe_dot"]].concat();
    run(&place, &both, 0);
    let second = results(&place);
    for part in ["profiles", "timings", "rates"] {
        assert_eq!(first[part][0], second[part][0], "{part}");
    }
    assert_eq!(second["rates"].as_array().unwrap().len(), 5);
    run(&place, &both, 0);
    assert_eq!(results(&place), second);

    let report = fs::read_to_string(out(&place).join("README.md")).unwrap();
    for row in ["| kmeans | 0 (0–0.708) | 0 |", "| cbe_dot no_fence | 1 (0.292–1) | 1 |", "| underfenced |"]
    {
        assert!(report.contains(row), "{row}: {report}");
    }
    let figure = fs::read_to_string(out(&place).join("figure3.svg")).unwrap();
    assert!(figure.contains("(a) cbe_dot") && figure.contains("(b) kmeans"), "{figure}");
    let figure = fs::read_to_string(out(&place).join("figure4.svg")).unwrap();
    assert!(figure.contains("cbe_dot") && !figure.contains("kmeans"), "{figure}");

    // Results of other settings are left alone.
    let refused = run(&place, &["--short", "--trials", "4", "--only", "kmeans"], 3);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains("trials 3 instead of 4"), "{said}");
    assert_eq!(results(&place), second);
}

#[test]
fn an_interrupted_run_shows_what_it_has_and_goes_on_where_it_was() {
    let place = tempfile::tempdir().unwrap();
    let arguments = ["--short", "--trials", "25", "--only", "cbe_dot"];
    let mut running = evaluation(&place, &arguments).stderr(Stdio::null()).spawn().unwrap();
    let trials = out(&place).join("runs/cbe_dot-original_2_fence-store-buffer/trials.jsonl");
    while !fs::metadata(&trials).is_ok_and(|file| file.len() > 0) {
        assert_eq!(running.try_wait().unwrap(), None, "it ended too early");
        thread::sleep(Duration::from_millis(5));
    }
    let killed = Command::new("kill").args(["-INT", &running.id().to_string()]).status().unwrap();
    assert!(killed.success());
    assert_eq!(running.wait().unwrap().code(), Some(130));
    let before = fs::read_to_string(&trials).unwrap();
    assert!(out(&place).join("README.md").exists());

    run(&place, &arguments, 0);
    let after = fs::read_to_string(&trials).unwrap();
    // A line that was being written may have been cut off, and cut off whole.
    let whole = before.rfind('\n').map_or("", |end| &before[..=end]);
    assert!(after.starts_with(whole), "trials ran again");
    let results = results(&place);
    for rated in results["rates"].as_array().unwrap() {
        for cell in rated["cells"].as_array().unwrap() {
            assert_eq!(cell["trials"], 25, "{rated}");
        }
    }
}

/// How many programs' answers are recorded.
fn answers(place: &TempDir) -> usize {
    let Ok(text) = fs::read(out(place).join("evaluation.json")) else { return 0 };
    let results: Value = serde_json::from_slice(&text).expect("it is always whole");
    results["races"].as_array().map_or(0, Vec::len)
}

#[test]
fn detectors_are_asked_and_nobody_is_asked_twice() {
    if race_suite::tools::nvcc().is_none() {
        let demanded = std::env::var_os("BUGAROO_REQUIRE_PTXAS").is_some_and(|value| value == "1");
        assert!(!demanded, "BUGAROO_REQUIRE_PTXAS=1, but there is no nvcc: run apps/rebuild-ptx --install");
        eprintln!("SKIPPED: no nvcc; apps/rebuild-ptx --install installs it");
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let arguments = ["--short", "--paper", "scord"];
    let mut running = evaluation(&place, &arguments).stderr(Stdio::null()).spawn().unwrap();
    while answers(&place) == 0 {
        assert_eq!(running.try_wait().unwrap(), None, "it ended too early");
        thread::sleep(Duration::from_millis(5));
    }
    let killed = Command::new("kill").args(["-INT", &running.id().to_string()]).status().unwrap();
    assert!(killed.success());
    assert_eq!(running.wait().unwrap().code(), Some(130));
    let before = answers(&place);
    assert!(out(&place).join("README.md").exists());

    let done = run(&place, &arguments, 0);
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    let all = answers(&place);
    assert!(before < all && said.contains(&format!("/{}] scor ", all - before)), "{before} of {all}: {said}");
    let first = results(&place);
    let again = run(&place, &arguments, 0);
    assert!(!String::from_utf8_lossy(&again.stderr).contains("scor "), "somebody was asked again");
    assert_eq!(results(&place), first);

    let report = fs::read_to_string(out(&place).join("README.md")).unwrap();
    assert!(report.contains("| RED | reduction | 2 | 2 | 2 | 2 | 2 |"), "{report}");
    assert!(report.contains("| ours | 21 | 48 | 1,008 |"), "{report}");
    let machine = fs::read_to_string(out(&place).join("hirace-machine.txt")).unwrap();
    assert!(machine.starts_with("21 states, 1008 transitions\n"), "{machine}");
}

#[test]
fn what_is_missing_is_named() {
    let place = tempfile::tempdir().unwrap();
    let empty = place.path().to_str().unwrap();
    let output = run(&place, &["--short", "--bin", empty], 3);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("bugaroo is not in") && said.contains("cargo build"), "{said}");
}
