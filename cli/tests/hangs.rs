//! Kernels that wait for ever, and kernels that wait for somebody outside, as `bugaroo run` tells of them.

use std::path::PathBuf;
use std::process::{Command, Output};

use tempfile::TempDir;

/// The program, built once for each test, if it can be.
fn program() -> Option<(TempDir, PathBuf)> {
    crate::common::nvcc::program("hangs/program.cu")
}

fn run((folder, program): &(TempDir, PathBuf), options: &[&str], which: &str) -> (Option<i32>, String) {
    let Output { status, stdout, stderr } = Command::new(env!("CARGO_BIN_EXE_bugaroo"))
        .env("XDG_STATE_HOME", folder.path().join("state"))
        .env_remove("BUGAROO_DRIVER")
        .args(["run", "--trials", "10", "--seed", "1"])
        .args(options)
        .arg(program)
        .arg(which)
        .output()
        .unwrap();
    (status.code(), String::from_utf8_lossy(&[stdout, stderr].concat()).into_owned())
}

fn says(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{part}` is not in:\n{text}");
    }
}

#[test]
fn a_kernel_that_waits_for_ever_is_a_deadlock_with_what_it_reads_and_who_wrote_it() {
    let Some(program) = program() else { return };
    let (code, text) = run(&program, &[], "flag");
    assert_eq!(code, Some(1), "{text}");
    says(&text, &["deadlock", "96 threads", "read 0 from `ready` again and again", "program.cu:13"]);
    says(&text, &["no thread of the launch has written it", "nobody is left who could change it"]);
    let (code, text) = run(&program, &[], "lock");
    assert_eq!(code, Some(1), "{text}");
    says(&text, &["deadlock", "63 threads", "read 1 from", "atom", "last written by"]);
}

#[test]
fn a_hang_that_needs_a_late_store_is_a_finding_that_names_the_store() {
    let Some(program) = program() else { return };
    let (code, text) = run(&program, &["--pw", "1"], "meet");
    assert_eq!(code, Some(1), "{text}");
    says(&text, &["deadlock", "program.cu:27", "held back", "program.cu:26"]);
}

#[test]
fn a_kernel_that_waits_for_somebody_outside_is_no_deadlock() {
    let Some(program) = program() else { return };
    for which in ["mapped", "thread", "streams", "lanes"] {
        for options in [&[][..], &["--scheduler", "pct"], &["--model", "ptx"]] {
            let options = [options, &["--no-fork-server"]].concat();
            let (code, text) = run(&program, &options, which);
            assert_eq!(code, Some(0), "{which} {options:?}: {text}");
        }
    }
}
