//! Each rule by hand. Every test also holds the law, by the axioms.

use bugaroo_detectors::{HowFar, MissingOrder};
use bugaroo_ptx::types::Scope;
use bugaroo_semantics::event::{Addresses, WhoseBytes, WorkKind};

use crate::world::{How, LOAD, RMW, STORE, World, acquire, release, strong};

const A: (u32, u64, u32) = (1, 0, 0);
const B: (u32, u64, u32) = (1, 1, 0);
const C: (u32, u64, u32) = (1, 2, 0);
const DATA: u64 = 0x1000;
const FLAG: u64 = 0x2000;

fn races(world: &mut World) -> usize {
    world.check().len()
}

#[test]
fn nothing_between_two_blocks() {
    let mut world = World::grid(2, 32);
    world.at(A, DATA, STORE);
    world.at(B, DATA, LOAD);
    let found = world.check();
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].class, found[0].missing), (HowFar::InterBlock, MissingOrder::Release));
}

fn message_passing(fence_a: Option<Scope>, fence_b: Option<Scope>, flag: Scope) -> World {
    let mut world = World::grid(2, 32);
    world.at(A, DATA, STORE);
    if let Some(scope) = fence_a {
        world.membar(A, scope);
    }
    world.at(A, FLAG, strong(STORE, flag));
    world.at(B, FLAG, strong(LOAD, flag));
    if let Some(scope) = fence_b {
        world.membar(B, scope);
    }
    world.at(B, DATA, LOAD);
    world
}

#[test]
fn message_passing_by_fences() {
    let gpu = Some(Scope::Gpu);
    assert_eq!(races(&mut message_passing(gpu, gpu, Scope::Gpu)), 0);
    assert_eq!(races(&mut message_passing(gpu, gpu, Scope::Sys)), 0);
    for (a, b, missing) in [
        (None, gpu, MissingOrder::Release),
        (gpu, None, MissingOrder::Acquire),
        (Some(Scope::Cta), gpu, MissingOrder::Scope),
        (gpu, Some(Scope::Cta), MissingOrder::Scope),
    ] {
        let found = message_passing(a, b, Scope::Gpu).check();
        assert_eq!(found.len(), 1, "{a:?} {b:?}");
        assert_eq!(found[0].missing, missing);
    }
    // A flag that does not reach the other block: the flag races, and so does the data.
    assert_eq!(races(&mut message_passing(gpu, gpu, Scope::Cta)), 2);
}

#[test]
fn message_passing_by_release_and_acquire() {
    for (r, a, expected) in
        [(Scope::Gpu, Scope::Gpu, 0), (Scope::Cta, Scope::Gpu, 2), (Scope::Gpu, Scope::Cta, 2)]
    {
        let mut world = World::grid(2, 32);
        world.at(A, DATA, STORE);
        world.at(A, FLAG, release(r));
        world.at(B, FLAG, acquire(a));
        world.at(B, DATA, LOAD);
        assert_eq!(races(&mut world), expected);
    }
}

#[test]
fn a_flag_that_is_not_read_orders_nothing() {
    let mut world = World::grid(2, 32);
    world.at(A, DATA, STORE);
    world.membar(A, Scope::Gpu);
    world.at(B, FLAG, strong(LOAD, Scope::Gpu));
    world.at(A, FLAG, strong(STORE, Scope::Gpu));
    world.membar(B, Scope::Gpu);
    world.at(B, DATA, LOAD);
    let found = world.check();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].missing, MissingOrder::Strong);
}

#[test]
fn weak_flags_race_themselves() {
    let mut world = World::grid(2, 32);
    world.at(A, DATA, STORE);
    world.membar(A, Scope::Gpu);
    world.at(A, FLAG, STORE);
    world.at(B, FLAG, LOAD);
    world.membar(B, Scope::Gpu);
    world.at(B, DATA, LOAD);
    assert_eq!(races(&mut world), 2);
}

#[test]
fn cumulativity() {
    let mut world = World::grid(3, 32);
    world.at(A, DATA, STORE);
    world.at(A, FLAG, release(Scope::Gpu));
    world.at(B, FLAG, acquire(Scope::Gpu));
    world.at(B, FLAG + 4, release(Scope::Gpu));
    world.at(C, FLAG + 4, acquire(Scope::Gpu));
    world.at(C, DATA, LOAD);
    assert_eq!(races(&mut world), 0);
}

#[test]
fn a_chain_of_atomics_carries_a_release() {
    let mut world = World::grid(3, 32);
    world.at(A, DATA, STORE);
    world.at(A, FLAG, release(Scope::Gpu));
    world.at(B, FLAG, RMW);
    world.at(C, FLAG, acquire(Scope::Gpu));
    world.at(C, DATA, LOAD);
    assert_eq!(races(&mut world), 0);
    // A plain strong store in its place does not.
    let mut world = World::grid(3, 32);
    world.at(A, DATA, STORE);
    world.at(A, FLAG, release(Scope::Gpu));
    world.at(B, FLAG, strong(STORE, Scope::Gpu));
    world.at(C, FLAG, acquire(Scope::Gpu));
    world.at(C, DATA, LOAD);
    assert_eq!(races(&mut world), 1);
}

#[test]
fn an_observed_write_is_ordered() {
    let mut world = World::grid(2, 32);
    world.at(A, FLAG, strong(STORE, Scope::Gpu));
    world.at(B, FLAG, strong(LOAD, Scope::Gpu));
    world.at(B, FLAG, STORE);
    assert_eq!(races(&mut world), 0);
    let mut world = World::grid(2, 32);
    world.at(A, FLAG, strong(STORE, Scope::Gpu));
    world.at(B, FLAG, STORE);
    assert_eq!(races(&mut world), 1);
}

#[test]
fn scopes_of_atomics() {
    let mut world = World::grid(2, 32);
    world.at(A, FLAG, strong(RMW, Scope::Cta));
    world.at(B, FLAG, strong(RMW, Scope::Gpu));
    let found = world.check();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].missing, MissingOrder::AtomicScope);
    let mut world = World::grid(2, 32);
    world.at(A, FLAG, RMW);
    world.at((1, 0, 1), FLAG, strong(RMW, Scope::Cta));
    world.at(B, FLAG, RMW);
    assert_eq!(races(&mut world), 1);
}

#[test]
fn narrow_atomic_after_wide_ones_of_its_block() {
    let mut world = World::grid(3, 32);
    world.at(A, FLAG, RMW);
    world.at(B, FLAG, RMW);
    world.at(C, FLAG, RMW);
    world.at((1, 2, 1), FLAG, strong(RMW, Scope::Cta));
    assert_eq!(races(&mut world), 1);
}

#[test]
fn bytes_beside_each_other_do_not_race() {
    let mut world = World::grid(2, 32);
    let byte = crate::world::How { size: 1, ..STORE };
    world.at(A, DATA, byte);
    world.at(B, DATA + 1, byte);
    world.at(B, DATA + 2, crate::world::How { size: 2, ..STORE });
    assert_eq!(races(&mut world), 0);
    world.at(A, DATA + 3, byte);
    assert_eq!(races(&mut world), 1);
}

#[test]
fn strong_accesses_that_overlap_in_part() {
    let mut world = World::grid(2, 32);
    world.at(A, DATA, strong(STORE, Scope::Gpu));
    world.at(B, DATA, crate::world::How { size: 8, ..strong(LOAD, Scope::Gpu) });
    let found = world.check();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].missing, MissingOrder::Overlap);
}

#[test]
fn lanes_of_one_instruction() {
    let mut world = World::grid(1, 32);
    world.access(A, u32::MAX, WhoseBytes::Global, Addresses::Consecutive(DATA), STORE);
    world.access(A, u32::MAX, WhoseBytes::Global, Addresses::Same(DATA + 256), LOAD);
    assert_eq!(races(&mut world), 0);
    world.access(A, u32::MAX, WhoseBytes::Global, Addresses::Same(FLAG), STORE);
    let found = world.check();
    assert_eq!(
        (found.len(), found[0].class, found[0].missing),
        (1, HowFar::IntraWarp, MissingOrder::WarpBarrier)
    );
}

#[test]
fn warp_barriers_and_block_barriers() {
    let mut world = World::grid(1, 64);
    world.access(A, u32::MAX, WhoseBytes::Shared(0), Addresses::Consecutive(0), STORE);
    world.warp_barrier(A, u32::MAX);
    world.access(A, u32::MAX, WhoseBytes::Shared(0), Addresses::Same(64), LOAD);
    assert_eq!(races(&mut world), 0);
    world.barrier(1, 0);
    world.access((1, 0, 32), u32::MAX, WhoseBytes::Shared(0), Addresses::Consecutive(0), STORE);
    assert_eq!(races(&mut world), 0);
    world.access(A, u32::MAX, WhoseBytes::Shared(0), Addresses::Same(64), LOAD);
    let found = world.check();
    assert_eq!(
        (found.len(), found[0].class, found[0].missing),
        (1, HowFar::IntraBlock, MissingOrder::BlockBarrier)
    );
}

#[test]
fn arriving_releases_and_does_not_acquire() {
    let mut world = World::grid(1, 64);
    let (producer, consumer) = (A, (1, 0, 32));
    world.access(producer, u32::MAX, WhoseBytes::Shared(0), Addresses::Consecutive(0), STORE);
    world.access(consumer, u32::MAX, WhoseBytes::Shared(0), Addresses::Consecutive(256), STORE);
    let mut arrived = world.arrive(producer, u32::MAX, 1, false);
    world.access(producer, u32::MAX, WhoseBytes::Shared(0), Addresses::Consecutive(512), STORE);
    arrived.extend(world.arrive(consumer, u32::MAX, 1, true));
    let left = world.leave(consumer, u32::MAX, 1);
    world.edges(&arrived, &left);
    world.access(consumer, u32::MAX, WhoseBytes::Shared(0), Addresses::Consecutive(0), LOAD);
    assert_eq!(races(&mut world), 0);
    world.access(consumer, u32::MAX, WhoseBytes::Shared(0), Addresses::Consecutive(512), LOAD);
    world.access(producer, u32::MAX, WhoseBytes::Shared(0), Addresses::Consecutive(256), LOAD);
    assert_eq!(world.check().len(), 2);
}

#[test]
fn an_atomic_releases_what_it_acquires() {
    // Told what it has read at once, or later; and where it writes, or not.
    for (source, wrote) in [(None, true), (Some(1), true), (None, false), (Some(1), false)] {
        let mut world = World::grid(3, 32);
        world.numbered = true;
        world.at(A, DATA, LOAD);
        let (_, number) = world.at(A, FLAG, release(Scope::Gpu));
        let source = source.map(|_| number);
        let how = How { acquire: true, release: true, wrote, source, ..RMW };
        world.at(B, FLAG, how);
        // A later write of the same thread there carries what that has released.
        world.at(B, FLAG, strong(STORE, Scope::Gpu));
        world.at(C, FLAG, acquire(Scope::Gpu));
        world.at(C, DATA, STORE);
        assert_eq!(races(&mut world), 0, "{source:?} {wrote}");
    }
}

#[test]
fn what_an_atomic_has_read_is_its_own() {
    let mut world = World::grid(3, 32);
    world.numbered = true;
    world.at(A, DATA, LOAD);
    let (_, first) = world.at(A, FLAG, RMW);
    let (_, released) = world.at(A, FLAG, release(Scope::Gpu));
    world.at(B, FLAG, How { acquire: true, source: Some(released), ..RMW });
    // What was there before the release does not carry it.
    world.at(C, FLAG, How { source: Some(first), ..strong(LOAD, Scope::Gpu) });
    world.membar(C, Scope::Gpu);
    world.at(C, DATA, STORE);
    assert_eq!(races(&mut world), 1);
}

/// Twelve blocks release by compares that fail, on what one thread has written; another reads that and acquires.
fn failed_compares(fence: bool) -> World {
    let mut world = World::grid(14, 32);
    let last = (1, 13, 0);
    world.at((1, 0, 0), FLAG, strong(STORE, Scope::Gpu));
    for block in 1..=12 {
        let thread = (1, block, 0);
        world.at(thread, DATA + 4 * block, STORE);
        world.membar(thread, Scope::Gpu);
        world.at(thread, FLAG, How { wrote: false, ..RMW });
    }
    world.at(last, FLAG, strong(LOAD, Scope::Gpu));
    if fence {
        world.membar(last, Scope::Gpu);
    }
    for block in 1..=12 {
        world.at(last, DATA + 4 * block, LOAD);
    }
    world
}

#[test]
fn many_compares_that_failed_are_told_as_one_message() {
    assert_eq!(races(&mut failed_compares(true)), 0);
    assert_eq!(races(&mut failed_compares(false)), 12);
}

#[test]
fn a_relaxed_barrier_of_the_cluster_orders_what_comes_before_a_fence() {
    for (scope, expected) in [(None, 1), (Some(Scope::Cta), 1), (Some(Scope::Cluster), 0)] {
        let mut world = World::new();
        world.work(1, WorkKind::Grid, 0, &[]);
        world.begin(1, 2, 1, 2);
        world.at(A, DATA, STORE);
        if let Some(scope) = scope {
            world.membar(A, scope);
        }
        let arrived: Vec<usize> =
            [A, B].into_iter().flat_map(|who| world.cluster_arrive(who, 1, true)).collect();
        let left: Vec<usize> = [A, B].into_iter().flat_map(|who| world.cluster_leave(who, 1)).collect();
        world.edges(&arrived, &left);
        world.at(B, DATA, LOAD);
        assert_eq!(races(&mut world), expected, "{scope:?}");
    }
}
