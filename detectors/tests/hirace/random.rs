//! Random executions: the detector reports at each access for which the reference finds a race, and nowhere else.
//!
//! `BUGAROO_TRACES` says how many (5,000 if it is not set), `BUGAROO_FIRST` the first seed.

use std::collections::BTreeSet;

use bugaroo_detectors::hirace::HiraceOptions;
use bugaroo_detectors::{HowFar, NotKept, RaceFinding, RacingParty, Who};
use bugaroo_semantics::history::Action;
use bugaroo_semantics::scope::Strength;

use crate::reference::{Race, Reference, number};
use crate::run::{FIRST, Run};
use crate::support::{At, Random, Size};
use crate::trace::{Access, Op};

/// Where accesses lie: on both sides of the end of a page.
pub const BASE: u64 = (1 << 12) - 192;

fn access(random: &mut Random, lanes: u32, quiet: bool) -> Access {
    let action = match random.below(if quiet { 12 } else { 4 }) {
        0 => Action::Write,
        1 => Action::BlockAtomic,
        2 => Action::GridAtomic,
        _ => Action::Read,
    };
    let size = random.pick(&[4, 4, 4, 4, 8, 8, 2, 1]);
    let elements = random.pick(&[1, 1, 1, 1, 2, 4]);
    let bytes = u64::from(size * elements);
    let place = |random: &mut Random| BASE + random.below(256) / bytes * bytes;
    let at = match random.below(10) {
        0 | 1 => At::Same(place(random)),
        2 => At::Each(Box::new(std::array::from_fn(|_| place(random)))),
        3 => {
            // So many elements apart, in either direction, and perhaps from the start again.
            let (first, apart) = (place(random), random.pick(&[1, 2, 3, 8]) * bytes);
            let (around, last) = (random.pick(&[8, 16, 32]), random.pick(&[0, 31]));
            At::Each(Box::new(std::array::from_fn(|lane| first + (lane as u64 ^ last) % around * apart)))
        }
        4 => {
            // Some lanes in a row, some at one place, some further apart.
            let mut at = place(random);
            At::Each(Box::new(std::array::from_fn(|_| {
                at += random.pick(&[0, 0, 1, 1, 1, 2]) * bytes;
                at
            })))
        }
        5 => {
            // A row of which some lanes are a page further.
            let (first, further) = (place(random), random.below(1 << 32));
            let page = |lane: u64| (further >> lane & 1) << 12;
            At::Each(Box::new(std::array::from_fn(|lane| first + lane as u64 * bytes + page(lane as u64))))
        }
        6 | 7 => At::Consecutive(place(random) / 64 * 64),
        _ => At::Consecutive(place(random)),
    };
    let is_load = random.one_in(3);
    Access { action, is_load, lanes, shared: random.one_in(3), size, elements, at }
}

fn ops(random: &mut Random, size: Size) -> Vec<Op> {
    let warps = u64::from(size.blocks * size.warps());
    let mut alive: Vec<u32> = (0..size.blocks * size.warps()).map(|warp| size.lanes(warp)).collect();
    let quiet = random.one_in(2);
    let mut ops = Vec::new();
    for _ in 0..4 + random.below(40) {
        let warp = random.below(warps) as u32;
        let lanes = alive[warp as usize];
        let op = match random.below(12) {
            0 | 1 => Op::BlockBarrier(warp / size.warps()),
            _ if lanes == 0 => continue,
            2 | 3 => Op::WarpBarrier(warp, lanes),
            4 if random.one_in(6) => {
                let gone = random.some(lanes);
                alive[warp as usize] &= !gone;
                Op::Exit(warp, gone)
            }
            _ => {
                let some = if random.one_in(2) { lanes } else { random.some(lanes) };
                Op::Access(warp, access(random, some, quiet))
            }
        };
        ops.push(op);
    }
    ops
}

/// A finding names an earlier access that races; or it says what is known of one, and there is one of which that is so.
fn check(finding: &RaceFinding, races: &BTreeSet<Race>, size: Size) {
    let thread = |block: u64, thread: u32| block as usize * size.threads as usize + thread as usize;
    let class = number(finding.class);
    let Who::Thread { block, thread: second, .. } = finding.second.who else { panic!("{finding:?}") };
    let second = thread(block, second);
    let threads = size.threads as usize;
    let is_first = |race: &Race| {
        let who = match finding.first.who {
            Who::Thread { block, thread: first, .. } => race.first == thread(block, first),
            Who::Warp { block, warp, .. } => {
                (race.first / threads, race.first % threads / 32) == (block as usize, warp as usize)
            }
            Who::Block { block, .. } => race.first / threads == block as usize,
            Who::Grid(_) => true,
            Who::Host(_) => panic!("the host"),
        };
        let what = match finding.forgotten {
            None => race.site == finding.first.site - FIRST,
            Some(NotKept::Load) => race.action == Action::Read,
            Some(NotKept::Write) => race.action != Action::Read,
            Some(NotKept::Atomic) => matches!(race.action, Action::BlockAtomic | Action::GridAtomic),
            Some(NotKept::Access) => true,
        };
        who && what
    };
    let is_told = |race: &Race| race.second == second && race.class == class && is_first(race);
    assert!(races.iter().any(is_told), "{finding:?}: {races:?}");
    assert_eq!(finding.forgotten.is_some(), finding.latest.is_some());
    // Two plain loads do not race, and nobody races with himself. A strong load is an atomic.
    let is_plain_load = |party: &RacingParty| !party.kind.writes() && party.strength == Strength::Weak;
    let loads = is_plain_load(&finding.first) && finding.forgotten != Some(NotKept::Access);
    assert!(!loads || !is_plain_load(&finding.second), "{finding:?}");
    assert_ne!(finding.first.who, finding.second.who);
}

/// A size, and an execution of a grid of it.
pub fn execution(seed: u64) -> (Size, Vec<Op>) {
    let mut random = Random(seed);
    let size = Size { blocks: random.pick(&[1, 2, 2, 3]), threads: random.pick(&[2, 5, 32, 33, 40, 64]) };
    let ops = ops(&mut random, size);
    (size, ops)
}

pub fn setting(name: &str, unset: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(unset)
}

/// Whole warps in a row, of few widths, at few places.
fn rows(seed: u64) -> (Size, Vec<Op>) {
    let mut random = Random(seed);
    let size = Size { blocks: 2, threads: 64 };
    let ops = (0..2 + random.below(5)).map(|_| {
        let warp = random.below(4) as u32;
        let action = random.pick(&[Action::Read, Action::Read, Action::Write, Action::BlockAtomic]);
        let (size, elements) = random.pick(&[(4, 1), (4, 1), (4, 2), (4, 4), (8, 1), (2, 1)]);
        let at = At::Consecutive(0x1000 + random.below(3) * 64);
        let is_load = action != Action::Read && random.one_in(3);
        let access = Access { action, is_load, lanes: u32::MAX, shared: false, size, elements, at };
        match random.below(8) {
            0 => Op::BlockBarrier(warp / 2),
            1 => Op::WarpBarrier(warp, u32::MAX),
            _ => Op::Access(warp, access),
        }
    });
    (size, ops.collect())
}

/// Runs an execution against the reference. Classes of what was found, and whether there was any race.
fn compare(seed: u64, (size, ops): &(Size, Vec<Op>), classes: &mut [u32; 3]) -> bool {
    let mut reference = Reference::new(*size);
    let mut run = Run::new(HiraceOptions::default(), *size, ops.len(), false);
    let mut any = false;
    for (site, op) in ops.iter().enumerate() {
        let races = reference.step(site as u32, op);
        run.step(site as u32, op);
        let findings = run.findings();
        assert_eq!(races.is_empty(), findings.is_empty(), "seed {seed}, step {site} of {ops:?}: {races:?}");
        for finding in &findings {
            check(finding, &races, *size);
            classes[usize::from(number(finding.class))] += 1;
        }
        any |= !races.is_empty();
    }
    any
}

#[test]
fn the_detector_reports_where_a_history_has_a_race() {
    let (first, count) = (setting("BUGAROO_FIRST", 0), setting("BUGAROO_TRACES", 5_000));
    let mut classes = [0; 3];
    let racy = (first..first + count).filter(|seed| compare(*seed, &execution(*seed), &mut classes)).count();
    let racy = racy as u64;
    assert!(racy > count / 5 && racy < count, "{racy} of {count} have races");
    assert!(classes.iter().all(|class| u64::from(*class) > count / 50), "{classes:?}");
}

#[test]
fn rows_behind_each_other_are_as_their_lanes_one_by_one() {
    let (first, count) = (setting("BUGAROO_FIRST", 0), 4 * setting("BUGAROO_TRACES", 5_000));
    let mut classes = [0; 3];
    let racy = (first..first + count).filter(|seed| compare(*seed, &rows(*seed), &mut classes)).count();
    let racy = racy as u64;
    assert!(racy > count / 5 && racy < count * 4 / 5, "{racy} of {count} have races");
}

/// Barriers of some lanes of a warp only make it miss races.
#[test]
fn with_barriers_of_some_lanes_nothing_is_made_up() {
    for seed in 0..setting("BUGAROO_TRACES", 5_000) {
        let mut random = Random(seed ^ 0x5eed);
        let size = Size { blocks: 1, threads: random.pick(&[5, 32, 40]) };
        let mut ops = ops(&mut random, size);
        for op in &mut ops {
            if let Op::WarpBarrier(_, lanes) = op {
                *lanes = random.some(*lanes);
            }
        }
        let mut reference = Reference::new(size);
        // What was missed at one access may be found at the next one.
        reference.all = true;
        let mut run = Run::new(HiraceOptions::default(), size, ops.len(), false);
        for (site, op) in ops.iter().enumerate() {
            let races = reference.step(site as u32, op);
            run.step(site as u32, op);
            let findings = run.findings();
            assert!(
                !races.is_empty() || findings.is_empty(),
                "seed {seed}, step {site} of {ops:?}: {findings:?}"
            );
            findings.iter().for_each(|finding| {
                assert_ne!(finding.class, HowFar::InterBlock);
            });
        }
    }
}
