//! Steps of a division by a constant, and what expressions are on the way to a quotient. How they are found: [`super::quotient`].

use super::terms::Symbol;

/// What an instruction does that takes part in a division by a constant, of so many bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::emulate) enum Division {
    /// `div`
    Quotient {
        bytes: u8,
        signed: bool,
    },
    /// `rem`
    Remainder {
        bytes: u8,
        signed: bool,
    },
    /// `mul.hi` of unsigned numbers.
    High {
        bytes: u8,
    },
    /// `mul.wide` of unsigned numbers of so many bytes.
    Wide {
        bytes: u8,
    },
    /// `shr` of unsigned numbers.
    Right {
        bytes: u8,
    },
    /// `shl`
    Left {
        bytes: u8,
    },
    /// `mul.lo`
    Low {
        bytes: u8,
    },
    /// `mad.lo`
    LowAdd {
        bytes: u8,
    },
    Add {
        bytes: u8,
    },
    Sub {
        bytes: u8,
    },
    /// To fewer bytes.
    Narrow {
        from: u8,
        to: u8,
    },
}

/// What an expression is on the way to a quotient; each is less than 2 to the number of bits of `of`, which has so many bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Partial {
    /// ⌊of·by / 2^shift⌋
    Product { of: Symbol, bytes: u8, by: u128, shift: u32 },
    /// of - ⌊of·by / 2^w⌋ for numbers of w bits, and the lower integer of its half.
    Rest { of: Symbol, bytes: u8, by: u128, halved: bool },
}
