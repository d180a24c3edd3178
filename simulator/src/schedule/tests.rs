use super::*;

fn candidates(n: u32) -> Vec<Candidate> {
    (0..n).map(|slot| Candidate { warp: u64::from(slot), slot }).collect()
}

#[test]
fn the_generator_is_the_published_one() {
    // First outputs for seed 1234567, as published with the reference implementation.
    let mut rng = Rng::new(1_234_567);
    assert_eq!([rng.next(), rng.next()], [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]);
}

#[test]
fn a_seed_is_a_schedule() {
    let turns = |seed| {
        let mut scheduler = RandomScheduler::new(seed);
        (0..100).map(|_| scheduler.next(&candidates(7))).collect::<Vec<_>>()
    };
    assert_eq!(turns(1), turns(1));
    assert_ne!(turns(1), turns(2));
}

#[test]
fn every_warp_is_equally_likely_and_half_the_turns_last_one_operation() {
    let mut scheduler = RandomScheduler::new(3);
    let mut picked = [0; 5];
    let mut single = 0;
    for _ in 0..50_000 {
        let turn = scheduler.next(&candidates(5));
        picked[turn.candidate] += 1;
        single += u32::from(turn.operations == 1);
    }
    assert!(picked.iter().all(|n| (9_500..10_500).contains(n)), "{picked:?}");
    assert!((24_500..25_500).contains(&single), "{single}");
}

/// Who runs, operation by operation, when all warps can run all the time.
fn order(scheduler: &mut PctScheduler, warps: u32, operations: usize) -> Vec<u64> {
    let all = candidates(warps);
    scheduler.begin(u64::from(warps));
    let mut order = Vec::new();
    while order.len() < operations {
        let turn = scheduler.next(&all);
        order.extend(std::iter::repeat_n(all[turn.candidate].warp, turn.operations as usize));
    }
    order
}

#[test]
fn a_pct_seed_is_a_schedule() {
    let run = |seed| order(&mut PctScheduler::new(seed, 3, None), 7, 5000);
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

#[test]
fn a_pct_schedule_does_not_depend_on_where_warps_stand() {
    // The same warps, which change places from turn to turn.
    let mut still = PctScheduler::new(5, 3, None);
    let mut moved = still.clone();
    let mut rng = Rng::new(9);
    still.begin(40);
    moved.begin(40);
    let all = candidates(40);
    let mut other = all.clone();
    for _ in 0..20_000 {
        let (a, b) = (rng.next() as usize % 40, rng.next() as usize % 40);
        other.swap(a, b);
        let (one, two) = (still.next(&all), moved.next(&other));
        assert_eq!(all[one.candidate].warp, other[two.candidate].warp);
        assert_eq!(one.operations, two.operations);
    }
}

#[test]
fn depth_says_how_often_pct_changes() {
    for seed in 0..200 {
        for depth in 1..5 {
            // Within the first window, and below the quota.
            let steps = order(&mut PctScheduler::new(seed, depth, Some(100)), 6, 100);
            let changes = steps[..100].windows(2).filter(|pair| pair[0] != pair[1]).count();
            assert!(changes < depth as usize, "seed {seed}: {changes} changes at depth {depth}");
        }
    }
}

#[test]
fn pct_changes_at_every_step_alike() {
    let mut at = [0; 20];
    for seed in 0..20_000 {
        let steps = order(&mut PctScheduler::new(seed, 2, Some(20)), 3, 20);
        if let Some(change) = steps.windows(2).position(|pair| pair[0] != pair[1]) {
            at[change] += 1;
        }
    }
    // The change at the last step is not seen.
    assert!(at[..19].iter().all(|n| (800..1200).contains(n)), "{at:?}");
}

#[test]
fn every_warp_goes_first_in_pct() {
    let mut first = [0; 5];
    (0..5000).for_each(|seed| first[order(&mut PctScheduler::new(seed, 3, None), 5, 1)[0] as usize] += 1);
    assert!(first.iter().all(|n| (850..1150).contains(n)), "{first:?}");
}

#[test]
fn nobody_waits_for_ever_under_pct() {
    for seed in 0..20 {
        let steps = order(&mut PctScheduler::new(seed, 3, None), 9, 9 * 4 * pct::QUOTA as usize);
        let mut since = [0usize; 9];
        for (step, warp) in steps.iter().enumerate() {
            since[*warp as usize] = step;
            // All others have their quota at most twice: before they fall, and after.
            let longest = since.iter().map(|last| step - last).max().unwrap_or(0);
            assert!(longest <= 2 * 9 * (pct::QUOTA as usize + 64), "seed {seed}: {longest} steps");
        }
    }
}
