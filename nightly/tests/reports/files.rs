//! Files on the disk.

use std::fs;

use bugaroo_nightly::night::Night;
use bugaroo_nightly::reports;

use super::nights;

#[test]
fn all_reports_are_written_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("nights/2026-03-02");
    reports::write_all(&nights::mixed(), &inner).unwrap();
    reports::write_all(&nights::hostile(), &inner).unwrap();
    let mut names: Vec<String> = fs::read_dir(&inner)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["index.html", "junit.xml", "report.json", "report.sarif"]);
    let json = fs::read_to_string(inner.join("report.json")).unwrap();
    assert_eq!(serde_json::from_str::<Night>(&json).unwrap(), nights::hostile());
}

#[test]
fn a_folder_that_cannot_be_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let error = reports::write_all(&nights::empty(), &file).unwrap_err();
    assert!(error.to_string().contains(file.to_str().unwrap()), "{error}");
}
