//! f64 in the directed rounding modes, on 128-bit integers. The nearest mode is the host's own.
//!
//! Operands are taken apart to `significand x 2^exponent`, computed exactly or with a *jammed* last bit (one
//! that says that something non-zero was cut off below it), and rounded once.

use super::rounding::{Mode, overflows_to_infinity, rounds_up};

/// A finite number but zero: `(-1)^negative x significand x 2^exponent`, the significand in 2^52..2^53.
#[derive(Clone, Copy)]
struct Parts {
    negative: bool,
    exponent: i32,
    significand: u64,
}

/// Takes a finite number apart that is not zero.
#[inline(always)]
fn parts(x: f64) -> Parts {
    let bits = x.to_bits();
    let exponent = (bits >> 52 & 0x7ff) as i32;
    let fraction = bits & ((1 << 52) - 1);
    let negative = bits >> 63 != 0;
    if exponent == 0 {
        let shift = fraction.leading_zeros() - 11;
        Parts { negative, exponent: -1074 - shift as i32, significand: fraction << shift }
    } else {
        Parts { negative, exponent: exponent - 1075, significand: fraction | 1 << 52 }
    }
}

/// Shifts right; the last bit is set when a one was shifted out.
#[inline(always)]
fn shift_right_jam(x: u128, by: u32) -> u128 {
    if by == 0 {
        x
    } else if by < 128 {
        x >> by | u128::from(x << (128 - by) != 0)
    } else {
        u128::from(x != 0)
    }
}

/// Rounds `(-1)^negative x significand x 2^exponent` to f64; the significand is not zero.
#[inline(always)]
pub fn round<R: Mode>(negative: bool, exponent: i32, significand: u128) -> f64 {
    let top = 127 - significand.leading_zeros() as i32;
    let magnitude = exponent + top;
    let scale = magnitude.max(-1022);
    // Bits below the last one of the result; more of them below the normal range.
    let cut = top - 52 + (scale - magnitude);
    let (kept, above_half, at_half, inexact) = if cut <= 0 {
        (significand << -cut, false, false, false)
    } else if cut > 127 {
        (0, false, false, true)
    } else {
        let rest = significand & ((1 << cut) - 1);
        let half = 1u128 << (cut - 1);
        (significand >> cut, rest > half, rest == half, rest != 0)
    };
    let kept = kept as u64;
    let up = rounds_up::<R>(negative, kept & 1 != 0, above_half, at_half, inexact);
    const INFINITY: u64 = 0x7ff << 52;
    let rounded =
        if scale > 1023 { INFINITY } else { (((scale + 1022) as u64) << 52) + kept + u64::from(up) };
    let limited =
        if rounded >= INFINITY && !overflows_to_infinity::<R>(negative) { INFINITY - 1 } else { rounded };
    f64::from_bits(limited.min(INFINITY) | u64::from(negative) << 63)
}

/// The sum of two zeros, or of a number and its opposite: of numbers with these signs.
#[inline(always)]
fn zero_sum<R: Mode>(a_negative: bool, b_negative: bool) -> f64 {
    let negative = if R::DOWN { a_negative | b_negative } else { a_negative & b_negative };
    if negative { -0.0 } else { 0.0 }
}

/// `a x b + c`, rounded once.
#[inline(always)]
pub fn fma<R: Mode>(a: f64, b: f64, c: f64) -> f64 {
    if !(a.is_finite() && b.is_finite() && c.is_finite()) {
        // Infinities and NaN do not depend on the mode.
        return a.mul_add(b, c);
    }
    let negative = a.is_sign_negative() != b.is_sign_negative();
    if a == 0.0 || b == 0.0 {
        return if c == 0.0 { zero_sum::<R>(negative, c.is_sign_negative()) } else { c };
    }
    let (a, b) = (parts(a), parts(b));
    // The product's top bit is 124 or 125, the addend's 125: a sum fits, and whichever is shifted to the
    // other's exponent loses bits only when it is too small to cancel the other.
    let product = (u128::from(a.significand) * u128::from(b.significand)) << 20;
    let product_exponent = a.exponent + b.exponent - 20;
    if c == 0.0 {
        return round::<R>(negative, product_exponent, product);
    }
    let c = parts(c);
    let addend = u128::from(c.significand) << 73;
    let addend_exponent = c.exponent - 73;
    let exponent = product_exponent.max(addend_exponent);
    let product = shift_right_jam(product, (exponent - product_exponent) as u32);
    let addend = shift_right_jam(addend, (exponent - addend_exponent) as u32);
    if negative == c.negative {
        round::<R>(negative, exponent, product + addend)
    } else if product == addend {
        zero_sum::<R>(true, false)
    } else if product > addend {
        round::<R>(negative, exponent, product - addend)
    } else {
        round::<R>(c.negative, exponent, addend - product)
    }
}

/// `a + b`
#[inline(always)]
pub fn add<R: Mode>(a: f64, b: f64) -> f64 {
    fma::<R>(a, 1.0, b)
}

/// `a x b`
#[inline(always)]
pub fn mul<R: Mode>(a: f64, b: f64) -> f64 {
    // A zero of the product's sign changes nothing, a zero product's sign neither.
    let zero = if a.is_sign_negative() != b.is_sign_negative() { -0.0 } else { 0.0 };
    fma::<R>(a, b, zero)
}

/// `a / b`
#[inline(always)]
pub fn div<R: Mode>(a: f64, b: f64) -> f64 {
    if !(a.is_finite() && b.is_finite()) || a == 0.0 || b == 0.0 {
        return a / b;
    }
    let (a, b) = (parts(a), parts(b));
    let dividend = u128::from(a.significand) << 72;
    let divisor = u128::from(b.significand);
    let jammed = (dividend / divisor) | u128::from(dividend % divisor != 0);
    round::<R>(a.negative != b.negative, a.exponent - b.exponent - 72, jammed)
}

/// The square root.
#[inline(always)]
pub fn sqrt<R: Mode>(a: f64) -> f64 {
    if !a.is_finite() || a <= 0.0 {
        return a.sqrt();
    }
    let a = parts(a);
    // An even exponent, and a root of 63 or 64 bits.
    let shift = if a.exponent % 2 == 0 { 74 } else { 73 };
    let square = u128::from(a.significand) << shift;
    let root = square.isqrt();
    let jammed = root | u128::from(root * root != square);
    round::<R>(false, (a.exponent - shift) / 2, jammed)
}
