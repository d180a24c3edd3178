//! `race` with detectors of one word: what it says of the access that has come first, and what device code does not know.

use std::path::{Path, PathBuf};

use crate::support::{Runtime, build, nvcc, programs, run};
use serde_json::Value;

const WAYS: [&[&str]; 4] = [
    &["--detector", "hirace"],
    &["--detector", "hirace", "--handlers"],
    &["--detector", "scord"],
    &["--detector", "scord", "--handlers"],
];

fn race(program: &Path, way: &[&str], kernels: &[&str]) -> (Option<i32>, Value) {
    let options = [&["race", "--trials", "4", "--seed", "3", "--format", "json"], way].concat();
    let names: Vec<PathBuf> = kernels.iter().map(PathBuf::from).collect();
    let command: Vec<&Path> = [program].into_iter().chain(names.iter().map(PathBuf::as_path)).collect();
    let ran = run(&options, &command);
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    let report = serde_json::from_slice(&ran.stdout).unwrap_or_else(|_| panic!("no report: {said}"));
    (ran.status.code(), report)
}

/// The line of the program that has this.
fn line_of(part: &str) -> u64 {
    let text = std::fs::read_to_string(programs().join("looked_at.cu")).expect("the program");
    let at = text.lines().position(|line| line.contains(part)).expect("a line has it");
    at as u64 + 1
}

fn warnings(report: &Value) -> Vec<&str> {
    let all = report["warnings"].as_array().expect("there are warnings");
    all.iter().map(|warning| warning["what"].as_str().expect("a text")).collect()
}

#[test]
fn a_load_races_with_a_write_and_never_with_a_load() {
    let Some(nvcc) = nvcc() else { return };
    let program = build(&nvcc, "looked_at.cu", Runtime::Static);
    for way in WAYS {
        let (code, report) = race(&program, way, &["behind_barrier"]);
        let races = report["races"].as_array().expect("a list");
        assert_eq!((code, races.len()), (Some(1), 1), "{way:?}: {report:#}");
        let race = &races[0];
        assert_eq!((&race["kind"], &race["class"]), (&"write-read".into(), &"inter-block".into()), "{way:?}");
        assert_eq!(race["second"]["source"]["line"], line_of("out[1] = data[0];"), "{way:?}");
        assert_eq!(race["latest"]["source"]["line"], line_of("out[0] = data[0];"), "{way:?}: {race:#}");
        let first = &race["first"];
        assert_eq!(
            (&first["block"], &first["thread"]),
            (&serde_json::json!([0, 0, 0]), &Value::Null),
            "{way:?}"
        );
        if way.contains(&"scord") {
            assert_eq!(first["source"]["line"], line_of("data[0] = 1;"), "{way:?}: {race:#}");
            assert_eq!(first["access"], "store", "{way:?}");
        } else {
            assert_eq!((&first["kept"], &first["access"]), (&false.into(), &"write".into()), "{way:?}");
            assert_eq!(first["source"], Value::Null, "{way:?}");
        }
    }
}

/// ScoRD takes the thread's own read for in order, and says nothing.
#[test]
fn nobody_races_with_himself() {
    let Some(nvcc) = nvcc() else { return };
    let program = build(&nvcc, "looked_at.cu", Runtime::Static);
    for way in &WAYS[..2] {
        let (_, report) = race(&program, way, &["reads_then_writes"]);
        let race = &report["races"][0];
        let (first, second) = (&race["first"], &race["second"]);
        assert_eq!(
            (&race["kind"], &second["access"]),
            (&"read-write".into(), &"store".into()),
            "{way:?}: {race:#}"
        );
        assert_eq!((&first["kept"], &first["access"]), (&false.into(), &"load".into()), "{way:?}: {race:#}");
        assert_eq!((&first["block"], &first["thread"]), (&Value::Null, &Value::Null), "{way:?}");
        assert_eq!(race["latest"]["thread"], second["thread"], "{way:?}");
    }
    let told =
        run(&["race", "--trials", "1", "--detector", "hirace"], &[&program, Path::new("reads_then_writes")]);
    let text = String::from_utf8_lossy(&told.stdout).into_owned();
    for part in [
        "error: data race in global memory: a load, then a store, by threads of different blocks",
        "first: reads_then_writes(): an earlier load by another thread, not kept by the detector",
        "the latest access that it has kept: block (0,0,0) thread (0,0,0) loads 4 bytes, weak",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

/// One kernel of a file calls `malloc`: it runs, is not looked at, and is named. The others are looked at.
#[test]
fn device_code_leaves_out_a_kernel_that_it_does_not_know() {
    let Some(nvcc) = nvcc() else { return };
    let program = build(&nvcc, "looked_at.cu", Runtime::Static);
    for way in [WAYS[1], WAYS[3]] {
        let (code, report) = race(&program, way, &["orderly"]);
        assert_eq!((code, warnings(&report).len()), (Some(0), 0), "{way:?}: {report:#}");
        assert!(report["accesses"].as_u64() > Some(0), "{way:?}: {report:#}");
        let (code, report) = race(&program, way, &["allocates", "behind_barrier", "allocates"]);
        assert_eq!(code, Some(1), "{way:?}: {report:#}");
        let [warning] = warnings(&report)[..] else { panic!("{way:?}: {report:#}") };
        let (starts, ends) = ("kernel allocates() is not looked at: ", ", in take())");
        assert!(warning.starts_with(starts) && warning.ends_with(ends), "{warning}");
        assert!(
            warning.contains("on the device does not know `call") && warning.contains("malloc"),
            "{warning}"
        );
        assert_eq!(report["warnings"][0]["count"], 8, "{way:?}: two launches in each of four trials");
        // Where nothing is looked at, that is no clean bill.
        let (code, report) = race(&program, way, &["allocates"]);
        assert_eq!((code, report["accesses"].as_u64()), (Some(4), Some(0)), "{way:?}: {report:#}");
    }
}

/// A barrier of some threads is warned of where a kernel with one is launched.
#[test]
fn barriers_of_some_threads_are_named_with_their_kernel() {
    let Some(nvcc) = nvcc() else { return };
    let program = build(&nvcc, "looked_at.cu", Runtime::Static);
    for way in [WAYS[1], WAYS[3]] {
        let (code, report) = race(&program, way, &["counted", "orderly"]);
        assert_eq!((code, warnings(&report).len()), (Some(0), 0), "{way:?}: {report:#}");
        let (code, report) = race(&program, way, &["pair"]);
        assert_eq!(code, Some(0), "{way:?}: {report:#}");
        let [warning] = warnings(&report)[..] else { panic!("{way:?}: {report:#}") };
        assert!(warning.contains(": kernel pair() has barriers with thread counts"), "{warning}");
    }
}
