use bugaroo_protocol::{
    Access, BlockedThread, Detector, Race, RaceClass, RaceKind, RaceMissing, RaceParty, SourceLine,
};

use bugaroo_harness::words::race as words;

fn party(access: Access, instruction: &str) -> RaceParty {
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
        near_line: false,
        site: None,
        access,
        bytes: 8,
        scope: if access == Access::Store { "weak" } else { "cta" }.into(),
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
        one_of_several: false,
        second,
        missing: RaceMissing::BlockBarrier,
        proven: true,
        count: 1,
    }
}

#[test]
fn an_mbarrier_is_told_as_one() {
    let made = party(Access::Store, "mbarrier.init.shared.b64 [%r1], 32;");
    let used = party(Access::Atomic, "@%p1 mbarrier.arrive.shared.b64 %rd1, [%r1];");
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
    let plain = party(Access::Store, "st.shared.u64 [%r1], %rd1;");
    let race = race(plain, party(Access::Atomic, "atom.shared.add.u64 %rd1, [%r1], 1;"));
    assert!(words::plain_beside_strong(&race).is_some());
}

#[test]
fn a_line_that_the_compiler_left_out_is_told_as_near() {
    let merged = RaceParty { near_line: true, ..party(Access::Store, "st.shared.u64 [%r1], %rd1;") };
    let told =
        "block (1,0,0) thread (2,0,0) stores 8 bytes, weak (near here: the compiler merged or moved it)";
    assert_eq!(words::does(&merged), told);
}
