//! `bugaroo bisect`.

use crate::args::RunArgs;
use crate::exit::{Exit, NotInThisVersion};

/// Names missing and redundant fences.
pub fn bisect(_: &RunArgs) -> anyhow::Result<Exit> {
    Err(NotInThisVersion("bisect").into())
}
