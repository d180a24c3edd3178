//! What the rules say of small executions.

use bugaroo_detectors::{Barracuda, HowFar, MissingOrder, RaceDetector, RacingKind as Found};
use bugaroo_ptx::op::AtomOp;
use bugaroo_ptx::op::FenceKind;
use bugaroo_ptx::types::Scope;
use bugaroo_semantics::Observer;
use bugaroo_semantics::effect::Fence;
use bugaroo_semantics::event::{Event, Range, WhoseBytes};
use bugaroo_semantics::inferred::{Reach, Role};

use crate::run::{FIRST, GRID, Run};
use crate::support::{At, Size};
use crate::trace::{Access, Kind, Op};

const ADD: Kind = Kind::Atomic(AtomOp::Add);
const TWO: Size = Size { blocks: 2, threads: 64 };

fn access(kind: Kind, lanes: u32, at: At) -> Access {
    let values = Box::new(std::array::from_fn(|lane| lane as u64));
    Access { kind, lanes, shared: false, size: 4, elements: 1, at, values, role: Role::default() }
}

fn one(kind: Kind, address: u64) -> Access {
    access(kind, 1, At::Consecutive(address))
}

fn with(role: Role, access: Access) -> Access {
    Access { role, ..access }
}

fn acquire(reach: Reach) -> Role {
    Role { acquire: Some(reach), ..Role::default() }
}

fn release(reach: Reach) -> Role {
    Role { release: Some(reach), ..Role::default() }
}

fn found(size: Size, ops: &[Op]) -> Vec<(Found, HowFar)> {
    Run::all(size, ops).findings().iter().map(|found| (found.kind, found.class)).collect()
}

#[test]
fn threads_are_as_far_apart_as_they_are() {
    let write = |warp| Op::Access(warp, one(Kind::Write, 0x1000));
    assert_eq!(found(TWO, &[write(0), write(0)]), []);
    assert_eq!(found(TWO, &[write(0), write(1)]), [(Found::Race, HowFar::IntraBlock)]);
    assert_eq!(found(TWO, &[write(0), write(2)]), [(Found::Race, HowFar::InterBlock)]);
    assert_eq!(found(TWO, &[write(0), Op::Bar { block: 0 }, write(1)]), []);
    let at_once = Op::Access(0, access(Kind::Write, 7, At::Same(0x1000)));
    assert_eq!(found(TWO, &[at_once]), [(Found::Race, HowFar::IntraWarp)]);
    let atomic = |warp| Op::Access(warp, access(ADD, 7, At::Same(0x1000)));
    assert_eq!(found(TWO, &[atomic(0), atomic(2)]), []);
    assert_eq!(found(TWO, &[atomic(0), write(2)]), [(Found::Race, HowFar::InterBlock)]);
}

#[test]
fn lanes_that_write_the_same_do_not_race() {
    let mut same = access(Kind::Write, u32::MAX, At::Same(0x1000));
    same.values = Box::new([5; 32]);
    assert_eq!(found(TWO, &[Op::Access(0, same.clone())]), []);
    // Across warps it does not count.
    assert_eq!(found(TWO, &[Op::Access(0, same.clone()), Op::Access(1, same)]).len(), 1);
}

#[test]
fn sides_of_a_branch_race_and_what_is_behind_does_not() {
    let size = Size { blocks: 1, threads: 4 };
    let write = |lane: u32| Op::Access(0, access(Kind::Write, 1 << lane, At::Same(0x1000)));
    let branch = [
        Op::If { warp: 0, lanes: 15, taken: 3, taken_first: true },
        write(0),
        Op::Else { warp: 0, lanes: 12 },
    ];
    let mut inside = branch.to_vec();
    inside.push(write(2));
    assert_eq!(found(size, &inside), [(Found::BranchOrder, HowFar::Divergence)]);
    let mut behind = branch.to_vec();
    behind.extend([Op::Fi { warp: 0, lanes: 15 }, write(2)]);
    assert_eq!(found(size, &behind), []);
}

fn message(first: Role, second: Role, to: u32) -> Vec<Op> {
    vec![
        Op::Access(0, one(Kind::Write, 0x1000)),
        Op::Access(0, with(first, one(Kind::Write, 0x2000))),
        Op::Access(to, with(second, one(Kind::Read, 0x2000))),
        Op::Access(to, one(Kind::Read, 0x1000)),
    ]
}

#[test]
fn a_message_needs_a_global_fence_on_one_side_between_blocks() {
    let (block, grid) = (Reach::Block, Reach::Grid);
    for (first, second, same, other) in
        [(block, block, 0, 1), (block, grid, 0, 0), (grid, block, 0, 0), (grid, grid, 0, 0)]
    {
        assert_eq!(found(TWO, &message(release(first), acquire(second), 1)).len(), same);
        assert_eq!(found(TWO, &message(release(first), acquire(second), 2)).len(), other);
    }
    // Without fences the flag races, too.
    assert_eq!(found(TWO, &message(Role::default(), Role::default(), 2)).len(), 2);
    let mut run = Run::all(TWO, &message(release(grid), Role::default(), 2));
    assert!(run.findings().iter().all(|found| found.missing == MissingOrder::Acquire));
    let mut run = Run::all(TWO, &message(Role::default(), acquire(grid), 2));
    assert!(run.findings().iter().all(|found| found.missing == MissingOrder::Release));
}

#[test]
fn a_release_replaces_what_was_released_before_it() {
    let size = Size { blocks: 1, threads: 96 };
    let ops = |second: Reach| {
        vec![
            Op::Access(0, one(Kind::Write, 0x1000)),
            Op::Access(0, with(release(Reach::Grid), one(Kind::Write, 0x2000))),
            Op::Access(1, with(release(second), one(Kind::Write, 0x2000))),
            Op::Access(2, with(acquire(Reach::Grid), one(Kind::Read, 0x2000))),
            Op::Access(2, one(Kind::Read, 0x1000)),
        ]
    };
    assert_eq!(found(size, &ops(Reach::Block)).len(), 1);
    assert_eq!(found(size, &ops(Reach::Grid)).len(), 1);
    // With another block it is still there for that one.
    assert_eq!(found(Size { blocks: 2, threads: 96 }, &ops(Reach::Block)).len(), 0);
}

#[test]
fn part_of_a_warp_at_a_barrier_is_an_error_unless_the_rest_has_exited() {
    let size = Size { blocks: 1, threads: 32 };
    let mut run = Run::new(size, Vec::new());
    run.step(0, &Op::If { warp: 0, lanes: u32::MAX, taken: 0xff, taken_first: true });
    let by = run.lanes(0, 0xff);
    run.event(Event::Arrive { by, site: FIRST + 1, barrier: 0, waits: true });
    run.event(Event::GridEnd { grid: GRID });
    let findings = run.findings();
    assert_eq!(findings.len(), 1);
    assert_eq!((findings[0].kind, findings[0].first.site), (Found::BarrierDivergence, FIRST));
    assert_eq!(findings[0].second.site, FIRST + 1);
    // The rest is at another instruction.
    let mut run = Run::new(size, Vec::new());
    run.step(0, &Op::If { warp: 0, lanes: u32::MAX, taken: 0xff, taken_first: true });
    for (site, mask) in [(1, 0xff), (2, !0xff)] {
        let by = run.lanes(0, mask);
        run.event(Event::Arrive { by, site: FIRST + site, barrier: 0, waits: true });
    }
    let by = run.lanes(0, u32::MAX);
    run.event(Event::Leave { by, barrier: 0 });
    let findings = run.findings();
    assert_eq!(findings.len(), 1);
    assert_eq!((findings[0].first.site, findings[0].second.site), (FIRST + 1, FIRST + 2));
    let ops = [Op::Exit { warp: 0, lanes: 0xff }, Op::Bar { block: 0 }];
    assert_eq!(found(size, &ops), []);
}

#[test]
fn without_lockstep_lanes_are_apart_until_they_meet() {
    let size = Size { blocks: 1, threads: 4 };
    let write = |lane: u32| access(Kind::Write, 1 << lane, At::Same(0x1000));
    let both = |meet: bool| {
        let mut run = Run::with(size, Vec::new(), false);
        run.step(0, &Op::If { warp: 0, lanes: 15, taken: 3, taken_first: true });
        run.access(1, 0, &write(0));
        if meet {
            let by = run.lanes(0, 15);
            run.event(Event::WarpBarrier { by, site: FIRST + 2 });
        }
        run.access(3, 0, &write(2));
        let warnings = run.detector.take_warnings();
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        run.findings().iter().map(|found| (found.kind, found.class)).collect::<Vec<_>>()
    };
    assert_eq!(both(false), [(Found::Race, HowFar::Divergence)]);
    assert_eq!(both(true), []);
}

#[test]
fn a_barrier_of_some_warps_orders_those() {
    let size = Size { blocks: 1, threads: 128 };
    let ordered = |warp: u32, wait: bool| {
        let mut run = Run::new(size, Vec::new());
        run.access(0, 0, &one(Kind::Write, 0x1000));
        for (warp, waits) in [(0, wait), (1, true)] {
            let by = run.lanes(warp, u32::MAX);
            run.event(Event::Arrive { by, site: FIRST + 1, barrier: 1, waits });
        }
        for warp in if wait { 0..2 } else { 1..2 } {
            let by = run.lanes(warp, u32::MAX);
            run.event(Event::Leave { by, barrier: 1 });
        }
        run.access(2, warp, &one(Kind::Write, 0x1000));
        run.findings().is_empty()
    };
    assert!(ordered(1, true) && ordered(1, false));
    assert!(!ordered(2, true) && !ordered(2, false));
}

#[test]
fn an_arrival_that_does_not_wait_releases_only() {
    let mut run = Run::new(Size { blocks: 1, threads: 64 }, Vec::new());
    run.access(0, 1, &one(Kind::Write, 0x1000));
    for (warp, waits) in [(0, false), (1, true)] {
        let by = run.lanes(warp, u32::MAX);
        run.event(Event::Arrive { by, site: FIRST + 1, barrier: 1, waits });
    }
    let by = run.lanes(1, u32::MAX);
    run.event(Event::Leave { by, barrier: 1 });
    run.access(2, 0, &one(Kind::Write, 0x1000));
    assert_eq!(run.findings().len(), 1);
}

#[test]
fn mbarriers_and_clusters_order_who_gets_past() {
    let at = Range { memory: WhoseBytes::Shared(0), address: 0, bytes: 8 };
    for cluster in [false, true] {
        let mut run = Run::new(Size { blocks: 1, threads: 64 }, Vec::new());
        run.access(0, 0, &one(Kind::Write, 0x1000));
        let (by, other) = (run.lanes(0, 1), run.lanes(1, 1));
        if cluster {
            run.event(Event::ClusterArrive { by, relaxed: false });
            run.event(Event::ClusterLeave(other));
        } else {
            run.event(Event::MbarrierArrive { by, at, site: 6, relaxed: false, scope: Scope::Cta });
            run.event(Event::MbarrierPassed { by: other, at, site: 6, relaxed: false, scope: Scope::Cta });
        }
        run.access(1, 1, &one(Kind::Read, 0x1000));
        assert_eq!(run.findings(), []);
        // What comes behind the arrival is not part of it.
        run.access(2, 0, &one(Kind::Write, 0x1000));
        assert_eq!(run.findings().len(), 1);
    }
}

#[test]
fn a_slot_of_another_block_is_another_block() {
    let mut run = Run::new(Size { blocks: 1, threads: 32 }, Vec::new());
    let mut shared = one(Kind::Write, 0x40);
    shared.shared = true;
    run.access(0, 0, &shared);
    run.access(1, 0, &one(Kind::Write, 0x1000));
    run.event(Event::BlockEnd { grid: GRID, cta: 0 });
    run.event(Event::BlockBegin { grid: GRID, cta: 0, block: 1 });
    run.access(0, 0, &shared);
    assert_eq!(run.findings(), []);
    run.access(1, 0, &one(Kind::Write, 0x1000));
    assert_eq!(run.findings()[0].class, HowFar::InterBlock);
}

#[test]
fn memory_that_is_freed_is_forgotten() {
    let mut run = Run::new(TWO, Vec::new());
    run.access(0, 0, &one(Kind::Write, 0x1000));
    run.access(0, 0, &one(Kind::Write, 0x1004));
    run.event(Event::Freed(Range { memory: WhoseBytes::Global, address: 0x1000, bytes: 4 }));
    run.access(1, 2, &one(Kind::Write, 0x1000));
    assert_eq!(run.findings(), []);
    run.access(1, 2, &one(Kind::Write, 0x1004));
    assert_eq!(run.findings().len(), 1);
    run.event(Event::GridEnd { grid: GRID });
    assert_eq!(run.detector.clock_use().entries, [0; 4]);
}

#[test]
fn it_says_when_a_fence_was_seen() {
    let mut run = Run::new(TWO, Vec::new());
    assert!(!run.detector.rests_on_inference());
    let by = run.lanes(0, 1);
    let fence = Fence { kind: FenceKind::Sc, scope: Scope::Gpu };
    run.detector.event(&Event::Fence { by, site: FIRST, fence });
    assert!(run.detector.rests_on_inference());
}

#[test]
fn strong_accesses_race_with_plain_ones_only_unless_they_are_volatile() {
    let volatile = Role { volatile: true, ..Role::default() };
    let races = |first: (Kind, bool), second: (Kind, bool), role: Role| {
        let mut run = Run::new(TWO, vec![role; 2]);
        run.access_as(0, 0, &one(first.0, 0x1000), first.1);
        run.access_as(1, 2, &one(second.0, 0x1000), second.1);
        run.findings().len()
    };
    let none = Role::default();
    for kind in [Kind::Read, Kind::Write, ADD] {
        assert_eq!(races((Kind::Write, true), (kind, true), none), 0);
        assert_eq!(races((kind, true), (Kind::Write, false), none), 1);
        assert_eq!(races((Kind::Write, true), (kind, true), volatile), 1);
    }
    assert_eq!(races((Kind::Read, true), (ADD, true), none), 0);
    assert_eq!(races((Kind::Read, true), (Kind::Read, false), none), 0);
}

#[test]
fn reads_that_find_no_room_are_told() {
    let size = Size { blocks: 8, threads: 32 };
    let warnings = |marks| {
        let mut run = Run::of(Barracuda::with_marks(marks), size, Vec::new(), true);
        (0..8).for_each(|warp| run.access(0, warp, &one(Kind::Read, 0x1000)));
        run.access(1, 0, &one(Kind::Write, 0x1000));
        assert!(!run.findings().is_empty());
        run.detector.take_warnings()
    };
    assert_eq!(warnings(7), []);
    // What is over gives its room back.
    let mut run = Run::of(Barracuda::with_marks(40), size, Vec::new(), true);
    for _ in 0..9 {
        let mut shared = one(Kind::Read, 0x40);
        shared.shared = true;
        (0..8).for_each(|_| run.access(0, 0, &Access { lanes: 1, ..shared.clone() }));
        for lane in 0..8 {
            run.access(1, 0, &Access { lanes: 1 << lane, at: At::Same(0x80), ..shared.clone() });
            run.step(
                0,
                &Op::If { warp: 0, lanes: u32::MAX >> lane << lane, taken: 1 << lane, taken_first: true },
            );
        }
        run.event(Event::BlockEnd { grid: GRID, cta: 0 });
        run.event(Event::BlockBegin { grid: GRID, cta: 0, block: 0 });
    }
    assert_eq!(run.detector.take_warnings(), []);
    let told = warnings(3);
    assert!(matches!(&told[..], [one] if one.count == 4), "{told:?}");
}

/// Code may be laid out so that lanes of a warp come to one barrier one after the other: nobody is elsewhere.
#[test]
fn parts_of_a_warp_at_one_instruction_are_no_divergence() {
    let arrive = |run: &mut Run, mask, site| {
        let by = run.lanes(0, mask);
        run.event(Event::Arrive { by, site: FIRST + site, barrier: 0, waits: true });
    };
    let leave = |run: &mut Run| {
        for warp in 0..2 {
            let by = run.lanes(warp, u32::MAX);
            run.event(Event::Leave { by, barrier: 0 });
        }
    };
    for (sites, divergences) in [([3, 3, 3], 0), ([3, 4, 3], 2), ([3, 3, 4], 1)] {
        let mut run = Run::new(TWO, vec![Role::default(); 8]);
        arrive(&mut run, 0xff, sites[0]);
        arrive(&mut run, 0xff00, sites[1]);
        arrive(&mut run, 0xffff_0000, sites[2]);
        let by = run.lanes(1, u32::MAX);
        run.event(Event::Arrive { by, site: FIRST + 3, barrier: 0, waits: true });
        leave(&mut run);
        let found = run.findings();
        let told = found.iter().filter(|found| found.kind == Found::BarrierDivergence).count();
        assert_eq!(told.min(1), usize::from(divergences > 0), "{sites:?}: {found:?}");
    }
}
