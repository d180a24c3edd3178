use bugaroo_protocol::{
    BlockedThread, DelayedSpace, Detector, FaultAccess, KnownThread, Model, Race, RaceClass, RaceKind,
    RaceMissing, RaceParty, SourceLine,
};

use super::diagnose;
use crate::diagnosis::DiagnosisKind;
use crate::model::{Bug, Coins, Program, found, report_on, subject};

fn party(line: u32, access: FaultAccess, scope: &str) -> RaceParty {
    RaceParty {
        kernel: "_Z4mailPi".into(),
        at: Some(BlockedThread {
            block: [0, 0, 0],
            thread: [0, 0, 0],
            threads: 1,
            function: "_Z4mailPi".into(),
            ptx_line: Some(line),
            source: Some(SourceLine { file: "/src/k.cu".into(), line }),
            instruction: String::new(),
        }),
        known: KnownThread::Thread,
        forgotten: None,
        near_line: false,
        site: None,
        access,
        bytes: 4,
        scope: scope.into(),
        asynchronous: false,
        called_at: Vec::new(),
    }
}

fn race(
    first: (u32, FaultAccess, &str),
    second: (u32, FaultAccess, &str),
    class: RaceClass,
    missing: RaceMissing,
) -> Race {
    Race {
        detector: Detector::Ptx,
        kind: RaceKind::WriteRead,
        class,
        shared: false,
        address: 0,
        allocation: None,
        first: party(first.0, first.1, first.2),
        latest: None,
        second: party(second.0, second.1, second.2),
        missing,
        proven: true,
        count: 1,
    }
}

const STORE: (u32, FaultAccess, &str) = (3, FaultAccess::Store, "weak");
const LOAD: (u32, FaultAccess, &str) = (9, FaultAccess::Load, "weak");
const ATOMIC: (u32, FaultAccess, &str) = (5, FaultAccess::Atomic, "gpu");

#[test]
fn what_no_fence_cures_is_named_with_both_lines() {
    let flag = race(ATOMIC, LOAD, RaceClass::InterBlock, RaceMissing::Strong);
    let found = diagnose(&[vec![flag.clone()], vec![flag]]);
    let [one] = &found.diagnosis[..] else { panic!("{found:?}") };
    assert_eq!(one.kind, DiagnosisKind::PlainBesideAtomic);
    assert!(
        one.sentence
            .starts_with("plain access beside an atomic: mail(int*) loads global memory at k.cu:9 without")
            && one.sentence.contains("at k.cu:5 (a race in 2 of 2 trials")
            && one.sentence.ends_with("make the access at k.cu:9 atomic"),
        "{}",
        one.sentence
    );
    assert_eq!((one.trials.failing, one.trials.of_failing), (2, 2));
}

#[test]
fn each_kind() {
    use DiagnosisKind::{AtomicScope, MissingBarrier, MissingWarpBarrier, PlainBesideAtomic, Unordered};
    let narrow = (6, FaultAccess::Atomic, "cta");
    for (first, second, class, missing, kind) in [
        (STORE, LOAD, RaceClass::InterBlock, RaceMissing::Release, Unordered),
        (STORE, LOAD, RaceClass::IntraBlock, RaceMissing::Release, MissingBarrier),
        (STORE, LOAD, RaceClass::IntraBlock, RaceMissing::BlockBarrier, MissingBarrier),
        (STORE, LOAD, RaceClass::IntraWarp, RaceMissing::WarpBarrier, MissingWarpBarrier),
        (STORE, LOAD, RaceClass::Divergence, RaceMissing::Acquire, MissingWarpBarrier),
        (ATOMIC, narrow, RaceClass::InterBlock, RaceMissing::AtomicScope, AtomicScope),
        (ATOMIC, STORE, RaceClass::InterBlock, RaceMissing::Release, PlainBesideAtomic),
    ] {
        let found = diagnose(&[vec![race(first, second, class, missing)]]);
        assert_eq!(found.diagnosis[0].kind, kind, "{class:?} {missing:?}");
    }
}

/// One line for each pair of lines, those of more trials first.
#[test]
fn pairs_are_told_once() {
    let there = race(STORE, LOAD, RaceClass::InterBlock, RaceMissing::Acquire);
    let back = race(LOAD, STORE, RaceClass::InterBlock, RaceMissing::Release);
    let other = race(ATOMIC, LOAD, RaceClass::InterBlock, RaceMissing::Strong);
    let found = diagnose(&[vec![other, there.clone(), back], vec![there]]);
    let lines: Vec<u32> = found.diagnosis.iter().map(|one| one.first.source.as_ref().unwrap().line).collect();
    assert_eq!(lines, [3, 5]);
    assert!(found.notes.is_empty());
    let many: Vec<Race> = (0..11)
        .map(|line| {
            race((20 + line, FaultAccess::Store, "weak"), LOAD, RaceClass::InterBlock, RaceMissing::Acquire)
        })
        .collect();
    let found = diagnose(&[many]);
    assert_eq!((found.diagnosis.len(), found.notes.len()), (8, 1));
}

/// A search for races is the same search; it says nothing of what delayed stores would show.
#[test]
fn a_missing_fence_is_found() {
    let bug = Bug { space: DelayedSpace::Global, kernel: "alpha", cures: vec![vec![4]], rate: 0.9 };
    let program = Program::new(1, Coins::Same, vec![bug]);
    let mut subject = subject();
    subject.whole.race = vec![Detector::Ptx];
    subject.models = vec![Model::StoreBuffer, Model::Ptx];
    let report = report_on(&program, &subject);
    assert_eq!(found(&report), [(4, "global", Some("alpha"))]);
    assert!(report.needs.is_empty() && report.diagnosis.is_empty() && report.unresolved.is_none());
    assert_eq!(report.steps[0].question, "are there races between threads of one block?");
}
