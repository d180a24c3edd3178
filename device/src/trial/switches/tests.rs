use bugaroo_simulator::Rng;

use super::{Change, DRAWN, Points, Priorities, QUOTA};

fn priorities(seed: u64) -> Priorities {
    Priorities::new("kernel", &[1, 2], seed)
}

/// The priorities of one warp behind each of so many steps.
fn steps(all: &mut Priorities, count: usize) -> Vec<u64> {
    let step = |_| {
        all.turn(3);
        all.step(3);
        all.ranks.of(3)
    };
    (0..count).map(step).collect()
}

#[test]
fn a_seed_says_who_goes_first_and_who_next() {
    assert_eq!(priorities(7).ranks.of(5), priorities(7).ranks.of(5));
    assert_ne!(priorities(7).ranks.of(5), priorities(8).ranks.of(5));
    assert_eq!(steps(&mut priorities(7), 50), steps(&mut priorities(7), 50));
    assert_ne!(steps(&mut priorities(7), 50), steps(&mut priorities(8), 50));
}

#[test]
fn who_holds_nothing_back_is_as_likely_to_go_on_as_not() {
    let mut all = priorities(1);
    all.change = Change::Anew(1);
    let other = all.ranks.of(4);
    let behind = steps(&mut all, 2000).iter().filter(|one| **one < other).count();
    let wanted = 2000.0 * (other - DRAWN) as f64 / DRAWN as f64;
    assert!((behind as f64 - wanted).abs() < 100.0, "{behind} {wanted}");
}

#[test]
fn who_holds_something_back_falls_below_all_others_every_second_time() {
    let mut all = priorities(1);
    all.change = Change::Anew(1);
    all.holds.insert(3, 1);
    let fell = steps(&mut all, 2000).iter().filter(|one| **one < DRAWN).count();
    assert!((900..1100).contains(&fell), "{fell}");
}

#[test]
fn who_spins_by_what_others_can_tell_falls_in_the_end_and_stays_below_in_that_turn() {
    let mut all = priorities(1);
    all.change = Change::Anew(1);
    let behind = steps(&mut all, 4 * QUOTA as usize);
    assert_eq!(behind.iter().filter(|priority| **priority < DRAWN).count(), 4);
}

#[test]
fn of_those_who_fell_the_last_one_is_lowest() {
    let mut all = priorities(1);
    all.fall(1);
    all.fall(2);
    assert!(all.ranks.of(2) < all.ranks.of(1) && all.ranks.of(1) < all.ranks.of(0));
}

#[test]
fn launches_change_priorities_in_one_of_three_manners() {
    let (mut each, mut seldom, mut held, mut few) = (0, 0, 0, 0);
    for seed in 0..800 {
        match priorities(seed).change {
            Change::Anew(1) => each += 1,
            Change::Anew(odds) => {
                assert!([2, 4, 8].contains(&odds));
                seldom += 1;
            }
            Change::Held => held += 1,
            Change::Few(_) => few += 1,
        }
    }
    assert!((240..360).contains(&each) && (60..140).contains(&seldom), "{each} {seldom}");
    assert!((150..250).contains(&held) && (150..250).contains(&few), "{held} {few}");
    let mut all = priorities(1);
    all.change = Change::Anew(8);
    let mut behind = steps(&mut all, 800);
    behind.dedup();
    assert!((60..140).contains(&behind.len()), "{}", behind.len());
}

#[test]
fn threads_run_one_after_the_other_where_only_held_stores_change_who_runs() {
    let mut all = priorities(1);
    all.change = Change::Held;
    let first = all.ranks.of(3);
    assert!(steps(&mut all, 100).iter().all(|priority| *priority == first));
    all.holds.insert(3, 1);
    assert!(steps(&mut all, 20).iter().any(|priority| *priority < DRAWN));
}

#[test]
fn few_changes_are_falls() {
    let mut all = priorities(1);
    all.change = Change::Few(Points::new(&mut Rng::new(5)));
    let mut behind = steps(&mut all, 1000);
    behind.dedup();
    assert!((2..20).contains(&behind.len()), "{behind:?}");
    assert!(behind[1..].iter().all(|priority| *priority < DRAWN));
}
