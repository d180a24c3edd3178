//! Numbers that move step by step, and how they go together. What follows from that: [`super::ties`].

use super::bounds::signed;
use super::terms::Symbol;

/// A number that moves by the same in each period.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::emulate) struct Moving {
    pub number: Symbol,
    /// What it begins at; none: nought.
    pub from: Option<Symbol>,
    pub step: u64,
    pub bytes: u8,
}

impl Moving {
    /// Whether it goes up.
    pub fn is_rising(&self) -> bool {
        self.step_signed() > 0
    }

    pub(super) fn step_signed(&self) -> i64 {
        signed(self.step, self.bytes)
    }
}

/// A number is `from` and so many times another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in crate::emulate) struct Tie {
    pub(super) from: Option<Symbol>,
    pub(super) times: i64,
    pub(super) base: Symbol,
    pub(super) bytes: u8,
}
