//! What the settings leave out, and what they limit.

use bugaroo_detectors::scord::ScordOptions;
use bugaroo_detectors::watched::{Numbers, Watched};
use bugaroo_detectors::{MissingOrder, RaceDetector};
use bugaroo_ptx::types::Scope::Gpu;

use crate::run::{GRID, LOCK, Run, X, cas, exch, store};

fn watching(watched: Watched) -> Run {
    let mut run = Run::new();
    run.detector.watch(GRID, watched);
    run.begin();
    run
}

fn only_data() -> Watched {
    Watched { global: Numbers::of(std::iter::once(X..X + 4)), ..Watched::default() }
}

/// Locks are known, wherever they are: nobody has to look at them.
#[test]
fn a_lock_that_nobody_looks_at_still_orders() {
    let mut run = watching(only_data());
    for warp in [0, 4] {
        run.go(warp, cas(Gpu, LOCK)).fence(warp, Gpu).go(warp, store(X));
        run.fence(warp, Gpu).go(warp, exch(Gpu, LOCK));
    }
    assert_eq!(run.missing(), []);
    let mut run = watching(only_data());
    run.go(0, cas(Gpu, LOCK)).fence(0, Gpu).go(0, store(X));
    run.fence(0, Gpu).go(0, exch(Gpu, LOCK)).go(4, store(X));
    assert_eq!(run.missing(), [MissingOrder::LockOnStore]);
}

#[test]
fn bytes_and_blocks_that_are_left_out_do_not_race() {
    let mut run = watching(only_data());
    run.go(0, store(X + 4)).go(4, store(X + 4));
    assert_eq!(run.missing(), []);
    run.go(0, store(X)).go(4, store(X));
    assert_eq!(run.missing(), [MissingOrder::DeviceFence]);
    let mut run = watching(Watched { blocks: Numbers::of([0..1, 2..3]), ..Watched::default() });
    run.go(0, store(X)).go(4, store(X));
    assert_eq!(run.missing(), []);
    let mut run = watching(Watched::nothing());
    run.go(0, store(X)).go(1, store(X));
    assert_eq!(run.missing(), []);
}

/// One page of metadata has room, and no more; neither has a row by bytes beside it.
#[test]
fn metadata_takes_no_more_room_than_it_may() {
    // A word for each four bytes of a page, and one for each row.
    let page = (1 << 14) + (1 << 9);
    let options = ScordOptions { most_bytes: Some(page), ..ScordOptions::default() };
    let mut run = Run::with(options);
    let far = X + (1 << 20);
    run.go(0, store(X)).go(0, store(far)).go(0, store(X + 128).bytes(1, 1));
    run.go(4, store(far)).go(4, store(X + 128).bytes(1, 1));
    assert_eq!(run.missing(), []);
    run.go(4, store(X));
    assert_eq!(run.missing(), [MissingOrder::DeviceFence]);
    assert_eq!(run.detector.metadata_bytes(), page);
    let warnings = run.detector.take_warnings();
    assert!(warnings.len() == 1 && warnings[0].count == 4, "{warnings:?}");
    assert!(warnings[0].what.contains("for want of room"), "{warnings:?}");
}

#[test]
fn so_many_races_are_told_and_no_more() {
    let mut run = Run::with(ScordOptions { most_races: Some(1), ..ScordOptions::default() });
    run.go(0, store(X)).go(4, store(X)).go(1, store(X)).go(5, store(X));
    assert_eq!(run.findings().len(), 1);
    let warnings = run.detector.take_warnings();
    assert!(warnings.len() == 1 && warnings[0].count == 2, "{warnings:?}");
}
