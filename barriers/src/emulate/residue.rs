//! The low bits of expressions, as far as they are known: a counter that goes up by two has the same lowest bit in every round.
//!
//! Of a number that is not known, some of its lowest bits may be, and sums, products, shifts and masks of such numbers have low bits that
//! follow. Where these are all bits of a result, it is known. All arithmetic is modulo the result's width (PTX ISA, "Integer Arithmetic
//! Instructions").

/// So many of a number's lowest bits, and their values; the bits above are 0 here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Low {
    value: u64,
    bits: u32,
}

/// What makes low bits of low bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LowOp {
    Add,
    Sub,
    /// A product of numbers of so many bits; its lower half, or all of it.
    Multiply {
        bits: u32,
    },
    /// The same and a third source.
    MultiplyAdd {
        bits: u32,
    },
    And,
    Or,
    Xor,
    Not,
    Negate,
    ShiftLeft,
    ShiftRight,
    /// From so many bits to more or fewer.
    Convert {
        bits: u32,
    },
}

fn mask(bits: u32) -> u64 {
    u64::MAX.checked_shr(64 - bits.min(64)).unwrap_or(0)
}

impl Low {
    /// All of a number is known.
    pub fn all(value: u64) -> Low {
        Low { value, bits: 64 }
    }

    /// The lowest `bits`, which are 0.
    pub fn zeros(bits: u32) -> Low {
        Low { value: 0, bits }
    }

    fn new(value: u64, bits: u32) -> Low {
        Low { value: value & mask(bits), bits: bits.min(64) }
    }

    /// How many are known.
    pub fn bits(self) -> u32 {
        self.bits
    }

    /// Their values.
    pub fn value(self) -> u64 {
        self.value
    }

    /// That of a sum with a constant.
    pub fn plus(self, plus: u64) -> Low {
        Low::new(self.value.wrapping_add(plus), self.bits)
    }

    /// Whether so many low bits are known to be 0.
    pub fn is_multiple_of(self, bits: u32) -> bool {
        self.bits >= bits && self.value & mask(bits) == 0
    }

    fn product(self, other: Low, bits: u32) -> Low {
        // (a + 2^i x) (b + 2^j y), where a number that is known has no y.
        let zeros = |low: Low| if low.value == 0 { low.bits } else { low.value.trailing_zeros() };
        let of = |this: Low, that: Low| if this.bits == 64 { 64 } else { this.bits + zeros(that) };
        // Above its own bits a number is what its sign says.
        Low::new(self.value.wrapping_mul(other.value), of(self, other).min(of(other, self)).min(bits))
    }

    fn and(self, other: Low) -> Low {
        // Zeros above what is known of the other one.
        let covers = |this: Low, that: Low| this.bits == 64 && this.value & !mask(that.bits) == 0;
        let bits = if covers(self, other) || covers(other, self) { 64 } else { self.bits.min(other.bits) };
        Low::new(self.value & other.value, bits)
    }
}

impl LowOp {
    /// The low bits of a result of so many bits.
    pub fn of(self, sources: &[Low], width: u32) -> Low {
        let least = |low: Low| Low::new(low.value, if low.bits >= width { 64 } else { low.bits });
        let both = |a: Low, b: Low, value: u64| Low::new(value, a.bits.min(b.bits));
        let result = match (self, sources) {
            (LowOp::Add, [a, b]) => both(*a, *b, a.value.wrapping_add(b.value)),
            (LowOp::Sub, [a, b]) => both(*a, *b, a.value.wrapping_sub(b.value)),
            (LowOp::Xor, [a, b]) => both(*a, *b, a.value ^ b.value),
            (LowOp::Or, [a, b]) => both(*a, *b, a.value | b.value),
            (LowOp::Not, [a]) => Low::new(!a.value, a.bits),
            (LowOp::Negate, [a]) => Low::new(a.value.wrapping_neg(), a.bits),
            (LowOp::And, [a, b]) => a.and(*b),
            (LowOp::Multiply { bits }, [a, b]) => a.product(*b, bits),
            (LowOp::MultiplyAdd { bits }, [a, b, c]) => {
                let product = a.product(*b, bits);
                both(product, *c, product.value.wrapping_add(c.value))
            }
            (LowOp::ShiftLeft, [a, by]) if by.bits == 64 && by.value < u64::from(width) => {
                Low::new(a.value << by.value, a.bits.saturating_add(by.value as u32))
            }
            (LowOp::ShiftRight, [a, by]) if by.bits == 64 && a.bits < 64 => {
                let by = by.value.min(64) as u32;
                Low::new(a.value.checked_shr(by).unwrap_or(0), a.bits.saturating_sub(by))
            }
            (LowOp::Convert { bits }, [a, ..]) => Low::new(a.value, a.bits.min(bits)),
            _ => Low::zeros(0),
        };
        let result = least(result);
        Low { value: result.value & mask(width), ..result }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every number with these low bits gives a result with those.
    #[test]
    fn holds_for_all_numbers_of_eight_bits() {
        const WIDTH: u32 = 8;
        let lows = || (0..=4).flat_map(|bits| (0..1 << bits).map(move |value| Low { value, bits }));
        let known = || [0, 1, 2, 3, 5, 8, 12, 16, 255].map(Low::all);
        let numbers = |low: Low| -> Vec<u64> {
            let all = 0..1_u64 << WIDTH;
            let fits = |number: &u64| {
                if low.bits == 64 { *number == low.value } else { number & mask(low.bits) == low.value }
            };
            all.filter(fits).collect()
        };
        let mut sure = 0;
        for op in [
            LowOp::Add,
            LowOp::Sub,
            LowOp::Multiply { bits: WIDTH },
            LowOp::And,
            LowOp::Or,
            LowOp::Xor,
            LowOp::ShiftLeft,
            LowOp::ShiftRight,
        ] {
            for (a, b) in lows().chain(known()).flat_map(|a| lows().chain(known()).map(move |b| (a, b))) {
                let low = op.of(&[a, b], WIDTH);
                sure += u32::from(low.bits > 0);
                for (x, y) in numbers(a).into_iter().flat_map(|x| numbers(b).into_iter().map(move |y| (x, y)))
                {
                    let result = match op {
                        LowOp::Add => x.wrapping_add(y),
                        LowOp::Sub => x.wrapping_sub(y),
                        LowOp::Multiply { .. } => x * y,
                        LowOp::And => x & y,
                        LowOp::Or => x | y,
                        LowOp::Xor => x ^ y,
                        LowOp::ShiftLeft => x.checked_shl(y as u32).unwrap_or(0),
                        _ => x.checked_shr(y as u32).unwrap_or(0),
                    } & mask(WIDTH);
                    assert_eq!(result & mask(low.bits), low.value, "{op:?} of {a:?} and {b:?}: {x} and {y}");
                }
            }
        }
        assert!(sure > 1000, "{sure}");
        for a in lows().chain(known()) {
            for x in numbers(a) {
                for (op, result) in [(LowOp::Not, !x), (LowOp::Negate, x.wrapping_neg())] {
                    let low = op.of(&[a], WIDTH);
                    assert_eq!(result & mask(low.bits) & mask(WIDTH), low.value, "{op:?} of {a:?}: {x}");
                }
            }
        }
    }
}
