//! What oracles answer.

/// What an oracle says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OracleVerdict {
    /// The trial did right.
    Content,
    /// It did not, and why, in one line.
    Discontent(String),
}
