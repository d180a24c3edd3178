//! Searches that were cut off and go on.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;

use bugaroo_harness::rundir::RunDirError;
use bugaroo_harness::{Error, Outcome, Settings, Target, Variation};
use bugaroo_protocol::DelayedSpace;

use super::{Configuration, Journal, SCHEMA, SearchFile};
use crate::memo::Memo;
use crate::model::{Bug, Coins, Program, now, subject};
use crate::report::SearchReport;
use crate::search::search;

fn state() -> SearchFile {
    let target = Target {
        app: "/app".into(),
        args: vec!["x".to_owned()],
        directory: "/".into(),
        variables: Default::default(),
    };
    let baseline = serde_json::json!({
        "reference": {"exit": {"code": 0}, "stdout_sha256": ""},
        "largest_launch": 1, "launched": {}, "kernels": [], "duration_ms": 1.0,
    });
    SearchFile {
        schema: SCHEMA,
        bugaroo: "test".to_owned(),
        configuration: Configuration::of(&target, &Settings::default(), &Variation::default(), vec![0.75]),
        baseline: serde_json::from_value(baseline).expect("a baseline"),
        sites: subject().sites,
    }
}

fn program() -> Program {
    let bug = |kernel, site, rate| Bug { space: DelayedSpace::Global, kernel, cures: vec![vec![site]], rate };
    Program::new(7, Coins::Fresh, vec![bug("alpha", 20, 0.2), bug("beta", 50, 0.05)])
}

/// Searches in a directory: the answer, and the trials that were run.
fn go(directory: &Path, program: &Program) -> (Result<SearchReport, Error>, u64) {
    let (journal, recorded) = Journal::open(directory).expect("a directory");
    if recorded.search.is_none() {
        journal.state(&state()).expect("the directory can be written");
    }
    let memo = Memo::new(program, recorded.outcomes, Some(journal));
    let report = now(search(&memo, &subject(), &|_| ())).map(|answer| answer.report);
    (report, program.ran.get())
}

#[test]
fn a_search_that_was_cut_off_runs_only_the_rest_and_comes_to_the_same() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (whole, all) = go(&folder.path().join("whole"), &program());
    let whole = whole.expect("a report");
    assert_eq!(whole.missing.len(), 2);
    for cut in [0, 1, 10, 300, all - 1] {
        let directory = folder.path().join(format!("cut-{cut}"));
        let mut dying = program();
        dying.dies_after = cut;
        let (report, ran) = go(&directory, &dying);
        assert!(matches!(report, Err(Error::Interrupted)));
        assert_eq!(ran, cut);
        let (report, ran) = go(&directory, &program());
        assert_eq!((report.expect("a report"), ran), (whole.clone(), all - cut), "cut after {cut}");
        let (report, ran) = go(&directory, &program());
        assert_eq!((report.expect("a report"), ran), (whole.clone(), 0));
    }
}

#[test]
fn a_line_that_was_cut_off_is_dropped() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (whole, all) = go(folder.path(), &program());
    let path = folder.path().join("trials.jsonl");
    let text = fs::read(&path).expect("trials");
    fs::write(&path, &text[..text.len() - 3]).expect("trials");
    let (report, ran) = go(folder.path(), &program());
    assert_eq!((report.expect("a report"), ran), (whole.expect("a report"), 1));
    assert_eq!(fs::read(&path).expect("trials"), text);
    assert!(all > 1);
}

#[test]
fn what_is_no_search_and_what_is_damaged_is_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name);
    fs::write(path("thesis.tex"), "x").expect("a file");
    let error = Journal::open(folder.path()).expect_err("something else is there");
    assert!(error.to_string().contains("holds files but no search"), "{error}");
    assert!(error.is_usage());
    fs::remove_file(path("thesis.tex")).expect("a file");

    let (mut journal, _) = Journal::open(folder.path()).expect("a directory");
    journal.state(&state()).expect("state");
    journal.append("k", &Variation::default(), 3, Outcome::Pass.into()).expect("a line");
    assert!(matches!(Journal::open(folder.path()), Err(RunDirError::Busy(_))));
    drop(journal);
    let (journal, recorded) = Journal::open(folder.path()).expect("a directory");
    assert_eq!(recorded.search, Some(state()));
    assert_eq!(recorded.outcomes.len(), 1);
    drop(journal);

    let mut file = OpenOptions::new().append(true).open(path("trials.jsonl")).expect("trials");
    file.write_all(b"{\"variation\":9,\"trial\":1,\"outcome\":\"pass\"}\n").expect("a line");
    let error = Journal::open(folder.path()).expect_err("variation 9 is unknown");
    assert!(error.to_string().contains("trials.jsonl: line 3: variation 9"), "{error}");
    fs::write(path("search.json"), "{\"schema\": 9}").expect("a file");
    assert!(matches!(Journal::open(folder.path()), Err(RunDirError::Schema { found: 9, .. })));
}

#[test]
fn what_came_to_nothing_leaves_nothing() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let directory = folder.path().join("new");
    let (journal, _) = Journal::open(&directory).expect("a directory");
    journal.discard();
    assert!(!directory.exists());
}
