//! Why a module cannot be logged.

use crate::error::InstrumentError;

/// Why a module cannot be logged.
#[derive(Debug, thiserror::Error)]
pub enum LoggingError {
    /// It cannot be instrumented at all.
    #[error(transparent)]
    Instrument(#[from] InstrumentError),
    /// Something that is not told, where all of the module is asked for.
    #[error(transparent)]
    Unsupported(#[from] Unknown),
    /// Device code needs independent threads, `match` and scoped accesses.
    #[error(
        "{by} on the device needs compute capability 7.0 or later, and PTX 6.3; the module is for {target}"
    )]
    TooOld {
        /// Which kit.
        by: &'static str,
        /// What it is for.
        target: String,
    },
}

/// Something that is not told.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{by} on the device does not know `{instruction}` (line {line}, in {function})")]
pub struct Unknown {
    /// Which kit.
    pub by: &'static str,
    /// The instruction.
    pub instruction: String,
    /// Its line.
    pub line: u32,
    /// The function.
    pub function: String,
}
