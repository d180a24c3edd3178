use bugaroo_protocol::FaultKind;

use super::*;
use crate::incident::tests::fault;
use crate::outcome::Outcome;

fn record(trial: u64, lines: &[u32]) -> TrialRecord {
    let incident = |line: &u32| Incident::of(&fault("_Z4pastPi", FaultKind::Trap, *line));
    TrialRecord {
        trial,
        seed: trial,
        outcome: Outcome::Pass,
        incidents: lines.iter().filter_map(incident).collect(),
        ..serde_json::from_str(RECORD).expect("a record")
    }
}

/// The rest of a record, as old ones are read.
const RECORD: &str = r#"{"trial":0,"seed":0,"outcome":"pass","duration_ms":1.0,"exit":{"code":0},"launches":1,
    "delayed_stores":0,"digest":null,"failure":null}"#;

#[test]
fn each_is_told_once_with_where_it_was_seen() {
    let mut seen = Vec::new();
    SeenIncident::add(&mut seen, &record(0, &[1]).incidents);
    SeenIncident::add(&mut seen, &record(0, &[1]).incidents);
    let mut findings = Findings::without_injection(&seen, 3);
    let trials = [((0, 0), record(0, &[])), ((0, 1), record(1, &[1, 2])), ((1, 0), record(0, &[2]))].into();
    findings.add_trials(&trials, |cell, trial| format!("{cell}:{trial}"));
    let told: Vec<_> = findings
        .all
        .iter()
        .map(|finding| {
            let line = finding.source.as_ref().map(|source| source.line);
            (line, finding.without_injection.seen, finding.trials.seen, finding.first_trial.as_deref())
        })
        .collect();
    assert_eq!(told, [(Some(1), 2, 1, Some("0:1")), (Some(2), 0, 2, Some("0:1"))]);
    assert!(findings.all.iter().all(|finding| (finding.without_injection.of, finding.trials.of) == (3, 3)));
    assert_eq!(
        (findings.all[0].kernel.as_str(), findings.all[0].kernel_mangled.as_str()),
        ("past(int*)", "_Z4pastPi")
    );
}

#[test]
fn their_number_is_bounded() {
    let lines: Vec<u32> = (0..MOST_FINDINGS as u32 + 7).collect();
    let mut findings = Findings::default();
    findings.add_trials(&[((0, 0), record(0, &lines))].into(), |_, trial| trial.to_string());
    assert_eq!((findings.all.len(), findings.more), (MOST_FINDINGS, 7));
}
