//! Bytes of one lane: checked, and found again later. What touches memory lane by lane goes this way: asynchronous copies, matrices,
//! `mbarrier`; ordinary accesses go by rows. [`super::resolve`] finds both.

use bugaroo_ptx::types::Space;

use crate::address::{SHARED_WINDOW, Window, window};

/// Bytes that have been checked. Shared memory does not move while its block runs; global memory may be freed
/// between two turns, by the host, and is looked up again.
#[derive(Clone, Copy, Debug)]
pub(super) enum Spot {
    Shared(*mut u8),
    /// Global memory, to be read.
    Read(u64),
    /// Global memory, to be written. (With a flag beside the address instead, a spot would not move as two words, which takes longer.)
    Written(u64),
}

impl Spot {
    pub fn global(address: u64, write: bool) -> Spot {
        if write { Spot::Written(address) } else { Spot::Read(address) }
    }
}

/// Where in shared memory an address lies that an instruction of this space has, if it does.
#[inline(always)]
pub(super) fn shared_offset(space: Space, address: u64) -> Option<u64> {
    match (space, window(address)) {
        (Space::Shared, _) => Some(address),
        (Space::Generic, Window::Shared) => Some(address - SHARED_WINDOW),
        _ => None,
    }
}
