//! Programs that do what no kernel may and end with exit code 0 all the same: each is reported, with its source line.

use std::path::Path;

use crate::support::{Runtime, build, nvcc, programs, run};
use serde_json::Value;

/// What each program does, as it is told.
const PROGRAMS: [(&str, &str); 35] = [
    ("write_past_end", "illegal-address"),
    ("write_far_away", "illegal-address"),
    ("write_before", "illegal-address"),
    ("write_null", "illegal-address"),
    ("read_past_end", "illegal-address"),
    ("variable_past_end", "illegal-address"),
    ("const_past_end", "illegal-address"),
    ("host_pointer", "illegal-address"),
    ("read_only_host", "no-access"),
    ("use_after_free", "use-after-free"),
    ("use_after_async_free", "use-after-free"),
    ("read_freed_in_other_stream", "use-after-free"),
    ("misaligned_4", "misaligned-address"),
    ("misaligned_8", "misaligned-address"),
    ("misaligned_16", "misaligned-address"),
    ("misaligned_atomic", "misaligned-address"),
    ("shared_static", "illegal-address"),
    ("shared_dynamic", "illegal-address"),
    ("shared_generic", "illegal-address"),
    ("local_array", "illegal-address"),
    ("trap", "trap"),
    ("grid_sync", "trap"),
    ("assertion", "assert"),
    ("divergence", "barrier-divergence"),
    ("barrier_counts", "barrier-misuse"),
    ("barrier_illegal_count", "barrier-misuse"),
    ("half_block", "deadlock"),
    ("warp_mask", "illegal-instruction"),
    ("bad_call", "illegal-instruction"),
    ("stack_overflow", "stack-overflow"),
    ("bad_printf", "illegal-address"),
    ("double_free", "invalid-free"),
    ("second_launch", "illegal-address"),
    ("graph", "illegal-address"),
    ("child", "illegal-address"),
];

fn hostile() -> Option<std::path::PathBuf> {
    Some(build(&nvcc()?, "hostile/main.cu", Runtime::Static))
}

/// The lines that a program's name stands at.
fn lines(name: &str) -> Vec<u64> {
    let text = std::fs::read_to_string(programs().join("hostile/main.cu")).expect("the source");
    let here = |line: &str| {
        line.split_once("// HERE").is_some_and(|(_, names)| names.split_whitespace().any(|word| word == name))
    };
    (1..).zip(text.lines()).filter(|(_, line)| here(line)).map(|(number, _)| number).collect()
}

/// What `bugaroo run` says of a program, as JSON, and what it exits with.
fn report(program: &Path, names: &[&str], options: &[&str]) -> (Option<i32>, Value) {
    let fixed = ["run", "--trials", "3", "--seed", "5", "--format", "json"];
    let words: Vec<&Path> = [program].into_iter().chain(names.iter().map(Path::new)).collect();
    let ran = run(&[&fixed, options].concat(), &words);
    let said = || {
        format!("{names:?}: {}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr))
    };
    let json = serde_json::from_slice(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}", said()));
    (ran.status.code(), json)
}

fn is_told(program: &Path, name: &str, kind: &str) {
    let (code, json) = report(program, &[name], &[]);
    assert_eq!(code, Some(1), "{name}: {json:#}");
    let at = lines(name);
    let told = |finding: &&Value| {
        let line = finding["source"]["line"].as_u64();
        finding["kind"] == kind && line.is_some_and(|line| at.contains(&line))
    };
    let findings = json["findings"].as_array().expect("findings");
    assert!(findings.iter().any(|finding| told(&finding)), "{name} at {at:?}: {json:#}");
}

#[test]
fn every_one_is_told_with_its_line() {
    let Some(program) = hostile() else { return };
    for (name, kind) in PROGRAMS {
        is_told(&program, name, kind);
    }
}

/// Which of the two launches comes first depends on the schedule, but not whether it is seen.
#[test]
fn in_a_stream_of_its_own() {
    let Some(program) = hostile() else { return };
    is_told(&program, "second_stream", "illegal-address");
}

/// Hangs are told by the threads that spin, at least when their steps run out.
#[test]
fn those_that_hang_are_told_with_their_line() {
    let Some(program) = hostile() else { return };
    for name in ["spin", "too_many_blocks"] {
        let options = ["run", "--trials", "3", "--step-budget", "300000"];
        let ran = run(&options, &[&program, Path::new(name)]);
        assert!(matches!(ran.status.code(), Some(1 | 3)), "{:?}", ran.status);
        let said = [ran.stdout, ran.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        let told = |line: &u64| said.contains(&format!("main.cu:{line}"));
        assert!(lines(name).iter().any(told), "{name}: {said}");
    }
}

/// Those after the first are told, too, where the program goes on; and the same one only once.
#[test]
fn all_of_several_are_told_once() {
    let Some(program) = hostile() else { return };
    let (code, json) = report(&program, &["several"], &[]);
    assert_eq!(code, Some(1), "{json:#}");
    let kinds: Vec<&Value> =
        json["findings"].as_array().expect("findings").iter().map(|f| &f["kind"]).collect();
    assert_eq!(kinds, ["illegal-address", "misaligned-address"], "{json:#}");
    assert_eq!(json["findings"][0]["without_injection"], serde_json::json!({"seen": 3, "of": 3}), "{json:#}");
    assert_eq!(json["findings"][0]["trials"], serde_json::json!({"seen": 3, "of": 3}), "{json:#}");
    // It did so before anything was delayed: that says nothing of the trials.
    assert_eq!(json["cells"][0]["outcomes"]["pass"], 3, "{json:#}");
}

#[test]
fn the_memory_is_told_with_who_asked_for_it() {
    let Some(program) = hostile() else { return };
    let said = |name: &str| {
        let ran = run(&["run", "--trials", "2"], &[&program, Path::new(name)]);
        String::from_utf8_lossy(&ran.stdout).into_owned()
    };
    let text = said("second_launch");
    for part in [
        "error: 4-byte store outside every allocation in kernel write_one(int*)",
        " bytes behind the 256-byte allocation at ",
        "allocated by int* make<int>",
        "called by run",
        "seen in 3 of 3 runs without injection, in 2 of 2 trials",
        "replay it: bugaroo replay ",
    ] {
        assert!(text.contains(part), "{part:?} in {text}");
    }
    // Which thread of the block is the first depends on the seed; the address is its own.
    let thread: usize = text
        .split_once("block (2,0,0) thread (")
        .and_then(|(_, behind)| behind.split_once(",0,0): address "))
        .and_then(|(x, _)| x.parse().ok())
        .unwrap_or_else(|| panic!("no thread in {text}"));
    let behind = format!(", {} bytes behind the 256-byte allocation", 4 * thread);
    assert!(text.contains(&behind), "{behind:?} in {text}");
    // The host's part was built with -g.
    let source = programs().join("hostile/main.cu");
    let line = |part: &str| {
        let text = std::fs::read_to_string(&source).expect("the source");
        1 + text.lines().position(|line| line.contains(part)).expect("the line")
    };
    assert!(text.contains(&format!("hostile/main.cu:{}", line("cudaMalloc(&p,"))), "{text}");
    let text = said("use_after_free");
    assert!(
        text.contains("0 bytes into the 4-byte allocation") && text.contains(", which was freed"),
        "{text}"
    );
    let freed = format!("hostile/main.cu:{}", line("cudaFree(a);"));
    assert!(text.contains("freed by run") && text.contains(&freed), "{text}");
    let text = said("variable_past_end");
    assert!(text.contains("4 bytes behind the 32-byte variable counters at "), "{text}");
}

#[test]
fn who_tests_how_errors_are_handled_may_ignore_faults() {
    let Some(program) = hostile() else { return };
    let (code, json) = report(&program, &["several"], &["--ignore-faults"]);
    assert_eq!((code, &json["findings"]), (Some(0), &serde_json::json!([])), "{json:#}");
    // What never ends is not handled.
    let (code, json) = report(&program, &["half_block"], &["--ignore-faults"]);
    assert_eq!((code, &json["findings"][0]["kind"]), (Some(1), &"deadlock".into()), "{json:#}");
}
