use std::collections::BTreeSet;

use super::Seeds;

/// Recorded runs replay only as long as these stay: a change needs a new version of the run directory.
#[test]
fn seeds_are_pinned() {
    let seeds = Seeds::new(1);
    assert_eq!(
        [seeds.trial(0), seeds.trial(1), seeds.trial(2)],
        [7_424_550_030_962_593_201, 15_715_005_604_373_573_095, 16_166_618_085_559_792_950]
    );
}

#[test]
fn seeds_differ_between_trials_runs_and_the_baseline() {
    let mut seen = BTreeSet::new();
    for run in [0, 1, 2, u64::MAX] {
        for index in 0..1000 {
            assert!(seen.insert(Seeds::new(run).trial(index)));
        }
        for index in 0..3 {
            assert!(seen.insert(Seeds::new(run).baseline(index)));
        }
    }
}
