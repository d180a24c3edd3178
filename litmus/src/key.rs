//! A part of a final state.

/// A register or a location, by index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OutcomeKey {
    /// A thread's register.
    Register {
        /// The thread.
        thread: usize,
        /// The register in it.
        register: usize,
    },
    /// A location.
    Location(usize),
}
