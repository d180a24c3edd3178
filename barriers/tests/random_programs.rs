//! Small random programs: the efficient form, the reference and the exploration of all interleavings agree.

use std::ops::Range;

use crate::generate::{Generated, Options, Random};
use crate::reference::{Reference, explore, reference};

use bugaroo_barriers::verdict::Misuse;
use bugaroo_barriers::{Verdict, check, racing_pairs};

const STATES: usize = 200_000;

#[derive(Default, Debug)]
struct Seen {
    verified: u32,
    race: u32,
    deadlock: u32,
    misuse: u32,
    recycling: u32,
}

fn compare(generated: &Generated, random: &mut Random, seen: &mut Seen, seed: u64) {
    let context = || format!("seed {seed}: {generated:#?}");
    let report = check(&generated.program);
    let by_reference = reference(&generated.cta, |n| random.below(n));
    let everything = explore(&generated.cta, STATES).expect("small programs");
    let well_synchronised = matches!(by_reference, Reference::WellSynchronised { .. });
    if everything.without_returned {
        // A barrier of a warp waited for a thread's return. Time orders the two, PTX does not: neither do we.
        assert!(everything.well_synchronised() || !well_synchronised, "{}", context());
    } else {
        assert_eq!(well_synchronised, everything.well_synchronised(), "{}", context());
    }
    let efficient = matches!(report.verdict, Verdict::Verified | Verdict::Race | Verdict::BenignRace);
    assert_eq!(efficient, well_synchronised, "{report:#?} {by_reference:?} {everything:?} {}", context());
    match report.verdict {
        Verdict::Deadlock => {
            seen.deadlock += 1;
            assert!(everything.deadlock, "{}", context());
            assert!(!report.deadlock.is_none_or(|d| d.waiting.is_empty()));
        }
        Verdict::Misuse => {
            seen.misuse += 1;
            match report.misuse {
                Some(Misuse::CountsDiffer { .. }) => assert!(everything.error, "{}", context()),
                Some(Misuse::TooManyArrivals { .. }) => {
                    assert!(!everything.well_synchronised(), "{}", context());
                }
                other => panic!("{other:?} {}", context()),
            }
        }
        Verdict::UnsafeRecycling => {
            seen.recycling += 1;
            assert!(report.recycling.iter().all(|r| r.count > 0));
        }
        Verdict::Verified => seen.verified += 1,
        Verdict::Race | Verdict::BenignRace => seen.race += 1,
        Verdict::PossibleRace => panic!("nothing has a condition: {}", context()),
    }
    let Reference::WellSynchronised { races } = by_reference else {
        return;
    };
    if !everything.without_returned {
        assert_eq!(races, everything.races, "{}", context());
    }
    let expected = generated.pairs(&races);
    assert_eq!(racing_pairs(&generated.program), expected, "{}", context());
    let counted: u64 = report.races.iter().map(|r| r.pairs).sum();
    assert_eq!(counted, expected.len() as u64, "{}", context());
}

fn run(options: &Options, seeds: std::ops::Range<u64>) -> Seen {
    let mut seen = Seen::default();
    for seed in seeds {
        let mut random = Random::new(seed);
        let generated = crate::generate::program(&mut random, options);
        compare(&generated, &mut random, &mut seen, seed);
    }
    seen
}

#[test]
fn named_barriers() {
    let seen = run(&Options::named(), 0..60_000);
    println!("{seen:?}");
    assert!(seen.verified > 1000 && seen.race > 1000 && seen.deadlock > 1000, "{seen:?}");
    assert!(seen.misuse > 100 && seen.recycling > 1000, "{seen:?}");
}

#[test]
fn warps_of_several_threads() {
    let seen = run(&Options::warps(), 1_000_000..1_030_000);
    println!("{seen:?}");
    assert!(seen.verified > 300 && seen.race > 300 && seen.deadlock > 300, "{seen:?}");
    assert!(seen.recycling > 300, "{seen:?}");
}

#[test]
fn mbarriers() {
    let seen = run(&Options::mbarriers(), 2_000_000..2_020_000);
    println!("{seen:?}");
    assert!(seen.verified > 300 && seen.race > 300 && seen.deadlock > 300, "{seen:?}");
    assert!(seen.recycling > 300, "{seen:?}");
}

#[test]
fn lockstep() {
    let seen = run(&Options::lockstep(), 3_000_000..3_010_000);
    println!("{seen:?}");
    assert!(seen.verified > 100 && seen.race > 100 && seen.deadlock > 100, "{seen:?}");
}

/// Where copies complete on mbarriers there is no Figure 4; the exploration judges alone. What it finds must be found; the other way
/// round the checker may say more: time orders what a copy's thread did before with those who wait for the copy, PTX does not.
#[test]
fn copies_that_complete_on_mbarriers() {
    let options = Options::copies();
    let (mut verified, mut exact, mut good) = (0, 0, 0);
    for seed in 4_000_000..4_008_000 {
        let mut random = Random::new(seed);
        let generated = crate::generate::program(&mut random, &options);
        let context = || format!("seed {seed}: {generated:#?}");
        let report = check(&generated.program);
        let everything = explore(&generated.cta, STATES).expect("small programs");
        let races = matches!(report.verdict, Verdict::Race | Verdict::BenignRace);
        if races || report.verdict == Verdict::Verified {
            assert!(everything.well_synchronised(), "{report:#?} {}", context());
        }
        if !everything.well_synchronised() {
            continue;
        }
        good += 1;
        if !races && report.verdict != Verdict::Verified {
            continue;
        }
        verified += u32::from(!races);
        let found = racing_pairs(&generated.program);
        let expected = generated.pairs(&everything.races);
        assert!(expected.iter().all(|pair| found.contains(pair)), "{found:?} {}", context());
        exact += u32::from(found.len() == expected.len());
    }
    println!("{good} well-synchronised, {exact} of them judged exactly, {verified} without races");
    assert!(verified > 500 && good > 2000 && exact * 100 > good * 98, "{verified} {exact} {good}");
}

#[test]
fn copies_in_groups() {
    let (mut verified, mut racing) = (0, 0);
    for seed in 5_000_000..5_008_000 {
        let mut random = Random::new(seed);
        let generated = crate::generate::program(&mut random, &Options::groups());
        let context = || format!("seed {seed}: {generated:#?}");
        let report = check(&generated.program);
        let everything = explore(&generated.cta, STATES).expect("small programs");
        let races = matches!(report.verdict, Verdict::Race | Verdict::BenignRace);
        let fine = races || report.verdict == Verdict::Verified;
        assert_eq!(fine, everything.well_synchronised(), "{report:#?} {}", context());
        if !fine {
            continue;
        }
        verified += u32::from(!races);
        racing += u32::from(races);
        assert_eq!(racing_pairs(&generated.program), generated.pairs(&everything.races), "{}", context());
    }
    println!("{verified} without races, {racing} with");
    assert!(verified > 500 && racing > 500, "{verified} {racing}");
}

/// Programs that the exploration finds well synchronised: without races, judged exactly, all of them; and those that the checker calls unsafe
/// besides.
fn judged(seeds: Range<u64>, options: &Options) -> [u32; 4] {
    let (mut verified, mut exact, mut good, mut refused) = (0, 0, 0, 0);
    for seed in seeds {
        let mut random = Random::new(seed);
        let generated = crate::generate::program(&mut random, options);
        let context = || format!("seed {seed}: {generated:#?}");
        let report = check(&generated.program);
        let Some(everything) = explore(&generated.cta, STATES) else { continue };
        let races = matches!(report.verdict, Verdict::Race | Verdict::BenignRace);
        if races || report.verdict == Verdict::Verified {
            assert!(everything.well_synchronised(), "{report:#?} {}", context());
        }
        if !everything.well_synchronised() {
            continue;
        }
        if !races && report.verdict != Verdict::Verified {
            refused += 1;
            continue;
        }
        good += 1;
        verified += u32::from(!races);
        let found = racing_pairs(&generated.program);
        let expected = generated.pairs(&everything.races);
        assert!(expected.iter().all(|pair| found.contains(pair)), "{expected:?} {found:?} {}", context());
        exact += u32::from(found.len() == expected.len());
    }
    println!(
        "{good} well-synchronised, {exact} of them judged exactly, {verified} without races; {refused} more called unsafe"
    );
    [verified, exact, good, refused]
}

/// Reads of a warpgroup, of which each thread has a part and each wait is for all parts. The exploration judges; it knows nothing of proxies,
/// whose fences are left out of the count. The checker may say more where only time orders.
#[test]
fn products_of_a_warpgroup() {
    let [verified, exact, good, refused] = judged(6_000_000..6_012_000, &Options::products());
    assert!(verified > 500 && good > verified + 200 && exact * 100 > good * 98, "{verified} {exact} {good}");
    assert!(refused * 20 < good, "{refused} {good}");
}

/// Exchanges of warps among waits and arrivals at mbarriers. To the exploration they wait like other barriers of a warp, and so order; what the checker
/// may say more is races of what only time orders.
#[test]
fn exchanges_of_warps() {
    let [verified, exact, good, refused] = judged(7_000_000..7_020_000, &Options::meetings());
    assert!(verified > 500 && exact > 1000 && good > exact + 20, "{verified} {exact} {good}");
    assert!(refused * 50 < good, "{refused} {good}");
}
