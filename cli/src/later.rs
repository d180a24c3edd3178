//! Commands whose place is kept: their options are checked, and then they say that they are not there.

use crate::args::{RaceArgs, VerifyArgs};
use crate::exit::{Exit, NotInThisVersion};

/// `bugaroo race`.
pub fn race(_: &RaceArgs) -> anyhow::Result<Exit> {
    Err(NotInThisVersion("race").into())
}

/// `bugaroo verify`.
pub fn verify(_: &VerifyArgs) -> anyhow::Result<Exit> {
    Err(NotInThisVersion("verify").into())
}
