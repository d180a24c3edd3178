use std::time::{Duration, Instant};

use super::plain::{Amount, Batch};
use super::told;

#[test]
fn lines_come_a_few_seconds_apart() {
    let start = Instant::now();
    let at = |seconds| start + Duration::from_secs(seconds);
    let mut batch = Batch::new("p_w 0.5", Amount::Trials(100), start);
    assert_eq!(batch.trial_ended(true, false, at(1)), None);
    assert_eq!(batch.trial_ended(false, false, at(4)), None);
    assert_eq!(
        batch.trial_ended(true, false, at(6)).as_deref(),
        Some("p_w 0.5: 3 of 100 trials, 2 failures, 0.5 trials/s, about 194 s left")
    );
    assert_eq!(batch.trial_ended(false, false, at(10)), None);
    assert!(batch.trial_ended(false, false, at(11)).is_some());
    assert_eq!(batch.ended(at(20)), "p_w 0.5: 5 of 100 trials, 2 failures in 20.0 s");
}

/// The line at the end says it all.
#[test]
fn the_last_trial_has_no_line_of_its_own() {
    let start = Instant::now();
    let mut batch = Batch::new("x", Amount::Trials(1), start);
    assert_eq!(batch.trial_ended(true, false, start + Duration::from_secs(60)), None);
    assert_eq!(batch.ended(start + Duration::from_secs(60)), "x: 1 of 1 trials, 1 failure in 60.0 s");
}

#[test]
fn a_time_counts_down() {
    let start = Instant::now();
    let at = |seconds| start + Duration::from_secs(seconds);
    let mut batch = Batch::new("p_w 0.5", Amount::Time(Duration::from_secs(60)), start);
    assert_eq!(batch.trial_ended(false, false, at(1)), None);
    assert_eq!(
        batch.trial_ended(false, false, at(10)).as_deref(),
        Some("p_w 0.5: 2 trials, 0 failures, 0.2 trials/s, about 50 s left")
    );
    assert!(batch.trial_ended(false, false, at(70)).unwrap().ends_with("about 0 s left"));
    assert_eq!(batch.ended(at(71)), "p_w 0.5: 3 trials, 0 failures in 71.0 s");
}

#[test]
fn times_are_told_roughly() {
    let told = |milliseconds| told(Duration::from_millis(milliseconds));
    assert_eq!(
        [900, 1_000, 119_000, 120_000, 179_900, 7_199_000, 7_200_000, 30_600_000].map(told),
        ["900 ms", "1 s", "119 s", "2 min", "3 min", "120 min", "2.0 h", "8.5 h"]
    );
}
