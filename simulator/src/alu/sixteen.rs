//! The 16-bit formats through binary32: binary16 and bfloat16, rounded to nearest, ties to even.
//!
//! Addition in binary32 of two numbers with at most 11 significant bits, rounded once more to 11 (or 8), gives the
//! correctly rounded sum: binary32 has more than twice as many bits plus two.

use super::half::{Bf16, F16, without};

/// Which 16-bit format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HalfFormat {
    /// IEEE binary16.
    Half,
    /// bfloat16.
    Brain,
}

impl HalfFormat {
    /// The value of 16 bits.
    pub fn widen(self, bits: u16) -> f32 {
        match self {
            HalfFormat::Brain => Bf16(bits).to_f32(),
            HalfFormat::Half => F16(bits).to_f32(),
        }
    }

    /// The nearest value; NaN becomes the canonical one.
    pub fn narrow(self, value: f32) -> u16 {
        match self {
            HalfFormat::Brain if value.is_nan() => 0x7fff,
            HalfFormat::Brain => {
                let bits = value.to_bits();
                (bits >> 16 & 0x8000 | without(bits & 0x7fff_ffff, 16)) as u16
            }
            HalfFormat::Half => F16::nearest(value).0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nearest(value: f32) -> u16 {
        F16::nearest(value).0
    }

    #[test]
    fn each_half_comes_back() {
        for bits in 0..=u16::MAX {
            let value = HalfFormat::Half.widen(bits);
            let back = HalfFormat::Half.narrow(value);
            assert_eq!(back, if value.is_nan() { 0x7fff } else { bits }, "{bits:#x}");
        }
    }

    #[test]
    fn what_lies_between_two_halves_goes_to_the_nearer_one_and_to_the_even_one() {
        for bits in 0..0x7bff_u16 {
            let (low, high) = (HalfFormat::Half.widen(bits), HalfFormat::Half.widen(bits + 1));
            let middle = f32::midpoint(low, high);
            let even = bits + (bits & 1);
            for sign in [0, 0x8000] {
                let signed = |value: f32| if sign == 0 { value } else { -value };
                assert_eq!(nearest(signed(middle)), sign | even, "{bits:#x}");
                assert_eq!(nearest(signed(middle.next_down())), sign | bits, "{bits:#x}");
                assert_eq!(nearest(signed(middle.next_up())), sign | (bits + 1), "{bits:#x}");
            }
        }
        assert_eq!(nearest(65519.996), 0x7bff);
        assert_eq!(nearest(65520.0), 0x7c00);
    }
}
