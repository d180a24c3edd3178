//! What is known of a night while it runs.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use super::batch::Known;
use super::ready::Ready;
use crate::explore::Explorer;
use crate::history::ProgramFacts;

/// What is known of the programs, by number.
#[derive(Default)]
pub(super) struct Programs {
    pub ready: BTreeMap<usize, Ready>,
    /// Programs that were made ready, or could not be.
    pub tried: BTreeSet<usize>,
    pub facts: BTreeMap<usize, ProgramFacts>,
    /// What explores, by program.
    pub explorers: BTreeMap<usize, Explorer>,
    /// SHA-256 of their files in the nights before, by name.
    pub before: BTreeMap<String, String>,
}

/// How the cells get on, by program and cell.
#[derive(Default)]
pub(super) struct Cells {
    pub known: BTreeMap<(usize, usize), Known>,
    /// Trials of a cell in a second, as far as seen.
    pub pace: BTreeMap<(usize, usize), f64>,
}

/// The time that the night takes.
pub(super) struct Spending {
    started: Instant,
    /// Time that earlier starts of this night have spent.
    pub earlier: Duration,
}

impl Spending {
    /// It begins now.
    pub fn begin() -> Spending {
        Spending { started: Instant::now(), earlier: Duration::ZERO }
    }

    /// All that it has taken so far.
    pub fn spent(&self) -> Duration {
        self.started.elapsed() + self.earlier
    }
}
