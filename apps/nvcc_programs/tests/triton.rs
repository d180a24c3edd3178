//! Triton's kernels, as a user's Python script has them: right under injection, planted bugs found, and the Python line named.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::{programs, run, triton};
use serde_json::Value;

/// A script of ours.
fn script(name: &str) -> PathBuf {
    programs().join("triton").join(name)
}

/// `bugaroo COMMAND… PYTHON SCRIPT ARGUMENTS…`: its exit code, what it found, and what it said.
fn found(python: &Path, command: &[&str], name: &str, arguments: &[&str]) -> (Option<i32>, Value, String) {
    let script = script(name);
    let program: Vec<&Path> = [python, &script].into_iter().chain(arguments.iter().map(Path::new)).collect();
    let ran = run(&[command, &["--seed", "5", "--format", "json"]].concat(), &program);
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    let report = serde_json::from_slice(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {said}"));
    (ran.status.code(), report, said)
}

/// The lines of a script that hold a text.
fn lines(name: &str, text: &str) -> Vec<u64> {
    let source = fs::read_to_string(script(name)).expect("the script");
    let numbered = (1..).zip(source.lines());
    let lines: Vec<u64> = numbered.filter(|(_, line)| line.contains(text)).map(|(at, _)| at).collect();
    assert!(!lines.is_empty(), "{name} has no {text:?}");
    lines
}

/// Failures of 40 trials.
fn failures(python: &Path, name: &str, arguments: &[&str]) -> u64 {
    let (code, report, said) = found(python, &["run", "--pw", "0.75", "--trials", "40"], name, arguments);
    assert!(matches!(code, Some(0 | 1)), "{arguments:?}: {said}");
    assert_eq!(report["cells"][0]["trials"], 40, "{arguments:?}: {said}");
    assert_eq!(report["fork_server"]["used"], true, "{arguments:?}: {}", report["fork_server"]);
    report["cells"][0]["failures"].as_u64().expect("a number")
}

#[test]
fn kernels_of_the_tutorials_are_right_under_injection() {
    let Some(python) = triton() else { return };
    assert_eq!(failures(&python, "kernels.py", &[]), 0);
}

#[test]
fn planted_bugs_fail_and_their_repairs_do_not() {
    let Some(python) = triton() else { return };
    for right in ["lock", "barrier", "flag"] {
        assert_eq!(failures(&python, "planted.py", &[right]), 0, "{right}");
    }
    for wrong in ["lock_relaxed", "flag_relaxed"] {
        assert!(failures(&python, "planted.py", &[wrong]) > 0, "{wrong}");
    }
}

/// Lines of both sides of the races in a script.
fn raced(python: &Path, name: &str) -> Vec<(u64, u64)> {
    let (code, report, said) = found(python, &["race", "--trials", "20"], "planted.py", &[name]);
    let races = report["races"].as_array().unwrap_or_else(|| panic!("{name}: {said}"));
    assert_eq!(code, Some(i32::from(!races.is_empty())), "{name}: {said}");
    let side = |race: &Value, side: &str| {
        let source = &race[side]["source"];
        assert!(source["file"].as_str().is_some_and(|file| file.ends_with("planted.py")), "{name}: {race:#}");
        source["line"].as_u64().expect("a line")
    };
    races.iter().map(|race| (side(race, "first"), side(race, "second"))).collect()
}

#[test]
fn races_name_the_lines_of_the_script() {
    let Some(python) = triton() else { return };
    for right in ["lock", "barrier", "flag"] {
        assert_eq!(raced(&python, right), [], "{right}");
    }
    let at = |text: &str| lines("planted.py", text)[0];
    let races = raced(&python, "lock_relaxed");
    let sum = at("tl.store(place, tl.load(place) + part)");
    assert!(!races.is_empty() && races.iter().all(|race| *race == (sum, sum)), "{races:?}");
    let races = raced(&python, "barrier_missing");
    let (put, taken) = (at("tl.store(between + i"), at("tl.load(between + BLOCK"));
    let sides = |race: &(u64, u64)| [race.0.min(race.1), race.0.max(race.1)] == [put, taken];
    assert!(!races.is_empty() && races.iter().all(sides), "{races:?}");
    let races = raced(&python, "flag_relaxed");
    let (put, taken) = (at("tl.store(parts"), at("tl.sum(tl.load(parts"));
    let sides = |race: &(u64, u64)| [race.0.min(race.1), race.0.max(race.1)] == [put, taken];
    assert!(!races.is_empty() && races.iter().all(sides), "{races:?}");
}

#[test]
fn bisect_names_the_line_and_what_its_fence_is_in_python() {
    let Some(python) = triton() else { return };
    let (code, report, said) = found(
        &python,
        &["bisect", "--model", "store-buffer", "--trials", "40"],
        "planted.py",
        &["lock_relaxed"],
    );
    assert_eq!(code, Some(1), "{said}");
    let sum = lines("planted.py", "tl.store(place, tl.load(place) + part)")[0];
    let missing = report["missing"].as_array().unwrap_or_else(|| panic!("{report:#}"));
    assert!(missing.iter().any(|fence| fence["source"]["line"] == sum), "{report:#}");
    let caveats = report["caveats"].as_array().unwrap_or_else(|| panic!("{report:#}"));
    let tells = |caveat: &Value| caveat.as_str().is_some_and(|text| text.contains("sem=\"release\""));
    assert!(caveats.iter().any(tells), "{report:#}");
}

#[test]
fn records_are_the_same_with_a_process_each() {
    let Some(python) = triton() else { return };
    let command = ["run", "--pw", "0.75", "--trials", "12"];
    let (_, forked, _) = found(&python, &command, "planted.py", &["lock_relaxed"]);
    let (_, each, _) =
        found(&python, &[&command[..], &["--no-fork-server"]].concat(), "planted.py", &["lock_relaxed"]);
    assert_eq!((&forked["fork_server"]["used"], &each["fork_server"]["used"]), (&true.into(), &false.into()));
    assert_eq!(forked["cells"], each["cells"]);
}

#[test]
fn inline_text_that_is_no_ptx_is_named_with_its_place() {
    let Some(python) = triton() else { return };
    let ran = run(&["run", "--trials", "2"], &[&python, &script("not_ptx.py")]);
    let said = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(3), "{said}");
    assert!(said.contains("ptxas (bugaroo): ") && said.contains("expected a directive, at \"}\""), "{said}");
}
