//! Conditions on final states: `exists (P1:r0 == 1 /\ x == 0)`.

use crate::key::OutcomeKey;

/// What a test asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Of how many final states.
    pub quantifier: Quantifier,
    /// What.
    pub expression: Expression,
}

/// Of how many final states a condition speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantifier {
    /// `exists`: whether there is one. Neither answer is a failure.
    Exists,
    /// `~exists`: there is none.
    NotExists,
    /// `forall`: all of them.
    Forall,
}

impl Quantifier {
    /// Whether a state that fulfils the expression, or doesn't, fails the condition.
    pub fn is_failed_by(self, fulfilled: bool) -> bool {
        match self {
            Quantifier::Exists => false,
            Quantifier::NotExists => fulfilled,
            Quantifier::Forall => !fulfilled,
        }
    }

    /// How it is written.
    pub fn name(self) -> &'static str {
        match self {
            Quantifier::Exists => "exists",
            Quantifier::NotExists => "~exists",
            Quantifier::Forall => "forall",
        }
    }
}

/// A proposition about a final state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expression {
    /// `true` or `false`
    Constant(bool),
    /// A register or location has this value.
    Equal(OutcomeKey, u64),
    /// All of them.
    And(Vec<Expression>),
    /// One of them.
    Or(Vec<Expression>),
    /// The opposite.
    Not(Box<Expression>),
}

impl Expression {
    /// Whether it holds in a state.
    pub fn holds(&self, value: &impl Fn(OutcomeKey) -> u64) -> bool {
        match self {
            Expression::Constant(constant) => *constant,
            Expression::Equal(key, wanted) => value(*key) == *wanted,
            Expression::And(parts) => parts.iter().all(|part| part.holds(value)),
            Expression::Or(parts) => parts.iter().any(|part| part.holds(value)),
            Expression::Not(part) => !part.holds(value),
        }
    }

    /// What it speaks of, in order, perhaps more than once.
    pub fn keys(&self) -> Vec<OutcomeKey> {
        match self {
            Expression::Constant(_) => Vec::new(),
            Expression::Equal(key, _) => vec![*key],
            Expression::And(parts) | Expression::Or(parts) => {
                parts.iter().flat_map(Expression::keys).collect()
            }
            Expression::Not(part) => part.keys(),
        }
    }
}
