//! What the observer of a launch need not be told of ([`Spares`]).

use bugaroo_semantics::Spares;

/// What is not told.
pub(super) struct Sparing {
    pub spares: Spares,
    /// By instruction: it is spared wherever it goes. Empty where none is.
    pub spared: Box<[bool]>,
}

impl Sparing {
    /// Whether an instruction is spared.
    #[inline(always)]
    pub fn has(&self, pc: u32) -> bool {
        self.spared.get(pc as usize).copied().unwrap_or(false)
    }
}
