//! What trials hide that pass: their exit code is 0, but they print what no run without injection prints.
//!
//! Each batch of trials keeps what its own hide; a night adds them up, so that it does not matter how it was divided.

use std::collections::BTreeMap;

use bugaroo_harness::TrialRecord;
use bugaroo_harness::hidden::Hidden;
use serde::{Deserialize, Serialize};

/// Studies keep it under this name, with the cell and the first trial of the batch behind it.
pub const HIDES: &str = "hides ";

/// What some trials of a cell hide.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hides {
    /// The cell.
    pub cell: String,
    /// Those that print a line which tells of a failure.
    pub say_failure: u64,
    /// Others, which lack a line that all runs without injection print.
    pub differ: u64,
    /// The first of all these.
    pub first: u64,
    /// What that one hides.
    pub what: Hidden,
}

impl Hides {
    /// What a trial of the cell hides, if it does.
    pub fn of(cell: &str, record: &TrialRecord) -> Option<Hides> {
        let what = record.hides.clone()?;
        let says = u64::from(what.says.is_some());
        Some(Hides { cell: cell.to_owned(), say_failure: says, differ: 1 - says, first: record.trial, what })
    }

    /// Adds what other trials of the cell hide.
    pub fn merge(&mut self, other: Hides) {
        self.say_failure += other.say_failure;
        self.differ += other.differ;
        if other.first < self.first {
            (self.first, self.what) = (other.first, other.what);
        }
    }

    /// All of it in a line.
    fn line(&self) -> String {
        let Hides { cell, say_failure, differ, first, what } = self;
        let counted = |count: u64, what: &str| (count > 0).then(|| format!("{count} {what}"));
        let kinds = [
            counted(*say_failure, "print that something failed"),
            counted(*differ, "print something else than without injection"),
        ];
        let kinds: Vec<String> = kinds.into_iter().flatten().collect();
        let shown = match (&what.says, &what.lacks) {
            (Some(line), _) => format!("trial {first} prints: {line}"),
            (None, Some(line)) => format!("trial {first} lacks: {line}"),
            (None, None) => format!("trial {first} is the first"),
        };
        let cure = match &what.oracle {
            Some(oracle) => format!("to have such trials fail: oracle = {oracle:?}"),
            None => {
                "no oracle is proposed: none is known that the program passes without injection".to_owned()
            }
        };
        format!(
            "{cell}: of the trials that pass by their exit code, {}; {shown}; {cure}",
            kinds.join(", and ")
        )
    }
}

/// What batches of a program have kept, a line for each cell.
pub fn lines(batches: impl IntoIterator<Item = Hides>) -> Vec<String> {
    let mut cells: BTreeMap<String, Hides> = BTreeMap::new();
    for batch in batches {
        match cells.get_mut(&batch.cell) {
            Some(sum) => sum.merge(batch),
            None => drop(cells.insert(batch.cell.clone(), batch)),
        }
    }
    cells.values().map(Hides::line).collect()
}

#[cfg(test)]
mod tests;
