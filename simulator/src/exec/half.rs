//! Half-precision numbers of the atomic unit: binary16 and bfloat16 through f32.
//!
//! Addition in f32 of two numbers with at most 11 significant bits, rounded once more to 11 (or 8), gives
//! the correctly rounded sum: f32 has more than twice as many bits plus two.

/// Which 16-bit format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// IEEE binary16.
    Half,
    /// bfloat16.
    Brain,
}

impl Format {
    /// The value of 16 bits.
    pub fn widen(self, bits: u16) -> f32 {
        match self {
            Format::Brain => f32::from_bits(u32::from(bits) << 16),
            Format::Half => {
                let sign = u32::from(bits >> 15) << 31;
                let (exponent, fraction) = (u32::from(bits >> 10 & 31), u32::from(bits & 0x3ff));
                let magnitude = match exponent {
                    // Exact: the fraction counts in units of 2^-24.
                    0 => (fraction as f32 * f32::from_bits(0x3380_0000)).to_bits(),
                    31 => 0x7f80_0000 | fraction << 13,
                    _ => (exponent + 112) << 23 | fraction << 13,
                };
                f32::from_bits(sign | magnitude)
            }
        }
    }

    /// The nearest value, ties to even; NaN becomes the canonical one.
    pub fn narrow(self, value: f32) -> u16 {
        if value.is_nan() {
            return 0x7fff;
        }
        let bits = value.to_bits();
        let sign = (bits >> 16 & 0x8000) as u16;
        let magnitude = bits & 0x7fff_ffff;
        let round = |value: u32, drop: u32| {
            let half = (1 << (drop - 1)) - 1 + (value >> drop & 1);
            (value + half) >> drop
        };
        match self {
            Format::Brain => sign | round(magnitude, 16) as u16,
            // From 65520 on everything rounds to infinity.
            Format::Half if magnitude >= 0x477f_f000 => sign | 0x7c00,
            Format::Half if magnitude >= 0x3880_0000 => sign | round(magnitude - (112 << 23), 13) as u16,
            Format::Half => {
                // Subnormal: adding 0.5 puts the unit of 2^-24 at f32's last bit, correctly rounded.
                let sum = f32::from_bits(magnitude) + 0.5;
                sign | (sum.to_bits() - 0x3f00_0000) as u16
            }
        }
    }
}
