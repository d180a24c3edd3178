//! Conflicts: each kind is found where it is, and in the clean twin there is none.

use crate::conflict_support::{Launch, all_kinds, found, kinds, text};
use bugaroo_simulator::conflicts::{AccessWhat, Collision, ThreadRelation};

/// `count++` by all threads.
const BUMP: &str = "ld{}.u32 %r5, [{at}];\nadd.u32 %r5, %r5, 1;\nst{}.u32 [{at}], %r5;";

fn bump(space: &str, at: &str) -> String {
    text(&BUMP.replace("{}", space).replace("{at}", at))
}

#[test]
fn lost_updates_in_global_memory() {
    for space in [".global", ".volatile.global", ".relaxed.gpu.global", ""] {
        let launch = Launch { grid: 4, block: 64, ..Launch::new(&bump(space, "%rd0")) };
        let found = found(&launch);
        for relation in [ThreadRelation::Warp, ThreadRelation::Block, ThreadRelation::Grid] {
            let of = |one: &&bugaroo_simulator::conflicts::FoundConflict| {
                one.kind == Collision::LostUpdate && one.relation == relation
            };
            let lost =
                found.conflicts.iter().find(of).unwrap_or_else(|| panic!("{space} {relation:?}: {found:?}"));
            assert_eq!((lost.first.what, lost.second.what), (AccessWhat::Load, AccessWhat::Store));
            let between = lost.between.expect("somebody's store");
            assert_eq!(
                (between.what, between.pc),
                (AccessWhat::Store, lost.second.pc),
                "the same store of another thread"
            );
            assert_eq!((lost.first.block, lost.first.thread), (lost.second.block, lost.second.thread));
            assert_ne!((between.block, between.thread), (lost.first.block, lost.first.thread));
        }
    }
}

#[test]
fn lost_updates_in_shared_memory() {
    let found = found(&Launch::new(&bump(".shared", "flag")));
    let lost: Vec<_> = found.conflicts.iter().filter(|one| one.kind == Collision::LostUpdate).collect();
    assert!(
        !lost.is_empty() && lost.iter().all(|one| one.shared && one.relation != ThreadRelation::Grid),
        "{lost:?}"
    );
}

/// Every update but one in a row is lost, and no other: with one warp that stays together all lanes have read 0.
#[test]
fn lost_updates_are_counted() {
    let launch = Launch { block: 32, seed: 1, ..Launch::new(&bump(".global", "%rd0")) };
    let (count, found) = launch.run();
    let lost: u64 =
        found.conflicts.iter().filter(|one| one.kind == Collision::LostUpdate).map(|one| one.count).sum();
    assert_eq!(u64::from(count[0]) + lost, 32, "{found:?}");
}

#[test]
fn atomics_lose_nothing() {
    let launch = Launch { grid: 4, ..Launch::new(&text("red.global.add.u32 [%rd0], 1;")) };
    assert_eq!(all_kinds(&launch), []);
    // Neither do threads that have their own places, nor loads before a loop of compare and swap.
    assert_eq!(all_kinds(&Launch::new(&bump(".global", "%rd1"))), []);
    let swap = "ld.volatile.global.u32 %r5, [%rd0];\nAGAIN: mov.u32 %r6, %r5;\nadd.u32 %r7, %r6, 1;\n\
                atom.global.cas.b32 %r5, [%rd0], %r6, %r7;\nsetp.ne.u32 %p1, %r5, %r6;\n@%p1 bra AGAIN;";
    let launch = Launch { grid: 4, ..Launch::new(&text(swap)) };
    assert_eq!(all_kinds(&launch), []);
}

/// Threads take turns at one place, with barriers between: what the others have written meanwhile is no loss.
#[test]
fn turns_between_barriers_lose_nothing() {
    let body = "ld.shared.u32 %r5, [flag];\nbar.sync 0;\nsetp.eq.u32 %p1, %r1, 40;\n@%p1 st.shared.u32 [flag], 5;\n\
                bar.sync 0;\nsetp.eq.u32 %p1, %r1, 3;\n@%p1 st.shared.u32 [flag], 6;";
    assert_eq!(all_kinds(&Launch::new(&text(body))), []);
}

const MIRROR: &str = "st.shared.u32 [%r3], %r4;\n{}\nxor.b32 %r5, %r2, 252;\nmov.u32 %r6, values;\n\
                      add.u32 %r6, %r6, %r5;\nld.shared.u32 %r7, [%r6];\nst.global.u32 [%rd1], %r7;";

#[test]
fn a_missing_barrier() {
    let missing = Launch::new(&text(&MIRROR.replace("{}", "")));
    let found = kinds(&missing, Collision::Unordered);
    assert!(found.iter().any(|one| one.relation == ThreadRelation::Block), "{found:?}");
    let (load, store) = (found[0].first, found[0].second);
    assert!(
        [load.what, store.what].contains(&AccessWhat::Load)
            && [load.what, store.what].contains(&AccessWhat::Store)
    );
    // A barrier of the warp is not enough, one of the block is; named ones are, too.
    let warp = Launch::new(&text(&MIRROR.replace("{}", "bar.warp.sync -1;")));
    assert!(kinds(&warp, Collision::Unordered).iter().all(|one| one.relation == ThreadRelation::Block));
    assert!(!kinds(&warp, Collision::Unordered).is_empty());
    for barrier in ["bar.sync 0;", "barrier.sync 3, 64;", "bar.red.popc.u32 %r8, 0, %p1;"] {
        assert_eq!(all_kinds(&Launch::new(&text(&MIRROR.replace("{}", barrier)))), [], "{barrier}");
    }
}

/// Blocks cannot wait for each other at a barrier.
#[test]
fn a_barrier_does_not_order_blocks() {
    let body = "mov.u32 %r5, %ctaid.x;\nsetp.eq.u32 %p1, %r5, 0;\n@%p1 st.global.u32 [%rd1], %r4;\nbar.sync 0;\n\
                @!%p1 ld.global.u32 %r6, [%rd1];";
    let launch = Launch { grid: 2, ..Launch::new(&text(body)) };
    let found = kinds(&launch, Collision::Unordered);
    assert!(!found.is_empty() && found.iter().all(|one| one.relation == ThreadRelation::Grid), "{found:?}");
}

/// The tree of a reduction in one warp.
fn reduction(sync: &str) -> String {
    let step = |by: u32| {
        let bytes = 4 * by;
        format!(
            "ld.shared.u32 %r5, [%r3+{bytes}];\n{sync}\nadd.u32 %r4, %r4, %r5;\nst.shared.u32 [%r3], %r4;\n{sync}\n"
        )
    };
    let steps: String = [16, 8, 4, 2, 1].map(step).concat();
    text(&format!("setp.ge.u32 %p1, %r1, 32;\n@%p1 bra END;\nst.shared.u32 [%r3], %r4;\n{sync}\n{steps}END:"))
}

#[test]
fn a_missing_warp_barrier() {
    let found = kinds(&Launch::new(&reduction("")), Collision::Unordered);
    assert!(!found.is_empty() && found.iter().all(|one| one.relation == ThreadRelation::Warp), "{found:?}");
    assert_eq!(all_kinds(&Launch::new(&reduction("bar.warp.sync -1;"))), []);
    // A shuffle passes values, and orders no memory.
    let shuffle = "shfl.sync.idx.b32 %r9, %r1, 0, 31, -1;";
    assert!(!kinds(&Launch::new(&reduction(shuffle)), Collision::Unordered).is_empty());
    // In lockstep there is nothing to wait for.
    assert_eq!(all_kinds(&Launch { lockstep: true, ..Launch::new(&reduction("")) }), []);
}

#[test]
fn a_plain_reset_beside_atomics() {
    let body = |barrier: &str| {
        text(&format!(
            "setp.eq.u32 %p1, %r1, 5;\nmov.u32 %r9, 0;\nred.shared.add.u32 [flag], 7;\n{barrier}\n\
             @%p1 st.shared.u32 [flag], %r9;\n{barrier}\nred.shared.add.u32 [flag], 1;"
        ))
    };
    let found = kinds(&Launch::new(&body("")), Collision::PlainBesideAtomic);
    assert!(!found.is_empty());
    for one in &found {
        let mut both = [one.first.what, one.second.what];
        both.sort();
        assert_eq!(both, [AccessWhat::Store, AccessWhat::Atomic]);
    }
    assert_eq!(all_kinds(&Launch::new(&body("bar.sync 0;"))), []);
    // A strong store is no plain one.
    let strong = body("").replace("st.shared", "st.volatile.shared");
    assert_eq!(all_kinds(&Launch::new(&strong)), []);
}

/// The last block to count resets the counter: its own atomic has come behind all others.
#[test]
fn the_last_to_count_may_reset() {
    let body = "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra END;\nmembar.gl;\natom.global.add.u32 %r5, [%rd0], 1;\n\
                setp.ne.u32 %p2, %r5, 3;\n@%p2 bra END;\nst.global.u32 [%rd0], 0;\nEND:";
    let launch = Launch { grid: 4, ..Launch::new(&text(body)) };
    assert_eq!(all_kinds(&launch), []);
}

#[test]
fn an_atomic_of_too_narrow_scope() {
    let body = |scope: &str| text(&format!("atom{scope}.global.add.u32 %r5, [%rd0], 1;"));
    let launch = |scope: &str, grid| Launch { grid, ..Launch::new(&body(scope)) };
    let found = kinds(&launch(".relaxed.cta", 3), Collision::Scope);
    assert!(found.iter().all(|one| one.relation == ThreadRelation::Grid) && found.len() == 1, "{found:?}");
    assert_ne!(found[0].first.block, found[0].second.block);
    for (scope, grid) in [(".relaxed.cta", 1), ("", 3), (".relaxed.gpu", 3), (".acq_rel.sys", 3)] {
        assert_eq!(all_kinds(&launch(scope, grid)), [], "{scope} {grid}");
    }
    // So is one that is read by a relaxed load of another block.
    let read = "mov.u32 %r5, %ctaid.x;\nsetp.eq.u32 %p1, %r5, 0;\n@%p1 red.relaxed.cta.global.add.u32 [%rd0], 1;\n\
                @!%p1 ld.relaxed.gpu.global.u32 %r6, [%rd0];";
    assert!(!kinds(&launch_of(read, 2), Collision::Scope).is_empty());
    // Who only reads is in nobody's way.
    assert_eq!(all_kinds(&launch_of("ld.relaxed.cta.global.u32 %r6, [%rd0];", 2)), []);
}

fn launch_of(body: &str, grid: u32) -> Launch {
    Launch { grid, ..Launch::new(&text(body)) }
}

/// A lock with its fences orders what it protects; without it, the same is a lost update.
#[test]
fn a_lock_orders_what_it_protects() {
    let locked = |lock: bool| {
        let (take, give) = if lock {
            (
                "TAKE: atom.global.cas.b32 %r6, [%rd0+4], 0, 1;\nsetp.ne.u32 %p1, %r6, 0;\n@%p1 bra TAKE;\nmembar.gl;",
                "membar.gl;\natom.global.exch.b32 %r6, [%rd0+4], 0;",
            )
        } else {
            ("", "")
        };
        let bump = "ld.global.u32 %r5, [%rd0];\nadd.u32 %r5, %r5, 1;\nst.global.u32 [%rd0], %r5;";
        Launch { grid: 3, block: 33, ..Launch::new(&text(&format!("{take}\n{bump}\n{give}"))) }
    };
    assert_eq!(all_kinds(&locked(true)), []);
    assert!(!kinds(&locked(false), Collision::LostUpdate).is_empty());
}

/// A message that is passed by release and acquire, and handed on to the block by its barrier.
#[test]
fn messages_are_ordered_by_their_patterns() {
    let message = |store: &str, load: &str, before: &str, behind: &str| {
        let body = format!(
            "mov.u32 %r5, %ctaid.x;\nsetp.eq.u32 %p1, %r5, 0;\n@%p1 bra READ;\nst.global.u32 [%rd1+256], %r4;\n\
             bar.sync 0;\nsetp.ne.u32 %p2, %r1, 0;\n@%p2 bra END;\n{before}\nst{store}.global.u32 [%rd0], 1;\nbra END;\n\
             READ: setp.ne.u32 %p2, %r1, 0;\n@%p2 bra MEET;\nSPIN: ld{load}.global.u32 %r6, [%rd0];\n\
             setp.eq.u32 %p3, %r6, 0;\n@%p3 bra SPIN;\n{behind}\nMEET: bar.sync 0;\nld.global.u32 %r7, [%rd1+256];\nEND:"
        );
        launch_of(&body, 2)
    };
    assert_eq!(all_kinds(&message(".volatile", ".volatile", "membar.gl;", "membar.gl;")), []);
    assert_eq!(all_kinds(&message(".release.gpu", ".acquire.gpu", "", "")), []);
    for [store, load, before, behind] in
        [[".volatile", ".volatile", "membar.gl;", ""], [".volatile", ".volatile", "", "membar.gl;"]]
    {
        assert!(
            !kinds(&message(store, load, before, behind), Collision::Unordered).is_empty(),
            "{before}/{behind}"
        );
    }
}

/// Equal values in either order are nobody's bug.
#[test]
fn what_changes_nothing_is_no_conflict() {
    assert_eq!(all_kinds(&launch_of("mov.u32 %r5, 1;\nst.global.u32 [%rd0], %r5;", 4)), []);
    assert!(!kinds(&launch_of("st.global.u32 [%rd0], %r1;", 1), Collision::Unordered).is_empty());
}

/// Bytes, halves, and pairs: neighbours in one granule do not meet, overlapping accesses of different widths do.
#[test]
fn widths() {
    let own = "add.u64 %rd2, %rd0, %rd3;\nld.global.u8 %r5, [%rd2];\nadd.u32 %r5, %r5, 1;\nst.global.u8 [%rd2], %r5;";
    assert_eq!(all_kinds(&launch_of(&format!("mov.u32 %r8, %r1;\ncvt.u64.u32 %rd3, %r8;\n{own}"), 1)), []);
    for shift in [1, 2, 5] {
        let body = format!("shr.u32 %r8, %r1, {shift};\ncvt.u64.u32 %rd3, %r8;\n{own}");
        assert!(!kinds(&launch_of(&body, 1), Collision::LostUpdate).is_empty(), "by {}", 1 << shift);
    }
    let wide = "ld.global.u64 %rd4, [%rd0+8];\nadd.u64 %rd4, %rd4, 1;\nst.global.u64 [%rd0+8], %rd4;";
    assert!(!kinds(&launch_of(wide, 1), Collision::LostUpdate).is_empty());
    let vector = "ld.global.v4.u32 {%r5, %r6, %r7, %r8}, [%rd0+16];\nadd.u32 %r8, %r8, 1;\n\
                  st.global.v4.u32 [%rd0+16], {%r5, %r6, %r7, %r8};";
    let found = kinds(&launch_of(vector, 1), Collision::LostUpdate);
    assert!(found.iter().all(|one| one.address % 16 == 12), "the element that changes: {found:?}");
    assert!(!found.is_empty());
    // The high half of what one thread writes is what others read.
    let halves = "setp.eq.u32 %p1, %r1, 0;\nmov.u64 %rd4, 0x500000000;\n@%p1 st.shared.u64 [values], %rd4;\n\
                  @!%p1 ld.shared.u16 %r5, [values+4];";
    assert!(!kinds(&launch_of(halves, 1), Collision::Unordered).is_empty());
    assert_eq!(all_kinds(&launch_of(&halves.replace("values+4", "values+6"), 1)), []);
}

#[test]
fn atomics_of_vectors_and_pairs() {
    let body = |store: &str| {
        format!(
            "mov.f32 %f1, 0f3F800000;\nred.global.add.v2.f32 [%rd0], {{%f1, %f1}};\nsetp.eq.u32 %p1, %r1, 40;\n{store}"
        )
    };
    let reset = body("mov.u32 %r5, 0;\n@%p1 st.global.u32 [%rd0+4], %r5;");
    let found = kinds(&launch_of(&reset, 1), Collision::PlainBesideAtomic);
    assert!(!found.is_empty() && found.iter().all(|one| one.address % 8 == 4), "{found:?}");
    assert_eq!(all_kinds(&launch_of(&body(""), 4)), []);
    let wide = "mov.u64 %rd4, 0;\ncvt.u64.u32 %rd5, %r4;\nmov.b128 %q1, {%rd4, %rd4};\nmov.b128 %q2, {%rd5, %rd5};\n\
                atom.global.cas.b128 %q3, [%rd0], %q1, %q2;";
    assert_eq!(all_kinds(&launch_of(wide, 2)), []);
    let beside = format!("{wide}\nsetp.eq.u32 %p1, %r1, 40;\n@%p1 st.global.u64 [%rd0+8], %rd4;");
    let found = kinds(&launch_of(&beside, 1), Collision::PlainBesideAtomic);
    assert!(!found.is_empty(), "the high half of sixteen bytes");
}
