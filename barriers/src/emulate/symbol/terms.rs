//! Expressions: what they are made of, and their numbers.

use bugaroo_simulator::alu::{RowFn, Width};

/// An expression by its number, the lowest bit set where it is a predicate's negation. Never 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in crate::emulate) struct Symbol(u32);

impl Symbol {
    /// From [`Symbol::bits`].
    pub fn from_bits(bits: u32) -> Option<Symbol> {
        (bits != 0).then_some(Symbol(bits))
    }

    /// As a number that is not 0.
    pub fn bits(self) -> u32 {
        self.0
    }

    pub(super) fn new(index: usize) -> Symbol {
        Symbol((index as u32 + 1) << 1)
    }

    /// Its node.
    pub fn index(self) -> usize {
        (self.0 >> 1) as usize - 1
    }

    /// The negation of a predicate.
    pub fn not(self) -> Symbol {
        Symbol(self.0 ^ 1)
    }

    /// Whether it is the negation of its node.
    pub fn is_negated(self) -> bool {
        self.0 & 1 != 0
    }
}

/// A source of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::emulate) enum Source {
    Known(u64),
    Symbol(Symbol),
}

/// How two numbers are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::emulate) enum Order {
    Less { signed: bool },
    Equal,
}

/// An expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::emulate) enum Node {
    /// Bytes of a parameter.
    Param { offset: u32, size: u8, signed: bool },
    /// What the constant row at this slot will hold at the launch.
    Launch { slot: i32, width: Width },
    /// `a` before `b`, or equal to it.
    Compare { order: Order, bytes: u8, a: Source, b: Source },
    /// A sum with a constant; `of` is none.
    Sum { of: Symbol, plus: u64, bytes: u8 },
    /// A number that changes from round to round of a loop ([`Symbols::round`]). As long as it has not come round it is a multiple of `multiple`,
    /// and of the greatest power of two in that always.
    Round { number: u32, multiple: u64 },
    /// A number of rounds that has not come round, divided by a divisor of what it is a multiple of; the number has so many bytes.
    Quotient { of: Symbol, by: u64, bytes: u8 },
    /// A value that is not known, but the same for whoever has it: what one thread wrote to shared memory, or what a warp agreed on.
    Content { number: u32, of_warp: bool },
    /// What a row function gives: its number, whether its second result, the sources.
    Row { function: u32, second: bool, sources: [Option<Source>; 4] },
}

/// How values have changed that one number stands for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::emulate) enum Change {
    /// By so much each time, from a constant or an expression on.
    Steps { from: Option<Symbol>, step: u64 },
    /// From one to the next.
    Other(Vec<Source>),
}

/// A number that changes from round to round.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::emulate) struct Changing {
    /// The barrier at which its rounds begin: the instruction behind it, by warp.
    pub at: Vec<u32>,
    /// Times that the barrier had been reached.
    pub round: u32,
    pub width: Width,
    pub change: Change,
}

/// A row function and how wide its operands are.
#[derive(Clone, Copy, Debug)]
pub(in crate::emulate) struct RowShape {
    pub run: RowFn,
    pub dst: Width,
    pub sources: [Width; 4],
}
