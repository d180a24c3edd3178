//! In what our failures and the paper's differ.

use crate::results::Cell;

/// Who fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Ours fails, the paper's doesn't.
    OursAlone,
    /// The paper's fails, ours doesn't.
    PapersAlone,
    /// Both fail, but the interval of our rate excludes the paper's.
    Size,
}

impl Kind {
    /// Of one cell, with the paper's rate; None where the two agree.
    pub fn of(cell: &Cell, papers: f64) -> Option<Self> {
        let [low, high] = cell.ci95;
        match (cell.failures > 0, papers > 0.0) {
            (true, false) => Some(Kind::OursAlone),
            (false, true) => (high < papers).then_some(Kind::PapersAlone),
            // The paper's 1 is what it prints of 1000 failures in 1000.
            (true, true) => (papers < low || papers > high).then_some(Kind::Size),
            (false, false) => None,
        }
    }
}
