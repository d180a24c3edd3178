use super::{DRAWN, Priorities};

fn priorities(seed: u64) -> Priorities {
    Priorities::new("kernel", &[1, 2], seed)
}

/// The priorities of one warp behind each of so many steps.
fn steps(all: &mut Priorities, count: usize) -> Vec<u64> {
    let step = |_| {
        all.step(3);
        all.of(3)
    };
    (0..count).map(step).collect()
}

#[test]
fn a_seed_says_who_goes_first_and_who_next() {
    assert_eq!(priorities(7).of(5), priorities(7).of(5));
    assert_ne!(priorities(7).of(5), priorities(8).of(5));
    assert_eq!(steps(&mut priorities(7), 50), steps(&mut priorities(7), 50));
    assert_ne!(steps(&mut priorities(7), 50), steps(&mut priorities(8), 50));
}

#[test]
fn who_holds_nothing_back_is_as_likely_to_go_on_as_not() {
    let mut all = priorities(1);
    all.odds = 1;
    let other = all.of(4);
    let behind = steps(&mut all, 2000).iter().filter(|one| **one < other).count();
    let wanted = 2000.0 * (other - DRAWN) as f64 / DRAWN as f64;
    assert!((behind as f64 - wanted).abs() < 100.0, "{behind} {wanted}");
}

#[test]
fn who_holds_something_back_falls_below_all_others_every_second_time() {
    let mut all = priorities(1);
    all.odds = 1;
    all.holds.insert(3, 1);
    let fell = steps(&mut all, 2000).iter().filter(|one| **one < DRAWN).count();
    assert!((900..1100).contains(&fell), "{fell}");
}

#[test]
fn of_those_who_fell_the_last_one_is_lowest() {
    let mut all = priorities(1);
    all.fall(1);
    all.fall(2);
    assert!(all.of(2) < all.of(1) && all.of(1) < all.of(0));
}

#[test]
fn a_launch_draws_anew_behind_each_step_or_more_seldom() {
    let mut seen = [0; 9];
    (0..800).for_each(|seed| seen[usize::try_from(priorities(seed).odds).expect("small")] += 1);
    assert!((340..460).contains(&seen[1]) && seen[2] > 140 && seen[4] > 60 && seen[8] > 60, "{seen:?}");
    let mut all = priorities(1);
    all.odds = 8;
    let mut behind = steps(&mut all, 800);
    behind.dedup();
    assert!((60..140).contains(&behind.len()), "{}", behind.len());
}
