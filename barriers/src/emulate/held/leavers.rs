//! Threads that may have returned early ([`crate::emulate::leave`]).

use crate::emulate::registers::Why;

/// Lanes of a warp that may have returned.
#[derive(Clone, Copy, Debug)]
pub(in crate::emulate) struct Leavers {
    pub lanes: u32,
    /// By lane, the condition under which it is still there.
    pub conditions: [u32; 32],
    /// Why that is not known, of those that were the last to part.
    pub why: Why,
}

impl Default for Leavers {
    fn default() -> Leavers {
        Leavers { lanes: 0, conditions: [0; 32], why: Why::NEVER }
    }
}
