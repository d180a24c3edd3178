//! Bounds of a number that is not known: an interval, as far as an instruction's operands give one. No bit of sign is let in, so that it is
//! the same for signed and for unsigned, narrow and wide instructions.

use bugaroo_ptx::op::Op;
use bugaroo_ptx::types::Type;

/// The largest number that is kept. What could be more may be anything.
const MOST: u64 = i32::MAX as u64;

/// A number that is at least the first and at most the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span(pub u64, pub u64);

impl Span {
    /// Anything.
    pub const ALL: Span = Span(0, u64::MAX);

    pub fn exactly(number: i64) -> Span {
        u64::try_from(number).map_or(Span::ALL, |number| Span(number, number).checked())
    }

    fn up_to(most: u64) -> Span {
        Span(0, most).checked()
    }

    /// The same, if it is small enough to be kept.
    fn checked(self) -> Span {
        if self.1 > MOST { Span::ALL } else { self }
    }

    pub fn is_all(self) -> bool {
        self == Span::ALL
    }

    fn is_one(self) -> Option<u64> {
        (self.0 == self.1).then_some(self.0)
    }

    /// What is the one or the other.
    pub fn or(self, other: Span) -> Span {
        Span(self.0.min(other.0), self.1.max(other.1)).checked()
    }

    pub fn plus(self, other: Span) -> Span {
        if self.is_all() || other.is_all() {
            return Span::ALL;
        }
        Span(self.0 + other.0, self.1 + other.1).checked()
    }

    pub fn minus(self, other: Span) -> Span {
        if self.is_all() || other.is_all() || self.0 < other.1 {
            return Span::ALL;
        }
        Span(self.0 - other.1, self.1 - other.0)
    }

    fn times(self, other: Span) -> Span {
        match self.1.checked_mul(other.1) {
            Some(most) if !self.is_all() && !other.is_all() => Span(self.0 * other.0, most).checked(),
            _ => Span::ALL,
        }
    }
}

/// The result of an instruction of integers that has these sources.
pub(super) fn result(op: &Op, source: impl Fn(usize) -> Span) -> Span {
    let unsigned = |ty: &Type| !ty.is_float() && !matches!(ty, Type::S8 | Type::S16 | Type::S32 | Type::S64);
    match op {
        Op::Mov { .. } => source(0),
        Op::Cvt { dst, src, sat: false, .. } if !dst.is_float() && !src.is_float() && dst.bytes() >= 4 => {
            match (src.bytes(), unsigned(src)) {
                // A narrow one has no more than its bits.
                (1 | 2, true) => Span::up_to((1 << src.bits()) - 1),
                (4 | 8, _) => source(0),
                _ => Span::ALL,
            }
        }
        Op::Ld { ty, .. } if ty.bytes() < 4 && unsigned(ty) => Span::up_to((1 << ty.bits()) - 1),
        Op::Selp { .. } => source(0).or(source(1)),
        Op::Add { ty, sat: false, carry_in: false, .. } if ty.bytes() >= 4 && !ty.is_float() => {
            source(0).plus(source(1))
        }
        Op::Sub { ty, sat: false, carry_in: false, .. } if ty.bytes() >= 4 && !ty.is_float() => {
            source(0).minus(source(1))
        }
        Op::Mul { ty, part: Some(part), sat: false, .. } if ty.bytes() >= 4 => match part {
            bugaroo_ptx::op::Part::Hi => Span::ALL,
            _ => source(0).times(source(1)),
        },
        Op::Mad { ty, part, sat: false, carry_in: false, .. } if ty.bytes() >= 4 => match part {
            bugaroo_ptx::op::Part::Hi => Span::ALL,
            _ => source(0).times(source(1)).plus(source(2)),
        },
        Op::And { ty } if ty.bytes() >= 4 => Span::up_to(source(0).1.min(source(1).1)),
        Op::Or { ty } | Op::Xor { ty } if ty.bytes() >= 4 => {
            let most = source(0).1.max(source(1).1);
            if most > MOST { Span::ALL } else { Span::up_to((most + 1).next_power_of_two() - 1) }
        }
        Op::Shl { ty } if ty.bytes() >= 4 => match source(1).is_one() {
            Some(by) if by < 31 => source(0).times(Span(1 << by, 1 << by)),
            _ => Span::ALL,
        },
        Op::Shr { ty } if ty.bytes() >= 4 => match (source(1).is_one(), source(0)) {
            (Some(by), Span(least, most)) if by < 64 && most <= MOST => Span(least >> by, most >> by),
            (Some(by), _) if by < 64 && unsigned(ty) => {
                let bits = u64::from(ty.bits());
                if by >= bits { Span(0, 0) } else { Span::up_to((((1u128 << bits) - 1) >> by) as u64) }
            }
            _ => Span::ALL,
        },
        Op::Rem { ty } if unsigned(ty) && ty.bytes() >= 4 => match source(1).is_one() {
            Some(by) if by > 0 => Span::up_to(by - 1),
            _ => Span::ALL,
        },
        Op::Min { ty, .. } if unsigned(ty) && ty.bytes() >= 4 => {
            let (a, b) = (source(0), source(1));
            Span::up_to(a.1.min(b.1))
        }
        Op::Bfe { ty } if unsigned(ty) => match source(2).is_one() {
            Some(bits) if bits < 31 => Span::up_to((1 << bits) - 1),
            _ => Span::ALL,
        },
        _ => Span::ALL,
    }
}
