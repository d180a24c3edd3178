//! Accesses that happen or not: what that depends on.

/// Something that is true or false in all threads alike, by its number, and which of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Literal {
    /// The emulator's number of the value.
    pub value: u32,
    /// Whether it has to be true.
    pub holds: bool,
}

/// On what it depends whether an access happens: an arm of a branch whose outcome is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AccessCondition {
    /// The emulator's number of the branch.
    pub origin: u32,
    /// The arm, where the outcome is the same for all threads.
    pub literal: Option<Literal>,
    /// The condition of an arm around this one: an earlier answer of [`Program::condition`].
    pub outer: Option<u32>,
    /// The access is the last that its thread does, if it happens under this condition: nothing of that thread comes later, and so no
    /// later registration orders it with what others do.
    pub last: bool,
}
