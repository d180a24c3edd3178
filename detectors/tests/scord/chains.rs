//! Orders that are made of several; barriers of all kinds; counts that wrap.

use bugaroo_detectors::MissingOrder;
use bugaroo_detectors::scord::layout::{EntryLayout, Widths};
use bugaroo_detectors::scord::{LayoutChoice, ScordOptions};
use bugaroo_ptx::types::Scope::{self, Cta, Gpu};
use bugaroo_semantics::event::{Event, Range, WhoseBytes};

use crate::run::{GRID, Run, Size, TWO, X, load, store};

#[test]
fn hrf_relaxed_indirect_takes_scopes_of_several() {
    let chain = |first: Option<Scope>, second: Option<Scope>| {
        let mut run = Run::new();
        run.go(0, store(X));
        first.into_iter().for_each(|scope| {
            run.fence(0, scope);
        });
        run.go(1, load(X));
        second.into_iter().for_each(|scope| {
            run.fence(1, scope);
        });
        run.go(4, load(X)).go(5, load(X)).missing()
    };
    assert_eq!(chain(Some(Cta), Some(Gpu)), []);
    assert_eq!(chain(Some(Gpu), None), []);
    assert_eq!(chain(Some(Cta), Some(Cta)), [MissingOrder::DeviceFence]);
    assert_eq!(chain(Some(Cta), None), [MissingOrder::DeviceFence]);
    assert_eq!(chain(None, Some(Gpu)), [MissingOrder::BlockFence]);
}

#[test]
fn a_fence_behind_a_barrier_is_one_for_the_block() {
    // As a barrier of the grid is made.
    let grid_barrier = |fences: bool, barrier: bool| {
        let mut run = Run::new();
        run.go(2, store(X));
        if barrier {
            run.barrier(0);
        }
        if fences {
            run.fence(0, Gpu);
        }
        run.go(5, load(X)).missing()
    };
    assert_eq!(grid_barrier(true, true), []);
    assert_eq!(grid_barrier(false, true), [MissingOrder::DeviceFence]);
    assert_eq!(grid_barrier(true, false), [MissingOrder::DeviceFence]);
    // Of its own block somebody may have read before; and its own warp.
    for reader in [2, 3] {
        let mut run = Run::new();
        run.go(2, store(X)).barrier(0).fence(0, Gpu).barrier(0).go(reader, load(X)).go(5, load(X));
        assert_eq!(run.missing(), [], "read by {reader}");
    }
    // What comes behind the fence is not ordered.
    let mut run = Run::new();
    run.barrier(0).fence(0, Gpu).go(2, store(X)).go(5, load(X));
    assert_eq!(run.missing(), [MissingOrder::DeviceFence]);
    let mut run = Run::new();
    run.barrier(0).fence(0, Gpu).go(2, store(X)).barrier(0).go(5, load(X));
    assert_eq!(run.missing(), [MissingOrder::DeviceFence]);
}

#[test]
fn a_release_is_a_fence() {
    let message = |release: bool, scope: Scope| {
        let mut run = Run::modern();
        let flag = store(0x2000).of(scope);
        run.go(0, store(X)).go(0, if release { flag.release() } else { flag }).go(4, load(X)).missing()
    };
    // They are atomics; so a store that is none.
    let plain = |release: bool, scope: Scope| {
        let mut run = Run::modern();
        let flag = store(0x2000).of(scope);
        run.go(0, store(X).weak()).go(0, if release { flag.release() } else { flag });
        run.go(4, load(X)).missing()
    };
    assert_eq!(message(false, Gpu), []);
    assert_eq!(plain(true, Gpu), [MissingOrder::StrongAccess]);
    assert_eq!(plain(true, Cta), [MissingOrder::DeviceFence]);
    assert_eq!(plain(false, Gpu), [MissingOrder::DeviceFence]);
}

#[test]
fn a_barrier_counts_once() {
    // Two bits: four barriers are none. If each warp's leaving counted, one barrier would be.
    let widths = Widths { block: 1, warp: 2, barrier: 2, dev_fence: 6, blk_fence: 6, ..Widths::default() };
    let layout = LayoutChoice::Given(EntryLayout::new(widths).unwrap());
    let mut run = Run::with(ScordOptions { layout, ..ScordOptions::default() });
    run.go(0, store(X)).barrier(0).go(1, store(X));
    assert_eq!(run.missing(), []);
    assert_eq!(run.warnings(), [] as [String; 0]);
    // Nor does one without anybody to wait.
    let by = run.lanes(0, 1);
    run.event(Event::Arrive { by, site: 1, barrier: 3, waits: false });
    run.event(Event::Completed { grid: GRID, cta: 0, barrier: 3 });
    assert_eq!(run.go(2, store(X)).missing(), [MissingOrder::BlockFence]);
    // Four are none, and that is told once.
    run.go(0, store(X + 128));
    (0..4).for_each(|_| {
        run.barrier(0);
    });
    assert_eq!(run.go(1, store(X + 128)).missing(), [MissingOrder::BlockFence]);
    (0..4).for_each(|_| {
        run.barrier(0);
    });
    let warnings = run.warnings();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].contains("wrapped"));
}

#[test]
fn fences_wrap_and_only_those_that_fence_something_count() {
    let run = |times: u32, scope: Scope, touches: bool| {
        let mut run = Run::with(ScordOptions { layout: LayoutChoice::Paper, ..ScordOptions::default() });
        run.go(0, store(X));
        for _ in 0..times {
            run.fence(0, scope);
            if touches {
                run.go(0, load(0x8000));
            }
        }
        run.go(if scope == Cta { 1 } else { 4 }, load(X));
        (run.missing().len(), run.warnings().len())
    };
    for scope in [Cta, Gpu] {
        assert_eq!(run(63, scope, true), (0, 0));
        assert_eq!(run(64, scope, true), (1, 1));
        assert_eq!(run(65, scope, true), (0, 1));
        assert_eq!(run(64, scope, false), (0, 0));
    }
    // A fence of the block leaves something to one of the device.
    let mut both = Run::new();
    both.go(0, store(X)).fence(0, Cta).fence(0, Gpu).go(4, load(X));
    assert_eq!(both.missing(), []);
}

#[test]
fn barriers_of_some_count_as_barriers_of_all() {
    let mut run = Run::new();
    run.go(0, store(X)).barrier_of(&[0, 1]).go(1, load(X)).go(3, load(X));
    assert_eq!(run.missing(), []);
    assert!(run.warnings()[0].contains("some threads"));
    // Threads that have ended are not missing.
    let mut run = Run::new();
    run.exit(3, u32::MAX);
    run.go(0, store(X)).barrier(0).go(1, load(X));
    assert_eq!((run.missing(), run.warnings()), (vec![], vec![]));
    // Those who arrive and go on are ordered before those who wait.
    let (one, two) = (run.lanes(0, u32::MAX), run.lanes(1, u32::MAX));
    run.go(0, store(X + 4));
    run.event(Event::Arrive { by: one, site: 1, barrier: 1, waits: false });
    run.event(Event::Arrive { by: two, site: 1, barrier: 1, waits: true });
    run.event(Event::Leave { by: two, barrier: 1 });
    assert_eq!(run.go(1, load(X + 4)).missing(), []);
    assert_eq!(run.warnings().len(), 1);
}

#[test]
fn mbarriers_order_the_block_each_phase() {
    let mut run = Run::new();
    let at = Range { memory: WhoseBytes::Shared(0), address: 0, bytes: 8 };
    let passed = |run: &mut Run, warp: u32| {
        let by = run.lanes(warp, 1);
        run.event(Event::MbarrierPassed { by, at, site: 1, relaxed: false, scope: Cta });
    };
    run.go(0, store(X));
    passed(&mut run, 1);
    assert_eq!(run.go(1, load(X)).missing(), [MissingOrder::BlockFence]);
    run.go(0, store(X + 4));
    run.event(Event::MbarrierPhase { grid: GRID, at });
    passed(&mut run, 1);
    run.go(1, load(X + 4)).go(1, store(X + 8));
    assert_eq!(run.missing(), []);
    // A second one that has passed the same phase is not behind what the first one did then.
    passed(&mut run, 2);
    assert_eq!(run.go(2, load(X + 8)).missing(), [MissingOrder::BlockFence]);
    assert_eq!(run.warnings().len(), 1);
}

#[test]
fn a_cluster_meets_across_blocks() {
    let size = Size { blocks: 4, cluster: 2, ..TWO };
    let run = |reader: u32, own_first: bool| {
        let mut run = Run::of(size, ScordOptions::default(), None);
        run.go(0, store(X).weak());
        for warp in 0..8 {
            let by = run.lanes(warp, u32::MAX);
            run.event(Event::ClusterArrive { by, relaxed: false });
        }
        for warp in 0..8 {
            let by = run.lanes(warp, u32::MAX);
            run.event(Event::ClusterLeave(by));
        }
        if own_first {
            run.go(1, load(X).weak());
        }
        run.go(reader, load(X).weak()).missing()
    };
    for own_first in [false, true] {
        assert_eq!(run(5, own_first), []);
    }
    assert_eq!(run(8, false), [MissingOrder::DeviceFence]);
}

#[test]
fn a_slot_is_not_a_block() {
    // Blocks 0 and 1, one after the other in one slot.
    let mut run = Run::new();
    run.go(0, store(X));
    run.event(Event::BlockEnd { grid: GRID, cta: 0 });
    run.event(Event::BlockBegin { grid: GRID, cta: 0, block: 1 });
    assert_eq!(run.go(0, store(X)).missing(), [MissingOrder::DeviceFence]);
    // What a block has fenced outlives it.
    let mut run = Run::new();
    run.go(0, store(X)).fence(0, Gpu);
    run.event(Event::BlockEnd { grid: GRID, cta: 0 });
    run.event(Event::BlockBegin { grid: GRID, cta: 0, block: 1 });
    assert_eq!(run.go(0, load(X)).missing(), []);
}
