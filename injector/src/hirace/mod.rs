//! HiRace: the module with code that looks for races while it runs.
//!
//! Source: Jacobson, Burtscher, Gopalakrishnan: "HiRace: Accurate and Fast Source-Level Race Checking of GPU Programs" (SC'24). The
//! detector (`bugaroo-device-handlers`, `hirace.cu`) is merged into the module, and called before loads, stores and atomics of global,
//! shared and generic memory, before and behind barriers, and where threads begin and end. A guarded instruction is looked at
//! for the lanes alone for which its guard holds.
//!
//! Where it departs: the paper instruments the source, and this PTX; what is an element then, the detector's head says.
//!
//! What it does not know, it names, and does not look at kernels that reach it, as the log does ([`crate::logging`]), of which it has its
//! places. It does not know calls of `malloc` and `free`, either: whose memory comes and goes within a grid would be taken for the same.

pub(crate) mod names;
pub mod passes;
pub(crate) mod word;

use crate::error::{self, InstrumentError};
use crate::kits::{Pass, apply};
use crate::logging::{Loads, Log, LogOptions, Logged, LoggingError, Looks, logged};
use passes::PASSES;

/// An access is looked at before it is done; branches do not matter.
const OPTIONS: LogOptions = LogOptions { loads: Loads::Before, branches: false, prune: false };
/// The kit.
const HIRACE: Looks = Looks { name: "HiRace", harmless: &["vprintf", "__assertfail"] };

/// Makes a module in which HiRace looks at accesses. A place is known by the number of its point, which is half that of
/// [`Logged::places`].
///
/// # Errors
/// As [`crate::logging::log`].
pub fn detect(source: &str) -> Result<Logged, LoggingError> {
    detect_with(source, &PASSES).map(|(logged, _)| logged)
}

/// Does some of the passes: the first few of [`PASSES`].
///
/// # Errors
/// As [`detect`].
pub fn detect_with(source: &str, passes: &[Pass<Log>]) -> Result<(Logged, Log), LoggingError> {
    let module = bugaroo_ptx::parse(source).map_err(InstrumentError::from)?;
    error::check(&module)?;
    let log = HIRACE.look(&module, OPTIONS)?;
    let edited = apply((&module, source), &log, passes)?;
    Ok((logged(edited, &log), log))
}
