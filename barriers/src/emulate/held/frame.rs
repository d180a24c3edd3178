//! Calls in progress.

use crate::emulate::registers::Registers;

/// No parent: the kernel's own frame.
pub(in crate::emulate) const ROOT: u32 = u32::MAX;

/// A call in progress.
pub(in crate::emulate) struct Frame<'a> {
    pub registers: Registers<'a>,
    pub function: u32,
    pub parent: u32,
    /// The instruction after the call.
    pub return_pc: u32,
    /// Lanes that are in it or in a call that it made.
    pub live: u32,
    pub depth: u32,
    /// Where its local variables begin.
    pub local_base: u32,
    /// Bytes of local memory that it took behind its variables (`alloca`).
    pub grown: u32,
}
