use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::{Change, SeenFailures, changes, holm, p_value};

fn seen(failures: u64, told: u64) -> SeenFailures {
    SeenFailures { failures, told }
}

/// So many trials that fail with this probability.
fn drawn(random: &mut ChaCha8Rng, rate: f64, trials: u64) -> SeenFailures {
    let fails = |random: &mut ChaCha8Rng| (random.next_u32() as f64) < rate * 4_294_967_296.0;
    seen((0..trials).filter(|_| fails(random)).count() as u64, trials)
}

#[test]
fn p_values_are_those_of_fishers_test() {
    // The tea-tasting lady: 3 of 4 against 1 of 4. All tables: (1, 16, 36, 16, 1) of 70.
    let close = |p: f64, wanted: f64| assert!((p - wanted).abs() < 1e-9, "{p} {wanted}");
    close(p_value(seen(3, 4), seen(1, 4)), 34.0 / 70.0);
    close(p_value(seen(4, 4), seen(0, 4)), 2.0 / 70.0);
    close(p_value(seen(2, 4), seen(2, 4)), 1.0);
    close(p_value(seen(0, 10), seen(0, 20)), 1.0);
    // 10 of 12 against 2 of 12: sums of C(12,k)² over C(24,12) = 2704156 for k = 10, 11, 12 on both sides.
    close(p_value(seen(10, 12), seen(2, 12)), 2.0 * (4356.0 + 144.0 + 1.0) / 2_704_156.0);
}

#[test]
fn holm_corrects_by_what_is_left() {
    let corrected = holm(&[Some(0.01), None, Some(0.04), Some(0.03)]);
    let wanted = [Some(0.03), None, Some(0.06), Some(0.06)];
    for (got, wanted) in corrected.iter().zip(wanted) {
        assert!(
            got.is_some() == wanted.is_some() && (got.unwrap_or(0.0) - wanted.unwrap_or(0.0)).abs() < 1e-12
        );
    }
}

#[test]
fn first_new_and_cured_are_told_apart() {
    let one = |before: &[SeenFailures], tonight| changes(&[(before.to_vec(), tonight)])[0];
    assert_eq!(one(&[], seen(3, 100)), Change::First);
    assert_eq!(one(&[seen(0, 1000), seen(0, 1000)], seen(1, 1000)), Change::New { passed: 2000 });
    assert_eq!(one(&[seen(0, 1000)], seen(0, 1000)), Change::None);
    assert!(matches!(one(&[seen(20, 1000), seen(22, 1000)], seen(0, 1000)), Change::Cured { .. }));
    // One failure in a thousand and then none is chance.
    assert_eq!(one(&[seen(1, 1000)], seen(0, 1000)), Change::None);
    // A night in which nothing ran says nothing.
    assert_eq!(one(&[seen(5, 100)], seen(0, 0)), Change::None);
}

#[test]
fn three_in_a_hundred_after_one_in_a_hundred_is_told() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut told = 0;
    for _ in 0..200 {
        let before: Vec<SeenFailures> = (0..10).map(|_| drawn(&mut random, 0.01, 2000)).collect();
        let tonight = drawn(&mut random, 0.03, 2000);
        told += u64::from(matches!(changes(&[(before, tonight)])[0], Change::Changed { .. }));
    }
    assert!(told >= 195, "{told} of 200");
}

#[test]
fn nights_without_a_change_are_not_said_to_have_one() {
    let mut random = ChaCha8Rng::seed_from_u64(2);
    let rates = [0.0005, 0.002, 0.01, 0.03, 0.1, 0.3, 0.5, 0.9, 0.99, 0.0];
    let mut history = vec![Vec::new(); rates.len()];
    let mut false_alarms = 0;
    for _ in 0..200 {
        let cells: Vec<(Vec<SeenFailures>, SeenFailures)> = rates
            .iter()
            .zip(&history)
            .map(|(&rate, before): (_, &Vec<SeenFailures>)| (before.clone(), drawn(&mut random, rate, 1000)))
            .collect();
        let said = changes(&cells);
        let alarm = |change: &Change| matches!(change, Change::Changed { .. } | Change::Cured { .. });
        false_alarms += said.iter().filter(|change| alarm(change)).count();
        for (before, (_, tonight)) in history.iter_mut().zip(&cells) {
            before.push(*tonight);
        }
    }
    assert!(false_alarms <= 2, "{false_alarms}");
}

#[test]
fn after_a_change_the_new_rate_holds() {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let mut before: Vec<SeenFailures> = (0..10).map(|_| drawn(&mut random, 0.01, 2000)).collect();
    before.extend((0..3).map(|_| drawn(&mut random, 0.2, 2000)));
    assert_eq!(changes(&[(before.clone(), drawn(&mut random, 0.2, 2000))])[0], Change::None);
    assert!(matches!(changes(&[(before, drawn(&mut random, 0.01, 2000))])[0], Change::Changed { .. }));
}
