//! HiRace's shadow word, as far as it does not follow the grid: what the native detector and device code share.
//!
//! From the lowest bit: state, action, whether the access left the bytes as they were, thread in the block; above these what
//! follows the grid. A word of 0 is an element that nobody has accessed.

use super::Action;
use super::table::{STATE_BITS, StateNumber};
use crate::event::AccessKind;
use crate::scope::Strength;

/// The bits of the state.
pub const STATE: u64 = (1 << STATE_BITS) - 1;
/// Where the action is: two bits.
pub const ACTION_AT: u32 = STATE_BITS;
/// Where it says that the access left the bytes as they were.
pub const KEPT_AT: u32 = ACTION_AT + 2;
/// Where the thread is.
pub const THREAD_AT: u32 = KEPT_AT + 1;
/// Bits of a lane: threads of a warp differ in these alone.
pub const LANE_BITS: u32 = 5;
/// No state of the machine: device code has handed the word on.
pub const MOVED: StateNumber = STATE as StateNumber;

/// What an access is to the machine. Strong accesses that are no atomics are atomic in their scope, but for volatile ones: these
/// are plain.
pub fn action(kind: AccessKind, strength: Strength, volatile: bool) -> Action {
    let strong = match strength {
        Strength::Weak => None,
        Strength::Strong(_) if volatile => None,
        Strength::Strong(scope) => Some(scope == crate::scope::Scope::Cta),
    };
    match (kind, strong) {
        (_, Some(true)) => Action::BlockAtomic,
        (_, Some(false)) | (AccessKind::Atomic(_), None) => Action::GridAtomic,
        (AccessKind::Load, None) => Action::Read,
        (AccessKind::Store, None) => Action::Write,
    }
}

#[cfg(test)]
mod tests;
