//! Numbers of trials against what they are meant to guarantee.

use super::{ALPHA, Rate, SearchLimits};

#[test]
fn enough_trials_and_not_one_more() {
    for (failures, trials) in [(1, 1), (4, 4), (4, 40), (20, 10_000), (1, 500)] {
        let rate = Rate { failures, trials };
        for error in [0.05f64, 0.001] {
            let enough = rate.passes(error, u64::MAX >> 1);
            assert!(rate.ln_unseen(enough) <= error.ln(), "{rate:?} {error}: {enough}");
            assert!(enough == 1 || rate.ln_unseen(enough - 1) > error.ln(), "{rate:?} {error}: {enough}");
        }
    }
}

#[test]
fn the_figures_of_the_documentation() {
    let factor = |failures: u64| {
        let trials = 100_000 * failures;
        Rate { failures, trials }.passes(0.01, u64::MAX >> 1) as f64 / trials as f64
    };
    assert!((factor(1) - 99.0).abs() < 0.1 && (factor(4) - 2.16).abs() < 0.01, "{} {}", factor(1), factor(4));
    assert!((factor(20) - 0.26).abs() < 0.01, "{}", factor(20));
}

/// The error holds for every true rate where trials were run until the last failure: the exact
/// probability, summed over all numbers of trials that this may take.
#[test]
fn the_stated_error_holds_whatever_the_rate() {
    for rate in [0.5f64, 0.1, 0.02] {
        for failures in [2u64, 4] {
            let error = 0.05;
            let mut probability = rate.powi(failures as i32);
            let mut unseen = 0.0;
            for trials in failures..(60.0 / rate) as u64 {
                let enough = Rate { failures, trials }.passes(error, u64::MAX >> 1);
                unseen += probability * (1.0 - rate).powf(enough as f64);
                probability *= (1.0 - rate) * trials as f64 / (trials + 1 - failures) as f64;
            }
            assert!(unseen <= error * 1.001, "rate {rate}, {failures} failures: {unseen}");
        }
    }
}

#[test]
fn without_a_rate_the_limits_say_how_many() {
    let limits = SearchLimits { trials: 1000 };
    assert_eq!(limits.rare(), 0.002);
    let unseen = |trials: u64| (1.0 - limits.rare()).powf(trials as f64);
    assert!(unseen(limits.full()) <= ALPHA && unseen(limits.full() - 1) > ALPHA);
    assert_eq!(limits.cap(), 20_000);
    assert!(SearchLimits { trials: 1 }.full() <= 2);
    assert_eq!(Rate::default().passes(0.01, 77), 77, "no failure was seen: nothing follows from it");
}
