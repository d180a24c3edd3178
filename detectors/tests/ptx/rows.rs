//! What is done for whole warps at once, and for atomics that follow each other: the edges, by hand. Every test also holds the law.

use bugaroo_ptx::types::Scope;
use bugaroo_semantics::event::{Addresses, Event, Proxy, Range, WhoseBytes};

use crate::world::{How, LOAD, RMW, STORE, Thread, World, acquire, release, strong};

const A: Thread = (1, 0, 0);
/// Of the same block, another warp.
const A2: Thread = (1, 0, 32);
const B: Thread = (1, 1, 0);
const DATA: u64 = 0x1000;
const FLAG: u64 = 0x2000;
const SHARED: WhoseBytes = WhoseBytes::Shared(0);

fn races(world: &mut World) -> usize {
    world.check().len()
}

fn apart(first: u64, step: u64) -> [u64; 32] {
    std::array::from_fn(|lane| first + lane as u64 * step)
}

#[test]
fn lanes_that_are_some_bytes_apart() {
    for step in [8, 12, 16, 64, 128, 256] {
        let mut world = World::grid(1, 64);
        let (even, odd) = (apart(DATA, step), apart(DATA + 4, step));
        world.access(A, u32::MAX, WhoseBytes::Global, Addresses::Each(&even), STORE);
        world.access(A2, u32::MAX, WhoseBytes::Global, Addresses::Each(&odd), STORE);
        // Each its own; another's of the other half; and the first of those that the other warp has written.
        world.access(A, u32::MAX, WhoseBytes::Global, Addresses::Each(&even), LOAD);
        assert_eq!(races(&mut world), 0, "{step}");
        world.at((1, 0, 37), DATA + 5 * step + 4, LOAD);
        assert_eq!(races(&mut world), 0, "{step}");
        world.at((1, 0, 38), DATA + 5 * step, LOAD);
        let found = world.findings();
        assert_eq!(found.len(), 1, "{step}");
        assert_eq!(found[0].first.who, bugaroo_detectors::Who::Thread { grid: 1, block: 0, thread: 5 });
    }
}

#[test]
fn lanes_that_overlap_or_run_backwards() {
    let mut world = World::grid(1, 64);
    let wide = How { size: 8, ..STORE };
    // Two bytes too close: each meets its neighbour.
    world.access(A, 3, WhoseBytes::Global, Addresses::Each(&apart(DATA, 4)), How { size: 4, ..STORE });
    assert_eq!(races(&mut world), 0);
    world.access(A, 3, WhoseBytes::Global, Addresses::Each(&apart(DATA + 0x100, 0)), wide);
    assert_eq!(races(&mut world), 1);
    let down = std::array::from_fn(|lane| DATA + 0x400 - lane as u64 * 4);
    world.access(A, u32::MAX, WhoseBytes::Global, Addresses::Each(&down), STORE);
    assert_eq!(world.findings().len(), 0);
    world.at((1, 0, 3), DATA + 0x400 - 12, LOAD);
    assert_eq!(world.findings().len(), 0);
    world.at((1, 0, 4), DATA + 0x400 - 12, LOAD);
    assert_eq!(world.findings().len(), 1);
}

#[test]
fn held_lanes_of_a_row() {
    let mut world = World::grid(2, 32);
    world.access(A, u32::MAX, WhoseBytes::Global, Addresses::Consecutive(DATA), How { held: true, ..STORE });
    world.at(B, DATA + 64, LOAD);
    assert_eq!(races(&mut world), 1);
}

#[test]
fn atomics_of_a_block_and_what_was_there_before() {
    // A plain write that nothing orders before them races with each of them.
    let mut world = World::grid(1, 64);
    world.at(A2, FLAG, STORE);
    for thread in [A, (1, 0, 1), A, (1, 0, 2)] {
        world.at(thread, FLAG, RMW);
    }
    assert_eq!(races(&mut world), 4);
    world.at(A2, FLAG, LOAD);
    // And what is read weakly with the last atomics, of the other warp.
    assert_eq!(world.findings().len(), 1);
}

#[test]
fn atomics_of_a_block_carry_what_is_released_among_them() {
    for first in [0, 2] {
        let mut world = World::grid(2, 64);
        for lane in 0..first {
            world.at((1, 0, lane), FLAG, RMW);
        }
        world.at(A, DATA, STORE);
        world.membar(A, Scope::Gpu);
        world.at(A, FLAG, RMW);
        for lane in 1..4 {
            world.at((1, 0, lane), FLAG, RMW);
        }
        world.at(B, FLAG, acquire(Scope::Gpu));
        world.at(B, DATA, STORE);
        assert_eq!(races(&mut world), 0);
    }
    // Nothing is released: nothing is carried.
    let mut world = World::grid(2, 64);
    world.at(A, DATA, STORE);
    for lane in 0..4 {
        world.at((1, 0, lane), FLAG, RMW);
    }
    world.at(B, FLAG, acquire(Scope::Gpu));
    world.at(B, DATA, STORE);
    assert_eq!(races(&mut world), 1);
}

#[test]
fn an_atomic_that_comes_again_and_again_is_observed() {
    let mut world = World::grid(2, 64);
    for round in 0..3 {
        for lane in 0..3 {
            world.at((1, 0, lane), FLAG, RMW);
        }
        if round == 1 {
            world.at(B, FLAG, strong(LOAD, Scope::Gpu));
        }
    }
    // The last ones have not been.
    world.at(B, FLAG, STORE);
    assert_eq!(races(&mut world), 1);
    let mut world = World::grid(2, 64);
    for lane in 0..3 {
        world.at((1, 0, lane), FLAG, RMW);
    }
    world.at(B, FLAG, strong(LOAD, Scope::Gpu));
    world.at(B, FLAG, STORE);
    assert_eq!(races(&mut world), 0);
}

#[test]
fn atomics_that_reach_less_and_more_far() {
    for (scopes, expected) in [
        ([Scope::Gpu, Scope::Gpu, Scope::Gpu], 0),
        ([Scope::Gpu, Scope::Gpu, Scope::Cta], 1),
        ([Scope::Gpu, Scope::Cta, Scope::Gpu], 1),
        ([Scope::Cta, Scope::Gpu, Scope::Gpu], 1),
    ] {
        let mut world = World::grid(2, 64);
        for (lane, scope) in (0..).zip(scopes) {
            world.at((1, 0, lane), FLAG, strong(RMW, scope));
        }
        world.at(B, FLAG, RMW);
        assert_eq!(races(&mut world), expected, "{scopes:?}");
    }
}

#[test]
fn a_release_store_between_atomics() {
    let mut world = World::grid(2, 64);
    world.at(A, FLAG, RMW);
    world.at((1, 0, 1), FLAG, RMW);
    world.at(A, DATA, STORE);
    world.at(A, FLAG, release(Scope::Gpu));
    world.at((1, 0, 1), FLAG, RMW);
    world.at((1, 0, 2), FLAG, RMW);
    world.at(B, FLAG, acquire(Scope::Gpu));
    world.at(B, DATA, LOAD);
    assert_eq!(races(&mut world), 0);
}

#[test]
fn what_a_barrier_has_settled() {
    let mut world = World::grid(1, 64);
    world.access(A, u32::MAX, SHARED, Addresses::Consecutive(0), STORE);
    world.access(A2, u32::MAX, SHARED, Addresses::Consecutive(0x80), RMW);
    world.barrier(1, 0);
    world.access(A2, u32::MAX, SHARED, Addresses::Consecutive(0), LOAD);
    world.access(A, u32::MAX, SHARED, Addresses::Consecutive(0x80), STORE);
    assert_eq!(races(&mut world), 0);
    // What came behind the barrier is not settled.
    world.access(A, u32::MAX, SHARED, Addresses::Consecutive(0), STORE);
    assert_eq!(races(&mut world), 1);
}

#[test]
fn a_copy_from_before_a_barrier_has_settled_nothing() {
    let mut world = World::grid(1, 64);
    world.access(A2, 1, SHARED, Addresses::Same(0), STORE);
    let by = world.lanes(A, 1);
    let to = Some(Range { memory: SHARED, address: 0, bytes: 16 });
    world.tell(&Event::CopyIssued { by, site: 7, copy: 1, proxy: Proxy::Generic, from: None, to });
    world.barrier(1, 0);
    world.access(A2, 1, SHARED, Addresses::Same(64), STORE);
    world.access(A2, 1, SHARED, Addresses::Same(4), LOAD);
    world.tell(&Event::CopyDone { grid: 1, copy: 1 });
    // With the store before the barrier, and the load behind it.
    assert_eq!(world.findings().len(), 2);
}
