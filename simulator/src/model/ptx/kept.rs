//! What is kept of a granule that has a history.

use std::num::NonZeroU64;

use super::chains::{Chain, Chains};
use super::runs::{Run, Runs};
use bugaroo_semantics::scope::ThreadKey;

/// The one message of a granule: a weak store of all four bytes.
#[derive(Clone, Copy, Debug)]
pub struct Single {
    /// When it was made.
    pub time: NonZeroU64,
    /// What stood there before.
    pub base: u32,
    /// What it wrote.
    pub value: u32,
    /// Who wrote it.
    pub thread: ThreadKey,
    /// What the program calls the instruction.
    pub origin: u32,
}

/// What is kept of a granule.
#[derive(Clone, Copy, Debug)]
pub enum Kept {
    Single(Single),
    Several(Several),
}

/// What is kept of a granule that has been written more than once, or otherwise than plainly.
#[derive(Clone, Copy, Debug)]
pub enum Several {
    Run(Run),
    Chain(Chain),
}

impl Kept {
    /// What it holds elsewhere is free.
    #[inline]
    pub fn release(self, chains: &mut Chains, runs: &mut Runs) {
        match self {
            Kept::Single(_) => {}
            Kept::Several(Several::Run(run)) => runs.release(&run),
            Kept::Several(Several::Chain(chain)) => chains.drop_chain(chain),
        }
    }
}

// What most granules cost.
const _: () = assert!(size_of::<Kept>() == 24);

/// What is known of a load without a draw.
pub(super) enum AtOnce {
    /// It reads what memory holds.
    Memory,
    /// It reads this.
    Value(u32),
    /// Nothing.
    No,
}
