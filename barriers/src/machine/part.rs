//! Registrations at barriers.

/// A registration: by whom, which, where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Part {
    pub chain: u32,
    /// The clock's component must have reached this for the registration to be known.
    pub stamp: u32,
    pub command: u32,
    pub waits: bool,
    /// Whether what its threads did before is known to those who wait: not so for copies, which stand for themselves.
    pub orders: bool,
}
