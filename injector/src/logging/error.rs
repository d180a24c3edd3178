//! Why a module cannot be logged.

use crate::error::InstrumentError;

/// Why a module cannot be logged.
#[derive(Debug, thiserror::Error)]
pub enum LoggingError {
    /// It cannot be instrumented at all.
    #[error(transparent)]
    Instrument(#[from] InstrumentError),
    /// Something that is not told.
    #[error("{by} on the device does not know `{instruction}` (line {line}, in {function})")]
    Unsupported {
        /// Which kit.
        by: &'static str,
        /// The instruction.
        instruction: String,
        /// Its line.
        line: u32,
        /// The function.
        function: String,
    },
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
