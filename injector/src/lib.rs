//! PTX to PTX: instrumentation that routes stores through per-thread store buffers, and lets fences be
//! omitted or inserted, all decided at launch time by data.
//!
//! [`instrument`] parses a module, collects its sites once ([`collect_sites`]), lets every pass of
//! [`passes::PASSES`] add text around them, and applies it. The program's own bytes all stay, in order;
//! [`verify`] states that and the other invariants of the output, and runs after each pass in tests.
//! What the injected code calls, and what it means, is in `bugaroo-device-handlers`. That is one kit of several ([`kits`]).
//!
//! What this can miss: stores of instructions that the parser does not know (`cp.async`, `wmma.store`,
//! …) are never delayed; everything drains before them. Two addresses of the same memory (a second
//! mapping of the same physical memory, another CTA's view of distributed shared memory) are taken for
//! different memory.

pub mod access;
pub mod collect_sites;
mod emit;
mod error;
pub mod hirace;
pub mod kits;
pub mod logging;
mod looking;
pub mod passes;
mod plan;
mod scope;
pub mod scord;
mod source;
pub mod verify;

use bugaroo_protocol::Site;
use bugaroo_ptx::edit::LineMap;
use serde::{Deserialize, Serialize};

pub use error::InstrumentError;
pub use source::is_toolkit_header;

use crate::collect_sites::{SiteTable, collect_sites};
use crate::kits::{Pass, apply};
use crate::passes::PASSES;

/// An instrumented module.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Instrumented {
    /// The text.
    pub ptx: String,
    /// The sites of the original, by number; `module` is 0 in each.
    pub sites: Vec<Site>,
    /// Which line of the original each line of the text stems from; inserted lines count for the place
    /// they were inserted at.
    #[serde(with = "line_list")]
    pub lines: LineMap,
    /// Store sites that have a coin counter: what `Layout::new` wants to know.
    pub store_sites: u32,
}

/// A line map as a plain list of numbers.
mod line_list {
    use bugaroo_ptx::edit::LineMap;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(lines: &LineMap, serializer: S) -> Result<S::Ok, S::Error> {
        lines.lines().serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<LineMap, D::Error> {
        Vec::deserialize(deserializer).map(LineMap::from_lines)
    }
}

/// Instruments a module.
///
/// # Errors
/// When the text does not parse, is no 64-bit module, is instrumented already, or has more store sites
/// than a site's word can number.
pub fn instrument(source: &str) -> Result<Instrumented, InstrumentError> {
    instrument_with(source, &PASSES).map(|(instrumented, _)| instrumented)
}

/// Instruments with some of the passes: the first few of [`PASSES`], to look at what each does.
///
/// # Errors
/// As [`instrument`].
pub fn instrument_with(
    source: &str,
    passes: &[Pass<SiteTable>],
) -> Result<(Instrumented, SiteTable), InstrumentError> {
    let module = bugaroo_ptx::parse(source)?;
    error::check(&module)?;
    let table = collect_sites(&module);
    error::check_table(&table)?;
    let edited = apply((&module, source), &table, passes)?;
    let instrumented = Instrumented {
        ptx: edited.text,
        sites: table.sites.clone(),
        lines: edited.lines,
        store_sites: table.store_sites,
    };
    Ok((instrumented, table))
}
