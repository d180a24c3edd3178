//! Who a race is told to be with: an access that there was and that races by the rules, or what is known of one that is forgotten.

use bugaroo_detectors::scord::{LayoutChoice, ScordOptions};
use bugaroo_detectors::{NO_SITE, NotKept, RaceFinding, RacingParty, Who};
use bugaroo_ptx::op::AtomOp;
use bugaroo_ptx::types::Scope::{Cta, Gpu};
use bugaroo_semantics::event::{AccessKind, SiteNumber};
use proptest::prelude::*;

use crate::run::{Does, FIRST, GRID, LOCK, Run, TWO, X, add, cas, load, store};

/// Who stands first and at which site, what is forgotten of it, and the site of the latest access.
type Told = (Who, Option<SiteNumber>, Option<NotKept>, Option<SiteNumber>);

fn told(run: &mut Run) -> Told {
    let findings = run.findings();
    assert_eq!(findings.len(), 1, "{findings:?}");
    let RaceFinding { first, forgotten, latest, .. } = findings[0];
    let site = |party: RacingParty| (party.site != NO_SITE).then(|| party.site - FIRST);
    (first.who, site(first), forgotten, latest.and_then(site))
}

fn warp(block: u64, warp: u32) -> Who {
    Who::Warp { grid: GRID, block, warp }
}

/// A write of block 0, and a read behind its barrier, by another of its warps.
fn shared_in_block(run: &mut Run) {
    run.access(10, 0, &store(X).weak());
    run.barrier(0);
    run.access(11, 1, &load(X).weak());
}

#[test]
fn behind_a_barrier_and_a_read_it_is_the_write_that_another_blocks_read_races_with() {
    let mut run = Run::new();
    shared_in_block(&mut run);
    run.access(12, 4, &load(X).weak());
    assert_eq!(told(&mut run), (Who::Block { grid: GRID, block: 0 }, Some(10), None, Some(11)));
    // More reads of the block do not hide it.
    let mut run = Run::new();
    shared_in_block(&mut run);
    run.access(13, 2, &load(X).weak());
    run.barrier(0);
    run.access(14, 0, &load(X).weak());
    run.access(12, 4, &load(X).weak());
    assert_eq!(told(&mut run), (Who::Block { grid: GRID, block: 0 }, Some(10), None, Some(14)));
}

#[test]
fn a_write_races_with_the_last_reader() {
    for (writer, reader) in [(4, warp(0, 1)), (2, warp(0, 1))] {
        let mut run = Run::new();
        shared_in_block(&mut run);
        run.access(12, writer, &store(X).weak());
        assert_eq!(told(&mut run), (reader, Some(11), None, None));
    }
}

/// The paper's word has no room for instructions, that of many fences, locks and instructions for one.
#[test]
fn without_room_the_write_is_forgotten() {
    let mut run = Run::with(ScordOptions { layout: LayoutChoice::Paper, ..ScordOptions::default() });
    shared_in_block(&mut run);
    run.access(12, 4, &load(X).weak());
    let (block, forgotten) = (Who::Block { grid: GRID, block: 0 }, Some(NotKept::Write));
    assert_eq!(told(&mut run), (block, None, forgotten, None));
    let roles = Some(vec![Default::default(); 1 << 10]);
    let mut run = Run::of(TWO, ScordOptions::default(), roles);
    run.access(1, 7, &add(Gpu, LOCK));
    run.fence(7, Gpu);
    run.access(2, 7, &cas(Gpu, LOCK));
    run.findings();
    shared_in_block(&mut run);
    run.access(12, 4, &load(X).weak());
    assert_eq!(told(&mut run), (block, None, forgotten, Some(11)));
}

#[test]
fn nobody_races_with_himself() {
    // A lock is taken between the warp's own accesses, and another block has read meanwhile.
    let mut run = Run::new();
    run.access(10, 0, &load(X));
    run.access(11, 4, &load(X));
    run.access(12, 0, &load(X));
    run.fence(0, Gpu).fence(4, Gpu);
    run.access(1, 0, &cas(Gpu, LOCK));
    run.fence(0, Gpu);
    run.access(13, 0, &store(X));
    assert_eq!(told(&mut run), (Who::Grid(GRID), None, Some(NotKept::Load), Some(12)));
}

/// A read that is an atomic leaves who wrote unknown.
#[test]
fn a_failed_swap_is_no_write() {
    let mut run = Run::new();
    run.access(10, 0, &add(Gpu, X));
    run.access(11, 4, &cas(Gpu, X).failed());
    run.access(12, 0, &load(X));
    assert_eq!(told(&mut run), (Who::Grid(GRID), Some(10), None, Some(11)));
}

/// A strong access races with a weak one before the last one, if that was strong.
#[test]
fn of_accesses_that_are_not_strong_it_is_a_weak_one() {
    let mut run = Run::new();
    run.access(10, 0, &store(X).weak());
    run.access(11, 0, &load(X));
    run.fence(0, Gpu);
    run.access(12, 4, &store(X));
    assert_eq!(told(&mut run), (warp(0, 0), Some(10), None, None));
    let mut run = Run::new();
    run.access(10, 0, &load(X).weak());
    run.access(11, 0, &load(X));
    run.fence(0, Gpu);
    run.access(12, 4, &store(X));
    assert_eq!(told(&mut run), (Who::Grid(GRID), None, Some(NotKept::Load), Some(11)));
}

/// What a warp does in a random execution.
#[derive(Clone, Debug)]
enum Step {
    Access(u32, Does),
    Fence(u32, bool),
    Barrier(u32),
}

fn step() -> impl Strategy<Value = Step> {
    let does = prop_oneof![
        4 => Just(load(X)),
        2 => Just(store(X)),
        1 => Just(add(Gpu, X)),
        1 => Just(add(Cta, X)),
        1 => Just(cas(Gpu, X)),
        1 => Just(cas(Gpu, X).failed()),
        1 => Just(cas(Gpu, LOCK)),
    ];
    prop_oneof![
        6 => (0u32..8, does, any::<bool>()).prop_map(|(warp, does, weak)| {
            let weak = weak && !matches!(does.kind, AccessKind::Atomic(_));
            Step::Access(warp, if weak { does.weak() } else { does })
        }),
        1 => (0u32..8, any::<bool>()).prop_map(|(warp, device)| Step::Fence(warp, device)),
        1 => (0u32..2).prop_map(Step::Barrier),
    ]
}

/// An access that has been: its warp, its site, and whether it has read alone.
type Past = (u32, SiteNumber, bool);

fn is(past: &Past, who: Who) -> bool {
    let (block, index) = (u64::from(past.0 / 4), past.0 % 4);
    match who {
        Who::Warp { block: of, warp, .. } => (block, index) == (of, warp),
        Who::Block { block: of, .. } => block == of,
        Who::Grid(_) => true,
        Who::Thread { .. } | Who::Host(_) => panic!("{who:?}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// What is named has been there, and of the two one writes. What is forgotten has been there, too.
    #[test]
    fn what_is_told_has_been(steps in proptest::collection::vec(step(), 1..40), paper in any::<bool>()) {
        let layout = if paper { LayoutChoice::Paper } else { LayoutChoice::Fit };
        let mut run = Run::with(ScordOptions { layout, ..ScordOptions::default() });
        let mut past: Vec<Past> = Vec::new();
        for (site, step) in (0u32..).zip(&steps) {
            let (warp, does) = match step {
                Step::Access(warp, does) => (*warp, does),
                Step::Fence(warp, device) => {
                    run.fence(*warp, if *device { Gpu } else { Cta });
                    continue;
                }
                Step::Barrier(block) => {
                    run.barrier(*block);
                    continue;
                }
            };
            run.access(site, warp, does);
            let reads = !does.kind.writes() || does.wrote == 0;
            for finding in run.findings() {
                let RaceFinding { first, forgotten, .. } = finding;
                let is_first = |one: &&Past| {
                    let (_, at, has_read) = **one;
                    let what = match forgotten {
                        None => first.site == NO_SITE || first.site == FIRST + at,
                        Some(NotKept::Load) => has_read,
                        Some(NotKept::Write) => !has_read,
                        Some(NotKept::Atomic | NotKept::Access) => true,
                    };
                    // Strong accesses race by the rules as well, but two that read do not.
                    is(one, first.who) && what && !(reads && has_read)
                };
                let candidates: Vec<&Past> = past.iter().filter(is_first).collect();
                prop_assert!(!candidates.is_empty(), "{finding:?}: {past:?}");
                // Nobody is told to race with himself.
                let own = match first.who {
                    Who::Warp { block, warp: index, .. } => (warp / 4, warp % 4) == (block as u32, index),
                    _ => false,
                };
                prop_assert!(!own, "{finding:?}");
                let swap = AccessKind::Atomic(AtomOp::Cas);
                let known = first.site != NO_SITE && first.kind != swap;
                prop_assert!(!(known && reads) || first.kind.writes(), "{finding:?}");
            }
            if !matches!(does.at, crate::run::At::Row(LOCK)) {
                past.push((warp, site, reads));
            }
        }
    }
}
