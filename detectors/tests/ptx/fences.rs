//! `fence.sc` by hand: what is forced, and what could be the other way round. Every test also holds the law.

use bugaroo_ptx::types::Scope;
use bugaroo_semantics::event::SiteNumber;

use crate::world::{LOAD, RMW, STORE, Thread, World, acquire, release, strong};

const A: Thread = (1, 0, 0);
const B: Thread = (1, 1, 0);
const C: Thread = (1, 2, 0);
const D: Thread = (1, 3, 0);
const DATA: u64 = 0x1000;
const FLAG: u64 = 0x2000;
const OTHER: u64 = 0x2080;

fn fence(world: &mut World, thread: Thread) {
    world.fence(thread, Scope::Gpu, true, true, true);
}

fn put(world: &mut World, thread: Thread, at: u64) -> SiteNumber {
    world.at(thread, at, strong(STORE, Scope::Gpu)).0
}

fn get(world: &mut World, thread: Thread, at: u64) -> SiteNumber {
    world.at(thread, at, strong(LOAD, Scope::Gpu)).0
}

/// Sites of what races.
fn races(world: &mut World) -> Vec<(SiteNumber, SiteNumber)> {
    world.check().iter().map(|finding| (finding.first.site, finding.second.site)).collect()
}

#[test]
fn two_that_have_nothing_to_do_with_each_other() {
    let mut world = World::grid(2, 32);
    let first = world.at(A, DATA, STORE).0;
    fence(&mut world, A);
    fence(&mut world, B);
    let second = world.at(B, DATA, STORE).0;
    assert_eq!(races(&mut world), [(first, second)]);
}

#[test]
fn within_a_block_they_are_as_executed() {
    let mut world = World::grid(2, 32);
    world.at(A, DATA, STORE);
    world.fence(A, Scope::Cta, true, true, true);
    world.fence((1, 0, 1), Scope::Gpu, true, true, true);
    world.at((1, 0, 1), DATA, STORE);
    assert_eq!(races(&mut world), []);
    world.fence(B, Scope::Gpu, true, true, true);
    world.at(B, DATA, STORE);
    assert_eq!(races(&mut world).len(), 1);
}

#[test]
fn a_flag_between_them() {
    for reads in [true, false] {
        let mut world = World::grid(2, 32);
        world.at(A, DATA, STORE);
        fence(&mut world, A);
        put(&mut world, A, FLAG);
        if reads {
            get(&mut world, B, FLAG);
        } else {
            // Coherence order tells, too, though this does not synchronise.
            put(&mut world, B, FLAG);
        }
        fence(&mut world, B);
        world.at(B, DATA, LOAD);
        assert_eq!(races(&mut world), []);
    }
}

#[test]
fn a_weak_flag_between_them() {
    let mut world = World::grid(2, 32);
    world.at(A, DATA, STORE);
    fence(&mut world, A);
    let raised = world.at(A, FLAG, STORE).0;
    let seen = world.at(B, FLAG, LOAD).0;
    fence(&mut world, B);
    world.at(B, DATA, LOAD);
    assert_eq!(races(&mut world), [(raised, seen)]);
}

#[test]
fn a_relay_without_a_fence() {
    let mut world = World::grid(3, 32);
    let first = world.at(A, DATA, STORE).0;
    fence(&mut world, A);
    put(&mut world, A, FLAG);
    get(&mut world, B, FLAG);
    put(&mut world, B, OTHER);
    get(&mut world, C, OTHER);
    fence(&mut world, C);
    let second = world.at(C, DATA, LOAD).0;
    assert_eq!(races(&mut world), [(first, second)]);
}

#[test]
fn a_relay_with_one() {
    let mut world = World::grid(3, 32);
    world.at(A, DATA, STORE);
    fence(&mut world, A);
    put(&mut world, A, FLAG);
    get(&mut world, B, FLAG);
    fence(&mut world, B);
    put(&mut world, B, OTHER);
    get(&mut world, C, OTHER);
    fence(&mut world, C);
    world.at(C, DATA, LOAD);
    assert_eq!(races(&mut world), []);
}

#[test]
fn a_relay_through_a_barrier() {
    let mut world = World::grid(3, 64);
    world.at(A, DATA, STORE);
    fence(&mut world, A);
    put(&mut world, A, FLAG);
    get(&mut world, B, FLAG);
    world.barrier(1, 1);
    fence(&mut world, (1, 1, 40));
    world.at((1, 1, 40), DATA, LOAD);
    assert_eq!(races(&mut world), []);
}

#[test]
fn a_relay_that_acquires() {
    let mut world = World::grid(3, 32);
    world.at(A, DATA, STORE);
    fence(&mut world, A);
    put(&mut world, A, FLAG);
    get(&mut world, B, FLAG);
    world.at(B, OTHER, release(Scope::Gpu));
    world.at(C, OTHER, acquire(Scope::Gpu));
    fence(&mut world, C);
    world.at(C, DATA, LOAD);
    assert_eq!(races(&mut world), []);
}

/// Every block writes its part, and counts itself; the last one reads all parts.
fn last_block(acquires: bool) -> usize {
    let mut world = World::grid(4, 32);
    let blocks = [A, B, C, D];
    for (index, block) in blocks.into_iter().enumerate() {
        world.at(block, DATA + 4 * index as u64, STORE);
        fence(&mut world, block);
        world.at(block, FLAG, RMW);
    }
    if acquires {
        fence(&mut world, D);
    }
    for index in 0..4 {
        world.at(D, DATA + 4 * index, LOAD);
    }
    races(&mut world).len()
}

#[test]
fn the_last_block_has_to_acquire() {
    assert_eq!(last_block(true), 0);
    // The counters of the others are behind its own fence.
    assert_eq!(last_block(false), 3);
}

#[test]
fn store_buffering() {
    // B misses A's store: B's fence comes first; and A sees B's.
    let mut world = World::grid(2, 32);
    world.at(B, DATA, STORE);
    put(&mut world, B, OTHER);
    fence(&mut world, B);
    get(&mut world, B, FLAG);
    put(&mut world, A, FLAG);
    fence(&mut world, A);
    get(&mut world, A, OTHER);
    world.at(A, DATA, LOAD);
    assert_eq!(races(&mut world), []);
    // Both see the other's: either can be first.
    let mut world = World::grid(2, 32);
    let first = world.at(B, DATA, STORE).0;
    put(&mut world, B, OTHER);
    put(&mut world, A, FLAG);
    fence(&mut world, B);
    fence(&mut world, A);
    get(&mut world, B, FLAG);
    get(&mut world, A, OTHER);
    let second = world.at(A, DATA, LOAD).0;
    assert_eq!(races(&mut world), [(first, second)]);
}

#[test]
fn independent_reads_of_independent_writes() {
    // C sees A's store and not B's yet.
    let mut world = World::grid(4, 32);
    world.at(C, DATA, STORE);
    put(&mut world, A, FLAG);
    get(&mut world, C, FLAG);
    fence(&mut world, C);
    get(&mut world, C, OTHER);
    put(&mut world, B, OTHER);
    get(&mut world, D, OTHER);
    fence(&mut world, D);
    get(&mut world, D, FLAG);
    world.at(D, DATA, LOAD);
    assert_eq!(races(&mut world), []);
}
