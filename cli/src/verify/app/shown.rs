//! What there is to tell of the launches of a program.

use bugaroo_harness::Target;
use bugaroo_harness::launches::{Recording, Verified};

/// All that is to be printed.
pub struct Shown<'a> {
    pub target: &'a Target,
    /// Without the launches themselves.
    pub recording: &'a Recording,
    pub verified: &'a Verified,
    /// Launches of the kernels that were asked for.
    pub launches: u64,
    /// All pairs of lines with races are listed in JSON.
    pub all: bool,
}
