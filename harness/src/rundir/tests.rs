use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use bugaroo_protocol::{Backend, Diagnosis, LaunchEnd, Model, Scheduler, Variation};

use super::{Configuration, RunDir, RunDirError, RunFile, SCHEMA};
use crate::baseline::Baseline;
use crate::incident::FailedLaunch;
use crate::oracle::ComparisonText;
use crate::oracle::reference::Reference;
use crate::outcome::{Exit, Outcome};
use crate::record::{Failure, TrialRecord};
use crate::target::Target;

fn run() -> RunFile {
    let target = Target {
        app: "/bin/app".into(),
        args: vec!["-x".into()],
        directory: "/".into(),
        variables: Default::default(),
    };
    RunFile {
        schema: SCHEMA,
        bugaroo: "0.1.0".into(),
        configuration: Configuration {
            stdin: None,
            target,
            app_sha256: Some("00".into()),
            seed: u64::MAX,
            backend: Backend::Sim,
            devices: 1,
            pw: vec![0.1, 1.0],
            variation: Variation {
                pw: 0.0,
                without_fence: BTreeSet::from(["3".parse().unwrap(), "2.17".parse().unwrap()]),
                ..Variation::default()
            },
            suppressions: Vec::new(),
            warp_synchronous: false,
            ignore_faults: false,
            comparison: ComparisonText::default(),
            oracle: "exit".into(),
            timeout_ms: Some(60_000),
            step_budget: None,
        },
        trials: 10,
        baseline: Baseline {
            reference: Reference { exit: Exit::Code(0), stdout_sha256: None, lines: None, memory: None },
            largest_launch: 5,
            launched: Default::default(),
            kernels: BTreeSet::from(["k".into()]),
            duration_ms: 0.5,
            cannot_fork: None,
            incidents: Vec::new(),
            runs: 3,
            usual: None,
        },
        schedules: false,
    }
}

fn record(trial: u64) -> TrialRecord {
    let end = LaunchEnd::Deadlock(Diagnosis { summary: "stuck".into(), ..Diagnosis::default() });
    TrialRecord {
        trial,
        seed: u64::MAX - trial,
        outcome: Outcome::Deadlock,
        duration_ms: 1.25,
        exit: Exit::Signal(9),
        launches: 2,
        delayed_stores: 3,
        forgotten: 0,
        digest: Some("ab".into()),
        failure: Some(Failure {
            reason: "stuck".into(),
            launch: Some(FailedLaunch { ordinal: 1, kernel: "k".into(), end }),
            stale_reads: Vec::new(),
            stdout: "a\nb \"c\"".into(),
            stderr: String::new(),
        }),
        incidents: Vec::new(),
        more_incidents: 0,
        races: None,
        hides: None,
        variation: None,
    }
}

fn filled(path: &Path) {
    let (mut directory, recorded) = RunDir::open(path).unwrap();
    assert!(recorded.is_none());
    directory.state(&run()).unwrap();
    for trial in [1, 0, 2] {
        directory.append(1, &record(trial)).unwrap();
    }
}

#[test]
fn what_is_written_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a/b");
    filled(&path);
    let recorded = RunDir::read(&path).unwrap();
    assert_eq!(recorded.run, run());
    assert!(!recorded.torn);
    let keys: Vec<_> = recorded.trials.keys().copied().collect();
    assert_eq!(keys, [(1, 0), (1, 1), (1, 2)]);
    for (&(_, trial), read) in &recorded.trials {
        assert_eq!(*read, record(trial));
    }
}

/// Whatever the length at which the file ends: every whole line is there, and what is appended after is
/// readable.
#[test]
fn cut_off_anywhere() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    filled(&path);
    let file = path.join("trials.jsonl");
    let text = fs::read(&file).unwrap();
    for length in 0..text.len() {
        fs::write(&file, &text[..length]).unwrap();
        let whole = text[..length].iter().filter(|&&byte| byte == b'\n').count();
        let torn = length > 0 && text[length - 1] != b'\n';
        let (mut directory, recorded) = RunDir::open(&path).unwrap();
        let recorded = recorded.unwrap();
        assert_eq!((recorded.trials.len(), recorded.torn), (whole, torn), "{length}");
        directory.append(0, &record(7)).unwrap();
        let recorded = RunDir::read(&path).unwrap();
        assert_eq!((recorded.trials.len(), recorded.torn), (whole + 1, false), "{length}");
    }
}

#[test]
fn one_writer_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let first = RunDir::open(folder.path()).unwrap();
    assert!(matches!(RunDir::open(folder.path()), Err(RunDirError::Busy(_))));
    drop(first);
    RunDir::open(folder.path()).unwrap();
}

#[test]
fn discarding_removes_what_was_made_and_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let made = folder.path().join("made");
    RunDir::open(&made).unwrap().0.discard();
    assert!(!made.exists());
    RunDir::open(folder.path()).unwrap().0.discard();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn differences_name_both_values() {
    let here = run().configuration;
    assert_eq!(here.differences(&here), None);
    let mut there = here.clone();
    there.seed = 7;
    there.target.args.clear();
    assert_eq!(
        here.differences(&there).unwrap(),
        r#"args is [] there, ["-x"] here; seed is 7 there, 18446744073709551615 here"#
    );
}

#[test]
fn other_schemas_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    filled(&folder.path().join("run"));
    let path = folder.path().join("run/run.json");
    let text = fs::read_to_string(&path).unwrap().replace("\"schema\": 1", "\"schema\": 2");
    fs::write(&path, text).unwrap();
    let error = RunDir::read(&folder.path().join("run")).unwrap_err();
    assert!(matches!(error, RunDirError::Schema { found: 2, .. }), "{error}");
    assert!(error.is_usage());
}

/// A configuration as versions wrote it that named each of a variation's fields.
#[test]
fn configurations_of_before_are_read() {
    let text = r#"{
        "app": "/bin/app", "args": [], "directory": "/", "app_sha256": null, "seed": 7, "backend": "sim",
        "model": "ptx", "pw": [0.25, 0.75], "pr": 0.125, "model_memory": 4096, "buffer": 8, "space": "global",
        "scheduler": "pct", "by_turns": true, "kernel": "k", "without_fence": ["1"], "with_fence": [],
        "narrow_fence": [], "insert": [], "widen": [], "handlers": false, "warp_synchronous": true,
        "ignore_faults": false, "oracle": "exit", "timeout_ms": null, "step_budget": null
    }"#;
    let read: Configuration = serde_json::from_str(text).unwrap();
    let cells = read.cells();
    assert_eq!(cells.iter().map(|cell| cell.pw).collect::<Vec<_>>(), [0.25, 0.75]);
    let Variation { model, pr, model_memory, buffer, scheduler, pct_depth, by_turns, .. } = cells[0].clone();
    assert_eq!((model, pr, model_memory, buffer), (Model::Ptx, 0.125, 4096, 8));
    assert_eq!((scheduler, pct_depth, by_turns), (Scheduler::Pct, 3, true));
    assert!(read.warp_synchronous && cells[0].without_fence.len() == 1);
    // Written and read once more, it is the same, and so are its cells.
    let again: Configuration = serde_json::from_str(&serde_json::to_string(&read).unwrap()).unwrap();
    assert_eq!(again.differences(&read), None);
    assert_eq!(again, read);
}
