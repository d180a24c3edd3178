//! Mbarriers and asynchronous copies.

use crate::writer::{ALL, Read, Write, Writer};
use bugaroo_barriers::Verdict;
use bugaroo_barriers::program::{CommandAction, Completion, Fenced, GroupKind};
use bugaroo_barriers::verdict::{BarrierRaceKind, Misuse, RecyclingRule, Resource};

const FULL: u32 = 4096;
const EMPTY: u32 = 4160;

#[derive(Clone, Copy, PartialEq)]
enum Bug {
    None,
    /// The consumer does not wait for the data.
    NoFullWait,
    /// The producer does not wait for the buffer.
    NoEmptyWait,
    /// The consumer waits for the other parity.
    Parity,
    /// Fewer bytes are expected than come.
    Bytes,
    /// Nobody waits for the init.
    NoInitSync,
    /// The consumer arrives before it reads.
    EarlyRelease,
}

/// A ring of `slots` buffers: warp 0 loads with bulk copies, warp 1 reads.
fn ring(slots: u32, rounds: u32, bug: Bug) -> Writer {
    let mut w = Writer::warps(2);
    for slot in 0..slots {
        w.init(0, FULL + 8 * slot, 1);
        w.init(0, EMPTY + 8 * slot, 32);
    }
    if bug != Bug::NoInitSync {
        w.sync_all(0);
        w.sync_all(1);
    }
    for round in 0..rounds {
        let (slot, phase) = (round % slots, round / slots % 2);
        let (full, empty, buffer) = (FULL + 8 * slot, EMPTY + 8 * slot, 512 * slot);
        if bug != Bug::NoEmptyWait {
            let parity = phase ^ 1;
            w.act(0, 1, CommandAction::MbarrierWait { address: empty, parity, relaxed: false });
        }
        let bytes = if bug == Bug::Bytes { 256 } else { 512 };
        w.mbarrier_arrive(0, 1, full, bytes);
        w.bulk_load(0, buffer, 512, full);
        if bug != Bug::NoFullWait {
            w.wait(1, full, phase ^ u32::from(bug == Bug::Parity));
        }
        if bug == Bug::EarlyRelease {
            w.mbarrier_arrive(1, ALL, empty, 0);
        }
        w.row(1, Read, buffer);
        if bug != Bug::EarlyRelease {
            w.mbarrier_arrive(1, ALL, empty, 0);
        }
    }
    w
}

#[test]
fn a_ring_is_verified() {
    for slots in 1..4 {
        let report = ring(slots, 8, Bug::None).check();
        assert_eq!(report.verdict, Verdict::Verified, "{report:#?}");
        // One phase of two mbarriers each round, and the barrier of the start.
        assert_eq!(report.stats.dynamic_barriers, 17);
    }
}

#[test]
fn a_missing_wait_for_the_data_is_a_race() {
    let mut w = Writer::warps(2);
    w.init(0, FULL, 1);
    w.sync_all(0);
    w.sync_all(1);
    w.mbarrier_arrive(0, 1, FULL, 512);
    let copy = w.bulk_load(0, 0, 512, FULL);
    let read = w.row(1, Read, 0);
    let report = w.check();
    assert_eq!(report.verdict, Verdict::Race);
    let race = &report.races[0];
    assert_eq!((race.kind, race.pairs), (BarrierRaceKind::ReadWrite, 32));
    assert_eq!((race.first.place.origin, race.first.asynchronous), (copy, true));
    assert_eq!((race.second.place.origin, race.second.asynchronous), (read, false));
}

#[test]
fn a_ring_without_its_waits_is_not_well_synchronised() {
    for (bug, mbarrier) in [(Bug::NoFullWait, EMPTY), (Bug::NoEmptyWait, FULL)] {
        // One side may run ahead by a whole phase; then the other side's wait is for a parity that is gone.
        let report = ring(1, 3, bug).check();
        assert!(report.deadlock.is_some() || report.verdict == Verdict::UnsafeRecycling);
        let overtaken = Resource::Mbarrier { address: mbarrier };
        assert!(report.recycling.iter().any(|r| r.earlier.resource == overtaken), "{report:#?}");
    }
}

#[test]
fn releasing_before_reading_is_a_race() {
    assert_eq!(ring(2, 6, Bug::EarlyRelease).check().verdict, Verdict::Race);
}

#[test]
fn the_wrong_parity_is_found() {
    let report = ring(1, 2, Bug::Parity).check();
    assert_ne!(report.verdict, Verdict::Verified);
    let rules: Vec<RecyclingRule> = report.recycling.iter().map(|r| r.rule).collect();
    assert!(report.deadlock.is_some() || rules.contains(&RecyclingRule::WaitBeforeNext), "{report:#?}");
}

#[test]
fn bytes_that_nobody_expects_are_told_at_the_deadlock() {
    let report = ring(1, 1, Bug::Bytes).check();
    let deadlock = report.deadlock.expect("the phase never completes");
    assert_eq!(deadlock.waiting[0].bytes_missing, -256);
}

#[test]
fn an_init_must_come_first() {
    let report = ring(1, 1, Bug::NoInitSync).check();
    match report.misuse {
        Some(Misuse::NotInitialised { address, init, .. }) => {
            assert_eq!(address, FULL);
            assert!(init.is_some());
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn bytes_expected_apart_from_the_arrival_may_come_late() {
    let build = |same_warp| {
        let mut w = Writer::warps(3);
        w.init(0, FULL, 1);
        (0..3).for_each(|warp| {
            w.sync_all(warp);
        });
        let expects = CommandAction::MbarrierArrive {
            address: FULL,
            count: 0,
            expect_tx: 128,
            drop: false,
            relaxed: false,
        };
        w.act(0, 1, expects);
        w.bulk_load(0, 0, 128, FULL);
        w.mbarrier_arrive(if same_warp { 0 } else { 1 }, 1, FULL, 0);
        w.wait(2, FULL, 0);
        w.row(2, Read, 0);
        w.check()
    };
    assert_eq!(build(true).verdict, Verdict::Verified);
    assert!(matches!(build(false).misuse, Some(Misuse::LateExpectTx { .. })));
}

fn cp_async(groups_left: u32, barrier: bool) -> bugaroo_barriers::BarrierReport {
    let mut w = Writer::warps(2);
    for stage in 0..2 {
        for warp in 0..2 {
            let completion = Completion::Group(GroupKind::CpAsync);
            w.copy(warp, ALL, Write, 1024 * stage + 512 * warp, 16, completion);
            w.commit(warp, GroupKind::CpAsync);
        }
    }
    for warp in 0..2 {
        w.wait_group(warp, GroupKind::CpAsync, groups_left);
    }
    if barrier {
        w.sync_all(0);
        w.sync_all(1);
    }
    // Each reads what the other's copies of the first stage wrote.
    w.row(0, Read, 512);
    w.row(1, Read, 0);
    w.check()
}

#[test]
fn groups_are_waited_for_and_then_a_barrier() {
    assert_eq!(cp_async(1, true).verdict, Verdict::Verified);
    assert_eq!(cp_async(2, true).verdict, Verdict::Race);
    assert_eq!(cp_async(0, false).verdict, Verdict::Race);
}

#[test]
fn a_thread_may_read_its_own_copies_once_it_has_waited() {
    let build = |left| {
        let mut w = Writer::warps(1);
        let completion = Completion::Group(GroupKind::CpAsync);
        w.copy(0, ALL, Write, 0, 16, completion);
        w.commit(0, GroupKind::CpAsync);
        w.wait_group(0, GroupKind::CpAsync, left);
        w.access(0, ALL, Read, 16, 0, 16, bugaroo_barriers::program::WrittenValues::Unknown);
        w.check()
    };
    assert_eq!(build(0).verdict, Verdict::Verified);
    let race = build(1);
    assert_eq!((race.verdict, race.races[0].pairs), (Verdict::Race, 32));
}

#[test]
fn copies_can_arrive_at_an_mbarrier() {
    let build = |arrives| {
        let mut w = Writer::warps(2);
        w.init(0, FULL, 32);
        w.sync_all(0);
        w.sync_all(1);
        w.copy(0, ALL, Write, 0, 16, Completion::Group(GroupKind::CpAsync));
        if arrives {
            let action = CommandAction::CpAsyncArrive { address: FULL, noinc: true };
            w.act(0, ALL, action);
        } else {
            w.mbarrier_arrive(0, ALL, FULL, 0);
        }
        w.wait(1, FULL, 0);
        w.row(1, Read, 0);
        w.check()
    };
    assert_eq!(build(true).verdict, Verdict::Verified);
    assert_eq!(build(false).verdict, Verdict::Race);
}

#[test]
fn a_store_by_bulk_copy_needs_a_proxy_fence() {
    let build = |fence| {
        let mut w = Writer::warps(2);
        for warp in 0..2 {
            w.row(warp, Write, 128 * warp);
            if fence {
                w.act(warp, ALL, CommandAction::Fence(Fenced::Proxy));
            }
            w.sync_all(warp);
        }
        w.copy(0, 1, Read, 0, 256, Completion::Group(GroupKind::Bulk));
        w.commit(0, GroupKind::Bulk);
        w.wait_group(0, GroupKind::Bulk, 0);
        w.sync_all(0);
        w.sync_all(1);
        w.row(1, Write, 0);
        w.check()
    };
    assert_eq!(build(true).verdict, Verdict::Verified);
    let report = build(false);
    assert_eq!(report.verdict, Verdict::Race);
    assert!(report.races.iter().all(|r| r.kind == BarrierRaceKind::MissingProxyFence), "{report:#?}");
    let pairs: u64 = report.races.iter().map(|r| r.pairs).sum();
    assert_eq!(pairs, 64);
}

#[test]
fn a_store_by_bulk_copy_must_be_over_before_its_source_changes() {
    let mut w = Writer::warps(1);
    w.copy(0, 1, Read, 0, 256, Completion::Group(GroupKind::Bulk));
    w.commit(0, GroupKind::Bulk);
    w.word(0, 1, Write, 0);
    assert_eq!(w.check().races[0].kind, BarrierRaceKind::ReadWrite);
}

#[test]
fn an_init_must_be_fenced_before_another_thread_copies() {
    let build = |fence: Option<CommandAction<'_>>, copier: u32| {
        let mut w = Writer::warps(2);
        w.init(0, FULL, 1);
        if let Some(fence) = fence {
            w.act(0, 1, fence);
        }
        w.sync_all(0);
        w.sync_all(1);
        w.mbarrier_arrive(copier, 1, FULL, 512);
        w.bulk_load(copier, 0, 512, FULL);
        w.wait(1, FULL, 0);
        w.row(1, Read, 0);
        w.check()
    };
    for fenced in [Fenced::Proxy, Fenced::Inits] {
        assert_eq!(build(Some(CommandAction::Fence(fenced)), 1).verdict, Verdict::Verified);
    }
    let report = build(None, 1);
    assert!(matches!(report.misuse, Some(Misuse::InitNotFenced { address: FULL, .. })), "{report:#?}");
    assert_eq!(build(None, 0).verdict, Verdict::Verified);
}
