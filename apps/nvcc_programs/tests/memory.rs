//! `--oracle memory`: a program that never looks at what its kernel wrote.

use std::path::{Path, PathBuf};
use std::process::Output;

use crate::support::{Runtime, build, nvcc, run};
use serde_json::Value;

fn silent() -> Option<PathBuf> {
    Some(build(&nvcc()?, "silent.cu", Runtime::Static))
}

/// `bugaroo COMMAND --oracle memory OPTIONS… PROGRAM WORDS…`
fn judged(command: &str, options: &[&str], program: &Path, words: &[&str]) -> Output {
    let words = words.iter().map(Path::new);
    let arguments: Vec<&Path> = [program].into_iter().chain(words).collect();
    run(&[&[command, "--oracle", "memory", "--seed", "3"], options].concat(), &arguments)
}

fn stderr(ran: &Output) -> String {
    String::from_utf8_lossy(&ran.stderr).into_owned()
}

/// Every way in which trials are run.
const WAYS: [&[&str]; 7] = [
    &["--trials", "60"],
    &["--trials", "60", "--model", "ptx"],
    &["--trials", "60", "--scheduler", "pct"],
    &["--trials", "30", "--handlers"],
    &["--trials", "30", "--model", "bugaroo"],
    &["--trials", "20", "--no-fork-server"],
    &["--trials", "20", "--jobs", "1", "--format", "json"],
];

#[test]
fn a_right_program_is_content_however_its_trials_run() {
    let Some(program) = silent() else { return };
    for options in WAYS {
        for words in [&["fenced"][..], &["fenced", "freed"]] {
            let ran = judged("run", options, &program, words);
            assert_eq!(ran.status.code(), Some(0), "{options:?} {words:?}: {}", stderr(&ran));
        }
    }
}

#[test]
fn what_differs_by_itself_is_named_and_not_compared() {
    let Some(program) = silent() else { return };
    let said = stderr(&judged("run", &["--trials", "5"], &program, &["fenced"]));
    assert!(said.contains("without injection is not compared: allocation 4 (8 bytes"), "{said}");
}

#[test]
fn a_lost_message_is_found_and_the_memory_named() {
    let Some(program) = silent() else { return };
    for options in WAYS {
        for words in [&[][..], &["freed"]] {
            let ran = judged("run", options, &program, words);
            assert_eq!(ran.status.code(), Some(1), "{options:?} {words:?}: {}", stderr(&ran));
        }
    }
    let ran = judged("run", &["--trials", "60"], &program, &[]);
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(said.contains("allocation 3 (400 bytes"), "{said}");
    assert!(said.contains("variable received (4 bytes)"), "{said}");
    // With the exit code alone nothing is wrong.
    let passes = run(&["run", "--trials", "60", "--seed", "3"], &[&program]);
    assert_eq!(passes.status.code(), Some(0), "{}", stderr(&passes));
}

#[test]
fn bisect_names_the_line_by_it() {
    let Some(program) = silent() else { return };
    let ran = judged("bisect", &["--trials", "200", "--format", "json"], &program, &[]);
    assert_eq!(ran.status.code(), Some(1), "{}", stderr(&ran));
    let report: Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert!(report.to_string().contains("silent.cu"), "{report:#}");
}

#[test]
fn who_cannot_tell_is_refused() {
    let Some(program) = silent() else { return };
    let ran = judged("run", &["--trials", "5"], &program, &["fenced", "leaves"]);
    assert_eq!(ran.status.code(), Some(3), "{}", stderr(&ran));
    assert!(stderr(&ran).contains("has to return from main or call exit()"), "{}", stderr(&ran));
    let ran = judged("run", &["--trials", "5", "--backend", "cuda"], &program, &["fenced"]);
    assert_eq!(ran.status.code(), Some(2), "{}", stderr(&ran));
    assert!(stderr(&ran).contains("--oracle memory"), "{}", stderr(&ran));
}
