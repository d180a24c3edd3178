//! Layouts of the word.

use bugaroo_detectors::scord::layout::{BITS, EntryLayout, LaunchFacts, Widths};
use bugaroo_detectors::scord::metadata::ScordEntry;
use bugaroo_detectors::scord::{LayoutChoice, ScordOptions};
use bugaroo_detectors::{MissingOrder, finding::NO_SITE};
use bugaroo_ptx::types::Scope::Gpu;
use bugaroo_semantics::inferred::Role;
use proptest::prelude::*;

use crate::run::{FIRST, LOCK, Run, Size, TWO, X, cas, load, store};

fn facts() -> impl Strategy<Value = LaunchFacts> {
    let sites = prop_oneof![Just(None), (1u32..100_000).prop_map(Some)];
    (0u32..40, 0u64..64, 1u32..33, any::<bool>(), 0u32..5, sites, any::<bool>(), any::<bool>()).prop_map(
        |(bits, more, warps, threads, tag, sites, fences, locks)| LaunchFacts {
            blocks: (1u64 << bits) + more,
            warps,
            threads,
            tag,
            sites,
            fences,
            locks,
        },
    )
}

fn low(value: u32, bits: u32) -> u32 {
    (u64::from(value) & ((1u64 << bits) - 1)) as u32
}

/// What of an entry has room.
fn fitted(entry: &ScordEntry, w: &Widths) -> ScordEntry {
    ScordEntry {
        flags: if w.thread > 0 { entry.flags } else { entry.flags & 0x7f },
        block: low(entry.block, w.block),
        warp: low(entry.warp, w.warp),
        thread: low(entry.thread, w.thread),
        epoch: low(entry.epoch, w.epoch),
        dev_fence: low(entry.dev_fence, w.dev_fence),
        blk_fence: low(entry.blk_fence, w.blk_fence),
        barrier: low(entry.barrier, w.barrier),
        bloom: low(u32::from(entry.bloom), w.bloom) as u16,
        site: low(entry.site, w.site),
        wrote: low(entry.wrote, w.wrote),
        tag: low(entry.tag, w.tag),
    }
}

fn entries() -> impl Strategy<Value = ScordEntry> {
    let numbers = (any::<[u32; 10]>(), any::<u8>(), any::<u16>());
    numbers.prop_map(
        |([block, warp, thread, epoch, dev_fence, blk_fence, barrier, site, tag, wrote], flags, bloom)| {
            ScordEntry {
                flags,
                block,
                warp,
                thread,
                epoch,
                dev_fence,
                blk_fence,
                barrier,
                bloom,
                site,
                wrote,
                tag,
            }
        },
    )
}

proptest! {
    #[test]
    fn what_is_packed_comes_back(facts in facts(), entry in entries()) {
        let given = Widths { block: 20, warp: 5, dev_fence: 12, barrier: 11, bloom: 8, ..Widths::default() };
        for layout in [
            EntryLayout::fit(&facts),
            EntryLayout::paper(false),
            EntryLayout::paper(true),
            EntryLayout::new(given).unwrap(),
        ] {
            let back = layout.unpack(layout.pack(&entry));
            prop_assert_eq!(back, fitted(&entry, layout.widths()));
            prop_assert!(layout.unpack(0).is_initial());
        }
    }

    #[test]
    fn a_launch_has_what_it_needs(facts in facts()) {
        let w = *EntryLayout::fit(&facts).widths();
        prop_assert!(EntryLayout::new(w).is_some());
        let bits = |numbers: u64| 64 - (numbers - 1).leading_zeros();
        prop_assert!(w.warp >= bits(u64::from(facts.warps)));
        prop_assert_eq!(w.thread > 0, facts.threads);
        prop_assert_eq!(w.tag, facts.tag);
        prop_assert_eq!(w.bloom > 0, facts.locks);
        prop_assert_eq!(w.dev_fence >= 6, facts.fences);
        prop_assert_eq!((w.blk_fence >= 6, w.dev_fence > 0), (facts.fences, facts.fences));
        prop_assert!(w.dev_fence <= 12 && w.blk_fence <= 12 && (8..=16).contains(&w.barrier));
        prop_assert!(facts.threads as u32 * 2 <= w.epoch);
        // Blocks have their numbers, unless there is no room whatever else is.
        let most = if facts.threads { 15 } else { 23 } - facts.tag;
        prop_assert!(w.block == bits(facts.blocks) || w.block >= most && w.block < bits(facts.blocks));
        // A grid may change its mind about fences and locks.
        let all = LaunchFacts { fences: true, locks: true, ..facts };
        prop_assert_eq!(EntryLayout::fit(&all).widths().block, w.block);
        // All instructions have numbers, or none.
        if let Some(sites) = facts.sites {
            prop_assert!(w.site == 0 || 1u64 << w.site > u64::from(sites));
            prop_assert!(w.wrote == 0 || w.wrote == w.site);
        }
    }
}

#[test]
fn the_papers_word() {
    let layout = EntryLayout::paper(false);
    let set = |entry: ScordEntry| layout.pack(&entry) ^ layout.pack(&ScordEntry::default());
    // Figure 7. One flag more moves what is above the flags up by a bit.
    let none = ScordEntry::default();
    assert_eq!(set(ScordEntry { bloom: u16::MAX, ..none }), 0xffff);
    assert_eq!(set(ScordEntry { flags: 0x7f, ..none }), 0x7f << 16);
    assert_eq!(set(ScordEntry { barrier: u32::MAX, ..none }), 0xff << 23);
    assert_eq!(set(ScordEntry { blk_fence: u32::MAX, ..none }), 0x3f << 31);
    assert_eq!(set(ScordEntry { dev_fence: u32::MAX, ..none }), 0x3f << 37);
    assert_eq!(set(ScordEntry { warp: u32::MAX, ..none }), 0x1f << 43);
    assert_eq!(set(ScordEntry { block: u32::MAX, ..none }), 0x7f << 48);
    assert_eq!(set(ScordEntry { tag: u32::MAX, ..none }), 0xf << 55);
    // With threads apart it is full.
    let threads = EntryLayout::paper(true);
    assert_eq!(threads.pack(&ScordEntry { site: u32::MAX, epoch: u32::MAX, ..none }), threads.pack(&none));
    let all = ScordEntry {
        flags: 0xf8,
        block: u32::MAX,
        warp: u32::MAX,
        thread: u32::MAX,
        dev_fence: u32::MAX,
        blk_fence: u32::MAX,
        barrier: u32::MAX,
        bloom: u16::MAX,
        tag: u32::MAX,
        ..none
    };
    assert_eq!(threads.pack(&all), u64::MAX);
    assert_eq!(BITS, 64);
}

#[test]
fn widths_that_do_not_fit_are_none() {
    let w = Widths { block: 32, warp: 10, dev_fence: 8, ..Widths::default() };
    assert!(EntryLayout::new(Widths { blk_fence: 7, ..w }).is_some());
    assert!(EntryLayout::new(Widths { blk_fence: 8, ..w }).is_none());
    assert!(EntryLayout::new(Widths { bloom: 4, ..Widths::default() }).is_none());
    assert!(EntryLayout::new(Widths { block: 40, ..Widths::default() }).is_none());
}

#[test]
fn blocks_that_have_no_number_are_told() {
    let size = Size { blocks: 200, threads: 32, cluster: 1 };
    let run = |layout: LayoutChoice| {
        let mut run = Run::of(size, ScordOptions { layout, ..ScordOptions::default() }, None);
        run.access(0, 1, &store(X));
        run.access(1, 129, &store(X));
        let class = run.findings().first().map(|found| found.class);
        (class.is_some(), run.warnings().len())
    };
    assert_eq!(run(LayoutChoice::Fit), (true, 0));
    // 1 and 129 are one to the paper.
    assert_eq!(run(LayoutChoice::Paper), (false, 1));
}

#[test]
fn the_first_access_is_named_where_there_is_room() {
    let first = |options: ScordOptions| {
        let mut run = Run::of(TWO, options, Some(vec![Role { volatile: true, ..Role::default() }; 64]));
        run.access(17, 0, &store(X).weak());
        run.access(23, 4, &load(X).weak());
        run.findings()[0]
    };
    let found = first(ScordOptions::default());
    assert_eq!((found.first.site, found.second.site), (FIRST + 17, FIRST + 23));
    let found = first(ScordOptions { layout: LayoutChoice::Paper, ..ScordOptions::default() });
    assert_eq!((found.first.site, found.second.site), (NO_SITE, FIRST + 23));
}

#[test]
fn a_write_is_named_though_its_warp_has_read_since() {
    let first = |fence: bool| {
        let mut run = Run::new();
        run.access(17, 0, &store(X).weak());
        if fence {
            run.fence(0, Gpu);
        }
        run.access(18, 0, &load(X).weak());
        run.access(23, 4, &load(X).weak());
        (run.findings()[0].first.site, run.findings().len())
    };
    assert_eq!((first(false), first(true)), ((FIRST + 17, 0), (FIRST + 17, 0)));
}

#[test]
fn what_the_text_says_is_covered_is_not_looked_at() {
    let found = |second: crate::run::Does| {
        let mut roles = vec![Role { volatile: true, ..Role::default() }; 64];
        roles[23].covered = true;
        let mut run = Run::of(TWO, ScordOptions::default(), Some(roles));
        run.access(17, 0, &store(X).weak());
        run.access(23, 4, &second);
        run.findings().len()
    };
    assert_eq!((found(load(X).weak()), found(load(X))), (0, 1));
}

#[test]
fn a_word_changes_with_the_first_fence_and_the_first_lock() {
    // What was known before stays known, where it was and as it was.
    let mut run = Run::new();
    run.access(9, 0, &store(X).weak());
    run.barrier(1).go(5, load(X + 4));
    run.barrier(1).fence(3, Gpu).go(3, cas(Gpu, LOCK)).fence(3, Gpu);
    run.go(6, store(X + 4)).go(2, load(X).weak());
    let found = run.findings();
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].missing, found[0].first.site), (MissingOrder::BlockFence, FIRST + 9));
    // A later grid of the program knows from the start.
    run.begin();
    run.go(0, store(X)).fence(0, Gpu).go(4, load(X));
    run.go(0, cas(Gpu, LOCK)).fence(0, Gpu).go(0, store(X + 8)).fence(0, Gpu);
    run.go(4, store(X + 8));
    assert_eq!(run.missing(), [MissingOrder::LockOnStore]);
}
