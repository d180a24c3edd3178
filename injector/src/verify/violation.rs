//! What does not hold.

/// An invariant that does not hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{rule}: {what}")]
pub struct Violation {
    /// The pass, or the general rule.
    pub rule: &'static str,
    /// Where, and what was found.
    pub what: String,
}
