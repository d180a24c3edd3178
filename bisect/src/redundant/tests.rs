//! Fences that can go, alone and together.

use super::subsets;
use crate::model::{Coins, Own, Program, report};
use crate::report::SearchReport;

fn program(seed: u64, own: Vec<Own>) -> SearchReport {
    let mut program = Program::new(seed, Coins::Fresh, vec![]);
    program.own = own;
    report(&program)
}

fn redundant(report: &SearchReport) -> Vec<u32> {
    report.redundant.iter().map(|fence| fence.site.index).collect()
}

fn sets(report: &SearchReport) -> Vec<Vec<u32>> {
    report.minimal_sets.iter().map(|set| set.iter().map(|fence| fence.site.index).collect()).collect()
}

#[test]
fn needed_fences_stay_however_rare_their_failure() {
    for (seed, rate) in [(1, 0.9), (2, 0.05), (3, 0.003)] {
        let report = program(seed, vec![Own { keep: vec![vec![81, 83]], rate }]);
        assert_eq!(redundant(&report), [80, 82], "at rate {rate}");
        assert_eq!(report.redundant_together, Some(true));
        assert!(report.minimal_sets.is_empty());
        assert!(report.redundant.iter().all(|fence| fence.trials >= 2301));
        assert!(report.caveats.iter().any(|caveat| caveat.contains("missing acquire")));
    }
}

#[test]
fn fences_that_can_all_go_take_one_question() {
    let report = program(4, vec![]);
    assert_eq!(redundant(&report), [80, 81, 82, 83]);
    assert_eq!(report.redundant_together, Some(true));
    // It verifies the program, too; beside it, a short look at each fence, and one without delays.
    assert!(report.trials <= 2902 + 4 * 116 + 231, "{} trials", report.trials);
}

#[test]
fn of_two_that_stand_in_for_each_other_both_sets_are_named() {
    let own =
        vec![Own { keep: vec![vec![80]], rate: 0.7 }, Own { keep: vec![vec![81], vec![82]], rate: 0.1 }];
    let report = program(5, own);
    assert_eq!(redundant(&report), [81, 82, 83]);
    assert_eq!(report.redundant_together, Some(false));
    assert_eq!(sets(&report), [[80, 81], [80, 82]]);
    assert!(report.minimal_sets_complete);
}

#[test]
fn smallest_sets_may_have_several_fences() {
    let own = vec![
        Own { keep: vec![vec![80], vec![81]], rate: 0.3 },
        Own { keep: vec![vec![82], vec![83]], rate: 0.02 },
    ];
    let report = program(6, own);
    assert_eq!(sets(&report), [[80, 82], [80, 83], [81, 82], [81, 83]]);
    let own = vec![Own { keep: vec![vec![80], vec![81, 82], vec![82, 83]], rate: 0.3 }];
    assert_eq!(sets(&program(7, own)), [[80]]);
}

#[test]
fn subsets_are_all_there_in_order() {
    assert_eq!(subsets(4, 2).collect::<Vec<_>>(), [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]);
    assert_eq!(subsets(3, 3).collect::<Vec<_>>(), [[0, 1, 2]]);
    assert_eq!(subsets(3, 4).count(), 0);
    assert_eq!(subsets(6, 3).count(), 20);
}
