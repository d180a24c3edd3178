//! Commands whose place is kept: their options are checked, and then they say that they are not there.

use crate::args::RaceArgs;
use crate::exit::{Exit, NotInThisVersion};

/// `bugaroo race`.
pub fn race(_: &RaceArgs) -> anyhow::Result<Exit> {
    Err(NotInThisVersion("race").into())
}
