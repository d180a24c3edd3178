use super::*;
use crate::races::fixture::{answered, said};

#[test]
fn all_races_of_the_paper_are_present() {
    let results = answered(SCOR);
    let [races, false_positives] = section(&results);
    assert!(races.contains("| Total |  | 44 | 44 | 44 | 44 | 44 | 43 |"), "{races}");
    assert!(races.contains("| R110 | rule_110 | 2 | 2 | 2 | 2 | 2 | 1 |"), "{races}");
    assert!(races.contains("No difference in kind."), "{races}");
    assert!(false_positives.contains("| GCON | 1 | 0 | 0 | 0 | 28 | 28 | 0 |"), "{false_positives}");
    assert!(false_positives.contains("| Microbenchmarks | 14 | 0 | 0 | – |"), "{false_positives}");
    assert_eq!(alarms(&results), Vec::<String>::new());
}

#[test]
fn a_miss_and_a_false_positive_are_told() {
    let mut results = answered(SCOR);
    let races = std::mem::take(&mut said(&mut results, "rule_110.RACE_1", 0, "scord").races);
    said(&mut results, "reduction", 0, "scord").races = races;
    let [text, false_positives] = section(&results);
    assert!(text.contains("| R110 | rule_110 | 2 | 1 | 2 |"), "{text}");
    assert!(false_positives.contains("| RED | 1 | 1 | 0 | 0 |"), "{false_positives}");
    let alarms = alarms(&results);
    assert_eq!(alarms.len(), 2, "{alarms:?}");
    assert!(alarms[0].starts_with("ScoRD on reduction: false: "), "{alarms:?}");
    assert!(alarms[1].starts_with("ScoRD on rule_110.RACE_1: missing: "), "{alarms:?}");
}

/// The paper's cache misses one race.
#[test]
fn one_miss_of_the_cache_is_none_too_many() {
    let mut results = answered(SCOR);
    for (misses, program) in
        ["rule_110.RACE_1", "rule_110.RACE_2", "reduction.RACE_1"].into_iter().enumerate()
    {
        said(&mut results, program, 0, SCORD_CACHE).races.clear();
        assert_eq!(alarms(&results).len(), misses, "{:?}", alarms(&results));
    }
    let mut results = answered(SCOR);
    let races = said(&mut results, "rule_110.RACE_1", 0, "scord").races.clone();
    said(&mut results, "reduction", 0, SCORD_CACHE).races = races;
    assert_eq!(alarms(&results).len(), 1);
}
