//! What the emulation in progress holds of threads and barriers. How it goes on is said where the instructions are.

pub(super) mod counters;
pub(super) mod cta;
pub(super) mod frame;
pub(super) mod leavers;
pub(super) mod multiplying;
pub(super) mod named;
pub(super) mod parts;
pub(super) mod phases;
pub(super) mod polls;
pub(super) mod warp;
