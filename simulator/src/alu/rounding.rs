//! Rounding without touching the processor's control register.
//!
//! The formats with up to 24 significant bits (f16, bf16, f32) are computed in f64, *rounded to odd*: when
//! the exact result lies between two f64s, the one with the odd last bit stands for it. 53 bits are more
//! than the 2 x 24 + 2 that make a second rounding, in any mode, give what one rounding of the exact
//! result would (Boldo and Melquiond, "When double rounding is odd", 2005). The f64 computations neither
//! overflow nor underflow: the operands' exponents are at most 8 bits wide. All of it is branch-free.
//!
//! f64 itself in a directed mode needs wider integers, see [`super::soft`].

use bugaroo_ptx::types::Rounding;

/// A rounding mode, as a type.
pub trait Mode {
    /// Which.
    const RND: Rounding;
    /// Whether the host's own arithmetic rounds so.
    const NEAREST: bool = matches!(Self::RND, Rounding::Nearest);
    /// Whether an exact zero sum of numbers of different signs is -0 (IEEE 754, 6.3).
    const DOWN: bool = matches!(Self::RND, Rounding::Down);
}

macro_rules! modes {
    ($($(#[$doc:meta])* $name:ident $rnd:ident;)*) => {$(
        $(#[$doc])*
        pub struct $name;
        impl Mode for $name {
            const RND: Rounding = Rounding::$rnd;
        }
    )*};
}
modes! {
    /// To nearest, ties to even.
    Rn Nearest;
    /// To nearest, ties away from zero.
    Rna NearestAway;
    /// Towards zero.
    Rz Zero;
    /// Towards minus infinity.
    Rm Down;
    /// Towards plus infinity.
    Rp Up;
}

/// Whether a magnitude that was cut off is to be incremented. `rem` is what was cut, `half` half of the
/// last kept bit in its units, `odd` that bit.
#[inline(always)]
pub fn rounds_up<R: Mode>(negative: bool, odd: bool, above_half: bool, at_half: bool, inexact: bool) -> bool {
    match R::RND {
        Rounding::Nearest => above_half | (at_half & odd),
        Rounding::NearestAway => above_half | at_half,
        Rounding::Zero => false,
        Rounding::Down => negative & inexact,
        Rounding::Up => !negative & inexact,
    }
}

/// Whether an overflow gives infinity; otherwise it gives the largest finite number.
#[inline(always)]
pub fn overflows_to_infinity<R: Mode>(negative: bool) -> bool {
    match R::RND {
        Rounding::Nearest | Rounding::NearestAway => true,
        Rounding::Zero => false,
        Rounding::Down => negative,
        Rounding::Up => !negative,
    }
}

/// Rounds `x`, not NaN, to the format with `FRACTION` and `EXPONENT` bits, at most those of f32. The format's
/// bits, right-aligned. `x` is exact, or was rounded to odd.
#[inline(always)]
pub fn narrow<const FRACTION: u32, const EXPONENT: u32, R: Mode>(x: f64) -> u32 {
    let bits = x.to_bits();
    let negative = bits >> 63 != 0;
    let exponent = (bits >> 52 & 0x7ff) as i32;
    // Subnormal f64s lack the leading one; they are far below the smallest result, and inexact all the same.
    let significand = (bits & ((1 << 52) - 1)) | u64::from(exponent != 0) << 52;
    let target = exponent - 1023 + ((1 << (EXPONENT - 1)) - 1);
    // Below the normal range more bits are cut. 54 cut all, and leave less than half.
    let cut = (52 - FRACTION as i32 + (1 - target).max(0)).min(54) as u32;
    let kept = significand >> cut;
    let rest = significand & ((1 << cut) - 1);
    let half = 1u64 << (cut - 1);
    let up = rounds_up::<R>(negative, kept & 1 != 0, rest > half, rest == half, rest != 0);
    // The leading one of `kept` adds 1 to the exponent; so does a carry out of the fraction.
    let magnitude = (((target.max(1) - 1) as u64) << FRACTION) + kept + u64::from(up);
    let infinity = ((1u64 << EXPONENT) - 1) << FRACTION;
    let limit = if overflows_to_infinity::<R>(negative) { infinity } else { infinity - 1 };
    let finite = if magnitude >= infinity { limit } else { magnitude };
    let magnitude = if exponent == 0x7ff { infinity } else { finite };
    magnitude as u32 | u32::from(negative) << (FRACTION + EXPONENT)
}

/// Rounds to odd: `nearest` is the exact result rounded to nearest, `error` has the sign of the exact result
/// minus `nearest`; it is zero when that is exact, and may be NaN when that is not finite.
#[inline(always)]
fn to_odd(nearest: f64, error: f64) -> f64 {
    let bits = nearest.to_bits();
    let inexact = error != 0.0 && !error.is_nan();
    let outwards = (error > 0.0) == (nearest > 0.0);
    let neighbour = if outwards { bits.wrapping_add(1) } else { bits.wrapping_sub(1) };
    f64::from_bits(if inexact && bits & 1 == 0 { neighbour } else { bits })
}

/// `a + b`, rounded to odd; an exact zero has the sign that `R` gives it.
#[inline(always)]
pub fn add_odd<R: Mode>(a: f64, b: f64) -> f64 {
    let sum = a + b;
    // Knuth's two-sum: the error of a sum, exact.
    let b_part = sum - a;
    let error = (a - (sum - b_part)) + (b - b_part);
    let odd = to_odd(sum, error);
    if R::DOWN && sum == 0.0 {
        // +0 only when both are +0.
        let signs = (a.to_bits() | b.to_bits()) & (1 << 63);
        return f64::from_bits(signs);
    }
    odd
}

/// `a + b` in binary32, rounded to odd, in the same way.
#[inline(always)]
pub fn add_odd_f32(a: f32, b: f32) -> f32 {
    let sum = a + b;
    let b_part = sum - a;
    let error = (a - (sum - b_part)) + (b - b_part);
    let bits = sum.to_bits();
    let inexact = error != 0.0 && !error.is_nan();
    let outwards = (error > 0.0) == (sum > 0.0);
    let neighbour = if outwards { bits.wrapping_add(1) } else { bits.wrapping_sub(1) };
    f32::from_bits(if inexact && bits & 1 == 0 { neighbour } else { bits })
}

/// `a / b`, rounded to odd.
#[inline(always)]
pub fn div_odd(a: f64, b: f64) -> f64 {
    let quotient = a / b;
    // The remainder of a quotient rounded to nearest is exact.
    let remainder = (-quotient).mul_add(b, a);
    to_odd(quotient, if b < 0.0 { -remainder } else { remainder })
}

/// The square root, rounded to odd.
#[inline(always)]
pub fn sqrt_odd(a: f64) -> f64 {
    let root = a.sqrt();
    to_odd(root, (-root).mul_add(root, a))
}

/// An integer's magnitude as an f64, rounded to odd.
#[inline(always)]
pub fn magnitude_odd(x: u64) -> f64 {
    // 53 bits from bit 11 upwards are exact; what lies below matters only as being there.
    let jammed = (x & !0x7ff) | u64::from(x & 0x7ff != 0) << 11;
    (if x < 1 << 53 { x } else { jammed }) as f64
}
