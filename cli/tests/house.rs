//! Tests of one crate are modules of one program. A file that nobody names there would never run.

use std::fs;
use std::path::{Path, PathBuf};

/// Crates of the workspace whose `Cargo.toml` lists their test programs.
fn listed() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
    let entries = fs::read_dir(root).expect("the workspace can be read");
    let folders = entries.map(|entry| entry.expect("an entry").path());
    let lists = |folder: &PathBuf| {
        fs::read_to_string(folder.join("Cargo.toml")).is_ok_and(|text| text.contains("autotests = false"))
    };
    folders.filter(lists).collect()
}

#[test]
fn every_file_of_tests_is_in_a_program() {
    let crates = listed();
    assert!(crates.len() >= 3, "{crates:?}");
    for folder in crates {
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).expect("it was just read");
        let all = fs::read_to_string(folder.join("tests/all.rs")).expect("a program of all tests");
        for entry in fs::read_dir(folder.join("tests")).expect("tests") {
            let path = entry.expect("an entry").path();
            if path.extension().is_none_or(|extension| extension != "rs") {
                continue;
            }
            let name = path.file_stem().and_then(|stem| stem.to_str()).expect("a name in UTF-8");
            let module = all.lines().any(|line| line == format!("mod {name};"));
            let program = manifest.contains(&format!("[[test]]\nname = \"{name}\"\n"));
            let place = path.display();
            assert!(
                module != program,
                "{place}: name it once, in tests/all.rs or as a [[test]] of Cargo.toml"
            );
        }
    }
}
