use bugaroo_protocol::{
    BlockedThread, Detector, FaultAccess, Forgotten, KnownThread, Race, RaceClass, RaceKind, RaceMissing,
    RaceParty, SourceLine,
};

use bugaroo_harness::words::race as words;

fn party(access: FaultAccess, instruction: &str) -> RaceParty {
    RaceParty {
        kernel: "sum".into(),
        at: Some(BlockedThread {
            block: [1, 0, 0],
            thread: [2, 0, 0],
            threads: 1,
            function: "sum".into(),
            ptx_line: Some(7),
            source: Some(SourceLine { file: "sum.cu".into(), line: 3 }),
            instruction: instruction.into(),
        }),
        known: KnownThread::Thread,
        forgotten: None,
        near_line: false,
        site: None,
        access,
        bytes: 8,
        scope: if access == FaultAccess::Store { "weak" } else { "cta" }.into(),
        asynchronous: false,
        called_at: Vec::new(),
    }
}

fn race(first: RaceParty, second: RaceParty) -> Race {
    Race {
        detector: Detector::Ptx,
        kind: RaceKind::WriteWrite,
        class: RaceClass::IntraBlock,
        shared: true,
        address: 0,
        allocation: None,
        first,
        latest: None,
        second,
        missing: RaceMissing::BlockBarrier,
        proven: true,
        count: 1,
    }
}

#[test]
fn an_mbarrier_is_told_as_one() {
    let made = party(FaultAccess::Store, "mbarrier.init.shared.b64 [%r1], 32;");
    let used = party(FaultAccess::Atomic, "@%p1 mbarrier.arrive.shared.b64 %rd1, [%r1];");
    assert_eq!(words::does(&made), "block (1,0,0) thread (2,0,0) initialises an mbarrier");
    assert_eq!(words::does(&used), "block (1,0,0) thread (2,0,0) arrives at an mbarrier");
    let race = race(made, used);
    let title = "data race in shared memory: an initialisation of an mbarrier, then an arrival at an mbarrier, by threads of one block";
    assert_eq!(words::title(&race), title);
    // No atomic takes the initialisation's place.
    assert!(words::plain_beside_strong(&race).is_none());
}

#[test]
fn a_plain_access_beside_an_atomic_is_told() {
    let plain = party(FaultAccess::Store, "st.shared.u64 [%r1], %rd1;");
    let race = race(plain, party(FaultAccess::Atomic, "atom.shared.add.u64 %rd1, [%r1], 1;"));
    assert!(words::plain_beside_strong(&race).is_some());
}

#[test]
fn a_line_that_the_compiler_left_out_is_told_as_near() {
    let merged = RaceParty { near_line: true, ..party(FaultAccess::Store, "st.shared.u64 [%r1], %rd1;") };
    let told =
        "block (1,0,0) thread (2,0,0) stores 8 bytes, weak (near here: the compiler merged or moved it)";
    assert_eq!(words::does(&merged), told);
}

/// What a detector has not kept is told as far as it is known, and as no access of its own.
#[test]
fn what_is_forgotten_is_told_as_such() {
    let mut first = RaceParty { scope: String::new(), ..party(FaultAccess::Store, "") };
    for (forgotten, known, told) in [
        (Forgotten::Load, KnownThread::Nobody, "an earlier load by another thread, not kept by the detector"),
        (
            Forgotten::Write,
            KnownThread::Block,
            "an earlier write by a thread of block (1,0,0), not kept by the detector",
        ),
        (
            Forgotten::Atomic,
            KnownThread::Warp(3),
            "an earlier atomic by block (1,0,0) warp 3, not kept by the detector",
        ),
        (
            Forgotten::Access,
            KnownThread::Thread,
            "an earlier access by block (1,0,0) thread (2,0,0), not kept by the detector",
        ),
    ] {
        (first.forgotten, first.known) = (Some(forgotten), known);
        assert_eq!(words::does(&first), told);
    }
    let later = party(FaultAccess::Atomic, "atom.shared.add.u64 %rd1, [%r1], 1;");
    let race = Race { latest: Some(later.clone()), ..race(first, later) };
    let title = "data race in shared memory: an access, then an atomic, by threads of one block";
    assert_eq!(words::title(&race), title);
    // Nothing is known of its strength.
    assert!(words::plain_beside_strong(&race).is_none());
    let latest = words::latest(&race).unwrap();
    assert!(
        latest.starts_with("the latest access that it has kept: block (1,0,0) thread (2,0,0)"),
        "{latest}"
    );
}
