//! Trials per second of `cbe_dot no_fence` with the fork server and with a process each, as a ratio within one
//! run: the two take turns, so that whatever else the machine does meets both. The outcomes are compared, too.
//!
//! `cargo bench -p bugaroo-cli --bench fork_server [-- TRIALS]`, after the workspace was built in release.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Turns of each.
const TURNS: usize = 5;

fn main() {
    let number = std::env::args().find_map(|argument| argument.parse::<usize>().ok());
    let trials = number.unwrap_or(1000) / TURNS;
    let place = tempfile::tempdir().expect("a temporary folder");
    let mut rates = [Vec::new(), Vec::new()];
    for turn in 0..TURNS {
        let ways: [&[&str]; 2] = [&[], &["--no-fork-server"]];
        let mut records = Vec::new();
        for (way, rates) in ways.into_iter().zip(&mut rates) {
            let out = place.path().join(format!("{turn}-{}", way.len()));
            let summary = run(trials, turn, &out, way);
            assert_eq!(summary["fork_server"]["used"], way.is_empty());
            rates.push(summary["trials_per_second"].as_f64().expect("trials ran"));
            records.push(read(&out));
        }
        assert!(records[0] == records[1], "outcomes differ");
    }
    let [forked, each] = rates.map(|rates| {
        let seconds: f64 = rates.iter().map(|rate| trials as f64 / rate).sum();
        (TURNS * trials) as f64 / seconds
    });
    println!(
        "cbe_dot no_fence, p_w 0.75, {} trials: {forked:.0} trials/s with the fork server, {each:.0} with a process \
         each: {:.2} times; outcomes identical",
        TURNS * trials,
        forked / each,
    );
}

/// Runs trials of a seed, and gives the summary.
fn run(trials: usize, seed: usize, out: &Path, way: &[&str]) -> Value {
    let bugaroo = PathBuf::from(env!("CARGO_BIN_EXE_bugaroo"));
    let output = Command::new(&bugaroo)
        .args(["run", "--pw", "0.75", "--format", "json", "--error-exitcode", "0", "--out"])
        .arg(out)
        .args(["--trials", &trials.to_string(), "--seed", &seed.to_string()])
        .args(way)
        .arg(bugaroo.with_file_name("cbe_dot"))
        .args(["--variant", "no_fence"])
        .output()
        .expect("bugaroo starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    serde_json::from_slice(&output.stdout).expect("it prints JSON")
}

/// The records of a run, but for the time that trials took.
fn read(out: &Path) -> BTreeMap<u64, Value> {
    let text = fs::read_to_string(out.join("trials.jsonl")).expect("the run has records");
    let record = |line: &str| {
        let mut record: Value = serde_json::from_str(line).expect("a line is a record");
        record["duration_ms"] = Value::Null;
        (record["trial"].as_u64().expect("it has its index"), record)
    };
    text.lines().map(record).collect()
}
