use std::time::{Duration, Instant};

use super::plain::Batch;

#[test]
fn lines_come_a_few_seconds_apart() {
    let start = Instant::now();
    let at = |seconds| start + Duration::from_secs(seconds);
    let mut batch = Batch::new("p_w 0.5", 100, start);
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
    let mut batch = Batch::new("x", 1, start);
    assert_eq!(batch.trial_ended(true, false, start + Duration::from_secs(60)), None);
    assert_eq!(batch.ended(start + Duration::from_secs(60)), "x: 1 of 1 trials, 1 failure in 60.0 s");
}
