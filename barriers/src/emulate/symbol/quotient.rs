//! Quotients and remainders by constants of numbers that change from round to round: `i % 3` and `(i / 3) & 1` come back as `i` goes up.
//!
//! A number of rounds goes up by the same each time, from nought on, so that it is a multiple of that step as long as it does not come
//! round, which is so as long as it is at most some limit ([`super::reach`]). So much added to it, still at most the limit, it has the
//! remainder of what was added, and its quotient is a number of rounds as well.
//!
//! Compilers divide by multiplying: `mul.hi` or `mul.wide` and shifts (Granlund and Montgomery, "Division by Invariant Integers using
//! Multiplication", PLDI 1994). A product that has lost so many low bits is kept as what it is, ⌊x·m / 2^s⌋; it is the quotient by d for
//! all x of w bits if 0 ≤ m·d - 2^s ≤ 2^(s-w) (their theorem 4.2).
//!
//! # What it can miss
//! Signed division in its multiplied form, which compilers use where they do not see that the number is not negative; divisors that do not divide the step
//! (longer periods are tried).

use super::bounds::{mask, signed};
use super::division::{Division, Partial};
use super::symbols::Symbols;
use super::terms::{Node, Source, Symbol};

/// The divisor by which a product is the quotient of all numbers of so many bits.
fn divisor(by: u128, shift: u32, bits: u32) -> Option<u64> {
    if by == 0 || shift < bits || shift >= 127 {
        return None;
    }
    let divisor = (1_u128 << shift).div_ceil(by);
    let excess = by.checked_mul(divisor)?.checked_sub(1 << shift)?;
    (divisor > 1 && excess <= 1 << (shift - bits)).then(|| u64::try_from(divisor).ok()).flatten()
}

impl Symbols {
    /// What a number of rounds is a multiple of, as long as it has not come round.
    pub fn multiple(&self, symbol: Symbol) -> u64 {
        match self.node(symbol) {
            Node::Round { multiple, .. } => multiple,
            _ => 1,
        }
    }

    /// What an instruction gives, if that is known or simpler than the instruction.
    pub fn divided(&mut self, step: Division, sources: [Option<Source>; 4]) -> Option<Source> {
        match (step, sources[0]?, sources[1]) {
            (Division::Quotient { bytes, signed }, Source::Symbol(x), Some(Source::Known(by))) => {
                self.quotient(x, by & mask(bytes), (bytes, signed))
            }
            (Division::Remainder { bytes, signed }, Source::Symbol(x), Some(Source::Known(by))) => {
                self.remainder(x, by & mask(bytes), (bytes, signed))
            }
            (Division::Right { bytes }, Source::Symbol(x), Some(Source::Known(by))) => {
                self.shifted(x, by, bytes)
            }
            (Division::Narrow { from, to }, Source::Symbol(x), _) => self.narrowed(x, from, to),
            (Division::Low { bytes }, Source::Symbol(x), Some(Source::Known(by)))
            | (Division::Low { bytes }, Source::Known(by), Some(Source::Symbol(x))) => {
                self.multiplied(x, by, bytes)
            }
            (Division::LowAdd { bytes }, Source::Symbol(x), Some(Source::Known(by)))
            | (Division::LowAdd { bytes }, Source::Known(by), Some(Source::Symbol(x))) => {
                self.multiplied_and_added(x, by, sources[2]?, bytes)
            }
            (Division::Sub { bytes }, Source::Symbol(x), Some(Source::Symbol(y))) => {
                let ((of, plus), (other, less)) = (self.parted(x, bytes), self.parted(y, bytes));
                (of == other).then(|| Source::Known(plus.wrapping_sub(less) & mask(bytes)))
            }
            _ => None,
        }
    }

    /// Notes what an expression is of its sources, where that may matter later.
    pub fn note(&mut self, symbol: Symbol, step: Division, sources: [Option<Source>; 4]) {
        match (step, sources[0], sources[1]) {
            (Division::Low { bytes }, Some(Source::Symbol(of)), Some(Source::Known(by)))
            | (Division::Low { bytes }, Some(Source::Known(by)), Some(Source::Symbol(of))) => {
                self.note_product(symbol, of, by & mask(bytes));
            }
            (Division::Left { .. }, Some(Source::Symbol(of)), Some(Source::Known(by))) if by < 32 => {
                self.note_product(symbol, of, 1 << by);
            }
            _ => self.note_partial(symbol, step, sources),
        }
    }

    fn note_partial(&mut self, symbol: Symbol, step: Division, sources: [Option<Source>; 4]) {
        let [Some(a), b, ..] = sources else { return };
        let partial = |source| match source {
            Source::Symbol(x) => self.quotients.partials.get(&(x.index() as u32)).copied(),
            Source::Known(_) => None,
        };
        let noted = match (step, a, b) {
            (Division::High { bytes }, Source::Symbol(of), Some(Source::Known(by)))
            | (Division::High { bytes }, Source::Known(by), Some(Source::Symbol(of))) => {
                let by = u128::from(by & mask(bytes));
                Some(Partial::Product { of, bytes, by, shift: 8 * u32::from(bytes) })
            }
            (Division::Wide { bytes }, Source::Symbol(of), Some(Source::Known(by)))
            | (Division::Wide { bytes }, Source::Known(by), Some(Source::Symbol(of))) => {
                Some(Partial::Product { of, bytes, by: u128::from(by & mask(bytes)), shift: 0 })
            }
            (Division::Right { .. }, x, Some(Source::Known(more))) if more < 64 => match partial(x) {
                Some(Partial::Product { of, bytes, by, shift }) => {
                    Some(Partial::Product { of, bytes, by, shift: shift + more as u32 })
                }
                Some(Partial::Rest { of, bytes, by, halved: false }) if more == 1 => {
                    Some(Partial::Rest { of, bytes, by, halved: true })
                }
                _ => None,
            },
            (Division::Narrow { to, .. }, x, _) => partial(x).filter(|partial| match partial {
                Partial::Product { bytes, shift, .. } => *bytes <= to && *shift >= 8 * u32::from(*bytes),
                Partial::Rest { .. } => false,
            }),
            (Division::Sub { bytes }, Source::Symbol(x), Some(y)) => match partial(y) {
                Some(Partial::Product { of, bytes: same, by, shift })
                    if of == x && same == bytes && shift == 8 * u32::from(bytes) =>
                {
                    Some(Partial::Rest { of, bytes, by, halved: false })
                }
                _ => None,
            },
            // ⌊(x - t) / 2⌋ + t is ⌊(x + t) / 2⌋, which is less than x.
            (Division::Add { .. }, x, Some(y)) => match (partial(x), partial(y)) {
                (
                    Some(Partial::Rest { of, bytes, by, halved: true }),
                    Some(Partial::Product { of: same, by: too, shift, .. }),
                )
                | (
                    Some(Partial::Product { of: same, by: too, shift, .. }),
                    Some(Partial::Rest { of, bytes, by, halved: true }),
                ) if of == same && by == too && shift == 8 * u32::from(bytes) => {
                    let by = by + (1 << shift);
                    Some(Partial::Product { of, bytes, by, shift: shift + 1 })
                }
                _ => None,
            },
            _ => None,
        };
        if let Some(noted) = noted {
            self.quotients.partials.insert(symbol.index() as u32, noted);
        }
    }

    /// An expression as a sum with a constant.
    pub(super) fn parted(&self, symbol: Symbol, bytes: u8) -> (Symbol, u64) {
        match self.node(symbol) {
            Node::Sum { of, plus, bytes: same } if same == bytes => (of, plus),
            _ => (symbol, 0),
        }
    }

    /// A number of rounds and what is added, if it is a multiple of a divisor and the sum does not come round.
    fn multiple_and_rest(&self, x: Symbol, by: u64, (bytes, is_signed): (u8, bool)) -> Option<(Symbol, u64)> {
        let (number, plus) = self.parted(x, bytes);
        let divides = by > 1 && self.multiple(number).is_multiple_of(by);
        let positive = !is_signed || signed(by, bytes) > 0;
        (divides && positive && self.stays_below(number, plus, bytes, is_signed)).then_some((number, plus))
    }

    fn quotient(&mut self, x: Symbol, by: u64, of: (u8, bool)) -> Option<Source> {
        if by == 1 {
            return Some(Source::Symbol(x));
        }
        let (number, plus) = self.multiple_and_rest(x, by, of)?;
        let quotient = self.intern(Node::Quotient { of: number, by, bytes: of.0 });
        Some(Source::Symbol(self.sum(quotient, plus / by, of.0)))
    }

    fn remainder(&self, x: Symbol, by: u64, of: (u8, bool)) -> Option<Source> {
        if by == 1 {
            return Some(Source::Known(0));
        }
        let (_, plus) = self.multiple_and_rest(x, by, of)?;
        Some(Source::Known(plus % by))
    }

    /// A product that is shifted to the right, if that is a quotient.
    fn shifted(&mut self, x: Symbol, more: u64, wide: u8) -> Option<Source> {
        let Some(Partial::Product { of, bytes, by, shift }) =
            self.quotients.partials.get(&(x.index() as u32)).copied()
        else {
            return None;
        };
        let shift = shift + u32::try_from(more).ok().filter(|more| *more < 8 * u32::from(wide))?;
        let divisor = divisor(by, shift, 8 * u32::from(bytes))?;
        let (number, plus) = self.multiple_and_rest(of, divisor, (bytes, false))?;
        let quotient = self.intern(Node::Quotient { of: number, by: divisor, bytes });
        Some(Source::Symbol(self.sum(quotient, plus / divisor, wide)))
    }

    /// A quotient in fewer bytes, modulo what these hold.
    fn narrowed(&mut self, x: Symbol, from: u8, to: u8) -> Option<Source> {
        let (of, plus) = self.parted(x, from);
        let Node::Quotient { .. } = self.node(of) else { return None };
        Some(Source::Symbol(self.sum(of, plus, to)))
    }

    /// A quotient times what was divided by.
    fn multiplied(&mut self, x: Symbol, by: u64, bytes: u8) -> Option<Source> {
        let (of, divisor, plus) = self.quotient_at(x, bytes)?;
        let product = plus.wrapping_mul(divisor);
        (by & mask(bytes) == divisor).then(|| Source::Symbol(self.sum(of, product, bytes)))
    }

    /// The same with something added; and what is left when it is taken away.
    fn multiplied_and_added(&mut self, x: Symbol, by: u64, other: Source, bytes: u8) -> Option<Source> {
        if let (Some(Source::Symbol(product)), Source::Known(plus)) = (self.multiplied(x, by, bytes), other) {
            return Some(Source::Symbol(self.sum(product, plus, bytes)));
        }
        let (of, divisor, plus) = self.quotient_at(x, bytes)?;
        let Source::Symbol(other) = other else { return None };
        let (from, more) = self.parted(other, bytes);
        let is_taken_away = by & mask(bytes) == divisor.wrapping_neg() & mask(bytes) && from == of;
        let left = more.wrapping_sub(plus.wrapping_mul(divisor)) & mask(bytes);
        is_taken_away.then_some(Source::Known(left))
    }

    /// Of a quotient and what is added to it: the number that was divided, the divisor, and that.
    fn quotient_at(&self, x: Symbol, bytes: u8) -> Option<(Symbol, u64, u64)> {
        let (quotient, plus) = self.parted(x, bytes);
        match self.node(quotient) {
            Node::Quotient { of, by, bytes: same } if same == bytes => Some((of, by, plus)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
