//! Why a text names no oracle.

/// The text names no oracle.
#[derive(Debug, thiserror::Error)]
pub enum ParseOracleError {
    /// Not one of these.
    #[error("'{0}' is no oracle: exit, reference, memory, stdout:REGEX, cmd:CMD, none and race are")]
    Unknown(String),
    /// `cmd:` without a command.
    #[error("cmd: needs a command after the colon")]
    NoCommand,
    /// Not a regular expression.
    #[error("{0}")]
    Regex(#[from] regex::Error),
    /// It compares no outputs.
    #[error(
        "ignored lines and a tolerance are for the oracle reference; {0} compares no outputs with another"
    )]
    ComparesNothing(String),
    /// No share of a number.
    #[error("a tolerance of {0} is not between 0 and 1")]
    Tolerance(f64),
}
