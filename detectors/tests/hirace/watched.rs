//! What the settings leave out, and what they limit.

use bugaroo_detectors::RaceDetector;
use bugaroo_detectors::hirace::HiraceOptions;
use bugaroo_detectors::watched::{Numbers, Watched};
use bugaroo_semantics::history::Action::Write;

use crate::random::{BASE, execution, setting};
use crate::run::{GRID, Run};
use crate::support::{At, Random, Size};
use crate::trace::{Access, Op};

/// Some of so many numbers from here on.
fn some(random: &mut Random, from: u64, count: u64) -> Numbers {
    let range = |random: &mut Random| {
        let first = random.below(count);
        from + first..from + first + random.below(count - first) + 1
    };
    Numbers::of((0..1 + random.below(3)).map(|_| range(random)))
}

/// What is left out might as well not be done.
#[test]
fn what_is_left_out_counts_for_nothing() {
    let mut found = 0;
    for seed in 0..setting("BUGAROO_TRACES", 5_000) {
        let (size, ops) = execution(seed);
        let mut random = Random(seed ^ 0x77);
        let mut watched = Watched::default();
        if random.one_in(2) {
            watched.blocks = some(&mut random, 0, u64::from(size.blocks));
        }
        if random.one_in(2) {
            watched.warps = some(&mut random, 0, u64::from(size.warps()));
        }
        if random.one_in(2) {
            watched.shared = some(&mut random, BASE, 256);
            watched.global = some(&mut random, BASE, 256);
        }
        if random.one_in(3) {
            watched.one_block_in = Some((2, seed));
        }
        let mut part = Run::watching(watched.clone(), size, &ops);
        let left: Vec<Op> = ops.iter().map(|op| without(op, size, &watched)).collect();
        let mut rest = Run::all(size, &left);
        let findings = part.findings();
        assert_eq!(findings, rest.findings(), "seed {seed}: {watched:?}");
        found += findings.len();
    }
    assert!(found > 100, "{found}");
}

/// The operation without the lanes that nobody looks at.
fn without(op: &Op, size: Size, watched: &Watched) -> Op {
    let Op::Access(warp, access) = op else { return op.clone() };
    let (block, index) = (u64::from(warp / size.warps()), u64::from(warp % size.warps()));
    let memory = if access.shared { &watched.shared } else { &watched.global };
    let bytes = u64::from(access.size * access.elements);
    let looks = watched.has_block(block) && watched.warps.has(index);
    let has = |lane: &u32| looks && (0..bytes).any(|byte| memory.has(access.address(*lane) + byte));
    let lanes = (0..32).filter(|lane| access.lanes >> lane & 1 != 0).filter(has);
    Op::Access(*warp, Access { lanes: lanes.fold(0, |lanes, lane| lanes | 1 << lane), ..access.clone() })
}

fn store(address: u64) -> Access {
    Access {
        action: Write,
        is_load: false,
        lanes: 1,
        shared: false,
        size: 4,
        elements: 1,
        at: At::Same(address),
    }
}

const TWO: Size = Size { blocks: 2, threads: 64 };

#[test]
fn so_many_races_are_told_and_no_more() {
    let settings = HiraceOptions { most_races: Some(2), ..HiraceOptions::default() };
    let mut run = Run::new(settings, TWO, 16, false);
    let race = |run: &mut Run, site: u32| {
        let address = 0x1000 + 4 * u64::from(site);
        run.step(2 * site, &Op::Access(0, store(address)));
        run.step(2 * site + 1, &Op::Access(2, store(address)));
    };
    race(&mut run, 0);
    assert_eq!(run.findings().len(), 1);
    (1..4).for_each(|site| race(&mut run, site));
    assert_eq!(run.findings().len(), 1);
    let warnings = run.detector.take_warnings();
    assert!(warnings.len() == 1 && warnings[0].count == 2, "{warnings:?}");
    // One that was told may be told again.
    run.begin();
    (0..4).for_each(|site| race(&mut run, site));
    assert_eq!(run.findings().len(), 2);
}

#[test]
fn a_grid_of_which_nothing_is_looked_at_is_quiet() {
    let ops = [Op::Access(0, store(0)), Op::Access(2, store(0))];
    assert_eq!(Run::watching(Watched::nothing(), TWO, &ops).findings(), []);
    let mut next = Run::watching(Watched::nothing(), TWO, &ops);
    next.begin();
    ops.iter().zip(0..).for_each(|(op, site)| next.step(site, op));
    assert_eq!(next.findings().len(), 1, "the grid after it is another: {GRID}");
}
