//! Signals: what flags, counters and locks in memory are made of. They are no commands, as nobody waits at them and nothing is known to be
//! ordered by them; they say where threads could be ordered beside barriers.

/// What a thread does that can be a part of a release or an acquire pattern (PTX ISA, "Release and Acquire Patterns").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// A strong read whose value is used: of the access with this number among the warp's commands, or not of shared memory.
    Read(Option<u32>),
    /// A strong write, likewise.
    Write(Option<u32>),
    /// What the strong reads before it have seen happens before what comes behind it.
    Acquire,
    /// What comes before it happens before what the strong writes behind it are seen by.
    Release,
}

/// A signal of some lanes of a warp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signalled {
    /// It comes before the command with this number, and behind those before it.
    pub before: u32,
    /// The lanes.
    pub lanes: u32,
    /// The emulator's number of the PTX instruction.
    pub origin: u32,
    /// What they do.
    pub what: Signal,
}
