//! What the rules say of small executions.

use bugaroo_detectors::hirace::{HiraceOptions, Widths};
use bugaroo_detectors::{HowFar, MissingOrder, NO_SITE, NotKept, RaceDetector, RaceFinding, Who};
use bugaroo_semantics::event::{Event, Range, WhoseBytes};
use bugaroo_semantics::history::Action;

use crate::run::{FIRST, GRID, Run};
use crate::support::{At, Size};
use crate::trace::{Access, Op};

const TWO: Size = Size { blocks: 2, threads: 64 };

fn at(action: Action, lanes: u32, at: At) -> Access {
    Access { action, is_load: false, lanes, shared: false, size: 4, elements: 1, at }
}

fn one(warp: u32, action: Action) -> Op {
    Op::Access(warp, at(action, 1, At::Same(0x1000)))
}

fn row(warp: u32, action: Action, address: u64) -> Op {
    Op::Access(warp, at(action, u32::MAX, At::Consecutive(address)))
}

fn found(size: Size, ops: &[Op]) -> Vec<(HowFar, MissingOrder)> {
    Run::all(size, ops).findings().iter().map(|found| (found.class, found.missing)).collect()
}

fn the_one(size: Size, ops: &[Op]) -> RaceFinding {
    let found = Run::all(size, ops).findings();
    assert_eq!(found.len(), 1, "{found:?}");
    found[0]
}

use Action::{BlockAtomic, GridAtomic, Read, Write};

#[test]
fn threads_are_as_far_apart_as_they_are() {
    assert_eq!(found(TWO, &[one(0, Write), one(0, Write)]), []);
    assert_eq!(
        found(TWO, &[one(0, Write), one(1, Write)]),
        [(HowFar::IntraBlock, MissingOrder::BlockBarrier)]
    );
    assert_eq!(found(TWO, &[one(0, Write), one(2, Write)]), [(HowFar::InterBlock, MissingOrder::GridEnd)]);
    let all = Op::Access(0, at(Write, 7, At::Same(0x1000)));
    assert_eq!(found(TWO, &[all]), [(HowFar::IntraWarp, MissingOrder::WarpBarrier)]);
}

#[test]
fn barriers_order_whom_they_take_in() {
    assert_eq!(found(TWO, &[one(0, Write), Op::BlockBarrier(0), one(1, Write)]), []);
    let other = [one(0, Write), Op::BlockBarrier(1), one(1, Write)];
    assert_eq!(found(TWO, &other), [(HowFar::IntraBlock, MissingOrder::BlockBarrier)]);
    let shifted = [row(0, Write, 0x1000), Op::WarpBarrier(0, u32::MAX), row(0, Read, 0x1004)];
    assert_eq!(found(TWO, &shifted), []);
    let unordered = [row(0, Write, 0x1000), row(0, Read, 0x1004)];
    assert_eq!(found(TWO, &unordered), [(HowFar::IntraWarp, MissingOrder::WarpBarrier)]);
    let across = [one(0, Write), Op::BlockBarrier(0), Op::BlockBarrier(1), one(2, Read)];
    assert_eq!(found(TWO, &across), [(HowFar::InterBlock, MissingOrder::GridEnd)]);
}

#[test]
fn atomics_go_together_as_far_as_their_scopes_reach() {
    assert_eq!(found(TWO, &[one(0, GridAtomic), one(2, GridAtomic), one(1, GridAtomic)]), []);
    assert_eq!(found(TWO, &[one(0, BlockAtomic), one(1, BlockAtomic)]), []);
    assert_eq!(
        found(TWO, &[one(0, BlockAtomic), one(2, GridAtomic)]),
        [(HowFar::InterBlock, MissingOrder::AtomicScope)]
    );
    assert_eq!(
        found(TWO, &[one(0, GridAtomic), one(2, Read)]),
        [(HowFar::InterBlock, MissingOrder::GridEnd)]
    );
}

/// The paper's listing 3: each element has two readers in a row, and a thread that reads it last writes it. A history of one
/// reader has forgotten the one that races.
#[test]
fn any_number_of_readers_is_remembered() {
    let next = At::Consecutive(0x1004);
    let ops = [
        row(0, Read, 0x1000),
        Op::Access(0, at(Read, u32::MAX >> 1, next.clone())),
        Op::Access(0, at(Write, u32::MAX >> 1, next)),
    ];
    let found = Run::all(Size { blocks: 1, threads: 32 }, &ops).findings();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].forgotten, Some(NotKept::Load), "the last reader is the writer itself");
    assert!(matches!(found[0].first.who, Who::Grid(_)) && found[0].first.site == NO_SITE);
    assert_eq!((found[0].class, found[0].count), (HowFar::IntraWarp, 31));
    let mut ops: Vec<Op> = (0..4).map(|warp| one(warp, Read)).collect();
    ops.push(one(3, Write));
    assert_eq!(found_classes(TWO, &ops), [HowFar::InterBlock]);
}

fn found_classes(size: Size, ops: &[Op]) -> Vec<HowFar> {
    found(size, ops).into_iter().map(|(class, _)| class).collect()
}

/// Where the last access is not the one that races, what is known of that one is told, and the last one besides.
#[test]
fn what_is_forgotten_is_told_as_far_as_it_is_known() {
    let told = |ops: &[Op]| {
        let finding = the_one(TWO, ops);
        let latest = finding.latest.map(|party| party.site - FIRST);
        assert!(finding.first.site == NO_SITE || finding.forgotten.is_none());
        (finding.first.who, finding.forgotten, latest)
    };
    let barrier = Op::BlockBarrier(0);
    let block = |who: Who| matches!(who, Who::Block { block: 0, .. });
    // A write, behind a barrier a read of the block, and a read of another block.
    let (who, forgotten, latest) = told(&[one(0, Write), barrier, one(1, Read), one(2, Read)]);
    assert!(block(who));
    assert_eq!((forgotten, latest), (Some(NotKept::Write), Some(2)));
    // A thread's own read comes behind its write, and then a read of another warp, of another lane.
    let (who, forgotten, _) = told(&[one(0, Write), one(0, Read), one(1, Read)]);
    assert!(matches!(who, Who::Warp { block: 0, warp: 0, .. }), "{who:?}");
    assert_eq!(forgotten, Some(NotKept::Write));
    let lanes = Op::Access(0, at(Read, 2, At::Same(0x1000)));
    let (who, forgotten, _) = told(&[one(0, Write), one(0, Read), lanes]);
    assert!(matches!(who, Who::Thread { block: 0, thread: 0, .. }), "{who:?}");
    assert_eq!(forgotten, Some(NotKept::Write));
    // An atomic behind a store or a load of the same thread: which of these it was is not known.
    for before in [Write, Read] {
        let (who, forgotten, latest) = told(&[one(0, before), one(0, GridAtomic), one(2, GridAtomic)]);
        assert!(block(who));
        assert_eq!((forgotten, latest), (Some(NotKept::Access), Some(1)));
    }
    // Another block reads before the thread reads and writes.
    let (who, forgotten, latest) = told(&[one(2, Read), one(0, Read), one(0, Write)]);
    assert!(matches!(who, Who::Grid(_)), "{who:?}");
    assert_eq!((forgotten, latest), (Some(NotKept::Load), Some(1)));
    // An atomic of block scope, one of all, and one of another block.
    let finding = the_one(TWO, &[one(0, BlockAtomic), one(0, GridAtomic), one(2, GridAtomic)]);
    assert_eq!(finding.forgotten, Some(NotKept::Access));
}

#[test]
fn a_report_names_the_earlier_access() {
    let finding = the_one(TWO, &[row(3, Write, 0x1000), row(0, Read, 0x1040)]);
    assert_eq!((finding.first.site, finding.second.site), (FIRST, FIRST + 1));
    assert!(finding.forgotten.is_none() && finding.first.kind.writes() && !finding.second.kind.writes());
    assert_eq!((finding.address, finding.count), (0x1040, 16));
    let widths = Widths { site: Some(0), ..Widths::default() };
    let mut run = Run::new(HiraceOptions { widths, ..HiraceOptions::default() }, TWO, 2, false);
    [row(3, Write, 0x1000), row(0, Read, 0x1040)].iter().for_each(|op| run.step(0, op));
    assert_eq!(run.findings()[0].first.site, NO_SITE);
}

#[test]
fn neighbours_of_any_size_are_no_race() {
    let bytes = |warp: u32, address| {
        let access = Access { size: 1, ..at(Write, u32::MAX, At::Consecutive(address)) };
        Op::Access(warp, access)
    };
    assert_eq!(found(TWO, &[bytes(0, 0x1000), bytes(1, 0x1020), bytes(2, 0x1040)]), []);
    // Words first: their parts have been written, too.
    let ops = [row(0, Write, 0x1000), bytes(1, 0x1060)];
    assert_eq!(found_classes(TWO, &ops), [HowFar::IntraBlock]);
}

#[test]
fn memory_that_begins_anew_has_no_past() {
    let range = Range { memory: WhoseBytes::Global, address: 0x1000, bytes: 128 };
    let mut run = Run::all(TWO, &[one(0, Write)]);
    run.event(Event::Allocated(range));
    run.step(0, &one(2, Write));
    assert!(run.findings().is_empty());
}

#[test]
fn a_clock_without_room_ends_the_detection_and_says_so() {
    let widths = Widths { block_clock: Some(2), warp_clock: Some(2), site: None };
    let mut run = Run::new(HiraceOptions { widths, ..HiraceOptions::default() }, TWO, 1, false);
    run.step(0, &one(0, Write));
    run.step(0, &one(1, Write));
    for _ in 0..3 {
        run.step(0, &Op::BlockBarrier(0));
    }
    assert!(run.detector.take_warnings().is_empty());
    run.step(0, &Op::BlockBarrier(0));
    let warnings = run.detector.take_warnings();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].what.contains("more barriers than"), "{warnings:?}");
    assert_eq!(run.findings().len(), 1, "what was found before is told");
    run.step(0, &row(0, Write, 0x2000));
    run.step(0, &row(1, Write, 0x2000));
    assert!(run.findings().is_empty());
    let mut run = Run::new(HiraceOptions { widths, ..HiraceOptions::default() }, TWO, 1, false);
    for _ in 0..4 {
        run.step(0, &Op::WarpBarrier(0, u32::MAX));
        run.step(0, &Op::BlockBarrier(1));
    }
    assert_eq!(run.detector.take_warnings().len(), 1);
}

#[test]
fn words_take_eight_bytes_an_element_and_no_more_than_they_may() {
    // Even elements are written by warp 0, odd ones by a second warp.
    let held = |warps: [u32; 2]| {
        let mut run = Run::new(HiraceOptions::default(), TWO, 1, false);
        let before = run.detector.held();
        for block in 0..1 << 10 {
            for (warp, lanes) in warps.into_iter().zip([0x5555_5555, 0xaaaa_aaaa]) {
                let to = At::Consecutive(0x10_0000 + block * 128);
                run.step(0, &Op::Access(warp, at(Write, lanes, to)));
            }
        }
        assert_eq!(run.findings(), []);
        (run.detector.held() - before) as f64 / f64::from((1 << 10) * 32)
    };
    // Beside the words it takes up to 0.6 bytes an element to say where they are. Of a warp's row few words are kept.
    let (rows, mixed) = (held([0, 0]), held([0, 1]));
    assert!(rows <= 1.0 && (8.0..=8.6).contains(&mixed), "{rows} {mixed}");

    let most = HiraceOptions { most_bytes: 8 << 10, ..HiraceOptions::default() };
    let mut run = Run::new(most, TWO, 1, false);
    for (warp, address) in [(0, 0x1000), (0, 0x8000), (2, 0x8000), (2, 0x1000)] {
        run.step(0, &row(warp, Write, address));
    }
    let found = run.findings();
    assert!(found.len() == 1 && found[0].address == 0x1000, "{found:?}");
    let warnings = run.detector.take_warnings();
    assert!(warnings.len() == 1 && warnings[0].what.contains("want of room"), "{warnings:?}");
}

/// No engine tells of such accesses, which fault. It ends all the same, and finds who else was there.
#[test]
fn lanes_across_the_end_of_a_page_are_looked_at() {
    for lanes in [1, u32::MAX, 0x8000_0001] {
        let mut run = Run::new(HiraceOptions::default(), TWO, 2, false);
        for (site, warp) in [(0, 0), (1, 2)] {
            run.step(site, &Op::Access(warp, at(Write, lanes, At::Consecutive(0x1000 - 2))));
        }
        let found = run.findings();
        assert!(
            !found.is_empty() && found.iter().all(|found| found.class == HowFar::InterBlock),
            "{found:?}"
        );
    }
}

#[test]
fn in_lockstep_a_warp_is_one() {
    let ops = [row(0, Write, 0x1000), row(0, Read, 0x1004), row(1, Read, 0x1000)];
    let mut run = Run::new(HiraceOptions::default(), TWO, 3, true);
    ops.iter().enumerate().for_each(|(site, op)| run.step(site as u32, op));
    let classes: Vec<HowFar> = run.findings().iter().map(|finding| finding.class).collect();
    assert!(!classes.is_empty() && classes.iter().all(|class| *class == HowFar::IntraBlock), "{classes:?}");
}

/// A barrier that some threads are at counts as one of all, and that is told.
#[test]
fn a_barrier_of_some_is_warned_of() {
    let warnings = |there: &[u32]| {
        let mut run = Run::new(HiraceOptions::default(), Size { blocks: 1, threads: 96 }, 4, false);
        let lanes: Vec<_> = there.iter().map(|warp| run.lanes(*warp, u32::MAX)).collect();
        for by in &lanes {
            run.event(Event::Arrive { by: *by, site: FIRST, barrier: 1, waits: true });
        }
        lanes.iter().for_each(|by| run.event(Event::Leave { by: *by, barrier: 1 }));
        run.event(Event::GridEnd { grid: GRID });
        run.detector.take_warnings().len()
    };
    assert_eq!((warnings(&[0, 1, 2]), warnings(&[0, 1])), (0, 1));
    let mut run = Run::new(HiraceOptions::default(), Size { blocks: 1, threads: 64 }, 4, false);
    run.step(0, &Op::Exit(1, u32::MAX));
    run.step(1, &Op::BlockBarrier(0));
    run.event(Event::GridEnd { grid: GRID });
    assert_eq!(run.detector.take_warnings(), []);
}
