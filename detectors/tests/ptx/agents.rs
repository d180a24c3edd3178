//! Works, transfers and copies, by hand.

use bugaroo_detectors::{HowFar, MissingOrder, RaceDetector};
use bugaroo_ptx::types::Scope;
use bugaroo_semantics::event::{Addresses, Event, Proxy, Range, WhoseBytes, WorkKind};

use crate::world::{LOAD, STORE, World, strong};

const A: (u32, u64, u32) = (1, 0, 0);
const DATA: u64 = 0x1000;

fn two_grids(chain: u32, after: &[u32]) -> World {
    let mut world = World::new();
    world.work(1, WorkKind::Grid, 0, &[]);
    world.begin(1, 1, 32, 1);
    world.at(A, DATA, STORE);
    world.end(1);
    world.work(2, WorkKind::Grid, chain, after);
    world.begin(2, 1, 32, 1);
    world.at((2, 0, 0), DATA, LOAD);
    world
}

#[test]
fn kernels_of_streams() {
    assert!(two_grids(0, &[]).check().is_empty());
    assert!(two_grids(1, &[1]).check().is_empty());
    let found = two_grids(1, &[]).check();
    assert_eq!((found.len(), found[0].class, found[0].missing), (1, HowFar::InterGrid, MissingOrder::Stream));
}

#[test]
fn transfers_and_the_host() {
    let mut world = World::new();
    // A fill of a great range that nobody has touched costs nothing.
    world.work(1, WorkKind::Transfer, 0, &[]);
    world.tell(&Event::HostAccess {
        work: 1,
        range: Range { memory: WhoseBytes::Global, address: 1 << 40, bytes: 1 << 38 },
        writes: true,
        site: 1,
    });
    assert!(world.ptx.held() < 1 << 20);
    world.work(2, WorkKind::Grid, 1, &[]);
    world.begin(2, 1, 32, 1);
    let grid = (2, 0, 0);
    world.at(grid, (1 << 40) + 4096, LOAD);
    let found = world.findings();
    assert_eq!((found.len(), found[0].class, found[0].missing), (1, HowFar::InterGrid, MissingOrder::Stream));
    world.at(grid, DATA, STORE);
    world.work(3, WorkKind::Host, 7, &[]);
    world.host(3, DATA, 4, false);
    let found = world.check();
    assert_eq!((found.len(), found[0].class, found[0].missing), (1, HowFar::Host, MissingOrder::HostSync));
    world.work(4, WorkKind::Host, 7, &[2]);
    world.host(4, DATA, 4, false);
    world.host(4, DATA, 4, true);
    assert!(world.findings().is_empty());
    // The host's own accesses may be atomic: beside those of the system's scope they are let be.
    world.at(grid, DATA + 64, strong(STORE, Scope::Sys));
    world.work(5, WorkKind::Host, 8, &[]);
    world.host(5, DATA + 64, 4, false);
    assert!(world.findings().is_empty());
}

#[test]
fn two_transfers_that_no_kernel_touches() {
    let mut world = World::new();
    world.work(1, WorkKind::Transfer, 0, &[]);
    world.host(1, DATA, 256, true);
    world.work(2, WorkKind::Transfer, 1, &[]);
    world.host(2, DATA + 128, 256, false);
    assert_eq!(world.check().len(), 1);
    world.work(3, WorkKind::Transfer, 1, &[1]);
    world.host(3, DATA, 512, true);
    assert!(world.findings().is_empty());
}

#[test]
fn freed_memory_is_new() {
    let mut world = World::grid(2, 32);
    world.at(A, DATA, STORE);
    world.tell(&Event::Freed(Range { memory: WhoseBytes::Global, address: DATA, bytes: 64 }));
    world.at((1, 1, 0), DATA, STORE);
    assert!(world.findings().is_empty());
    world.at(A, DATA + 64, STORE);
    world.at((1, 1, 0), DATA + 64, STORE);
    assert_eq!(world.findings().len(), 1);
}

fn range(memory: WhoseBytes, address: u64, bytes: u64) -> Range {
    Range { memory, address, bytes }
}

fn copy(world: &mut World, proxy: Proxy, from: Option<Range>, to: Option<Range>) {
    let by = world.lanes(A, 1);
    world.tell(&Event::CopyIssued { by, site: 7, copy: 1, proxy, from, to });
    world.tell(&Event::CopyDone { grid: 1, copy: 1 });
}

#[test]
fn a_copy_that_nobody_waits_for() {
    let shared = range(WhoseBytes::Shared(0), 0, 16);
    let global = range(WhoseBytes::Global, DATA, 16);
    for (waits, expected) in [(false, 1), (true, 0)] {
        let mut world = World::grid(1, 64);
        copy(&mut world, Proxy::Generic, Some(global), Some(shared));
        if waits {
            let by = world.lanes(A, 1);
            world.tell(&Event::CopyAwaited { by, copy: 1, read_only: false });
        }
        world.access(A, 1, WhoseBytes::Shared(0), Addresses::Same(0), LOAD);
        let found = world.findings();
        assert_eq!(found.len(), expected);
        assert!(
            found
                .iter()
                .all(|finding| finding.missing == MissingOrder::CopyWait && finding.first.asynchronous)
        );
        // Another thread needs a barrier besides.
        if waits {
            world.access((1, 0, 33), 2, WhoseBytes::Shared(0), Addresses::Same(4), LOAD);
            assert_eq!(world.findings().len(), 1);
            world.barrier(1, 0);
            world.access((1, 0, 33), 2, WhoseBytes::Shared(0), Addresses::Same(4), LOAD);
            assert!(world.findings().is_empty());
        }
    }
}

#[test]
fn waiting_for_the_reads_of_a_copy() {
    let mut world = World::grid(1, 32);
    let (shared, global) = (range(WhoseBytes::Shared(0), 0, 16), range(WhoseBytes::Global, DATA, 16));
    copy(&mut world, Proxy::Generic, Some(shared), Some(global));
    let by = world.lanes(A, 1);
    world.tell(&Event::CopyAwaited { by, copy: 1, read_only: true });
    world.access(A, 1, WhoseBytes::Shared(0), Addresses::Same(0), STORE);
    assert!(world.findings().is_empty());
    world.at(A, DATA, LOAD);
    assert_eq!(world.findings().len(), 1);
}

/// All warps of a grid's only block meet at its barrier.
fn all_meet(world: &mut World, grid: u32, warps: u32) {
    for warp in 0..warps {
        world.arrive((grid, 0, warp * 32), u32::MAX, 0, true);
    }
    for warp in 0..warps {
        world.leave((grid, 0, warp * 32), u32::MAX, 0);
    }
}

/// An mbarrier is used by a thread that nothing has told of its initialisation. Whoever ends it need not know who has used it.
#[test]
fn an_mbarrier_and_its_initialisation() {
    let at = range(WhoseBytes::Shared(0), 0, 8);
    for (met, ended) in [(false, false), (true, false), (false, true), (true, true)] {
        let mut world = World::grid(1, 64);
        let (by, other) = (world.lanes(A, 1), world.lanes((1, 0, 32), 1));
        world.tell(&Event::MbarrierInit { by, at, site: 5 });
        if met || ended {
            all_meet(&mut world, 1, 2);
        }
        for by in [other, by] {
            world.tell(&Event::MbarrierArrive { by, at, site: 6, relaxed: false, scope: Scope::Cta });
        }
        if ended {
            world.tell(&Event::MbarrierInit { by, at, site: 7 });
        }
        let found = world.findings();
        assert_eq!(found.len(), usize::from(!met && !ended), "{found:?}");
        for finding in found {
            assert_eq!((finding.first.site, finding.second.site), (5, 6));
            assert_eq!((finding.address, finding.missing), (0, MissingOrder::BlockBarrier));
        }
    }
}

/// Another block of the cluster uses an mbarrier: a barrier of the cluster tells it of the initialisation, and where that is relaxed
/// `fence.mbarrier_init` does.
#[test]
fn an_mbarrier_of_a_cluster() {
    for (relaxed, fenced) in [(false, false), (true, false), (true, true)] {
        let mut world = World::new();
        world.work(1, WorkKind::Grid, 0, &[]);
        world.begin(1, 2, 32, 2);
        let at = range(WhoseBytes::Shared(0), 0, 8);
        let (by, other) = (world.lanes(A, 1), world.lanes((1, 1, 0), 1));
        world.tell(&Event::MbarrierInit { by, at, site: 5 });
        if fenced {
            world.tell(&Event::ProxyFence { by, site: 4 });
        }
        let all = [world.lanes(A, u32::MAX), world.lanes((1, 1, 0), u32::MAX)];
        all.iter().for_each(|by| world.tell(&Event::ClusterArrive { by: *by, relaxed }));
        all.iter().for_each(|by| world.tell(&Event::ClusterLeave(*by)));
        world.tell(&Event::MbarrierArrive { by: other, at, site: 6, relaxed: false, scope: Scope::Cluster });
        assert_eq!(world.findings().len(), usize::from(relaxed && !fenced));
    }
}

#[test]
fn a_copy_that_an_mbarrier_counts() {
    let mut world = World::grid(1, 64);
    let (shared, global) = (range(WhoseBytes::Shared(0), 64, 16), range(WhoseBytes::Global, DATA, 16));
    let at = range(WhoseBytes::Shared(0), 0, 8);
    let by = world.lanes(A, 1);
    world.tell(&Event::MbarrierInit { by, at, site: 5 });
    all_meet(&mut world, 1, 2);
    world.access(A, 1, WhoseBytes::Shared(0), Addresses::Same(128), STORE);
    world.tell(&Event::MbarrierArrive { by, at, site: 6, relaxed: false, scope: Scope::Cta });
    copy(&mut world, Proxy::Async, Some(global), Some(shared));
    let other = world.lanes((1, 0, 32), 1);
    world.access((1, 0, 32), 1, WhoseBytes::Shared(0), Addresses::Same(68), LOAD);
    assert_eq!(world.findings().len(), 1, "the phase has not been passed");
    world.tell(&Event::CopyCounted { grid: 1, copy: 1, at });
    world.tell(&Event::MbarrierPhase { grid: 1, at });
    world.tell(&Event::MbarrierPassed { by: other, at, site: 6, relaxed: false, scope: Scope::Cta });
    world.access((1, 0, 32), 1, WhoseBytes::Shared(0), Addresses::Same(64), LOAD);
    world.access((1, 0, 32), 1, WhoseBytes::Shared(0), Addresses::Same(128), LOAD);
    assert!(world.findings().is_empty());
}

/// A copy that a later phase, or another mbarrier, counts once more is known behind each of them.
#[test]
fn a_copy_that_is_counted_again() {
    let mut world = World::grid(1, 96);
    let mbarriers = [range(WhoseBytes::Shared(0), 0, 8), range(WhoseBytes::Shared(0), 8, 8)];
    let by = world.lanes(A, 1);
    mbarriers.iter().for_each(|at| world.tell(&Event::MbarrierInit { by, at: *at, site: 5 }));
    all_meet(&mut world, 1, 3);
    let (shared, global) = (range(WhoseBytes::Shared(0), 64, 16), range(WhoseBytes::Global, DATA, 16));
    copy(&mut world, Proxy::Generic, Some(global), Some(shared));
    let [first, second] = [(1, 0, 32), (1, 0, 64)];
    let pass = |world: &mut World, at: Range, who| {
        let by = world.lanes(who, 1);
        world.tell(&Event::MbarrierPassed { by, at, site: 6, relaxed: false, scope: Scope::Cta });
    };
    world.tell(&Event::CopyCounted { grid: 1, copy: 1, at: mbarriers[0] });
    world.tell(&Event::MbarrierPhase { grid: 1, at: mbarriers[0] });
    pass(&mut world, mbarriers[0], first);
    // The next phase, and the other mbarrier, have not completed.
    world.tell(&Event::CopyCounted { grid: 1, copy: 1, at: mbarriers[0] });
    world.tell(&Event::CopyCounted { grid: 1, copy: 1, at: mbarriers[1] });
    world.access(first, 1, WhoseBytes::Shared(0), Addresses::Same(64), LOAD);
    assert!(world.findings().is_empty(), "the first phase has been passed");
    world.tell(&Event::MbarrierPhase { grid: 1, at: mbarriers[1] });
    pass(&mut world, mbarriers[1], second);
    world.access(second, 1, WhoseBytes::Shared(0), Addresses::Same(68), LOAD);
    assert!(world.findings().is_empty(), "the other mbarrier has counted it, too");
}

#[test]
fn a_proxy_fence_before_an_asynchronous_read() {
    for fenced in [false, true] {
        let mut world = World::grid(1, 32);
        world.access(A, 1, WhoseBytes::Shared(0), Addresses::Same(0), STORE);
        if fenced {
            let by = world.lanes(A, 1);
            world.tell(&Event::ProxyFence { by, site: 4 });
        }
        let (shared, global) = (range(WhoseBytes::Shared(0), 0, 16), range(WhoseBytes::Global, DATA, 16));
        copy(&mut world, Proxy::Async, Some(shared), Some(global));
        let found = world.findings();
        assert_eq!(found.len(), usize::from(!fenced));
        assert!(found.iter().all(|finding| finding.missing == MissingOrder::ProxyFence));
    }
}

#[test]
fn launch_after_launch_takes_no_more() {
    let mut world = World::new();
    let mut held = 0;
    for grid in 1..60 {
        world.work(grid, WorkKind::Grid, 0, &[]);
        world.begin(grid, 1, 32, 1);
        for row in 0..2 {
            let at = Addresses::Consecutive(DATA + row * 128);
            world.access((grid, 0, 0), u32::MAX, WhoseBytes::Global, at, LOAD);
        }
        world.end(grid);
        if grid == 20 {
            held = world.ptx.held();
        }
    }
    assert!(world.ptx.held() < held + 8_000, "{held} and then {}", world.ptx.held());
}

/// A grid beside it has an mbarrier at the same place of the same slot: its phases are its own.
#[test]
fn a_phase_of_another_grid() {
    let mut world = World::new();
    world.work(1, WorkKind::Grid, 1, &[]);
    world.begin(1, 1, 64, 1);
    world.work(2, WorkKind::Grid, 2, &[]);
    world.begin(2, 1, 64, 1);
    let at = range(WhoseBytes::Shared(0), 0, 8);
    for grid in [1, 2] {
        let by = world.lanes((grid, 0, 0), 1);
        world.tell(&Event::MbarrierInit { by, at, site: 5 });
        all_meet(&mut world, grid, 2);
        world.access((grid, 0, 0), 1, WhoseBytes::Shared(0), Addresses::Same(128), STORE);
        world.tell(&Event::MbarrierArrive { by, at, site: 6, relaxed: false, scope: Scope::Cta });
    }
    // The first grid's phase completes, and a thread of the second goes on as behind a phase before.
    world.tell(&Event::MbarrierPhase { grid: 1, at });
    for grid in [1, 2] {
        let by = world.lanes((grid, 0, 32), 1);
        world.tell(&Event::MbarrierPassed { by, at, site: 6, relaxed: false, scope: Scope::Cta });
        world.access((grid, 0, 32), 1, WhoseBytes::Shared(0), Addresses::Same(128), LOAD);
        assert_eq!(world.findings().len(), usize::from(grid == 2), "grid {grid}");
    }
}
