use bugaroo_protocol::{Model, Variation};
use serde_json::json;

use super::CellSummary;
use crate::outcome::{Exit, Outcome};
use crate::record::{Failure, TrialRecord};

fn record(trial: u64, outcome: Outcome) -> TrialRecord {
    let failure = Failure {
        reason: "r".into(),
        launch: None,
        stale_reads: Vec::new(),
        stdout: String::new(),
        stderr: String::new(),
    };
    TrialRecord {
        trial,
        seed: trial,
        outcome,
        duration_ms: 1.0,
        exit: Exit::Code(0),
        launches: 1,
        delayed_stores: 5,
        forgotten: 0,
        digest: None,
        failure: outcome.is_failure().then_some(failure),
        incidents: Vec::new(),
        more_incidents: 0,
        races: None,
        hides: None,
        variation: None,
    }
}

#[test]
fn counts() {
    // In the order in which they ended.
    let records = [
        record(3, Outcome::Crash),
        record(0, Outcome::Pass),
        record(1, Outcome::WrongResult),
        record(2, Outcome::Pass),
    ];
    let cell = CellSummary::new(&Variation { pw: 0.5, ..Variation::default() }, &records);
    assert_eq!(cell.delayed_stores, 20);
    assert_eq!(cell.first_failure, Some(records[2].clone()));
    let value = serde_json::to_value(&cell).unwrap();
    assert_eq!(
        value,
        json!({
            "pw": 0.5, "scheduler": "random", "trials": 4, "failures": 2, "rate": 0.5, "ci95": cell.ci95,
            "outcomes": {
                "pass": 2, "wrong-result": 1, "crash": 1, "deadlock": 0, "timeout": 0, "slow": 0, "killed": 0,
            },
            "first_failing_trial": 1,
        })
    );
}

#[test]
fn nothing_yet() {
    let cell = CellSummary::new(&Variation { model: Model::Bugaroo, pw: 1.0, ..Variation::default() }, []);
    assert_eq!((cell.trials, cell.failures, cell.rate, cell.ci95), (0, 0, None, [0.0, 1.0]));
    assert_eq!(cell.first_failing_trial, None);
}

/// Slow and killed trials are counted, but for no rate.
#[test]
fn what_says_nothing_counts_for_no_rate() {
    let outcomes = [Outcome::Pass, Outcome::Slow, Outcome::Timeout, Outcome::Killed, Outcome::Pass];
    let records: Vec<TrialRecord> =
        (0..).zip(outcomes).map(|(trial, outcome)| record(trial, outcome)).collect();
    let summary = CellSummary::new(&Variation::default(), &records);
    assert_eq!((summary.trials, summary.failures, summary.rate), (5, 1, Some(1.0 / 3.0)));
    assert_eq!(summary.first_failing_trial, Some(2));
    let json = serde_json::to_value(&summary).unwrap();
    assert_eq!((&json["outcomes"]["slow"], &json["outcomes"]["killed"]), (&json!(1), &json!(1)));
    let none = CellSummary::new(&Variation::default(), &records[1..2]);
    assert_eq!((none.failures, none.rate, none.ci95), (0, None, [0.0, 1.0]));
}
