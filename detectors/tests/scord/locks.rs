//! What counts as a lock: the table, its summary, and who of a warp holds what.

use bugaroo_detectors::MissingOrder;
use bugaroo_detectors::scord::locks::{LOCKS, LockTable, common, hash};
use bugaroo_ptx::types::Scope::{self, Cta, Gpu};
use proptest::prelude::*;

use crate::run::{At, LOCK, OTHER, Run, X, add, cas, exch, load, store};

/// A lock with an address whose hash is another than that of any before it.
fn addresses(count: usize) -> Vec<u64> {
    let mut found: Vec<u64> = Vec::new();
    for address in (LOCK..).step_by(4) {
        if found.iter().all(|other| hash(*other) != hash(address)) {
            found.push(address);
        }
        if found.len() == count {
            break;
        }
    }
    found
}

fn lock(run: &mut Run, warp: u32, at: u64, scope: Scope) {
    run.go(warp, cas(scope, at)).fence(warp, scope);
}

fn unlock(run: &mut Run, warp: u32, at: u64, scope: Scope) {
    run.fence(warp, scope).go(warp, exch(scope, at));
}

#[test]
fn a_lock_is_held_from_its_fence_to_its_exchange() {
    let mut table = LockTable::default();
    assert!(table.is_empty());
    assert!(!table.insert(5, true));
    assert!(!table.is_empty());
    assert_eq!(table.bloom(16, 0), 0);
    // A fence of the block does not do for a lock of the device.
    table.activate(false);
    assert_eq!(table.bloom(16, 0), 0);
    table.activate(true);
    assert_eq!(table.bloom(16, 0).count_ones(), 3);
    assert!(!table.release(6, true));
    assert!(!table.release(5, false));
    assert!(table.release(5, true));
    assert!(table.is_empty());
    assert_eq!(table.bloom(16, 0), 0);
    // One of the block: either fence does, and so does either opening.
    for fence in [false, true] {
        table.insert(5, false);
        table.activate(fence);
        assert_ne!(table.bloom(16, 0), 0);
        assert!(table.release(5, fence));
    }
}

#[test]
fn the_oldest_of_five_goes() {
    let mut table = LockTable::default();
    let locks = LOCKS as u64;
    (0..locks).for_each(|lock| assert!(!table.insert(lock, true)));
    assert!(!table.activate(true));
    assert!(table.insert(locks, true));
    assert!(!table.release(0, true));
    (1..=locks).for_each(|lock| assert!(table.release(lock, true)));
    // A place that has come free is taken first.
    (0..locks).for_each(|lock| assert!(!table.insert(lock, true)));
    assert!(table.release(2, true));
    assert!(!table.insert(9, true));
    assert!(table.release(0, true) && table.release(9, true));
    // And of a warp that is told.
    let mut run = Run::new();
    for at in addresses(4) {
        lock(&mut run, 0, at, Gpu);
    }
    assert!(run.warnings().is_empty());
    lock(&mut run, 0, addresses(5)[4], Gpu);
    assert!(run.warnings()[0].contains("four locks"));
}

/// A lock that is held stays, however many cells are claimed by compare-and-swaps; whether one of these was a lock, the next fence says.
#[test]
fn claims_do_not_drive_out_a_lock() {
    for dropped in [false, true] {
        let mut table = LockTable::default();
        assert!(!table.insert(100, true) && !table.activate(true));
        (0..9).for_each(|cell| assert!(!table.insert(cell, true)));
        if dropped {
            table.drop_inactive();
        }
        assert_eq!((table.activate(true), table.activate(true)), (!dropped, false));
        assert!(table.release(100, true));
        assert!(!table.release(0, true));
        assert_eq!(table.release(8, true), !dropped);
    }
}

proptest! {
    /// Whoever holds the same lock has it in common; who holds one with another hash has not.
    #[test]
    fn summaries(
        one in 0u64..256,
        other in 0u64..256,
        device in any::<bool>(),
        scope in any::<bool>(),
        block in 0u32..4096,
        wide in any::<bool>(),
    ) {
        let bits = if wide { 16 } else { 8 };
        let of = |lock: u64, device: bool, block: u32| {
            let mut table = LockTable::default();
            table.insert(lock * 4, device);
            table.activate(true);
            table.bloom(bits, block)
        };
        let mine = of(one, device, block);
        prop_assert!(bits == 16 || mine >> 8 == 0);
        prop_assert_eq!(mine.count_ones(), if device { 3 } else { 2 });
        // Whatever its scope: within a block both are the same lock.
        prop_assert!(common(mine, of(one, scope, block)));
        prop_assert!(!common(mine, 0));
        let same = hash(one * 4) == hash(other * 4);
        prop_assert!(!same || common(mine, of(other, scope, block)));
        if wide {
            // Of one scope as of the other: no other address, but for what the scopes' bits have in common.
            prop_assert!(same || !common(of(one, false, block), of(other, false, block)));
            prop_assert!(common(of(one, true, block), of(one, true, block + 1)));
            // One of the block is not that of the next block, whatever that one's scope.
            prop_assert!(!common(of(one, false, block), of(one, false, block + 1)));
            prop_assert!(!common(of(one, false, block), of(one, true, block + 1)));
        }
        // Of several any does.
        let mut both = LockTable::default();
        both.insert(one * 4, device);
        both.insert(other * 4, device);
        both.activate(true);
        prop_assert!(common(both.bloom(bits, block), mine));
    }
}

#[test]
fn data_with_the_hash_of_a_lock_opens_nothing() {
    let data = (X..).step_by(4).find(|at| hash(*at) == hash(LOCK)).unwrap();
    let mut run = Run::new();
    for warp in [0, 4] {
        lock(&mut run, warp, LOCK, Gpu);
        run.go(warp, store(data)).go(warp, exch(Gpu, data + 4 * 64)).go(warp, store(X - 4));
        unlock(&mut run, warp, LOCK, Gpu);
    }
    assert_eq!(run.missing(), []);
}

#[test]
fn locks_differ_in_most_pairs() {
    // Half of a filter's bits each: of locks side by side few have the same hash.
    let hashes: Vec<u32> = (0..256).map(|lock| hash(LOCK + lock * 4)).collect();
    let same = |one: &u32| hashes.iter().filter(|other| *other == one).count();
    assert!(hashes.iter().all(|one| *one < 64 && same(one) <= 8));
}

#[test]
fn a_lock_of_the_block_protects_nothing_between_blocks() {
    let mut run = Run::new();
    lock(&mut run, 0, LOCK, Cta);
    run.go(0, store(X)).fence(0, Gpu);
    // Its own variable, so that the lock itself does not race.
    lock(&mut run, 4, LOCK + 0x400, Cta);
    lock(&mut run, 4, LOCK, Cta);
    run.go(4, store(X));
    assert_eq!(run.missing(), [MissingOrder::AtomicScope, MissingOrder::LockOnStore]);
}

#[test]
fn a_failed_attempt_takes_no_lock() {
    let mut run = Run::new();
    run.go(1, load(X)).go(1, store(X)).fence(1, Gpu);
    run.go(0, cas(Gpu, LOCK).failed()).fence(0, Gpu).go(0, store(X));
    assert_eq!(run.missing(), []);
    let mut run = Run::new();
    run.go(1, store(X)).fence(1, Gpu);
    run.go(0, cas(Gpu, LOCK)).fence(0, Gpu).go(0, store(X));
    assert_eq!(run.missing(), [MissingOrder::LockOnStore]);
}

#[test]
fn a_swap_without_a_fence_behind_it_is_no_lock() {
    let swaps = |between: bool| {
        let mut run = Run::new();
        run.go(1, store(X)).fence(1, Gpu).go(0, cas(Gpu, LOCK));
        if between {
            run.go(0, load(OTHER));
        }
        run.fence(0, Gpu).go(0, store(X)).missing()
    };
    assert_eq!(swaps(false), [MissingOrder::LockOnStore]);
    assert_eq!(swaps(true), []);
}

#[test]
fn locks_are_opened_by_more_than_exchanges() {
    let opened = |how: crate::run::Does| {
        let mut run = Run::new();
        lock(&mut run, 0, LOCK, Gpu);
        run.fence(0, Gpu).go(0, how).go(0, store(X)).fence(0, Gpu).go(1, store(X)).missing()
    };
    assert_eq!(opened(exch(Gpu, LOCK)), []);
    assert_eq!(opened(cas(Gpu, LOCK)), []);
    assert_eq!(opened(store(LOCK)), []);
    assert_eq!(opened(cas(Gpu, LOCK).failed()), [MissingOrder::LockOnStore]);
    assert_eq!(opened(store(LOCK).weak()), [MissingOrder::LockOnStore]);
    assert_eq!(opened(add(Gpu, LOCK)), [MissingOrder::LockOnStore]);
    assert_eq!(opened(exch(Gpu, OTHER)), [MissingOrder::LockOnStore]);
    assert_eq!(opened(exch(Cta, LOCK)), [MissingOrder::LockOnStore]);
    // Who waits for it does not race with a store that opens it.
    let mut run = Run::new();
    lock(&mut run, 0, LOCK, Gpu);
    run.go(4, cas(Gpu, LOCK).failed()).fence(0, Gpu).go(0, store(LOCK)).go(4, cas(Gpu, LOCK));
    assert_eq!(run.missing(), []);
}

#[test]
fn acquire_and_release_are_the_fences_of_a_lock() {
    let section = |run: &mut Run, warp: u32, acquire: bool, release: bool| {
        let (cas, exch) = (cas(Gpu, LOCK), exch(Gpu, LOCK));
        run.go(warp, if acquire { cas.acquire() } else { cas }).go(warp, store(X));
        run.go(warp, if release { exch.release() } else { exch });
    };
    let two = |first: (bool, bool), second: (bool, bool)| {
        let mut run = Run::new();
        section(&mut run, 0, first.0, first.1);
        section(&mut run, 4, second.0, second.1);
        run.missing()
    };
    let all = (true, true);
    assert_eq!(two(all, all), []);
    assert_eq!(two((false, true), all), [MissingOrder::LockOnStore]);
    assert_eq!(two(all, (false, true)), [MissingOrder::LockOnStore]);
    assert_eq!(two((true, false), all), [MissingOrder::DeviceFence]);
    // A release locks nothing.
    let mut run = Run::new();
    run.go(0, store(X)).fence(0, Gpu);
    run.go(1, cas(Gpu, LOCK)).go(1, exch(Gpu, OTHER).release()).go(1, store(X));
    assert_eq!(run.missing(), []);
}

#[test]
fn a_lane_locks_for_its_warp() {
    let mut run = Run::new();
    for warp in [0, 4] {
        run.go(warp, cas(Gpu, LOCK)).fence_of(warp, Gpu, 1);
        run.go(warp, load(X).lanes(u32::MAX)).go(warp, store(X).lanes(u32::MAX));
        run.fence(warp, Gpu).go(warp, exch(Gpu, LOCK));
    }
    assert_eq!(run.missing(), []);
}

/// Lanes with locks of their own: lane `i` locks the lock that `lock` says, and stores to the element of it.
fn by_lanes(run: &mut Run, warp: u32, locks: &[u64], element: impl Fn(usize) -> usize) {
    let lanes = (1u64 << locks.len()) - 1;
    let each = |at: &dyn Fn(usize) -> u64| {
        At::Each(Box::new(std::array::from_fn(|lane| at(lane.min(locks.len() - 1)))))
    };
    let at = each(&|lane| locks[lane]);
    let data = each(&|lane| X + 4 * element(lane) as u64);
    let lanes = lanes as u32;
    run.go(warp, cas(Gpu, 0).lanes(lanes).at(at.clone())).fence(warp, Gpu);
    run.go(warp, load(0).lanes(lanes).at(data.clone())).go(warp, store(0).lanes(lanes).at(data));
    run.fence(warp, Gpu).go(warp, exch(Gpu, 0).lanes(lanes).at(at));
}

#[test]
fn lanes_lock_side_by_side() {
    let locks = addresses(32);
    let back: Vec<u64> = locks.iter().rev().copied().collect();
    // The same element under the same lock, by another lane of another warp.
    let mut run = Run::new();
    by_lanes(&mut run, 0, &locks, |lane| lane);
    by_lanes(&mut run, 4, &back, |lane| 31 - lane);
    by_lanes(&mut run, 1, &locks, |lane| lane);
    assert_eq!((run.missing(), run.warnings()), (vec![], vec![]));
    // The same element under another lock: the lanes are told.
    let mut run = Run::new();
    by_lanes(&mut run, 0, &locks, |lane| lane);
    by_lanes(&mut run, 4, &back, |lane| lane);
    let found = run.findings();
    assert_eq!(found.len(), 1);
    // The upper halves of two locks of different addresses may agree.
    assert_eq!(found[0].missing, MissingOrder::LockOnLoad);
    assert!((30..=32).contains(&found[0].count), "{}", found[0].count);
    // Then nobody holds any, and a lane may lock for its warp again.
    lock(&mut run, 0, LOCK, Gpu);
    run.go(0, store(0x9000).lanes(u32::MAX));
    unlock(&mut run, 0, LOCK, Gpu);
    lock(&mut run, 4, LOCK, Gpu);
    run.go(4, store(0x9000).lanes(u32::MAX));
    assert_eq!(run.missing(), []);
}

#[test]
fn each_lane_is_judged_by_its_own_locks() {
    let locks = addresses(3);
    let mut run = Run::new();
    lock(&mut run, 0, locks[0], Gpu);
    run.go(0, store(X).lanes(7));
    unlock(&mut run, 0, locks[0], Gpu);
    let at = At::Each(Box::new(std::array::from_fn(|lane| locks[lane % 3])));
    run.go(4, cas(Gpu, 0).lanes(7).at(at)).fence(4, Gpu).go(4, store(X).lanes(7));
    let found = run.findings();
    assert_eq!((found.len(), found[0].count, found[0].address), (1, 2, X + 4));
}

#[test]
fn a_lane_may_unlock_for_another() {
    let locks = addresses(2);
    let mut run = Run::new();
    let at = At::Each(Box::new(std::array::from_fn(|lane| locks[lane & 1])));
    run.go(0, cas(Gpu, 0).lanes(3).at(at)).fence(0, Gpu).fence(0, Gpu);
    run.go(0, exch(Gpu, locks[0] - 4).lanes(2)).go(0, exch(Gpu, locks[1]));
    run.go(0, store(X)).fence(0, Gpu).go(1, store(X));
    assert_eq!(run.missing(), []);
}

#[test]
fn lanes_lock_one_after_the_other() {
    // On different sides of a branch: neither lock protects what the other lane does.
    let (one, two) = (addresses(2)[0], addresses(2)[1]);
    let mut run = Run::new();
    run.go(0, cas(Gpu, one)).fence_of(0, Gpu, 1);
    run.go(0, cas(Gpu, two - 4).lanes(2)).fence_of(0, Gpu, 2);
    run.go(0, store(X).lanes(3)).fence(0, Gpu);
    run.go(0, exch(Gpu, one)).go(0, exch(Gpu, two - 4).lanes(2));
    lock(&mut run, 4, one, Gpu);
    run.go(4, store(X).lanes(3));
    let found = run.findings();
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].missing, found[0].address, found[0].count), (MissingOrder::LockOnStore, X + 4, 1));
}

#[test]
fn lanes_at_one_place_have_their_own_locks() {
    let locks = addresses(2);
    let mut run = Run::new();
    let at = At::Each(Box::new(std::array::from_fn(|lane| locks[lane & 1])));
    run.go(0, cas(Gpu, 0).lanes(3).at(at)).fence(0, Gpu);
    run.go(0, store(0).lanes(3).at(At::Same(X))).fence(0, Gpu);
    // The last lane's lock is the second one.
    lock(&mut run, 4, locks[1], Gpu);
    run.go(4, store(X));
    assert_eq!(run.missing(), []);
}

/// One warp takes the lock for the device, another one of its block for the block.
#[test]
fn a_lock_of_the_block_is_that_of_the_device_in_its_block() {
    let mut run = Run::new();
    for (warp, scope) in [(0, Gpu), (1, Cta), (0, Gpu)] {
        lock(&mut run, warp, LOCK, scope);
        run.go(warp, store(X));
        unlock(&mut run, warp, LOCK, scope);
    }
    assert_eq!(run.missing(), []);
}

/// An atomic of the block behind one of the device: it is too narrow, unless a fence stands between.
#[test]
fn a_narrow_atomic_behind_a_wide_one() {
    let mut run = Run::new();
    run.go(0, add(Gpu, X)).go(4, add(Cta, X));
    assert_eq!(run.missing(), [MissingOrder::AtomicScope]);
    let mut run = Run::new();
    run.go(0, add(Gpu, X)).fence(0, Gpu).go(4, add(Cta, X));
    assert_eq!(run.missing(), []);
}
