use std::time::Duration;

use super::{CellTurn, FLOOR, KNOWN, Unit, round};

fn unit(done: u64, failures: u64) -> Unit {
    Unit {
        program: 0,
        cell: 0,
        done,
        most: None,
        failures,
        spent: Duration::ZERO,
        budget: None,
        failed_before: true,
        changed: false,
        open: true,
    }
}

fn seconds(turns: &[CellTurn]) -> Vec<f64> {
    turns.iter().map(|turn| turn.time.unwrap().as_secs_f64()).collect()
}

#[test]
fn without_a_budget_each_cell_runs_its_trials() {
    let units = [Unit { most: Some(10), ..unit(4, 0) }, Unit { most: Some(10), ..unit(10, 0) }];
    assert_eq!(round(&units, None), [CellTurn { unit: 0, trials: None, time: None }]);
}

#[test]
fn each_cell_gets_a_floor_first() {
    let units = [unit(FLOOR, 0), unit(0, 0)];
    let turns = round(&units, Some(Duration::from_secs(100)));
    assert_eq!(turns.iter().map(|turn| (turn.unit, turn.trials)).collect::<Vec<_>>(), [(1, Some(FLOOR))]);
}

#[test]
fn time_goes_to_what_is_new_and_rare() {
    let new = Unit { failed_before: false, ..unit(100, 1) };
    let changed = Unit { changed: true, ..unit(100, 0) };
    let units = [unit(100, 0), unit(100, 1), new, unit(100, KNOWN), changed];
    let times = seconds(&round(&units, Some(Duration::from_secs(400))));
    let ratio = |at: usize| (times[at] / times[0] * 100.0).round() / 100.0;
    assert_eq!((1..5).map(ratio).collect::<Vec<_>>(), [2.0, 4.0, 0.1, 2.0]);
    assert!((times.iter().sum::<f64>() - 100.0).abs() < 1e-6);
}

#[test]
fn a_round_ends_with_the_budget() {
    let turns = round(&[unit(100, 0)], Some(Duration::from_secs(2)));
    assert_eq!(seconds(&turns), [2.0]);
    assert!(round(&[unit(100, 0)], Some(Duration::ZERO)).is_empty());
    assert!(round(&[Unit { open: false, ..unit(0, 0) }], Some(Duration::from_secs(9))).is_empty());
}

#[test]
fn a_cell_with_time_of_its_own_keeps_to_it() {
    let own = Unit { budget: Some(Duration::from_secs(10)), spent: Duration::from_secs(4), ..unit(5, 0) };
    assert_eq!(seconds(&round(std::slice::from_ref(&own), None)), [6.0]);
    assert!(Unit { spent: Duration::from_secs(10), ..own }.is_done());
}
