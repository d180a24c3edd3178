//! Random executions: without conflicts, or with conflicts that barriers order, nothing is found; and what is found does not depend on how
//! accesses are told.

use std::collections::BTreeMap;

use bugaroo_detectors::scord::layout::{EntryLayout, Widths};
use bugaroo_detectors::scord::{LayoutChoice, ScordOptions};
use bugaroo_detectors::{HowFar, MissingOrder};
use bugaroo_ptx::types::Scope::{Cta, Gpu};
use bugaroo_semantics::event::each;
use proptest::prelude::*;

use crate::run::{At, Does, LOCK, Run, Size, add, cas, exch, load, store};

const SIZE: Size = Size { blocks: 3, threads: 96, cluster: 1 };
const WARPS: u32 = 9;
/// Bytes of data of a block.
const DATA: u64 = 1024;
/// Where data that nobody writes is, and counters.
const READ_ONLY: u64 = 0x10_0000;
const COUNTERS: u64 = 0x20_0000;

#[derive(Clone, Debug)]
struct Step {
    warp: u32,
    lanes: u32,
    what: u8,
    place: u64,
    size: u32,
    elements: u32,
    strong: bool,
    spread: bool,
}

fn steps(count: usize) -> impl Strategy<Value = Vec<Step>> {
    let lanes = prop_oneof![Just(u32::MAX), any::<u32>().prop_map(|lanes| lanes | 1 << 7)];
    let size =
        prop_oneof![Just((4, 1)), Just((4, 4)), Just((8, 1)), Just((1, 1)), Just((2, 1)), Just((1, 4))];
    let step = (0..WARPS, lanes, 0u8..40, 0u64..64, size, any::<bool>(), any::<bool>()).prop_map(
        |(warp, lanes, what, place, (size, elements), strong, spread)| Step {
            warp,
            lanes,
            what,
            place,
            size,
            elements,
            strong,
            spread,
        },
    );
    proptest::collection::vec(step, 1..count)
}

fn options() -> impl Strategy<Value = ScordOptions> {
    let widths = Widths {
        tag: 4,
        block: 3,
        warp: 3,
        barrier: 8,
        dev_fence: 7,
        blk_fence: 7,
        bloom: 8,
        site: 10,
        ..Widths::default()
    };
    let given = LayoutChoice::Given(EntryLayout::new(widths).unwrap());
    let layout = prop_oneof![Just(LayoutChoice::Fit), Just(LayoutChoice::Paper), Just(given)];
    let cache = prop_oneof![Just(None), Just(Some(4))];
    (layout, cache, any::<bool>()).prop_map(|(layout, cache, independent_threads)| ScordOptions {
        layout,
        cache,
        independent_threads,
        ..ScordOptions::default()
    })
}

/// The access of a step, somewhere in `span` bytes from `start`.
fn of(step: &Step, does: Does, start: u64, span: u64) -> Does {
    let bytes = u64::from(step.size * step.elements);
    let does =
        Does { strength: if step.strong { does.strength } else { does.clone().weak().strength }, ..does };
    let does = does.lanes(step.lanes).bytes(step.size, step.elements);
    let slots = span / bytes;
    if step.spread {
        // Each lane somewhere, no two at one place where there are enough.
        let odd = step.place * 2 + 1;
        let each = std::array::from_fn(|lane| start + (step.place + lane as u64 * odd) % slots * bytes);
        does.at(At::Each(Box::new(each)))
    } else {
        let room = slots.saturating_sub(32).max(1);
        does.at(At::Row(start + step.place % room * bytes))
    }
}

/// Whether it is within the bytes.
fn within(does: &Does, start: u64, span: u64) -> bool {
    let bytes = u64::from(does.size * does.elements);
    each(does.lanes).all(|lane| {
        let at = match &does.at {
            At::Row(first) => first + u64::from(lane) * bytes,
            At::Same(all) => *all,
            At::Each(each) => each[lane as usize],
        };
        at >= start && at + bytes <= start + span
    })
}

/// Fences, barriers, counters and tables, which make no conflict. Says whether it was one of these.
fn harmless(run: &mut Run, site: u32, step: &Step) -> bool {
    let warp = step.warp;
    match step.what {
        0 => {
            run.fence_of(warp, Gpu, step.lanes);
        }
        1 => {
            run.fence_of(warp, Cta, step.lanes);
        }
        2 => {
            run.barrier(step.place as u32 % 3);
        }
        3..8 => run.access(site, warp, &add(Gpu, COUNTERS + step.place % 4 * 4).lanes(step.lanes)),
        8..12 => {
            let table = of(step, load(0), READ_ONLY, 4096);
            run.access(site, warp, &table);
        }
        // Somebody swaps, as if for a lock.
        12 => run.access(site, warp, &cas(Gpu, LOCK + step.place * 4)),
        13 => run.access(site, warp, &exch(Gpu, LOCK + step.place * 4)),
        _ => return false,
    }
    true
}

/// What is found, by pairs of sites.
fn found(run: &mut Run) -> BTreeMap<(HowFar, u32, u32, MissingOrder), u64> {
    let key = |f: &bugaroo_detectors::RaceFinding| (f.class, f.first.site, f.second.site, f.missing);
    run.findings().iter().map(|finding| (key(finding), finding.count)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Each lane has bytes of its own, and no two of one instruction share any.
    #[test]
    fn without_conflicts_nothing_is_found(steps in steps(120), options in options()) {
        let mut run = Run::of(SIZE, options, None);
        for (site, step) in steps.iter().enumerate() {
            if harmless(&mut run, site as u32, step) {
                continue;
            }
            // Lane by lane in the order of lanes: 16 bytes each, so that parts of words have neighbours.
            let base = u64::from(step.warp) * 32 * 16;
            let bytes = u64::from(step.size * step.elements);
            let each = std::array::from_fn(|lane| base + lane as u64 * 16 + step.place % (16 / bytes) * bytes);
            let does = if step.what % 2 == 0 { load(0) } else { store(0) };
            let does = of(step, does, 0, 1 << 16).at(At::Each(Box::new(each)));
            run.access(site as u32, step.warp, &does);
        }
        prop_assert_eq!(found(&mut run), BTreeMap::new());
    }

    /// Each block has bytes of its own. Between barriers a warp writes what nobody else touches, or all read.
    #[test]
    fn what_barriers_order_is_not_found(
        phases in proptest::collection::vec((steps(30), any::<u32>()), 1..12),
        options in options(),
    ) {
        let mut run = Run::of(SIZE, options, None);
        let mut site = 0;
        for (steps, turn) in &phases {
            for step in steps {
                site += 1;
                // A fence may order for the block what a barrier orders for it alone: neither makes a race.
                if matches!(step.what, 0..2) {
                    harmless(&mut run, site, step);
                    continue;
                }
                let block = u64::from(step.warp / 3) * DATA;
                // Quarters of the block's bytes: one for each warp this time, and one to read.
                let quarter = if step.what % 3 == 0 { 3 } else { u64::from(step.warp % 3) };
                let at = block + (quarter + u64::from(*turn)) % 4 * (DATA / 4);
                let writes = quarter != 3 && step.what % 3 == 1;
                let mut step = step.clone();
                // Threads told apart may not share a warp's bytes, unless all are there.
                if options.independent_threads {
                    step.lanes = u32::MAX;
                }
                let does = of(&step, if writes { store(0) } else { load(0) }, at, DATA / 4);
                if within(&does, at, DATA / 4) {
                    run.access(site, step.warp, &does);
                }
            }
            (0..3).for_each(|block| {
                run.barrier(block);
            });
        }
        prop_assert_eq!(found(&mut run), BTreeMap::new());
    }

    /// A warp's access is its lanes' accesses, and the layout changes nothing.
    #[test]
    fn lanes_at_once_are_lanes_one_by_one(steps in steps(80)) {
        let wide = Widths {
            block: 2,
            warp: 2,
            dev_fence: 8,
            blk_fence: 8,
            barrier: 8,
            bloom: 8,
            site: 8,
            wrote: 8,
            ..Widths::default()
        };
        let given = ScordOptions { layout: LayoutChoice::Given(EntryLayout::new(wide).unwrap()), ..ScordOptions::default() };
        let mut runs: Vec<Run> =
            [ScordOptions::default(), ScordOptions::default(), given].map(|options| Run::of(SIZE, options, None)).into();
        for (site, step) in steps.iter().enumerate() {
            let site = site as u32;
            let scope = if step.strong { Gpu } else { Cta };
            let does = match step.what {
                0 => {
                    runs.iter_mut().for_each(|run| {
                        run.fence(step.warp, scope);
                    });
                    continue;
                }
                1 => {
                    runs.iter_mut().for_each(|run| {
                        run.barrier(step.place as u32 % 3);
                    });
                    continue;
                }
                2..12 => Does { strength: add(scope, 0).strength, ..of(step, add(scope, 0), 0, DATA) },
                12..24 => of(step, load(0), 0, DATA),
                _ => of(step, store(0), 0, DATA),
            };
            if !within(&does, 0, DATA) {
                continue;
            }
            let (first, others) = runs.split_at_mut(1);
            each(does.lanes).for_each(|lane| first[0].access(site, step.warp, &does.clone().lanes(1 << lane)));
            others.iter_mut().for_each(|run| run.access(site, step.warp, &does));
        }
        let all: Vec<_> = runs.iter_mut().map(found).collect();
        prop_assert_eq!(&all[0], &all[1]);
        prop_assert_eq!(&all[0], &all[2]);
    }
}
