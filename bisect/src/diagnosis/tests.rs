use bugaroo_harness::Conflicts;
use bugaroo_protocol::{BlockedThread, Conflict, ConflictKind, FaultAccess, Party, Relation, SourceLine};

use super::{DiagnosisKind, MOST, diagnose};

fn party(access: FaultAccess, line: u32) -> Party {
    let at = BlockedThread {
        block: [0; 3],
        thread: [line, 0, 0],
        threads: 1,
        function: "_Z4bumpPi".into(),
        ptx_line: Some(10 * line),
        source: Some(SourceLine { file: "/home/me/k.cu".into(), line }),
        instruction: "atom.relaxed.cta.add".into(),
    };
    Party { at, site: None, access, strong: access == FaultAccess::Atomic }
}

fn conflict(kind: ConflictKind, relation: Relation, first: Party, second: Party) -> Conflict {
    Conflict { kind, relation, shared: false, address: 8, first, second, between: None, count: 1 }
}

fn unordered(relation: Relation, first: (FaultAccess, u32), second: (FaultAccess, u32)) -> Conflict {
    conflict(ConflictKind::Unordered, relation, party(first.0, first.1), party(second.0, second.1))
}

fn lost(load: u32, store: u32, other: (FaultAccess, u32)) -> Conflict {
    let pair = conflict(
        ConflictKind::LostUpdate,
        Relation::Grid,
        party(FaultAccess::Load, load),
        party(FaultAccess::Store, store),
    );
    Conflict { between: Some(party(other.0, other.1)), ..pair }
}

fn trial(pairs: &[Conflict]) -> Conflicts {
    Conflicts { pairs: pairs.to_vec(), more: 0 }
}

const WRITE: (FaultAccess, u32) = (FaultAccess::Store, 12);
const READ: (FaultAccess, u32) = (FaultAccess::Load, 14);

fn named(failing: &[Conflicts], passing: &[Conflicts]) -> Vec<(DiagnosisKind, String)> {
    let found = diagnose(failing, passing);
    found.diagnosis.into_iter().map(|one| (one.kind, one.sentence)).collect()
}

#[test]
fn a_lost_update_is_named_before_the_pairs_of_its_lines() {
    let pairs = [
        unordered(Relation::Grid, (FaultAccess::Load, 12), (FaultAccess::Store, 12)),
        unordered(Relation::Warp, (FaultAccess::Store, 12), (FaultAccess::Store, 12)),
        lost(12, 12, (FaultAccess::Store, 12)),
    ];
    let found = named(&vec![trial(&pairs); 5], &[]);
    let sentence = "lost update: bump(int*) loads global memory at k.cu:12 and stores what follows from it at k.cu:12, and \
                    another thread's store at k.cu:12 comes between (in 5 of 5 failing trials): an atomic operation is what is \
                    missing";
    assert_eq!(found, [(DiagnosisKind::LostUpdate, sentence.to_owned())]);
}

#[test]
fn an_atomic_that_is_lost_stands_beside_a_plain_access() {
    let found = named(&[trial(&[lost(12, 13, (FaultAccess::Atomic, 20))])], &[]);
    assert_eq!(found[0].0, DiagnosisKind::PlainBesideAtomic);
    for what in ["k.cu:12", "k.cu:13", "atomic at k.cu:20"] {
        assert!(found[0].1.contains(what), "{}", found[0].1);
    }
}

/// The order that fails is named, and not the one that passes, nor what is there in either.
#[test]
fn what_shows_when_trials_pass_is_named_behind() {
    let always = unordered(Relation::Block, (FaultAccess::Store, 30), (FaultAccess::Load, 31));
    let (early, late) = (unordered(Relation::Block, READ, WRITE), unordered(Relation::Block, WRITE, READ));
    let failing = vec![trial(&[late.clone(), always.clone(), early.clone()]); 3];
    let passing = vec![trial(&[late, always]); 4];
    let found = diagnose(&failing, &passing);
    assert_eq!(found.diagnosis.len(), 1, "{found:?}");
    let one = &found.diagnosis[0];
    assert_eq!(
        (one.kind, one.first.access, one.second.access),
        (DiagnosisKind::MissingBarrier, READ.0, WRITE.0)
    );
    assert_eq!(
        (one.trials.failing, one.trials.of_failing, one.trials.passing, one.trials.of_passing),
        (3, 3, 0, 4)
    );
    assert!(
        one.sentence.contains(
            "reads global memory at k.cu:14 before another thread of its block writes it at k.cu:12"
        )
    );
    assert!(one.sentence.contains("(in 3 of 3 failing trials, 0 of 4 passing ones)"), "{}", one.sentence);
}

/// What shows in all failing trials comes before what shows in some, though passing trials show it, too.
#[test]
fn what_all_failing_trials_show_is_named() {
    let (all, some) = (unordered(Relation::Block, READ, WRITE), lost(20, 21, (FaultAccess::Store, 21)));
    let failing = [trial(&[some, all.clone()]), trial(std::slice::from_ref(&all))];
    let found = named(&failing, &[trial(&[all])]);
    assert_eq!(found.iter().map(|one| one.0).collect::<Vec<_>>(), [DiagnosisKind::MissingBarrier]);
}

/// The barrier has to be wide enough for all threads that meet at these lines.
#[test]
fn the_widest_relation_says_what_is_missing() {
    use DiagnosisKind::{MissingBarrier, MissingWarpBarrier, Unordered};
    let of = |relations: &[Relation]| {
        let pairs: Vec<_> = relations.iter().map(|relation| unordered(*relation, READ, WRITE)).collect();
        named(&[trial(&pairs[..1]), trial(&pairs)], &[]).into_iter().map(|one| one.0).collect::<Vec<_>>()
    };
    assert_eq!(of(&[Relation::Warp]), [MissingWarpBarrier]);
    assert_eq!(of(&[Relation::Warp, Relation::Block]), [MissingBarrier]);
    assert_eq!(of(&[Relation::Block, Relation::Warp, Relation::Grid]), [Unordered]);
}

#[test]
fn a_narrow_scope_is_named_with_its_line() {
    let mut wide = party(FaultAccess::Atomic, 20);
    wide.at.instruction = "atom.add".into();
    let pair = conflict(ConflictKind::AtomicScope, Relation::Grid, party(FaultAccess::Atomic, 12), wide);
    let found = named(&[trial(&[pair])], &[]);
    assert_eq!(found[0].0, DiagnosisKind::AtomicScope);
    assert!(
        found[0].1.contains("at k.cu:12 and at k.cu:20 in bump(int*), and the scope at k.cu:12 is"),
        "{}",
        found[0].1
    );
}

#[test]
fn a_reset_is_named_with_the_atomic() {
    let pair = conflict(
        ConflictKind::PlainBesideAtomic,
        Relation::Block,
        party(FaultAccess::Atomic, 20),
        party(FaultAccess::Store, 12),
    );
    let found = named(&[trial(&[pair])], &[]);
    assert_eq!(found[0].0, DiagnosisKind::PlainBesideAtomic);
    assert!(
        found[0].1.contains("at k.cu:12 without an atomic, behind another thread's atomic at k.cu:20"),
        "{}",
        found[0].1
    );
}

#[test]
fn where_nothing_is_found_that_is_said() {
    let found = diagnose(&[trial(&[]), trial(&[])], &[trial(&[lost(1, 2, (FaultAccess::Store, 2))])]);
    assert!(found.diagnosis.is_empty());
    assert!(
        found.notes[0].contains("2 failing trials") && found.notes[0].contains("host"),
        "{:?}",
        found.notes
    );
    let bounded = diagnose(&[Conflicts { pairs: vec![], more: 7 }], &[]);
    assert!(bounded.notes[0].starts_with("7 conflicts"), "{:?}", bounded.notes);
}

#[test]
fn few_are_named() {
    let pairs: Vec<_> = (0..20)
        .map(|line| {
            unordered(Relation::Block, (FaultAccess::Store, 100 + line), (FaultAccess::Load, 200 + line))
        })
        .collect();
    assert_eq!(named(&[trial(&pairs)], &[]).len(), MOST);
}

/// The contract of the report: lower-case kinds with dashes, lines as everywhere.
#[test]
fn the_form_in_json() {
    let found = diagnose(&[trial(&[lost(12, 13, (FaultAccess::Store, 13))])], &[]);
    let json = serde_json::to_value(&found).unwrap();
    let one = &json["diagnosis"][0];
    assert_eq!(one["kind"], "lost-update");
    assert_eq!(one["first"]["source"], serde_json::json!({"file": "/home/me/k.cu", "line": 12}));
    assert_eq!((&one["second"]["source"]["line"], &one["between"]["access"]), (&13.into(), &"store".into()));
    assert_eq!((&one["first"]["kernel"], &one["trials"]["failing"]), (&"bump(int*)".into(), &1.into()));
    assert_eq!(serde_json::from_value::<super::Diagnosed>(json.clone()).unwrap(), found);
}
