//! Where metadata lies: parts of words, the cache, memory that comes and goes.

use bugaroo_detectors::scord::{LayoutChoice, ScordOptions};
use bugaroo_detectors::{MissingOrder, RaceDetector};
use bugaroo_semantics::event::{Event, Range, WhoseBytes};

use crate::run::{At, Run, X, load, store};

fn cached() -> ScordOptions {
    ScordOptions { cache: Some(4), ..ScordOptions::default() }
}

#[test]
fn neighbours_of_a_word_do_not_race() {
    for size in [1, 2] {
        let mut run = Run::new();
        for warp in 0..u64::from(8 / size) {
            run.go(warp as u32, store(X + warp * u64::from(size)).bytes(size, 1));
        }
        assert_eq!(run.missing(), [], "{size} bytes");
        // Whoever touches the same does.
        assert_eq!(run.go(3, load(X).bytes(4, 1)).missing(), [MissingOrder::BlockFence]);
    }
    // By bytes behind by twos.
    let mut run = Run::new();
    run.go(0, store(X).bytes(2, 1)).go(1, store(X + 2).bytes(1, 1)).go(2, store(X + 3).bytes(1, 1));
    assert_eq!(run.missing(), []);
    let found = run.go(3, load(X + 1).bytes(1, 1)).findings();
    assert_eq!((found[0].first.site, found[0].address), (100, X + 1));
}

#[test]
fn a_word_that_is_parted_keeps_what_it_was() {
    let mut run = Run::new();
    run.go(0, store(X)).go(1, load(X + 64)).go(2, load(X + 2).bytes(1, 1));
    let found = run.findings();
    assert_eq!(found.len(), 1);
    assert_eq!(
        (found[0].missing, found[0].first.site, found[0].address),
        (MissingOrder::BlockFence, 100, X + 2)
    );
    // The rest is as before, for whole words, too; a wide access is one.
    let found = run.go(3, load(X).bytes(4, 2)).findings();
    assert_eq!(found.iter().map(|found| found.count).sum::<u64>(), 1);
    assert_eq!(run.go(1, store(X + 64)).missing(), []);
    // Rows beside it are not.
    run.go(0, store(X + 128)).go(1, load(X + 128));
    assert_eq!(run.missing(), [MissingOrder::BlockFence]);
}

#[test]
fn an_access_may_be_in_two_rows() {
    let mut run = Run::new();
    run.go(0, store(X + 64).lanes(u32::MAX)).go(1, load(X + 128).lanes(1));
    assert_eq!(run.missing(), [MissingOrder::BlockFence]);
    let each = std::array::from_fn(|lane| X + 0x10000 + lane as u64 * 0x2000);
    let far = At::Each(Box::new(each));
    run.go(0, store(0).lanes(u32::MAX).at(far.clone())).go(1, load(0).lanes(0xff).at(far));
    let found = run.findings();
    assert_eq!((found.len(), found[0].count, found[0].address), (1, 8, each[0]));
}

#[test]
fn the_cache_forgets_what_it_replaces() {
    let stripe = 1 << 16;
    let seen = |options: ScordOptions, apart: u64| {
        let mut run = Run::with(options);
        run.go(0, store(0)).go(0, store(apart)).go(1, load(0)).missing()
    };
    assert_eq!(seen(ScordOptions::default(), stripe), [MissingOrder::BlockFence]);
    assert_eq!(seen(cached(), stripe), []);
    assert_eq!(seen(cached(), 15 * stripe), []);
    // What has an entry of its own: a neighbour, and what is in the next sixteen stripes.
    assert_eq!(seen(cached(), 4), [MissingOrder::BlockFence]);
    assert_eq!(seen(cached(), 16 * stripe), [MissingOrder::BlockFence]);
    // A tag of another word is no check.
    let mut run = Run::with(cached());
    run.go(0, store(0)).go(1, store(stripe)).go(1, load(stripe)).go(2, load(stripe));
    assert_eq!(run.missing(), [MissingOrder::BlockFence]);
    // In one access, too.
    let mut run = Run::with(cached());
    let each = At::Each(Box::new(std::array::from_fn(|lane| lane as u64 * stripe)));
    run.go(0, store(0).lanes(3).at(each.clone())).go(1, load(0).lanes(3).at(each));
    assert_eq!(run.missing(), []);
}

#[test]
fn the_cache_takes_an_eighth() {
    let bytes: u64 = 8 << 20;
    for (options, most) in [(cached(), bytes / 8), (ScordOptions::default(), bytes * 2)] {
        for layout in [LayoutChoice::Fit, LayoutChoice::Paper] {
            let mut run = Run::with(ScordOptions { layout, ..options });
            for row in 0..bytes / 128 {
                run.go(0, store(row * 128).lanes(u32::MAX));
            }
            // In full, one word is enough for a row that a warp has accessed.
            let metadata = run.detector.metadata_bytes();
            let expected = if options.cache.is_some() { most } else { most / 32 };
            assert_eq!(metadata, expected);
            assert!(run.detector.held() < metadata + most / 50 + 8192, "{}", run.detector.held());
            // Where two warps share it each word is kept.
            for row in 0..bytes / 128 {
                run.go(1, load(row * 128).lanes(0xffff));
            }
            assert!(run.detector.metadata_bytes() <= most + most / 32, "{}", run.detector.metadata_bytes());
        }
    }
}

#[test]
fn the_cache_does_not_look_at_parts_of_words() {
    let mut run = Run::with(cached());
    run.go(0, store(X).bytes(1, 1)).go(1, store(X).bytes(1, 1)).go(1, load(X + 2).bytes(2, 1));
    assert_eq!(run.missing(), []);
    assert_eq!(run.warnings().len(), 1);
    // Vectors of them are words.
    run.go(0, store(X).bytes(1, 4)).go(1, store(X).bytes(2, 2));
    assert_eq!(run.missing(), [MissingOrder::BlockFence]);
}

#[test]
fn memory_that_is_new_was_not_accessed() {
    for options in [ScordOptions::default(), cached()] {
        let mut run = Run::with(options);
        let range = |address, bytes| Range { memory: WhoseBytes::Global, address, bytes };
        run.go(0, store(X).lanes(u32::MAX)).go(0, store(X + 0x10000).lanes(u32::MAX));
        run.go(0, store(X + 0x100000));
        run.event(Event::Freed(range(X + 8, 16)));
        run.event(Event::Allocated(range(X + 0x100000, 1 << 40)));
        run.go(1, load(X).lanes(u32::MAX)).go(1, load(X + 0x100000));
        let found = run.findings();
        let expected = if options.cache.is_some() { 0 } else { 28 };
        assert_eq!(found.iter().map(|found| found.count).sum::<u64>(), expected);
        // Of the stripe that has the entries.
        run.go(0, store(X).lanes(u32::MAX)).findings();
        run.event(Event::Freed(range(X + 0x10000, 128)));
        assert_eq!(run.go(1, load(X)).missing(), [MissingOrder::BlockFence]);
        run.event(Event::Freed(range(X, 8)));
        assert_eq!(run.go(1, store(X + 4)).missing(), []);
    }
    // Of whole rows nothing has to be kept, whoever was there.
    let mut run = Run::new();
    for row in 0..128 {
        run.go(0, store(X + row * 128).lanes(u32::MAX)).go(1, load(X + 0x100_0000 + row * 128).lanes(0xff));
    }
    let before = run.detector.metadata_bytes();
    let all = Range { memory: WhoseBytes::Global, address: X, bytes: 0x200_0000 };
    run.event(Event::Freed(all));
    assert_eq!(run.detector.metadata_bytes(), before);
    for row in 0..128 {
        run.go(1, load(X + row * 128).lanes(u32::MAX))
            .go(0, store(X + 0x100_0000 + row * 128).lanes(u32::MAX));
    }
    assert_eq!(run.missing(), []);
    // By bytes.
    let mut run = Run::new();
    run.go(0, store(X).bytes(1, 1).lanes(0xff));
    run.event(Event::Freed(Range { memory: WhoseBytes::Global, address: X + 2, bytes: 1 }));
    run.go(1, load(X).bytes(1, 1).lanes(0xff));
    assert_eq!(run.findings()[0].count, 7);
}

#[test]
fn grids_have_metadata_of_their_own() {
    let mut run = Run::new();
    run.go(0, store(X));
    run.event(Event::GridEnd { grid: crate::run::GRID });
    assert_eq!(run.detector.held(), 0);
    // Nobody is there to be told of.
    assert_eq!(run.go(1, store(X)).missing(), []);
}
