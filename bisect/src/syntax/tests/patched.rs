//! The edits of all cases as diffs, which `patch` applies.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::cases::cases;
use super::{changes, insertions};
use crate::patch::{EditsByFile, apply};

#[test]
fn patch_makes_of_every_case_what_the_edits_make_of_it() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut all = EditsByFile::new();
    let mut expected = Vec::new();
    for (table, text) in [("insertions", insertions::STATEMENTS), ("changes", changes::CHANGES)] {
        for (number, case) in cases(text).into_iter().enumerate() {
            let edits = if table == "changes" { changes::edits(&case) } else { insertions::edits(&case) };
            let Ok(edits) = edits else { continue };
            let name = format!("{table}_{number}.cu");
            fs::write(folder.path().join(&name), &case.text).expect("written");
            expected.push((name.clone(), apply(&case.text, &edits).expect("no overlap")));
            all.add(Path::new(&name), &case.text, edits);
        }
    }
    let patch = all.patch(folder.path()).expect("no overlap");
    fs::write(folder.path().join("it.patch"), patch.to_string()).expect("written");
    let ran = Command::new("patch")
        .current_dir(folder.path())
        .args(["-p1", "-i", "it.patch"])
        .output()
        .expect("patch can be started");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stdout));
    for (name, text) in expected {
        assert_eq!(fs::read_to_string(folder.path().join(&name)).expect("there"), text, "{name}");
    }
}
