//! `bisect` gives the expert's answer on some of the programs, one of each form of advice; and what it prints can be
//! written to a file, built and applied.

mod support;

use std::fs;
use std::process::Command;

use fence_suite::compare;
use fence_suite::expert::programs;
use fence_suite::measure::measure;
use fence_suite::tools::{AdviceTools, Copy};
use serde_json::Value;
use support::tools;

/// A missing fence in a class, on both sides of a flag, in a macro of the file and in one of a header, on one line; one that is redundant; one too wide; an
/// atomic of too narrow a scope; a missing barrier; a lost update.
const PROGRAMS: [&str; 10] = [
    "macro_shared",
    "mutex_class",
    "mailbox",
    "macro_once",
    "one_line_lock",
    "fence_if_twice",
    "wide_shared",
    "block_wide_counter",
    "tile_reverse",
    "bank_account",
];

#[test]
fn answers_are_those_of_experts_and_cure_compiled_in() {
    let Some(tools) = tools() else { return };
    let mut asked = 0;
    for program in programs().expect("the suite can be read") {
        if PROGRAMS.contains(&program.name.as_str()) {
            asked += 1;
            let measured = measure(&tools, &program, 300);
            assert!(measured.right(), "{}: {measured:?}", program.name);
        }
    }
    assert_eq!(asked, PROGRAMS.len());
}

/// Runs `bisect` in the folder of a copy.
fn bisect(tools: &AdviceTools, copy: &Copy, options: &[&str]) -> (Option<i32>, Value) {
    let output = Command::new(&tools.bugaroo)
        .args(["bisect", "--trials", "100", "--format", "json"])
        .args(options)
        .arg(copy.app())
        .current_dir(copy.path())
        .output()
        .expect("it starts");
    let report = serde_json::from_slice(&output.stdout).expect("JSON");
    (output.status.code(), report)
}

#[test]
fn the_patch_is_written_built_and_applied() {
    let Some(tools) = tools() else { return };
    let program = programs().expect("the suite can be read").into_iter().find(|one| one.name == "mailbox");
    let copy = Copy::of(&program.expect("it is there").folder).expect("a copy");
    copy.build(&tools.nvcc).expect("it builds");
    let original = fs::read_to_string(copy.path().join("main.cu")).expect("the source");
    let app = copy.app();
    let app = app.file_name().and_then(|name| name.to_str()).expect("a name");

    // A build that fails, or leaves no program, changes nothing.
    for (command, error) in [("echo no such rule; exit 3", "no such rule"), ("true", "the build left no")] {
        let (code, report) = bisect(&tools, &copy, &["--apply", "--build", command]);
        assert_eq!(code, Some(2), "{report:#}");
        assert!(report["patch"].as_str().is_some_and(|patch| !patch.is_empty()), "what was found is told");
        assert!(report["error"].as_str().is_some_and(|said| said.contains(error)), "{report:#}");
        assert_eq!(fs::read_to_string(copy.path().join("main.cu")).expect("the source"), original);
    }

    let lib = tools.nvcc.parent().and_then(|bin| bin.parent()).expect("a toolkit").join("lib");
    let build =
        format!("{} -O3 -lineinfo -arch=sm_75 -L{} -o {app} main.cu", tools.nvcc.display(), lib.display());
    let (code, report) = bisect(&tools, &copy, &["--apply", "--patch", "out.diff", "--build", &build]);
    assert_eq!(code, Some(1), "{report:#}");
    let built = &report["verified"]["compiled_in"];
    assert_eq!((&built["trials"], &built["failures"]), (&456.into(), &0.into()), "{report:#}");
    let patch = fs::read_to_string(copy.path().join("out.diff")).expect("the patch");
    assert_eq!(report["patch"], patch.as_str());
    assert!(report["hunks"][0]["rests_on"].as_array().is_some_and(|all| all.len() == 2), "{report:#}");
    // What was applied is what the patch says.
    let applied = fs::read_to_string(copy.path().join("main.cu")).expect("the source");
    assert_ne!(applied, original);
    fs::write(copy.path().join("main.cu"), original).expect("the source");
    copy.patch(&patch).expect("it applies");
    assert_eq!(fs::read_to_string(copy.path().join("main.cu")).expect("the source"), applied);
    assert!(compare::fences(copy.path()).is_ok_and(|fences| fences == 2));
    copy.build(&tools.nvcc).expect("it builds");
    let (code, report) = bisect(&tools, &copy, &[]);
    assert_eq!((code, &report["patch"]), (Some(0), &"".into()), "{report:#}");
}
