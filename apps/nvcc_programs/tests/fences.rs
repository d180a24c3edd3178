//! Where fences and delays go, by the options of `run`, from end to end under model `ptx` and under store buffers.

use std::path::{Path, PathBuf};

use crate::support::{Runtime, build, nvcc, run};
use serde_json::Value;

/// What `bugaroo run` prints for one of the things that `messages.cu` does.
fn report(program: &Path, which: &str, options: &[&str]) -> Value {
    let options = [&["run", "--format", "json", "--seed", "7"], options].concat();
    let ran = run(&options, &[program, Path::new(which)]);
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(matches!(ran.status.code(), Some(0 | 1)), "{said}");
    serde_json::from_slice(&ran.stdout).unwrap_or_else(|wrong| panic!("{wrong}: {said}"))
}

fn failures(program: &Path, which: &str, options: &[&str]) -> u64 {
    report(program, which, options)["cells"][0]["failures"].as_u64().expect("a count")
}

fn program() -> Option<PathBuf> {
    Some(build(&nvcc()?, "messages.cu", Runtime::Static))
}

/// The site of the store to the flag: the second store of the kernel without a fence.
fn flags_store(program: &Path) -> String {
    let ran = run(&["sites", "--format", "json"], &[program, Path::new("message")]);
    let sites: Value = serde_json::from_slice(&ran.stdout).expect("a report");
    let stores = sites["sites"].as_array().expect("sites").iter().filter(|site| {
        let kernel = site["function"].as_str().is_some_and(|name| name.contains("messageILb0E"));
        kernel && site["kind"] == "store"
    });
    stores.map(|site| site["id"].as_str().expect("a number").to_owned()).nth(1).expect("two stores")
}

/// A fence behind the flag's store cures nothing, whoever puts it there: inserted it shows the failures that it shows
/// compiled in, and not many less than none.
#[test]
fn a_fence_inserted_in_the_wrong_place_cures_nothing() {
    let Some(program) = program() else { return };
    let site = flags_store(&program);
    for model in ["store-buffer", "ptx"] {
        let options = ["--model", model, "--trials", "600", "--pw", "0.75"];
        let inserted = failures(&program, "message", &[&options[..], &["--with-fence", &site]].concat());
        let compiled = failures(&program, "message-fenced", &options);
        println!("{model}: inserted {inserted}, compiled in {compiled} of 600");
        assert!(inserted > 20 && compiled > 20, "{model}: {inserted} and {compiled} of 600");
        // Five standard deviations of the difference of two such counts, at most.
        let both = (inserted + compiled) as f64;
        let apart = (inserted as f64 - compiled as f64).abs();
        assert!(apart < 5.0 * both.sqrt(), "{model}: {inserted} and {compiled} of 600");
    }
}

/// `--space` says whose loads may be late, as it says whose stores wait.
#[test]
fn loads_of_the_other_space_are_not_late() {
    let Some(program) = program() else { return };
    let options = ["--model", "ptx", "--trials", "400", "--pw", "0"];
    for (space, other) in [("shared", "global"), ("global", "shared")] {
        let of = |space| failures(&program, space, &[&options[..], &["--space", space]].concat());
        assert!(of(space) > 0, "late loads from {space} memory show");
        let wrong = failures(&program, space, &[&options[..], &["--space", other]].concat());
        assert_eq!(wrong, 0, "--space {other} leaves {space} memory alone");
    }
}

/// What loads read is drawn, too: trials without a store that is delayed say something.
#[test]
fn trials_of_loads_alone_say_something() {
    let Some(program) = program() else { return };
    let said = |model| {
        let options = ["run", "--trials", "5", "--model", model];
        let ran = run(&options, &[&program, Path::new("count")]);
        String::from_utf8_lossy(&ran.stdout).into_owned() + &String::from_utf8_lossy(&ran.stderr)
    };
    assert!(said("store-buffer").contains("no store was ever delayed"));
    assert!(!said("ptx").contains("no store was ever delayed"));
}

/// Blocks of one thread have no lockstep to count on, whatever they fail by.
#[test]
fn lockstep_is_no_explanation_for_single_threads() {
    let Some(program) = program() else { return };
    for which in ["message", "global"] {
        let ran = run(&["run", "--model", "ptx", "--trials", "50"], &[&program, Path::new(which)]);
        let said = String::from_utf8_lossy(&ran.stdout).into_owned() + &String::from_utf8_lossy(&ran.stderr);
        assert!(!said.contains("lockstep"), "{said}");
    }
}
