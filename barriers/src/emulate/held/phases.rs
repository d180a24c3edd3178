//! Mbarriers.

/// An mbarrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::emulate) struct Phases {
    /// Arrivals that a phase takes.
    pub expected: u32,
    /// Arrivals that this phase still takes.
    pub pending: u32,
    /// Bytes that this phase still takes.
    pub bytes: i64,
    /// The number of the phase.
    pub phase: u32,
    /// The parameter's offset of a tensor map whose copies were taken to bring all that a phase expected.
    pub guessed: Option<u64>,
}
