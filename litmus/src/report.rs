//! What came out of many tests, in the form that `--format json` prints.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Serialize;

use crate::case::{Case, Skipped};
use crate::condition::Quantifier;
use crate::model::TestModel;
use crate::options::Options;
use crate::outcomes::ConditionTarget;
use crate::schedule::Strategy;
use crate::verdict::TestVerdict;

/// What came out.
#[derive(Clone, Debug, Serialize)]
pub struct LitmusReport {
    /// Version of this form.
    pub schema: u32,
    /// Which memory behaviour was shown.
    pub model: TestModel,
    /// Stores were delayed by injected handlers.
    pub handlers: bool,
    /// Probability with which loads read older values, under model `ptx`.
    pub pr: Option<f64>,
    /// Who ran next.
    pub scheduler: Strategy,
    /// What was random.
    pub seed: u64,
    /// Probabilities with which stores were delayed.
    pub pw: Vec<f64>,
    /// All trials by all time.
    pub trials_per_second: f64,
    /// The tests, in the order of their paths; of an interrupted run those that came to their turn.
    pub tests: Vec<TestReport>,
    /// Tests that were not run.
    pub skipped: Vec<Skipped>,
    /// All together.
    pub totals: Totals,
    /// The same by the first part of tests' names.
    pub shapes: BTreeMap<String, Totals>,
}

/// What came out of a test.
#[derive(Clone, Debug, Serialize)]
pub struct TestReport {
    /// Its name.
    pub name: String,
    /// Its file.
    pub path: PathBuf,
    /// First part of its name.
    pub shape: String,
    /// Trials that were run.
    pub trials: u64,
    /// What the values are of: registers and locations.
    pub keys: Vec<String>,
    /// Final states that were seen, in the order of their values.
    pub outcomes: Vec<OutcomeReport>,
    /// Trials with a state that the table forbids.
    pub forbidden_seen: u64,
    /// The first of them, from 0.
    pub first_forbidden_trial: Option<u64>,
    /// States that the table allows; none without a table.
    pub allowed_outcomes: Option<usize>,
    /// Weak states that the table allows.
    pub weak_outcomes: Option<usize>,
    /// Weak states that were seen.
    pub weak_seen: usize,
    /// What the table says of the test's own condition.
    pub target: Option<ConditionTarget>,
    /// Trials that fulfil the condition's expression.
    pub target_seen: u64,
    /// The first of them, from 0.
    pub target_first_trial: Option<u64>,
    /// What the condition asks: `exists`, `~exists` or `forall`.
    pub quantifier: Option<&'static str>,
    /// The first trial that fails it.
    pub first_failed_trial: Option<u64>,
}

/// A final state that was seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OutcomeReport {
    /// Values of the keys.
    pub values: Vec<u64>,
    /// In so many trials.
    pub count: u64,
    /// Whether the table allows it; none without a table.
    pub allowed: Option<bool>,
    /// Whether the table says that no interleaving gives it.
    pub weak: Option<bool>,
    /// The first trial, from 0.
    pub first_trial: u64,
}

/// Counts over tests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Totals {
    /// Tests that were run.
    pub tests: u64,
    /// Their trials.
    pub trials: u64,
    /// Trials with a forbidden state.
    pub forbidden_seen: u64,
    /// Tests that show one.
    pub tests_with_forbidden: u64,
    /// Tests whose condition (`~exists`, `forall`) fails.
    pub conditions_failed: u64,
    /// Tests whose own condition is weak and allowed.
    pub weak_targets: u64,
    /// Those that showed it.
    pub weak_targets_shown: u64,
    /// The median of the trials that showed it first, from 0.
    pub median_first_trial: Option<u64>,
    #[serde(skip)]
    first: Vec<u64>,
}

impl TestReport {
    pub(crate) fn new(case: &Case, verdict: &TestVerdict) -> TestReport {
        let outcomes = verdict.states.iter().map(|state| OutcomeReport {
            values: state.values.clone(),
            count: state.count,
            allowed: state.allowed,
            weak: state.weak,
            first_trial: state.first,
        });
        TestReport {
            name: case.test.name.clone(),
            path: case.path.clone(),
            shape: case.test.shape().to_owned(),
            trials: verdict.trials,
            keys: case.keys.iter().map(|key| key.name(&case.test)).collect(),
            outcomes: outcomes.collect(),
            forbidden_seen: verdict.forbidden,
            first_forbidden_trial: verdict.first_forbidden,
            allowed_outcomes: verdict.allowed,
            weak_outcomes: case.known.as_ref().map(|known| known.weak.len()),
            weak_seen: verdict.weak_seen(),
            target: verdict.target,
            target_seen: verdict.fulfilled,
            target_first_trial: verdict.first_fulfilled,
            quantifier: case.test.condition.as_ref().map(|condition| condition.quantifier.name()),
            first_failed_trial: verdict.first_failed,
        }
    }

    /// Whether something was seen that must not be.
    pub fn fails(&self) -> bool {
        self.forbidden_seen > 0 || self.first_failed_trial.is_some()
    }

    /// The first trial with something that must not be.
    pub fn first_failing_trial(&self) -> Option<u64> {
        self.first_forbidden_trial.into_iter().chain(self.first_failed_trial).min()
    }

    /// Whether it only asks (`exists`), and no table answers.
    pub fn is_open(&self) -> bool {
        self.allowed_outcomes.is_none() && self.quantifier.is_none_or(|q| q == Quantifier::Exists.name())
    }
}

impl Totals {
    fn add(&mut self, test: &TestReport) {
        self.tests += 1;
        self.trials += test.trials;
        self.forbidden_seen += test.forbidden_seen;
        self.tests_with_forbidden += u64::from(test.forbidden_seen > 0);
        self.conditions_failed += u64::from(test.first_failed_trial.is_some());
        if test.target == Some(ConditionTarget::AllowedWeak) {
            self.weak_targets += 1;
            self.weak_targets_shown += u64::from(test.target_first_trial.is_some());
            self.first.extend(test.target_first_trial);
        }
    }

    fn finish(&mut self) {
        self.first.sort_unstable();
        self.median_first_trial = self.first.get(self.first.len() / 2).copied();
    }
}

impl LitmusReport {
    pub(crate) fn new(
        tests: Vec<TestReport>,
        skipped: Vec<Skipped>,
        options: &Options,
        seconds: f64,
    ) -> LitmusReport {
        let mut totals = Totals::default();
        let mut shapes: BTreeMap<String, Totals> = BTreeMap::new();
        for test in &tests {
            totals.add(test);
            shapes.entry(test.shape.clone()).or_default().add(test);
        }
        totals.finish();
        shapes.values_mut().for_each(Totals::finish);
        LitmusReport {
            schema: 1,
            model: options.model,
            handlers: options.model.handlers().is_some(),
            pr: (options.model == TestModel::Ptx).then_some(options.pr),
            scheduler: options.strategy,
            seed: options.seed,
            pw: options.pw.clone(),
            trials_per_second: if seconds > 0.0 { totals.trials as f64 / seconds } else { 0.0 },
            tests,
            skipped,
            totals,
            shapes,
        }
    }

    /// Whether something was seen that must not be.
    pub fn fails(&self) -> bool {
        self.tests.iter().any(TestReport::fails)
    }
}
