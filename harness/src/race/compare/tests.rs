use bugaroo_protocol::{
    BlockedThread, Detector, FaultAccess, Forgotten, Race, RaceClass, RaceKind, RaceMissing,
};

use super::*;
use crate::race::tests::{one, race, record, turns};

fn by(detector: Detector, race: Race) -> Race {
    Race { detector, ..race }
}

fn hirace(first: u32, second: u32) -> Race {
    Race { missing: RaceMissing::GridEnd, proven: false, ..by(Detector::Hirace, race(first, second)) }
}

fn scord(first: u32, second: u32, missing: RaceMissing) -> Race {
    Race { missing, proven: false, ..by(Detector::Scord, race(first, second)) }
}

fn compared(races: Vec<Race>) -> Comparison {
    Comparison::new(&turns(&Detector::ALL), &[record(0, Some(one(races)))]).unwrap()
}

/// Who differs, whether it reports, and why; of the only row.
fn differences(races: Vec<Race>) -> Vec<(Detector, bool, Option<&'static str>)> {
    let compared = compared(races);
    assert_eq!(compared.rows.len(), 1, "{compared:#?}");
    let told = |one: &Difference| (one.detector, one.reports, one.rule.map(Rule::name));
    compared.rows[0].differences.iter().map(told).collect()
}

#[test]
fn only_trials_at_which_all_look_are_compared() {
    let records: Vec<TrialRecord> = (0..6).map(|trial| record(trial, Some(one(vec![race(3, 9)])))).collect();
    let all = Comparison::new(&turns(&Detector::ALL), &records).unwrap();
    assert_eq!((all.trials, all.rows[0].said[&Detector::Ptx].trials), (2, 2));
    assert!(Comparison::new(&turns(&[Detector::Ptx]), &records).is_none());
    assert!(Comparison::new(&turns(&[Detector::Hirace, Detector::Scord]), &records).is_none());
}

#[test]
fn each_that_differs_has_its_rule() {
    use Detector::{Barracuda, Hirace, Scord};
    assert_eq!(
        differences(vec![race(3, 9), hirace(3, 9)]),
        [(Barracuda, false, Some("fences-beside-accesses")), (Scord, false, None)]
    );
    assert_eq!(differences(vec![hirace(3, 9)]), [(Hirace, true, Some("barriers-only"))]);
    for (missing, rule) in [
        (RaceMissing::DeviceFence, "own-fence"),
        (RaceMissing::StrongAccess, "fences-order-strong"),
        (RaceMissing::LockOnLoad, "lockset"),
        (RaceMissing::AtomicScope, "scope-whatever-orders"),
    ] {
        assert_eq!(differences(vec![scord(3, 9, missing)]), [(Scord, true, Some(rule))]);
    }
    let warp = Race { class: RaceClass::IntraWarp, missing: RaceMissing::WarpBarrier, ..race(3, 9) };
    assert_eq!(
        differences(vec![warp]),
        [
            (Barracuda, false, Some("lockstep")),
            (Hirace, false, Some("barrier-of-all")),
            (Scord, false, Some("lockstep"))
        ]
    );
    let host = Race { class: RaceClass::Host, missing: RaceMissing::HostSync, ..race(3, 9) };
    assert!(differences(vec![host]).iter().all(|(_, _, rule)| *rule == Some("one-grid")));
    let divergence = Race { kind: RaceKind::BarrierDivergence, ..by(Barracuda, race(3, 9)) };
    assert_eq!(differences(vec![divergence]), [(Barracuda, true, Some("divergence"))]);
    let mut atomics = Race { missing: RaceMissing::AtomicScope, ..race(3, 9) };
    (atomics.first.access, atomics.second.access) = (FaultAccess::Atomic, FaultAccess::Atomic);
    assert_eq!(differences(vec![atomics])[0], (Barracuda, false, Some("atomics-never-race")));
    assert_eq!(
        differences(vec![by(Barracuda, race(3, 9))]),
        [(Barracuda, true, Some("fences-beside-accesses"))]
    );
}

/// A report that has not kept the earlier access is one of the pair that its later access is in.
#[test]
fn a_report_with_half_a_pair_counts_for_the_pair() {
    let mut half = hirace(4, 9);
    half.first.forgotten = Some(Forgotten::Write);
    half.first.at = half.first.at.map(|at| BlockedThread {
        ptx_line: None,
        source: None,
        instruction: String::new(),
        ..at
    });
    let all = compared(vec![race(3, 9), half.clone(), scord(3, 9, RaceMissing::DeviceFence)]);
    assert_eq!(all.rows.len(), 1, "{all:#?}");
    let names: Vec<Detector> = all.rows[0].said.keys().copied().collect();
    assert_eq!(names, [Detector::Ptx, Detector::Hirace, Detector::Scord]);
    // Alone it is a row of its own.
    assert_eq!(differences(vec![half]), [(Detector::Hirace, true, Some("barriers-only"))]);
}

#[test]
fn pairs_that_share_an_access_are_no_contradiction() {
    let all = compared(vec![race(3, 9), hirace(5, 9)]);
    let rules =
        all.rows.iter().flat_map(|row| &row.differences).filter(|one| one.detector == Detector::Hirace);
    let rules: Vec<(bool, Option<Rule>)> = rules.map(|one| (one.reports, one.rule)).collect();
    assert_eq!(rules, [(false, Some(Rule::OnePair)), (true, Some(Rule::OnePair))]);
}

#[test]
fn what_is_suppressed_is_not_compared() {
    let mut all = compared(vec![race(3, 9), hirace(3, 9), hirace(5, 6)]);
    let mut rules = Suppressions::default();
    let text = "[[suppress]]\ndetector = \"hirace\"\nreason = \"locks\"\n";
    rules.add("s.toml".as_ref(), text).unwrap();
    all.suppress(&rules);
    assert_eq!(all.rows.len(), 1);
    assert!(all.rows[0].said.contains_key(&Detector::Ptx));
    assert!(all.rows[0].differences.iter().all(|one| one.detector != Detector::Hirace));
}
