//! Two who would run the same night.

use std::fs;

use super::*;

fn wanted(label: Option<&str>) -> Wanted {
    Wanted { label: label.map(str::to_owned), ..Wanted::default() }
}

#[tokio::test]
async fn a_night_that_runs_is_not_begun_by_another() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("plan.toml");
    fs::write(&path, "[[program]]\nrun = [\"./app\"]\n").expect("it can be written");
    let plan = Plan::read(&path).expect("a plan");
    let first = begin(&plan, &wanted(Some("one"))).await.expect("it begins");
    // Without a name it would be that night as well.
    for label in [Some("one"), None] {
        let error = begin(&plan, &wanted(label)).await.expect_err("it runs").to_string();
        assert!(error.contains("night one") && error.contains(&std::process::id().to_string()), "{error}");
    }
    // Another night is another's.
    begin(&plan, &wanted(Some("two"))).await.expect("it begins");
    // Whoever runs it is gone, and has not ended it: it goes on at once.
    drop(first);
    let next = begin(&plan, &wanted(Some("one"))).await.expect("it goes on");
    assert!(next.resumed && !next.complete, "{next:?}");
}
