//! What lies in a night's folder.

use super::*;

fn folder() -> (tempfile::TempDir, Folder) {
    let place = tempfile::tempdir().expect("a folder");
    let folder = Folder::make(place.path(), "monday").expect("it can be made");
    (place, folder)
}

fn job() -> SlurmJob {
    SlurmJob {
        schema: SCHEMA,
        label: "monday".into(),
        plan: "/p/plan.toml".into(),
        plan_sha256: "ab".into(),
        seed: u64::MAX,
        shards: 4,
        job: Some(12),
        submitted: "2026-01-01T00:00:00Z".into(),
        restarts: BTreeMap::from([(3, Restart { done: 7, ended: "then".into(), idle: 1 })]),
    }
}

#[test]
fn a_record_comes_back_as_it_was() {
    let (_place, folder) = folder();
    assert_eq!(folder.job().expect("none is no error"), None);
    folder.remember(&job()).expect("it can be written");
    assert_eq!(folder.job().expect("it can be read"), Some(job()));
    assert!(!folder.file("job.json.new").exists());
    folder.forget().expect("it can be removed");
    assert_eq!(folder.job().expect("none is no error"), None);
}

#[test]
fn a_record_of_another_version_is_refused() {
    let (_place, folder) = folder();
    for (text, says) in [
        ("{\"schema\": 2, \"more\": 1}", "schema 2"),
        ("{\"schema\": 1}", "missing field"),
        ("x", "expected"),
    ] {
        fs::write(folder.file("job.json"), text).expect("it can be written");
        let error = folder.job().expect_err("it is wrong").to_string();
        assert!(error.contains(says) && error.contains("job.json"), "{error}");
    }
}

#[test]
fn only_one_process_waits() {
    let (_place, folder) = folder();
    let held = folder.lock().expect("it is free");
    assert!(matches!(folder.lock(), Err(SlurmError::Busy { .. })));
    drop(held);
    folder.lock().expect("it is free again");
}

#[test]
fn progress_exit_code_and_log_are_read_as_far_as_they_are_there() {
    let (_place, folder) = folder();
    assert_eq!((folder.progress(1), folder.exit(1), folder.tail(1)), (None, None, String::new()));
    let write = |name: &str, text: &str| fs::write(folder.file(name), text).expect("it can be written");
    write("shard-1.progress", "{\"done\": 5, \"planned\": null}");
    write("shard-2.progress", "{\"done\": 5, \"planned\": 9}");
    write("shard-1.exit", "130\n");
    assert_eq!(folder.progress(1), Some(ShardProgress { done: 5, planned: None }));
    assert_eq!(folder.progress(2), Some(ShardProgress { done: 5, planned: Some(9) }));
    assert_eq!(folder.exit(1), Some(130));
    let lines: Vec<String> = (0..5000).map(|line| format!("line {line}\n\n")).collect();
    write("shard-1.log", &lines.concat());
    let tail = folder.tail(1);
    assert!(tail.contains("shard-1.log") && tail.ends_with("  | line 4998\n  | line 4999"), "{tail}");
    assert_eq!(tail.lines().count(), 1 + TAIL_LINES);
}
