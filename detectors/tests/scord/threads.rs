//! Threads of a warp that are apart (section VI).

use bugaroo_detectors::scord::layout::{EntryLayout, Widths};
use bugaroo_detectors::scord::{LayoutChoice, ScordOptions};
use bugaroo_detectors::{HowFar, MissingOrder, Who};
use bugaroo_ptx::types::Scope::Cta;
use bugaroo_semantics::event::Event;

use crate::run::{At, GRID, Run, X, load, store};

fn apart(layout: LayoutChoice) -> Run {
    Run::with(ScordOptions { layout, independent_threads: true, ..ScordOptions::default() })
}

/// Every lane at one place.
fn one(lanes: u32) -> At {
    assert!(lanes != 0);
    At::Same(X)
}

#[test]
fn sides_of_a_branch_race() {
    for layout in [LayoutChoice::Fit, LayoutChoice::Paper] {
        let mut run = apart(layout);
        run.go(0, store(X).lanes(4).at(one(4))).go(0, load(X).lanes(8).at(one(8)));
        let found = run.findings();
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].class, found[0].missing), (HowFar::IntraWarp, MissingOrder::BlockFence));
        // Without its instruction the last access may be a read of the warp behind its write.
        let first = match layout {
            LayoutChoice::Fit => Who::Thread { grid: GRID, block: 0, thread: 2 },
            _ => Who::Warp { grid: GRID, block: 0, warp: 0 },
        };
        assert_eq!(found[0].first.who, first);
        assert_eq!(found[0].second.who, Who::Thread { grid: GRID, block: 0, thread: 3 });
    }
    // To the base design a warp is one.
    let mut run = Run::new();
    run.go(0, store(X).lanes(4).at(one(4))).go(0, load(X).lanes(8).at(one(8)));
    assert_eq!(run.missing(), []);
}

#[test]
fn a_thread_does_not_race_with_itself() {
    let mut run = apart(LayoutChoice::Fit);
    run.go(0, store(X).lanes(4).at(one(4))).go(0, load(X).lanes(4).at(one(4)));
    run.go(0, store(X + 64).lanes(u32::MAX))
        .go(0, load(X + 64).lanes(0xff00))
        .go(0, store(X + 64).lanes(0xf0));
    assert_eq!(run.missing(), []);
}

#[test]
fn lanes_that_come_together_are_ordered() {
    let between = |with: &dyn Fn(&mut Run)| {
        let mut run = apart(LayoutChoice::Fit);
        run.go(0, store(X).lanes(4).at(one(4)));
        with(&mut run);
        run.go(0, load(X).lanes(8).at(one(8))).missing()
    };
    assert_eq!(between(&|_| ()), [MissingOrder::BlockFence]);
    // An access of all of them, a barrier of the warp, one of the block, a fence.
    assert_eq!(
        between(&|run| {
            run.go(0, load(0x4000).lanes(u32::MAX));
        }),
        []
    );
    assert_eq!(
        between(&|run| {
            run.fence(0, Cta);
        }),
        []
    );
    assert_eq!(
        between(&|run| {
            run.barrier(0);
        }),
        []
    );
    let warp = |run: &mut Run| {
        let by = run.lanes(0, 12);
        run.event(Event::WarpBarrier { by, site: 1 });
    };
    assert_eq!(between(&warp), []);
    // Together is who has not ended.
    let ended = |run: &mut Run| {
        run.exit(0, !12);
        run.go(0, load(0x4000).lanes(12));
    };
    assert_eq!(between(&ended), []);
    // All together.
    let mut run = apart(LayoutChoice::Fit);
    run.go(0, store(X).lanes(4).at(one(4))).go(0, load(X).lanes(u32::MAX).at(one(1)));
    assert_eq!(run.missing(), []);
}

#[test]
fn what_all_did_before_they_parted_is_each_lanes() {
    // Lane 2 reads in a branch what lane 3 has written before it: nothing makes them wait for each other.
    let mut run = apart(LayoutChoice::Fit);
    run.go(0, store(X).lanes(u32::MAX)).go(0, load(X + 4).lanes(0xf));
    let found = run.findings();
    assert_eq!((found.len(), found[0].count), (1, 4));
    assert_eq!(found[0].first.who, Who::Thread { grid: GRID, block: 0, thread: 1 });
    // Where all do, they are one.
    let mut run = apart(LayoutChoice::Fit);
    run.go(0, store(X).lanes(u32::MAX)).go(0, load(X + 4).lanes(u32::MAX));
    assert_eq!(run.missing(), []);
}

#[test]
fn each_lane_is_judged_by_what_it_did() {
    // Lanes 1 and 2 read each other's.
    let mut run = apart(LayoutChoice::Fit);
    let each = [0, 2, 1, 3].map(|word| X + 4 * word);
    let at = At::Each(Box::new(std::array::from_fn(|lane| each[lane & 3])));
    run.go(0, store(X).lanes(u32::MAX)).go(0, load(0).lanes(0xf).at(at));
    let found = run.findings();
    assert_eq!((found.len(), found[0].count, found[0].address), (1, 2, X + 8));
}

#[test]
fn lanes_of_one_instruction_do_not_race() {
    for at in [At::Same(X), At::Each(Box::new([X; 32]))] {
        let mut run = apart(LayoutChoice::Fit);
        run.go(0, store(X).lanes(0xf0).at(at.clone())).go(0, store(X).lanes(0xf00).at(at));
        let found = run.findings();
        // Of two instructions they do.
        assert_eq!((found.len(), found[0].count), (1, 1));
    }
}

#[test]
fn other_warps_are_as_before() {
    let mut run = apart(LayoutChoice::Fit);
    run.go(0, store(X).lanes(u32::MAX)).go(1, load(X).lanes(u32::MAX)).fence(1, Cta);
    let found = run.findings();
    assert_eq!((found.len(), found[0].count, found[0].class), (1, 32, HowFar::IntraBlock));
    assert_eq!(run.go(2, store(X).lanes(u32::MAX)).missing(), []);
}

#[test]
fn lanes_come_together_too_often_to_be_counted() {
    let widths = Widths { block: 1, warp: 2, thread: 5, epoch: 2, barrier: 8, ..Widths::default() };
    let layout = LayoutChoice::Given(EntryLayout::new(widths).unwrap());
    let mut run = apart(layout);
    run.go(0, store(X).lanes(4).at(one(4)));
    for times in 1..=4 {
        run.go(0, load(0x4000).lanes(u32::MAX)).go(0, load(0x4000).lanes(1));
        assert_eq!(run.warnings().len(), usize::from(times == 4));
    }
}
