//! Programs with named barriers, and what the checker has to say about them.

use crate::writer::{ALL, Atomic, Read, Write, Writer};
use bugaroo_barriers::program::{CommandAction, Count, WrittenValues};
use bugaroo_barriers::verdict::{BarrierRaceKind, Misuse, RecyclingRule, Resource};
use bugaroo_barriers::{ProgramShape, Verdict};

const fn named(id: u32) -> Resource {
    Resource::Named { cta: 0, id }
}

#[test]
fn listing_1_is_a_deadlock_in_a_circle() {
    let mut w = Writer::warps(2);
    let sync_0 = w.sync(0, 0, 64);
    let arrive_1 = w.arrive(0, 1, 64);
    let sync_1 = w.sync(1, 1, 64);
    let arrive_0 = w.arrive(1, 0, 64);
    let report = w.check();
    assert_eq!(report.verdict, Verdict::Deadlock);
    let deadlock = report.deadlock.unwrap();
    let origins: Vec<u32> = deadlock.waiting.iter().map(|at| at.place.origin).collect();
    assert_eq!(origins, [sync_0, sync_1]);
    assert_eq!(deadlock.cycle, [0, 1]);
    let [first, second] = &deadlock.waiting[..] else { panic!("{deadlock:?}") };
    assert_eq!((first.resource, first.arrived, first.expected), (named(0), 32, 64));
    assert_eq!((first.waits_for[0].0, first.waits_for[0].1.origin), (1, arrive_0));
    assert_eq!((second.waits_for[0].0, second.waits_for[0].1.origin), (0, arrive_1));
}

#[test]
fn somebody_who_never_comes_is_no_circle() {
    let mut w = Writer::warps(3);
    w.sync(0, 5, 96);
    w.sync(2, 5, 96);
    let deadlock = w.check().deadlock.unwrap();
    assert!(deadlock.cycle.is_empty());
    assert_eq!((deadlock.waiting[0].arrived, deadlock.waiting[0].expected), (64, 96));
    assert!(deadlock.waiting.iter().all(|at| at.waits_for.is_empty()));
}

#[test]
fn listing_2_is_well_synchronised_and_free_of_races() {
    let mut w = Writer::warps(2);
    w.sync(0, 0, 64);
    w.row(0, Write, 0);
    w.arrive(0, 1, 64);
    w.sync(0, 0, 64);
    w.sync(0, 1, 64);
    w.row(0, Read, 0);
    w.sync(1, 0, 64);
    w.sync(1, 1, 64);
    w.row(1, Read, 0);
    w.sync(1, 0, 64);
    w.row(1, Write, 0);
    w.arrive(1, 1, 64);
    let report = w.check();
    assert_eq!(report.verdict, Verdict::Verified);
    let stats = report.stats;
    assert_eq!((stats.threads, stats.dynamic_barriers), (64, 4));
    // Figure 3: six commands of each thread; each word is accessed four times.
    assert_eq!((stats.commands, stats.shared_addresses), (384, 32));
    assert_eq!(stats.race_tests, 32 * 6);
}

/// Figure 2: barrier 2 is used again; the path over barriers 1 and 3 makes it safe.
fn figure_2(with_path: bool) -> Writer {
    let mut w = Writer::warps(4);
    w.arrive(1, 2, 64);
    w.sync(0, 2, 64);
    w.arrive(if with_path { 0 } else { 1 }, 1, 96);
    w.sync(2, 1, 96);
    w.sync(3, 1, 96);
    w.arrive(2, 2, 64);
    w.sync(3, 2, 64);
    w
}

#[test]
fn figure_2_needs_the_path_from_a_waiting_participant() {
    assert_eq!(figure_2(true).check().verdict, Verdict::Verified);
    let report = figure_2(false).check();
    assert_eq!(report.verdict, Verdict::UnsafeRecycling);
    let error = &report.recycling[0];
    assert_eq!(error.rule, RecyclingRule::EarlierComplete);
    assert_eq!((error.earlier.resource, error.earlier.number, error.later), (named(2), 1, 2));
    let participants: Vec<(u32, bool)> =
        error.earlier.participants.iter().map(|p| (p.place.threads.warp, p.waits)).collect();
    assert_eq!(participants, [(0, true), (1, false)]);
    // Warp 1's arrival is known over barrier 1; that of warp 0, who waited, is what is missing.
    let missing: Vec<u32> = error.unordered.iter().map(|p| p.place.threads.warp).collect();
    assert_eq!(missing, [0]);
    let latecomer = error.place.threads.warp;
    assert!(latecomer == 2 || latecomer == 3);
    assert_eq!(error.knows_from.unwrap().threads.warp, latecomer);
}

#[test]
fn two_generations_of_arrivals_alone_are_not_kept_apart() {
    let mut w = Writer::warps(2);
    for _ in 0..2 {
        w.arrive(0, 0, 64);
        w.arrive(1, 0, 64);
    }
    assert_eq!(w.check().verdict, Verdict::UnsafeRecycling);
}

#[test]
fn counts_that_differ_name_both() {
    let mut w = Writer::warps(3);
    let first = w.sync(0, 4, 64);
    let second = w.sync(1, 4, 96);
    let report = w.check();
    assert_eq!(report.verdict, Verdict::Misuse);
    match report.misuse {
        Some(Misuse::CountsDiffer { resource, first: a, second: b, .. }) => {
            assert_eq!((resource, a.origin, b.origin), (named(4), first, second));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_race_comes_with_its_interval() {
    let mut w = Writer::warps(2);
    let opening = [w.sync(0, 0, 64), w.sync(1, 0, 64)];
    let write = w.row(0, Write, 0);
    let read = w.row(1, Read, 0);
    let closing = [w.sync(0, 1, 64), w.sync(1, 1, 64)];
    let report = w.check();
    assert_eq!(report.verdict, Verdict::Race);
    let [race] = &report.races[..] else { panic!("{report:?}") };
    assert_eq!(race.kind, BarrierRaceKind::ReadWrite);
    assert_eq!((race.pairs, race.addresses, race.benign, race.at_least), (32, 32, 0, false));
    assert_eq!((race.first.place.origin, race.second.place.origin), (write, read));
    assert_eq!(race.first.place.threads.first(), 0);
    assert_eq!(race.second.place.threads.first(), 32);
    let before = race.interval.latest_before.unwrap();
    let after = race.interval.earliest_after.unwrap();
    assert_eq!((before.place.origin, after.place.origin), (opening[1], closing[1]));
    assert_eq!((before.resource, after.resource), (named(0), named(1)));
}

#[test]
fn races_need_no_barrier() {
    let mut w = Writer::warps(2);
    w.row(0, Write, 0);
    w.row(1, Write, 64);
    let report = w.check();
    assert_eq!(report.verdict, Verdict::Race);
    assert_eq!(report.races[0].pairs, 16);
    assert_eq!(report.races[0].interval, Default::default());
    // After the last barrier, too.
    let mut w = Writer::warps(2);
    w.sync_all(0);
    w.sync_all(1);
    w.row(0, Write, 0);
    w.row(1, Read, 0);
    assert_eq!(w.check().verdict, Verdict::Race);
}

#[test]
fn every_byte_of_a_vector_counts() {
    let mut w = Writer::warps(2);
    w.access(0, 1, Write, 16, 0, 0, WrittenValues::Unknown);
    w.access(1, 1, Read, 1, 15, 0, WrittenValues::Unknown);
    w.access(1, 1, Read, 1, 16, 0, WrittenValues::Unknown);
    let report = w.check();
    assert_eq!(report.races.len(), 1);
    assert_eq!((report.races[0].pairs, report.races[0].address), (1, 15));
}

#[test]
fn atomics_race_with_what_is_not_atomic() {
    let mut w = Writer::warps(2);
    w.word(0, ALL, Atomic, 0);
    w.word(1, ALL, Atomic, 0);
    assert_eq!(w.check().verdict, Verdict::Verified);
    w.word(1, 1, Read, 0);
    let report = w.check();
    let all: Vec<_> = report.races.iter().map(|r| (r.kind, r.pairs)).collect();
    // The reader's own atomic is before its read.
    assert_eq!(all, [(BarrierRaceKind::ReadAtomic, 32), (BarrierRaceKind::ReadAtomic, 31)]);
}

#[test]
fn equal_values_are_benign() {
    let write = |values: [WrittenValues<'_>; 2]| {
        let mut w = Writer::warps(2);
        w.access(0, 0b11, Write, 4, 0, 0, values[0]);
        w.access(1, 1, Write, 4, 0, 0, values[1]);
        w.check()
    };
    let report = write([WrittenValues::Same(7), WrittenValues::Same(7)]);
    assert_eq!(report.verdict, Verdict::BenignRace);
    let all: Vec<(u64, u64)> = report.races.iter().map(|r| (r.pairs, r.benign)).collect();
    // Two lanes of one instruction, and each of them with the other warp.
    assert_eq!(all, [(1, 1), (2, 2)]);
    let report = write([WrittenValues::Same(7), WrittenValues::Same(8)]);
    assert_eq!(report.verdict, Verdict::Race);
    let mut each = [Some(7); 32];
    each[1] = None;
    let report = write([WrittenValues::Each(&each), WrittenValues::Same(7)]);
    assert_eq!(report.verdict, Verdict::Race);
    assert_eq!(report.races[1].benign, 1);
}

#[test]
fn all_means_who_has_not_exited_and_the_last_warp_may_be_small() {
    let mut w = Writer::shape(ProgramShape { ctas: 1, threads: 72 });
    w.act(1, 0xff, CommandAction::Exit);
    w.act(1, !0xff, CommandAction::Sync { id: 0, count: Count::All });
    w.sync_all(0);
    w.sync(2, 0, 96);
    assert_eq!(w.check().verdict, Verdict::Verified);
    // By number the small warp is a whole one.
    let mut w = Writer::shape(ProgramShape { ctas: 1, threads: 40 });
    w.sync(0, 3, 64);
    w.sync(1, 3, 64);
    assert_eq!(w.check().verdict, Verdict::Verified);
}

#[test]
fn lanes_of_a_warp_are_not_in_step_unless_told() {
    let exchange = |lockstep, synced| {
        let mut w = Writer::warps(1);
        w.program.set_warp_synchronous(lockstep);
        w.word(0, 1, Write, 0);
        if synced {
            w.act(0, ALL, CommandAction::WarpSync { members: ALL });
        }
        w.word(0, ALL, Read, 0);
        w.check()
    };
    let racing = exchange(false, false);
    assert_eq!((racing.verdict, racing.races[0].pairs), (Verdict::Race, 31));
    assert_eq!(exchange(true, false).verdict, Verdict::Verified);
    assert_eq!(exchange(false, true).verdict, Verdict::Verified);
}

#[test]
fn arrivals_left_over_are_told() {
    let mut w = Writer::warps(2);
    let origin = w.arrive(0, 9, 64);
    let report = w.check();
    assert_eq!(report.verdict, Verdict::Verified);
    assert_eq!(report.unfinished[0].resource, named(9));
    assert_eq!(report.unfinished[0].participants[0].place.origin, origin);
}

#[test]
fn clusters_wait_for_all_their_ctas() {
    let build = |with_wait| {
        let mut w = Writer::shape(ProgramShape { ctas: 2, threads: 32 });
        // CTA 1 writes to CTA 0's memory.
        for cta in 0..2 {
            w.act(cta, ALL, CommandAction::ClusterArrive { relaxed: false });
            w.act(cta, ALL, CommandAction::ClusterWait);
        }
        w.row(1, Write, 128);
        for cta in 0..2 {
            w.act(cta, ALL, CommandAction::ClusterArrive { relaxed: false });
            if with_wait {
                w.act(cta, ALL, CommandAction::ClusterWait);
            }
        }
        w.row(0, Read, 128);
        // The same number in two CTAs is two barriers.
        w.sync(0, 1, 32);
        w.sync(1, 1, 32);
        w.check()
    };
    assert_eq!(build(true).verdict, Verdict::Verified);
    assert_eq!(build(false).verdict, Verdict::Race);
    let mut w = Writer::shape(ProgramShape { ctas: 2, threads: 32 });
    w.act(0, ALL, CommandAction::ClusterWait);
    assert!(matches!(w.check().misuse, Some(Misuse::ClusterOrder { .. })));
}
