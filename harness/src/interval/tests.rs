use proptest::prelude::*;
use statrs::distribution::{Binomial, DiscreteCDF};

use super::clopper_pearson;

/// Known values, to the digits that tables give.
#[test]
fn known_values() {
    for (failures, trials, low, high) in [
        (0, 10, 0.0, 0.3085),
        (10, 10, 0.6915, 1.0),
        (1, 10, 0.0025, 0.4450),
        (5, 10, 0.1871, 0.8129),
        (5, 100, 0.0164, 0.1128),
        (0, 1000, 0.0, 0.0037),
        (1000, 1000, 0.9963, 1.0),
        (0, 1, 0.0, 0.9750),
        (1, 1, 0.0250, 1.0),
    ] {
        let [l, h] = clopper_pearson(failures, trials);
        assert!((l - low).abs() < 5e-5, "{failures}/{trials}: low {l}, wanted {low}");
        assert!((h - high).abs() < 5e-5, "{failures}/{trials}: high {h}, wanted {high}");
    }
}

#[test]
fn nothing_and_everything_have_closed_forms() {
    for n in [1u64, 2, 7, 100, 12_345, 1_000_000] {
        let edge = 0.025f64.powf(1.0 / n as f64);
        let [zero, high] = clopper_pearson(0, n);
        let [low, one] = clopper_pearson(n, n);
        assert_eq!((zero, one), (0.0, 1.0));
        assert!((high - (1.0 - edge)).abs() < 1e-9, "0/{n}: {high}");
        assert!((low - edge).abs() < 1e-9, "{n}/{n}: {low}");
    }
}

#[test]
fn no_trials_say_nothing() {
    assert_eq!(clopper_pearson(0, 0), [0.0, 1.0]);
}

proptest! {
    /// The interval's ends are where the binomial's tails hold 2.5 % each: its definition.
    #[test]
    fn ends_are_where_the_tails_are(trials in 1u64..5_000, share in 0.0f64..=1.0) {
        let failures = (share * trials as f64) as u64;
        let [low, high] = clopper_pearson(failures, trials);
        prop_assert!(low <= failures as f64 / trials as f64 && failures as f64 / trials as f64 <= high);
        if failures > 0 {
            let at_least = 1.0 - Binomial::new(low, trials).unwrap().cdf(failures - 1);
            prop_assert!((at_least - 0.025).abs() < 1e-6, "low tail {}", at_least);
        }
        if failures < trials {
            let at_most = Binomial::new(high, trials).unwrap().cdf(failures);
            prop_assert!((at_most - 0.025).abs() < 1e-6, "high tail {}", at_most);
        }
    }
}

#[test]
fn the_lower_bound_is_what_the_tail_says() {
    // With n of n failures the bound b solves b^n = 1 - confidence.
    for trials in [1, 5, 20, 300] {
        let bound = super::lower_bound(trials, trials, 0.99);
        assert!((bound.powf(trials as f64) - 0.01).abs() < 1e-9, "{bound} for {trials}");
    }
    // With 1 of n: 1 - (1 - b)^n = 1 - confidence.
    let bound = super::lower_bound(1, 1000, 0.99);
    assert!((1.0 - (1.0 - bound).powi(1000) - 0.01).abs() < 1e-9, "{bound}");
    assert_eq!(super::lower_bound(0, 1000, 0.99), 0.0);
}
