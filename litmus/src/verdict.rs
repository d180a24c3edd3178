//! What was seen, held against what is allowed and against the test's condition.

use std::collections::BTreeSet;

use crate::condition::Condition;
use crate::key::OutcomeKey;
use crate::outcomes::{ConditionTarget, KnownOutcomes};
use crate::run::SeenOutcomes;
use crate::test::Test;

/// A final state that was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FinalState {
    /// Values of the keys.
    pub values: Vec<u64>,
    /// In so many trials.
    pub count: u64,
    /// The first of them, from 0.
    pub first: u64,
    /// Whether the table allows it; None without a table.
    pub allowed: Option<bool>,
    /// Whether the table says that no interleaving gives it; None without a table.
    pub weak: Option<bool>,
    /// Whether the condition's expression holds; None without a condition, or when the table's keys do not
    /// tell.
    pub fulfils: Option<bool>,
}

/// What is to be said about a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestVerdict {
    /// Trials that were run.
    pub trials: u64,
    /// The states, in the order of their values.
    pub states: Vec<FinalState>,
    /// States that the table allows; None without a table.
    pub allowed: Option<usize>,
    /// What the table says of the test's own condition.
    pub target: Option<ConditionTarget>,
    /// Trials with a state that the table forbids.
    pub forbidden: u64,
    /// The first of them.
    pub first_forbidden: Option<u64>,
    /// Trials that fulfil the condition's expression.
    pub fulfilled: u64,
    /// The first of them.
    pub first_fulfilled: Option<u64>,
    /// The first trial that fails the condition (`~exists`, `forall`).
    pub first_failed: Option<u64>,
}

/// The keys that a test's states are told by: the table's, and behind them what else the condition speaks of.
///
/// # Errors
/// When the test has no such register or location.
pub fn keys(test: &Test, known: Option<&KnownOutcomes>) -> Result<Vec<OutcomeKey>, String> {
    let Some(known) = known else { return Ok(OutcomeKey::defaults(test)) };
    let key = |name: &String| {
        OutcomeKey::named(name, test)
            .ok_or_else(|| format!("the table speaks of {name}, which the test does not have"))
    };
    let mut keys: Vec<OutcomeKey> = known.keys.iter().map(key).collect::<Result<_, _>>()?;
    let condition = test.condition.iter().flat_map(|condition| condition.expression.keys());
    for key in condition {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    Ok(keys)
}

impl TestVerdict {
    /// Compares. The keys are those of [`keys`].
    pub fn new(
        test: &Test,
        keys: &[OutcomeKey],
        known: Option<&KnownOutcomes>,
        seen: &SeenOutcomes,
    ) -> TestVerdict {
        let width = known.map_or(keys.len(), |known| known.keys.len());
        let allowed: Option<BTreeSet<&[u64]>> =
            known.map(|known| known.allowed.iter().map(Vec::as_slice).collect());
        let weak: Option<BTreeSet<&[u64]>> =
            known.map(|known| known.weak.iter().map(Vec::as_slice).collect());
        let mut verdict = TestVerdict {
            trials: seen.trials,
            states: Vec::new(),
            allowed: allowed.as_ref().map(BTreeSet::len),
            target: known.and_then(|known| known.target),
            forbidden: 0,
            first_forbidden: None,
            fulfilled: 0,
            first_fulfilled: None,
            first_failed: None,
        };
        let earlier = |old: Option<u64>, new: u64| Some(old.map_or(new, |old| old.min(new)));
        for (values, sighting) in &seen.states {
            let told = &values[..width];
            let state = FinalState {
                values: values.clone(),
                count: sighting.count,
                first: sighting.first,
                allowed: allowed.as_ref().map(|allowed| allowed.contains(told)),
                weak: weak.as_ref().map(|weak| weak.contains(told)),
                fulfils: test.condition.as_ref().map(|condition| holds(condition, keys, values)),
            };
            if state.allowed == Some(false) {
                verdict.forbidden += state.count;
                verdict.first_forbidden = earlier(verdict.first_forbidden, state.first);
            }
            if state.fulfils == Some(true) {
                verdict.fulfilled += state.count;
                verdict.first_fulfilled = earlier(verdict.first_fulfilled, state.first);
            }
            if let (Some(condition), Some(fulfils)) = (&test.condition, state.fulfils)
                && condition.quantifier.is_failed_by(fulfils)
            {
                verdict.first_failed = earlier(verdict.first_failed, state.first);
            }
            verdict.states.push(state);
        }
        verdict
    }

    /// Whether something was seen that must not be.
    pub fn fails(&self) -> bool {
        self.forbidden > 0 || self.first_failed.is_some()
    }

    /// Weak outcomes that were seen.
    pub fn weak_seen(&self) -> usize {
        self.states.iter().filter(|state| state.weak == Some(true)).count()
    }
}

fn holds(condition: &Condition, keys: &[OutcomeKey], values: &[u64]) -> bool {
    let value = |key: OutcomeKey| {
        let at = keys.iter().position(|one| *one == key);
        // The keys contain the condition's.
        at.map_or(0, |at| values[at])
    };
    condition.expression.holds(&value)
}
