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
