//! Programs of several processes that share memory and events.

use std::path::{Path, PathBuf};
use std::process::Output;

use crate::support::{Runtime, build, nvcc, passes_under_injection, run};

fn program(runtime: Runtime) -> Option<PathBuf> {
    Some(build(&nvcc()?, "processes.cu", runtime))
}

fn said(ran: &Output) -> String {
    [&ran.stdout, &ran.stderr].map(|text| String::from_utf8_lossy(text).into_owned()).concat()
}

#[test]
fn what_processes_share_is_the_same_memory() {
    for runtime in [Runtime::Shared, Runtime::Static] {
        let Some(program) = program(runtime) else { return };
        for model in ["store-buffer", "ptx"] {
            for how in ["events", "talk", "count", "polled", "gone"] {
                passes_under_injection(&[&program, Path::new(how)], &["--model", model]);
            }
        }
    }
}

/// A program that does this fails, and says that.
fn fails(how: &str, trials: &str, told: &str) {
    let Some(program) = program(Runtime::Shared) else { return };
    let ran = run(&["run", "--seed", "3", "--trials", trials], &[&program, Path::new(how)]);
    assert_eq!(ran.status.code(), Some(1), "{}", said(&ran));
    assert!(said(&ran).contains(told), "{}", said(&ran));
}

/// One process goes on before another one is done with the memory: no weak memory is needed for that.
#[test]
fn an_event_of_another_process_that_nobody_waits_for_is_missed() {
    fails("hurried", "40", "a word");
}

#[test]
fn a_message_to_another_process_needs_a_fence() {
    fails("mutter", "100", "words that came late");
}

/// What neither can know is said, and no advice is given.
#[test]
fn races_and_fences_between_processes_are_not_looked_at() {
    let Some(program) = program(Runtime::Shared) else { return };
    for (command, told) in [("race", "race does not follow"), ("bisect", "bisect cannot weigh the fences")] {
        let ran = run(&[command, "--trials", "20", "--seed", "3"], &[&program, Path::new("mutter")]);
        assert_eq!(ran.status.code(), Some(4), "{}", said(&ran));
        assert!(said(&ran).contains(told), "{}", said(&ran));
    }
}

/// What a program executes is part of it, also when the program has asked for devices itself before.
#[test]
fn kernels_of_what_a_program_executes_are_the_programs() {
    let Some(nvcc) = nvcc() else { return };
    for runtime in [Runtime::Shared, Runtime::Static] {
        let program = build(&nvcc, "executed.cu", runtime);
        let fine = run(&["run", "--trials", "5"], &[&program, Path::new("fine")]);
        assert_eq!(fine.status.code(), Some(0), "{}", said(&fine));
        assert!(!said(&fine).contains("nothing to inject into"), "{}", said(&fine));
        let fault = run(&["run", "--trials", "5"], &[&program, Path::new("fault")]);
        assert_eq!(fault.status.code(), Some(1), "{}", said(&fault));
        assert!(said(&fault).contains("outside every allocation in kernel fill"), "{}", said(&fault));
    }
}
