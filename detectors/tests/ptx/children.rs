//! Grids that a thread of a grid launches: of their parent they come behind what that thread knew.

use bugaroo_detectors::MissingOrder;
use bugaroo_semantics::event::{Event, WorkKind};

use crate::world::{LOAD, STORE, World};

const DATA: u64 = 4096;
const OTHERS: u64 = DATA + 128;
const LATER: u64 = DATA + 256;

/// A parent (work 1, in chain 1) of two warps, whose first thread launches a child (work 2): it has written one place, another thread a
/// second one, and it writes a third one afterwards. `met`: the threads have met before the launch.
fn parent(met: bool) -> World {
    let mut world = World::new();
    world.work(1, WorkKind::Grid, 1, &[]);
    world.begin(1, 1, 64, 1);
    world.at((1, 0, 0), DATA, STORE);
    world.at((1, 0, 33), OTHERS, STORE);
    if met {
        for thread in [0, 32] {
            world.arrive((1, 0, thread), u32::MAX, 0, true);
        }
        for thread in [0, 32] {
            world.leave((1, 0, thread), u32::MAX, 0);
        }
    }
    let by = world.lanes((1, 0, 0), 1);
    world.tell(&Event::Asked { by, number: 0 });
    world.at((1, 0, 0), LATER, STORE);
    world.end(1);
    world.work_of(2, WorkKind::Grid, 2, &[1], Some((1, 0)));
    world.begin(2, 1, 32, 1);
    world
}

/// Which of the three places race with a grid's reads.
fn races(world: &mut World, grid: u32) -> Vec<u64> {
    let mut all = Vec::new();
    for at in [DATA, OTHERS, LATER] {
        world.at((grid, 0, 0), at, LOAD);
        let found = world.findings();
        assert!(found.iter().all(|found| found.missing == MissingOrder::Launch), "{found:?}");
        all.extend(found.iter().map(|found| found.address));
    }
    all
}

#[test]
fn a_child_and_its_parent() {
    let mut world = parent(false);
    assert_eq!(races(&mut world, 2), [OTHERS, LATER]);
    let mut world = parent(true);
    assert_eq!(races(&mut world, 2), [LATER]);
}

#[test]
fn a_grandchild() {
    let mut world = parent(true);
    let by = world.lanes((2, 0, 0), 1);
    world.tell(&Event::Asked { by, number: 0 });
    world.end(2);
    world.work_of(3, WorkKind::Grid, 2, &[2], Some((2, 0)));
    world.begin(3, 1, 32, 1);
    assert_eq!(races(&mut world, 3), [LATER]);
}

#[test]
fn what_waits_for_the_parent_comes_behind_all_of_it() {
    let mut world = parent(false);
    world.end(2);
    // A tail launch, whatever waits for the parent's end, and a child of that.
    world.work(3, WorkKind::Grid, 3, &[1, 2]);
    world.work(4, WorkKind::Mark, 1, &[1, 2, 3]);
    world.work(5, WorkKind::Grid, 1, &[]);
    for grid in [3, 5] {
        world.begin(grid, 1, 32, 1);
        assert!(races(&mut world, grid).is_empty());
    }
    let by = world.lanes((5, 0, 0), 1);
    world.tell(&Event::Asked { by, number: 0 });
    world.work_of(6, WorkKind::Grid, 4, &[5], Some((5, 0)));
    world.begin(6, 1, 32, 1);
    assert!(races(&mut world, 6).is_empty());
}

#[test]
fn a_child_behind_another_in_one_stream() {
    // The second is launched behind what the first is not.
    let mut world = World::new();
    world.work(1, WorkKind::Grid, 1, &[]);
    world.begin(1, 1, 64, 1);
    for (number, at) in [(0, DATA), (1, OTHERS)] {
        world.at((1, 0, 0), at, STORE);
        let by = world.lanes((1, 0, 0), 1);
        world.tell(&Event::Asked { by, number });
    }
    world.at((1, 0, 0), LATER, STORE);
    world.end(1);
    world.work_of(2, WorkKind::Grid, 2, &[1], Some((1, 0)));
    world.begin(2, 1, 32, 1);
    assert_eq!(races(&mut world, 2), [OTHERS, LATER]);
    world.work_of(3, WorkKind::Grid, 2, &[1, 2], Some((1, 1)));
    world.begin(3, 1, 32, 1);
    assert_eq!(races(&mut world, 3), [LATER]);
    // One that waits in its stream for both knows what they do.
    world.work_of(4, WorkKind::Grid, 3, &[1, 3], Some((1, 0)));
    world.begin(4, 1, 32, 1);
    assert_eq!(races(&mut world, 4), [LATER]);
}
