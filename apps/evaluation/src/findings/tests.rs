use super::*;
use crate::fixture::{rated, results};

#[test]
fn the_table_shows_ours_beside_the_papers_with_both_verdicts() {
    let text = section(&results(), Model::StoreBuffer);
    let row = "| cbe_dot original_2_fence | 0 (0–0.0037) | 0 | 0 (0–0.0037) | 0 | 0 (0–0.0037) | 0 | 0 (0–0.0037) | 0 \
               | overfenced | overfenced | yes |";
    assert!(text.contains(row), "{text}");
    assert!(text.contains("| 0.860 (0.837–0.881) | 1 | underfenced | underfenced | yes |"), "{text}");
    assert!(text.contains("No difference in kind"), "{text}");
    assert!(text.contains("- **cbe_dot no_fence** at p_w 0.5, 0.25: the rates differ. "), "{text}");
    // Not measured, not shown.
    assert!(!text.contains("cub_scan"), "{text}");
}

#[test]
fn a_difference_in_kind_with_a_cause_is_no_alarm() {
    let mut results = results();
    results.rates.push(rated("cub_scan", "f1_f2_fence", Model::StoreBuffer, [1000, 999, 998, 997]));
    assert_eq!(alarms(&results), Vec::<String>::new());
    let text = section(&results, Model::StoreBuffer);
    assert!(
        text.contains("- **cub_scan f1_f2_fence** at p_w 0.75, 0.5, 0.25: ours fails, the paper's doesn't. "),
        "{text}"
    );
    assert!(!text.contains("Unexplained"), "{text}");
}

#[test]
fn a_difference_in_kind_without_a_cause_is_one() {
    let mut results = results();
    results.rates.push(rated("cbe_dot", "1_fence", Model::Bugaroo, [0, 0, 0, 1]));
    let alarms = alarms(&results);
    let [only] = alarms.as_slice() else { panic!("{alarms:?}") };
    assert_eq!(
        only,
        "bugaroo: **cbe_dot 1_fence** at p_w 0.25: ours fails, the paper's doesn't. **Unexplained.**"
    );
}

#[test]
fn a_correct_variant_that_fails_under_the_sound_model_is_one() {
    let mut results = results();
    results.rates.push(rated("kmeans", "original", Model::StoreBuffer, [2, 0, 0, 1]));
    let alarms = alarms(&results);
    assert_eq!(alarms.len(), 2, "{alarms:?}");
    assert_eq!(alarms[1], "store-buffer: kmeans is correct, but failed in 3 trials");
}

#[test]
fn rows_with_the_same_cause_stand_together() {
    let mut results = results();
    results.rates.push(rated("cub_scan", "f1_f2_fence", Model::StoreBuffer, [1000; 4]));
    results.rates.push(rated("cub_scan", "f1_f3_fence", Model::StoreBuffer, [1000; 4]));
    let text = section(&results, Model::StoreBuffer);
    let line =
        "- **cub_scan f1_f2_fence** at p_w 0.75, 0.5, 0.25; **cub_scan f1_f3_fence** at p_w 0.25: ours fails";
    assert!(text.contains(line), "{text}");
}
