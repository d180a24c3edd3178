//! Which cell gets time: the rule by which a budget is spent.
//!
//! Cells with a number of trials run these, in order. Under a budget, each cell first gets [`FLOOR`] trials. Then, in rounds that
//! each spend a part of what is left, a cell's share of the time is its weight:
//!
//! | cell | weight |
//! |---|---|
//! | fails tonight, and in no night before | 4, until [`KNOWN`] failures are seen |
//! | has failed, fewer than [`KNOWN`] times tonight | 2: the rate of a rare failure takes many trials |
//! | has not failed | 1 |
//! | has failed [`KNOWN`] times or more | 0.1: its rate is known |
//!
//! and twice that for a program whose file has changed since the last night. Nothing depends on the order of cells.

use std::time::Duration;

/// Trials that each cell gets first.
pub const FLOOR: u64 = 20;
/// Failures after which a rate is known well enough.
pub const KNOWN: u64 = 20;
/// Part of the time left that a round spends.
const PART: f64 = 0.25;
/// Rounds spend no less: cells change with each turn, and a program has to be started again.
const LEAST: Duration = Duration::from_secs(5);

/// How much of a cell is done, and is to be done.
#[derive(Clone, Debug, PartialEq)]
pub struct Unit {
    /// Place of its program in the plan.
    pub program: usize,
    /// Place of the cell in the program.
    pub cell: usize,
    /// Trials of this shard that are done, in order.
    pub done: u64,
    /// Trials of this shard at most; None: no limit.
    pub most: Option<u64>,
    /// Failures among them.
    pub failures: u64,
    /// Time that they took.
    pub spent: Duration,
    /// Its own time; None: a share of the night's.
    pub budget: Option<Duration>,
    /// Whether nights before have seen it fail.
    pub failed_before: bool,
    /// Whether its program's file has changed since the last night.
    pub changed: bool,
    /// Whether it can be run.
    pub open: bool,
}

impl Unit {
    /// Whether anything is left to be done.
    pub fn is_done(&self) -> bool {
        !self.open
            || self.most.is_some_and(|most| self.done >= most)
            || self.budget.is_some_and(|budget| self.spent >= budget)
    }

    fn weight(&self) -> f64 {
        let by_failures = match self.failures {
            0 => 1.0,
            KNOWN.. => 0.1,
            _ if !self.failed_before => 4.0,
            _ => 2.0,
        };
        if self.changed { 2.0 * by_failures } else { by_failures }
    }
}

/// What a cell is given next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CellTurn {
    /// Place among the units.
    pub unit: usize,
    /// Trials at most; None: its limit.
    pub trials: Option<u64>,
    /// Time at most; None: no limit.
    pub time: Option<Duration>,
}

/// The next round: empty when all is done. `left` is what is left of the night's budget, None where it has none.
pub fn round(units: &[Unit], left: Option<Duration>) -> Vec<CellTurn> {
    let open: Vec<usize> = (0..units.len()).filter(|&at| !units[at].is_done()).collect();
    let Some(left) = left else {
        let turn = |&unit: &usize| CellTurn {
            unit,
            trials: None,
            time: units[unit].budget.map(|budget| budget.saturating_sub(units[unit].spent)),
        };
        return open.iter().map(turn).collect();
    };
    if left.is_zero() {
        return Vec::new();
    }
    let young = |at: &&usize| units[**at].done < FLOOR;
    let floors: Vec<CellTurn> = open
        .iter()
        .filter(young)
        // A first trial is run even where it takes longer than the cell's share.
        .map(|&unit| CellTurn {
            unit,
            trials: Some(FLOOR - units[unit].done),
            time: Some(left.div_f64(2.0 * open.len() as f64)),
        })
        .collect();
    let first = open.iter().any(|&at| units[at].done == 0);
    if !floors.is_empty() && first {
        return floors;
    }
    let all: f64 = open.iter().map(|&at| units[at].weight()).sum();
    let round = left.mul_f64(PART).max(LEAST).min(left);
    let turn = |&unit: &usize| CellTurn {
        unit,
        trials: None,
        time: Some(round.mul_f64(units[unit].weight() / all)),
    };
    open.iter().map(turn).collect()
}

#[cfg(test)]
mod tests;
