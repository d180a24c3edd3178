//! Tables III and IV, line by line, and the flags.

use bugaroo_detectors::{HowFar, MissingOrder, Who};
use bugaroo_ptx::op::AtomOp;
use bugaroo_ptx::types::Scope::{Cta, Gpu};
use bugaroo_semantics::event::AccessKind;

use crate::run::{FIRST, GRID, Run, X, add, cas, load, store};

#[test]
fn a_first_access_does_not_race() {
    for access in [load(X), store(X).weak(), add(Cta, X)] {
        assert_eq!(Run::new().go(5, access).missing(), []);
    }
    // Nor does one of another grid.
    let mut run = Run::new();
    run.go(0, store(X));
    run.begin();
    assert_eq!(run.go(5, store(X)).missing(), []);
}

#[test]
fn a_warp_does_not_race_with_itself() {
    for (one, other) in
        [(store(X), store(X)), (store(X), load(X)), (load(X), store(X)), (add(Cta, X), store(X))]
    {
        assert_eq!(Run::new().go(1, one.weak()).go(1, other.weak()).missing(), []);
    }
    // Its number is one in its block.
    assert_eq!(Run::new().go(1, store(X)).go(5, store(X)).missing(), [MissingOrder::DeviceFence]);
}

#[test]
fn whoever_has_shared_it_is_not_in_program_order() {
    // The last reader is the warp itself, but another block reads in between: no condition looks beyond the last access.
    let mut run = Run::new();
    run.go(0, load(X)).go(4, load(X)).go(5, store(X));
    let findings = run.findings();
    assert_eq!(findings.len(), 1);
    let warp = |block, warp| Who::Warp { grid: GRID, block, warp };
    assert_eq!((findings[0].first.who, findings[0].forgotten, findings[0].latest), (warp(1, 0), None, None));
    let mut run = Run::new();
    run.go(4, load(X)).go(5, store(X));
    assert_eq!(run.findings()[0].first.who, warp(1, 0));
    // A warp that is one of several readers, and holds a lock that they do not, has to be looked at.
    let shared = |other: Option<u32>| {
        let mut run = Run::new();
        run.go(0, load(X));
        if let Some(other) = other {
            run.go(other, load(X));
        }
        run.go(0, load(X)).fence(0, Gpu);
        run.go(0, cas(Gpu, 0x3000)).fence(0, Gpu).go(0, store(X));
        run.findings().iter().map(|found| (found.class, found.missing)).collect::<Vec<_>>()
    };
    assert_eq!(shared(None), []);
    // Where the other one was, the flags say.
    assert_eq!(shared(Some(1)), [(HowFar::IntraBlock, MissingOrder::LockOnStore)]);
    assert_eq!(shared(Some(4)), [(HowFar::InterBlock, MissingOrder::LockOnStore)]);
}

#[test]
fn a_barrier_orders_its_block() {
    let ordered = |first: u32, second: u32| {
        Run::new().go(first, store(X).weak()).barrier(0).go(second, store(X).weak()).missing()
    };
    assert_eq!(ordered(0, 1), []);
    assert_eq!(ordered(0, 4), [MissingOrder::DeviceFence]);
    assert_eq!(ordered(4, 0), [MissingOrder::DeviceFence]);
    // Of another block, too, if it has read what the barrier does not order: then the flag says so.
    let mut run = Run::new();
    run.go(4, load(X)).go(0, load(X)).barrier(0).go(1, store(X));
    assert_eq!(run.missing(), [MissingOrder::BlockFence]);
}

#[test]
fn a_missing_block_fence() {
    let with = |fence: Option<_>| {
        let mut run = Run::new();
        run.go(0, store(X));
        if let Some(scope) = fence {
            run.fence(0, scope);
        }
        run.go(1, load(X)).findings()
    };
    let found = with(None);
    assert_eq!(
        (found[0].class, found[0].missing, found[0].count),
        (HowFar::IntraBlock, MissingOrder::BlockFence, 1)
    );
    assert_eq!((found[0].first.site, found[0].second.site), (FIRST, FIRST + 1));
    assert_eq!((found[0].first.kind, found[0].second.kind), (AccessKind::Store, AccessKind::Load));
    assert_eq!(found[0].first.who, Who::Warp { grid: GRID, block: 0, warp: 0 });
    assert_eq!(found[0].second.who, Who::Thread { grid: GRID, block: 0, thread: 32 });
    assert_eq!((found[0].address, found[0].first.bytes), (X, 4));
    assert!(with(Some(Cta)).is_empty());
    assert!(with(Some(Gpu)).is_empty());
    // Whose fence matters, and when.
    assert_eq!(Run::new().go(0, store(X)).fence(1, Gpu).go(1, load(X)).missing(), [MissingOrder::BlockFence]);
    assert_eq!(Run::new().fence(0, Gpu).go(0, store(X)).go(1, load(X)).missing(), [MissingOrder::BlockFence]);
    // On a store it does not matter whether it was modified.
    assert_eq!(Run::new().go(0, load(X)).go(1, store(X)).missing(), [MissingOrder::BlockFence]);
    assert_eq!(Run::new().go(0, load(X)).go(1, load(X)).missing(), []);
}

#[test]
fn a_missing_device_fence() {
    for (fence, missing) in [
        (None, vec![MissingOrder::DeviceFence]),
        (Some(Cta), vec![MissingOrder::DeviceFence]),
        (Some(Gpu), vec![]),
    ] {
        let mut run = Run::new();
        run.go(0, store(X));
        if let Some(scope) = fence {
            run.fence(0, scope);
        }
        assert_eq!(run.go(4, load(X)).missing(), missing);
    }
    let mut run = Run::new();
    let found = run.go(0, store(X)).go(4, load(X)).findings();
    assert_eq!(found[0].class, HowFar::InterBlock);
    assert_eq!(Run::new().go(0, load(X)).go(4, store(X)).missing(), [MissingOrder::DeviceFence]);
    assert_eq!(Run::new().go(0, load(X)).go(4, load(X)).missing(), []);
}

#[test]
fn fences_order_strong_accesses_alone() {
    let missing = |first: crate::run::Does, second: crate::run::Does, to: u32| {
        Run::new().go(0, first).fence(0, Gpu).go(to, second).missing()
    };
    for to in [1, 4] {
        assert_eq!(missing(store(X), load(X), to), []);
        assert_eq!(missing(store(X).weak(), load(X), to), [MissingOrder::StrongAccess]);
        assert_eq!(missing(store(X), load(X).weak(), to), [MissingOrder::StrongAccess]);
        assert_eq!(missing(load(X).weak(), store(X), to), [MissingOrder::StrongAccess]);
        // Not where nothing conflicts.
        assert_eq!(missing(load(X).weak(), load(X), to), []);
    }
    // Any weak access unsets the flag.
    let mut run = Run::new();
    run.go(0, store(X).weak()).go(0, store(X)).fence(0, Gpu).go(1, load(X));
    assert_eq!(run.missing(), [MissingOrder::StrongAccess]);
    // Atomics are strong.
    assert_eq!(missing(add(Gpu, X), load(X), 4), []);
    // A barrier orders weak ones, too, and what was before it is forgotten.
    let mut run = Run::new();
    run.go(0, store(X).weak()).barrier(0).go(1, store(X)).fence(1, Gpu).go(2, load(X));
    assert_eq!(run.missing(), []);
}

#[test]
fn an_atomic_of_the_block_and_another_block() {
    let missing = |first: crate::run::Does, second: crate::run::Does, to: u32| {
        Run::new().go(0, first).go(to, second).missing()
    };
    assert_eq!(missing(add(Cta, X), add(Cta, X), 4), [MissingOrder::AtomicScope]);
    assert_eq!(missing(add(Cta, X), add(Gpu, X), 4), [MissingOrder::AtomicScope]);
    assert_eq!(missing(add(Gpu, X), add(Cta, X), 4), [MissingOrder::AtomicScope]);
    assert_eq!(missing(add(Gpu, X), add(Gpu, X), 4), []);
    assert_eq!(missing(add(Cta, X), add(Cta, X), 1), []);
    // Whoever is not atomic counts, too.
    assert_eq!(missing(add(Cta, X), load(X), 4), [MissingOrder::AtomicScope]);
    assert_eq!(missing(add(Cta, X), store(X), 4), [MissingOrder::AtomicScope]);
    // An atomic behind what is none is a store.
    assert_eq!(missing(store(X), add(Gpu, X), 4), [MissingOrder::DeviceFence]);
    assert_eq!(missing(load(X), add(Gpu, X), 1), [MissingOrder::BlockFence]);
    // What is none behind an atomic is looked at as usual.
    assert_eq!(missing(add(Gpu, X), load(X), 4), [MissingOrder::DeviceFence]);
    // A plain access in order makes it none.
    let mut run = Run::new();
    run.go(0, add(Cta, X)).go(0, load(X)).fence(0, Gpu).go(4, load(X));
    assert_eq!(run.missing(), []);
}

#[test]
fn a_compare_and_swap_that_fails_reads() {
    let mut run = Run::new();
    run.go(0, load(X)).go(1, cas(Gpu, X).failed()).go(2, load(X));
    assert_eq!(run.missing(), []);
    assert_eq!(Run::new().go(0, load(X)).go(1, cas(Gpu, X)).missing(), [MissingOrder::BlockFence]);
    // Lanes of one instruction may do either.
    let mut run = Run::new();
    run.go(0, load(X).lanes(3));
    let mut half = cas(Gpu, X).lanes(3);
    half.wrote = 1;
    run.go(1, half);
    let found = run.findings();
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].address, found[0].second.kind), (X, AccessKind::Atomic(AtomOp::Cas)));
    assert_eq!(found[0].count, 1);
}

#[test]
fn what_is_younger_than_the_paper_is_an_atomic() {
    let wait = |modern: bool| {
        let mut run = if modern { Run::modern() } else { Run::new() };
        run.go(0, store(X).of(Gpu)).go(4, load(X).of(Gpu)).missing()
    };
    assert_eq!(wait(true), []);
    assert_eq!(wait(false), [MissingOrder::DeviceFence]);
    let mut run = Run::modern();
    assert_eq!(run.go(0, store(X).of(Cta)).go(4, load(X).of(Gpu)).missing(), [MissingOrder::AtomicScope]);
    let mut run = Run::modern();
    assert_eq!(run.go(0, load(X).of(Cta)).go(4, load(X).of(Gpu)).missing(), []);
}

#[test]
fn a_modification_is_ordered_for_the_block_and_for_no_other() {
    // By a barrier.
    let all = |more: &[(u32, crate::run::Does)]| {
        let mut run = Run::new();
        run.go(0, store(X).weak()).barrier(0).go(1, load(X).weak());
        more.iter().for_each(|(warp, does)| {
            run.go(*warp, does.clone());
        });
        run.missing()
    };
    assert_eq!(all(&[(2, load(X).weak()), (3, load(X).weak())]), []);
    assert_eq!(all(&[(4, load(X).weak())]), [MissingOrder::DeviceFence]);
    assert_eq!(all(&[(2, load(X).weak()), (4, load(X).weak())]), [MissingOrder::DeviceFence]);
    assert_eq!(all(&[(2, store(X).weak())]), [MissingOrder::BlockFence]);
    // A read of its own behind the barrier is a read behind the barrier.
    let mut run = Run::new();
    run.go(0, store(X).weak()).barrier(0).go(0, load(X).weak()).go(1, load(X).weak());
    assert_eq!(run.missing(), []);
    // By a fence.
    let mut run = Run::new();
    run.go(0, store(X)).fence(0, Cta).go(1, load(X)).go(2, load(X));
    assert_eq!(run.missing(), []);
    run.go(4, load(X));
    assert_eq!(run.missing(), [MissingOrder::DeviceFence]);
    // A write is a new modification.
    let mut run = Run::new();
    run.go(0, store(X)).barrier(0).go(1, store(X)).go(2, load(X));
    assert_eq!(run.missing(), [MissingOrder::BlockFence]);
}

#[test]
fn a_modification_behind_a_device_fence_is_ordered_for_all() {
    let mut run = Run::new();
    run.go(0, store(X)).fence(0, Gpu).go(1, load(X)).go(2, load(X)).go(4, load(X)).go(5, load(X));
    assert_eq!(run.missing(), []);
    // Its own read does not undo that, but what is weak stays weak.
    let mut run = Run::new();
    run.go(0, store(X)).fence(0, Gpu).go(0, load(X)).go(0, load(X)).go(4, load(X)).go(1, load(X));
    assert_eq!(run.missing(), []);
    let mut run = Run::new();
    run.go(0, store(X).weak()).fence(0, Gpu).go(0, load(X).weak());
    assert_eq!(run.go(4, load(X)).missing(), [MissingOrder::StrongAccess]);
}

#[test]
fn one_race_does_not_breed_others() {
    let mut run = Run::new();
    run.go(0, store(X)).go(1, store(X)).go(1, load(X)).fence(1, Gpu).go(4, load(X));
    assert_eq!(run.missing(), [MissingOrder::BlockFence]);
    let mut run = Run::new();
    run.go(0, store(X)).go(1, load(X)).go(2, load(X));
    assert_eq!(run.findings().iter().map(|found| found.count).sum::<u64>(), 1);
}

#[test]
fn a_store_in_order_is_behind_all_readers() {
    let mut run = Run::new();
    run.go(0, load(X)).go(1, load(X)).fence(1, Gpu).go(2, store(X)).go(2, load(X)).barrier(0);
    run.go(3, store(X));
    assert_eq!(run.missing(), []);
    // So the barrier orders it, though another block had read before.
    let mut run = Run::new();
    run.go(0, load(X)).go(4, load(X)).fence(4, Gpu);
    run.go(0, store(X)).barrier(0).go(1, load(X).weak());
    assert_eq!(run.missing(), []);
}

#[test]
fn races_of_one_pair_of_sites_are_one_finding() {
    let mut run = Run::new();
    run.go(0, store(X).lanes(u32::MAX)).go(1, load(X).lanes(u32::MAX));
    let found = run.findings();
    assert_eq!((found.len(), found[0].count), (1, 32));
    assert_eq!(run.findings(), []);
    // A wide access is one, whatever the words that it touches.
    let mut run = Run::new();
    run.go(0, store(X).lanes(u32::MAX)).go(1, load(X).lanes(3).bytes(4, 4));
    assert_eq!(run.findings()[0].count, 2);
    let mut run = Run::new();
    run.go(0, store(X + 8)).go(1, load(X).lanes(0xf0f1).bytes(4, 4));
    let found = run.findings();
    assert_eq!((found[0].count, found[0].address, found[0].second.address), (1, X + 8, X));
}
