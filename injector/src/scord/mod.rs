//! ScoRD: the module with code that looks for scoped races while it runs.
//!
//! Source: Kamath, George, Basu: "ScoRD: A Scoped Race Detector for GPUs" (ISCA'20). The detector (`bugaroo-device-handlers`, `scord.cu`)
//! is merged into the module, and called before loads, stores and atomics of global and generic memory, behind compare-and-swaps, of which
//! it has to know whether they have written, before fences, before and behind barriers of blocks, and where threads begin and end.
//! A guarded instruction is looked at for the lanes alone for which its guard holds.
//!
//! Where it departs: the paper's detector is hardware beside the caches, and this is PTX. Accesses of shared memory are not looked at, as
//! in the paper.
//!
//! What it does not know, it names, and does not look at kernels that reach it, as the log does ([`crate::logging`]), of which it has its
//! places. It does not know calls of `malloc` and `free`, either: whose memory comes and goes within a grid would be taken for the same.

pub(crate) mod names;
pub mod passes;
pub(crate) mod word;

pub use word::{fences, locks};

use crate::error::{self, InstrumentError};
use crate::kits::{Pass, apply};
use crate::logging::{Loads, Log, LogOptions, Logged, LoggingError, Looks, logged};
use passes::PASSES;

/// An access is looked at before it is done; branches do not matter.
const OPTIONS: LogOptions = LogOptions { loads: Loads::Before, branches: false, prune: false };
/// The kit.
const SCORD: Looks = Looks { name: "ScoRD", harmless: &["vprintf", "__assertfail"] };

/// Makes a module in which ScoRD looks at accesses. A place is known by the number of its point, which is half that of
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
    let log = SCORD.look(&module, OPTIONS)?;
    let edited = apply((&module, source), &log, passes)?;
    Ok((logged(edited, &log), log))
}
