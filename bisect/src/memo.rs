//! Trials that were run are not run again: within one search, and, over the journal, in a search that
//! was cut off and goes on.
//!
//! What a caller gets depends on the trials' outcomes alone, not on which of them were known: a search
//! over the journal asks the same questions and comes to the same answer.

use std::cell::{Cell, RefCell};

use bugaroo_harness::{Error, Variation};

use crate::journal::Journal;
use crate::outcomes::{OutcomesByTrial, key};
use crate::trials::{LookedAt, Shown, TrialTally, Trials};

/// Trials with a memory.
pub struct Memo<'a, T> {
    inner: &'a T,
    known: RefCell<OutcomesByTrial>,
    journal: RefCell<Option<Journal>>,
    ran: Cell<u64>,
}

impl<'a, T: Trials> Memo<'a, T> {
    /// Trials of which these are known; those that run are written to the journal.
    pub fn new(inner: &'a T, known: OutcomesByTrial, journal: Option<Journal>) -> Self {
        Self { inner, known: RefCell::new(known), journal: RefCell::new(journal), ran: Cell::new(0) }
    }

    /// How many trials were run, and not known.
    pub fn ran(&self) -> u64 {
        self.ran.get()
    }

    /// Runs one trial again with its conflicts looked for; it is not remembered.
    ///
    /// # Errors
    /// When it cannot be run at all.
    pub async fn look(&self, variation: &Variation, index: u64) -> Result<LookedAt, Error> {
        self.inner.look(variation, index).await
    }

    /// The outcomes of these trials; with `until_failure` those up to the first that failed, included.
    ///
    /// # Errors
    /// When trials cannot be run, or the journal cannot be written.
    pub async fn run(
        &self,
        variation: &Variation,
        mut indices: Vec<u64>,
        until_failure: bool,
    ) -> Result<TrialTally, Error> {
        let key = key(variation);
        if until_failure {
            let known = self.known.borrow();
            let fails = |index: &u64| {
                known
                    .get(&key)
                    .and_then(|known| known.get(index))
                    .is_some_and(|shown| shown.outcome.is_failure())
            };
            if let Some(first) = indices.iter().position(fails) {
                indices.truncate(first + 1);
            }
        }
        let unknown: Vec<u64> = {
            let known = self.known.borrow();
            let is_known = |index: &u64| known.get(&key).is_some_and(|known| known.contains_key(index));
            indices.iter().copied().filter(|index| !is_known(index)).collect()
        };
        if !unknown.is_empty() {
            let mut ended = |index, shown| {
                if let Some(journal) = self.journal.borrow_mut().as_mut() {
                    journal.append(&key, variation, index, shown)?;
                }
                self.known.borrow_mut().entry(key.clone()).or_default().insert(index, shown);
                self.ran.set(self.ran.get() + 1);
                Ok(())
            };
            self.inner.run(variation, unknown, until_failure, &mut ended).await?;
        }
        let known = self.known.borrow();
        let mut tally = TrialTally::default();
        let Some(known) = known.get(&key) else { return Ok(tally) };
        for index in indices {
            // A trial that did not run stands behind one that failed.
            let Some(Shown { outcome, forgot }) = known.get(&index).copied() else { break };
            if !outcome.tells() {
                tally.untold.push(index);
                continue;
            }
            tally.trials += 1;
            tally.forgetful += u64::from(forgot && !outcome.is_failure());
            if outcome.is_failure() {
                tally.failing.push(index);
                if until_failure {
                    break;
                }
            }
        }
        Ok(tally)
    }
}

#[cfg(test)]
mod tests;
