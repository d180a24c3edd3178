//! The thirty-two micro-benchmarks of table I, as executions of two threads: each with either one as the first and the second block or
//! warp. The paper says how many there are of each kind and what kind of thing they do; these are of that kind.

use bugaroo_detectors::MissingOrder::{self, *};
use bugaroo_ptx::types::Scope::{self, Cta, Gpu};

use crate::run::{LOCK, OTHER, Run, X, add, cas, exch, load, store};

/// What a thread does.
#[derive(Clone, Copy)]
enum Do {
    Store,
    Load,
    Add(Scope),
    Fence(Scope),
    Cas(u64, Scope),
    Exch(u64, Scope),
    Barrier,
}
use Do::{Add, Barrier, Cas, Exch, Fence, Load, Store};

/// The warps that the two threads are in.
const SAME: [(u32, u32); 2] = [(0, 1), (1, 0)];
const APART: [(u32, u32); 2] = [(0, 4), (4, 0)];

/// What is missing where the first thread does this, and the second that.
fn missing((first, second): (u32, u32), one: &[Do], other: &[Do]) -> Vec<MissingOrder> {
    let mut run = Run::new();
    for (warp, all) in [(first, one), (second, other)] {
        for what in all {
            match *what {
                Store => run.go(warp, store(X)),
                Load => run.go(warp, load(X)),
                Add(scope) => run.go(warp, add(scope, X)),
                Fence(scope) => run.fence(warp, scope),
                Cas(lock, scope) => run.go(warp, cas(scope, lock)),
                Exch(lock, scope) => run.go(warp, exch(scope, lock)),
                Barrier => run.barrier(warp / 4),
            };
        }
    }
    let mut missing = run.missing();
    missing.sort();
    missing
}

fn expect(places: [(u32, u32); 2], one: &[Do], other: &[Do], expected: &[MissingOrder]) {
    for place in places {
        assert_eq!(missing(place, one, other), expected, "{place:?}");
    }
}

#[test]
fn fences_two_racy() {
    expect(SAME, &[Store], &[Load], &[BlockFence]);
    expect(APART, &[Store, Fence(Cta)], &[Load], &[DeviceFence]);
}

#[test]
fn fences_four_not_racy() {
    expect(SAME, &[Store, Fence(Cta)], &[Load], &[]);
    expect(SAME, &[Store, Fence(Gpu)], &[Load], &[]);
    expect(APART, &[Store, Fence(Gpu)], &[Load], &[]);
    expect(SAME, &[Store, Barrier], &[Load], &[]);
}

#[test]
fn atomics_four_racy() {
    expect(APART, &[Add(Cta)], &[Add(Cta)], &[AtomicScope]);
    expect(APART, &[Add(Cta)], &[Add(Gpu)], &[AtomicScope]);
    expect(APART, &[Add(Gpu)], &[Add(Cta)], &[AtomicScope]);
    expect(APART, &[Add(Cta), Fence(Gpu)], &[Load], &[AtomicScope]);
}

#[test]
fn atomics_five_not_racy() {
    expect(SAME, &[Add(Cta)], &[Add(Cta)], &[]);
    expect(SAME, &[Add(Cta)], &[Add(Gpu)], &[]);
    expect(APART, &[Add(Gpu)], &[Add(Gpu)], &[]);
    expect(SAME, &[Add(Cta), Fence(Cta)], &[Load], &[]);
    expect(APART, &[Add(Gpu), Fence(Gpu)], &[Load], &[]);
}

/// A critical section of one store.
fn section(lock: u64, parts: [Scope; 4]) -> [Do; 5] {
    let [cas, acquire, release, exch] = parts;
    [Cas(lock, cas), Fence(acquire), Store, Fence(release), Exch(lock, exch)]
}

fn wide() -> [Do; 5] {
    section(LOCK, [Gpu; 4])
}

#[test]
fn locks_twelve_racy() {
    // One part of too narrow a scope, in either thread. Of a release that is the one who releases first.
    let narrow = |part: usize| {
        let mut parts = [Gpu; 4];
        parts[part] = Cta;
        section(LOCK, parts)
    };
    expect(APART, &narrow(0), &wide(), &[LockOnStore]);
    expect(APART, &wide(), &narrow(0), &[AtomicScope, LockOnStore]);
    expect(APART, &narrow(1), &wide(), &[LockOnStore]);
    expect(APART, &wide(), &narrow(1), &[LockOnStore]);
    expect(APART, &narrow(2), &wide(), &[DeviceFence]);
    expect(APART, &narrow(3), &wide(), &[AtomicScope]);
    // No fence.
    let without = |fence: usize| -> Vec<Do> {
        wide().iter().enumerate().filter(|(at, _)| *at != fence).map(|(_, what)| *what).collect()
    };
    expect(SAME, &without(1), &wide(), &[LockOnStore]);
    // The fence that is there comes before the store, so nothing orders it.
    expect(SAME, &without(3), &wide(), &[BlockFence]);
    // No lock, or another one.
    expect(APART, &[Store, Fence(Gpu)], &wide(), &[LockOnStore]);
    expect(APART, &wide(), &[Store], &[LockOnStore]);
    expect(APART, &wide(), &[Load], &[LockOnLoad]);
    expect(SAME, &wide(), &section(OTHER, [Gpu; 4]), &[LockOnStore]);
}

#[test]
fn locks_five_not_racy() {
    expect(APART, &wide(), &wide(), &[]);
    expect(SAME, &wide(), &wide(), &[]);
    expect(SAME, &section(LOCK, [Cta; 4]), &section(LOCK, [Cta; 4]), &[]);
    let reads = [Cas(LOCK, Gpu), Fence(Gpu), Load, Fence(Gpu), Exch(LOCK, Gpu)];
    expect(APART, &wide(), &reads, &[]);
    expect(APART, &reads, &wide(), &[]);
}
