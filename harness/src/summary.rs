//! What a cell's trials come to.

use bugaroo_protocol::{Model, Scheduler, Variation};
use serde::{Serialize, Serializer, ser::SerializeMap};

use crate::hidden::Hidden;
use crate::interval::clopper_pearson;
use crate::outcome::Outcome;
use crate::record::TrialRecord;

/// How many trials had which outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcomes([u64; Outcome::ALL.len()]);

impl Outcomes {
    /// How many had this one.
    pub fn of(&self, outcome: Outcome) -> u64 {
        self.0[outcome as usize]
    }

    /// Trials.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Counts one more.
    pub fn add(&mut self, outcome: Outcome) {
        self.0[outcome as usize] += 1;
    }
}

impl Serialize for Outcomes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(Outcome::ALL.len()))?;
        for outcome in Outcome::ALL {
            map.serialize_entry(outcome.name(), &self.of(outcome))?;
        }
        map.end()
    }
}

/// The trials of one cell, summed up.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CellSummary {
    /// The model.
    #[serde(skip)]
    pub model: Model,
    /// Probability with which a store was delayed.
    pub pw: f64,
    /// Who ran next on the virtual GPU.
    pub scheduler: Scheduler,
    /// Trials that have ended.
    pub trials: u64,
    /// Those that failed. Slow and killed ones say nothing: they did neither pass nor fail.
    pub failures: u64,
    /// Their share of those that passed or failed; None where there are none.
    pub rate: Option<f64>,
    /// The 95 % Clopper–Pearson interval of the rate.
    pub ci95: [f64; 2],
    /// By outcome.
    pub outcomes: Outcomes,
    /// Index of the first trial that failed.
    pub first_failing_trial: Option<u64>,
    /// Its record.
    #[serde(skip)]
    pub first_failure: Option<TrialRecord>,
    /// Stores that were delayed, over all trials.
    #[serde(skip)]
    pub delayed_stores: u64,
    /// Trials in which model `ptx` forgot something for lack of memory, and how many writes it forgot in all of them.
    #[serde(skip_serializing_if = "ForgottenCount::is_none")]
    pub forgotten: ForgottenCount,
    /// Trials that pass by their exit code and print what runs without injection do not.
    #[serde(skip_serializing_if = "Hiding::is_none")]
    pub hiding: Hiding,
}

/// What a cell's passing trials hide.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Hiding {
    /// Trials that print a line which tells of a failure.
    pub say_failure: u64,
    /// Others, which lack a line that all runs without injection print.
    pub differ: u64,
    /// The first of all these trials.
    pub first: Option<u64>,
    /// What it hides.
    pub what: Option<Hidden>,
}

impl Hiding {
    /// Nothing is hidden.
    pub fn is_none(&self) -> bool {
        self.first.is_none()
    }

    fn add(&mut self, trial: u64, hidden: &Hidden) {
        self.say_failure += u64::from(hidden.says.is_some());
        self.differ += u64::from(hidden.says.is_none());
        if self.first.is_none_or(|first| trial < first) {
            self.first = Some(trial);
            self.what = Some(hidden.clone());
        }
    }
}

/// What was forgotten in a cell's trials: their passing says less.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ForgottenCount {
    /// Trials.
    pub trials: u64,
    /// Writes.
    pub writes: u64,
}

impl ForgottenCount {
    /// Nothing was.
    pub fn is_none(&self) -> bool {
        self.trials == 0
    }
}

impl CellSummary {
    /// Sums up the trials of a cell.
    pub fn new<'a>(variation: &Variation, records: impl IntoIterator<Item = &'a TrialRecord>) -> Self {
        let Variation { model, pw, scheduler, .. } = *variation;
        let mut outcomes = Outcomes::default();
        let mut first: Option<&TrialRecord> = None;
        let mut delayed_stores = 0;
        let mut forgotten = ForgottenCount::default();
        let mut hiding = Hiding::default();
        for record in records {
            outcomes.add(record.outcome);
            delayed_stores += record.delayed_stores;
            forgotten.trials += u64::from(record.forgotten > 0);
            forgotten.writes += record.forgotten;
            if let Some(hidden) = &record.hides {
                hiding.add(record.trial, hidden);
            }
            if record.outcome.is_failure() && first.is_none_or(|first| record.trial < first.trial) {
                first = Some(record);
            }
        }
        let trials = outcomes.total();
        let told: u64 = Outcome::ALL
            .into_iter()
            .filter(|outcome| outcome.tells())
            .map(|outcome| outcomes.of(outcome))
            .sum();
        let failures = told - outcomes.of(Outcome::Pass);
        Self {
            model,
            pw,
            scheduler,
            trials,
            failures,
            rate: (told > 0).then(|| failures as f64 / told as f64),
            ci95: clopper_pearson(failures, told),
            outcomes,
            first_failing_trial: first.map(|record| record.trial),
            first_failure: first.cloned(),
            delayed_stores,
            forgotten,
            hiding,
        }
    }
}

#[cfg(test)]
mod tests;
