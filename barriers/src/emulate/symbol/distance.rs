//! How far a number is from its limit. What is known of that: [`super::reach`].

use super::terms::Symbol;

/// A number and its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in crate::emulate) struct Pair {
    pub(super) number: Symbol,
    pub(super) limit: Symbol,
}

/// A distance from the number to the limit, each taken as signed or as unsigned, where there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in crate::emulate) struct Distance {
    pub(super) bytes: u8,
    pub(super) unsigned: Option<u64>,
    pub(super) signed: Option<u64>,
}

/// A distance that does not stay: of numbers that go up by so much.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::emulate) struct Lost {
    pub(super) limit: Symbol,
    pub(super) signed: bool,
    pub(super) step: u64,
}

impl Distance {
    pub(super) fn of(&self, signed: bool) -> Option<u64> {
        if signed { self.signed } else { self.unsigned }
    }
}
