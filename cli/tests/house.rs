//! Tests of one crate are modules of one program. A file that nobody names there would never run; nor would a test inside a library
//! that is not built for tests.

use std::fs;
use std::path::{Path, PathBuf};

/// The folders of the workspace's crates, with what their `Cargo.toml` says.
fn crates() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
    let mut found = Vec::new();
    for folder in [root.to_owned(), root.join("apps"), root.join("runtime")] {
        for entry in fs::read_dir(folder).expect("the workspace can be read") {
            let folder = entry.expect("an entry").path();
            if let Ok(manifest) = fs::read_to_string(folder.join("Cargo.toml")) {
                found.push((folder, manifest));
            }
        }
    }
    found
}

#[test]
fn every_file_of_tests_is_in_a_program() {
    let mut listed = crates();
    // Of the others, cargo makes each file a program.
    listed.retain(|(_, manifest)| manifest.contains("autotests = false"));
    assert!(listed.len() >= 6, "{listed:?}");
    for (folder, manifest) in listed {
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

/// Whether a file below a folder holds a test.
fn has_test(folder: &Path) -> bool {
    fs::read_dir(folder).into_iter().flatten().any(|entry| {
        let path = entry.expect("an entry").path();
        let text = || fs::read_to_string(&path).expect("a source can be read");
        if path.is_dir() { has_test(&path) } else { text().contains("#[test]") || text().contains("::test]") }
    })
}

#[test]
fn what_is_not_built_for_tests_holds_none() {
    let mut without = 0;
    for (folder, manifest) in crates() {
        if manifest.lines().any(|line| line == "test = false") {
            without += 1;
            assert!(!has_test(&folder.join("src")), "{}", folder.display());
        }
    }
    assert!(without >= 3);
}
