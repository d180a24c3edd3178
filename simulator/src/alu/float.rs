//! What a floating-point type can do: the arithmetic of f16, bf16, f32 and f64 in every rounding mode.
//!
//! Rounding to nearest of f32 and f64 is the host's own (IEEE 754, and fused where PTX fuses); everything else
//! goes through [`super::rounding`] or [`super::soft`].

use super::half::{Bf16, F16};
use super::rounding::{Mode, narrow};
use super::row::LaneValue;
use super::soft;

/// A floating-point type of PTX. No result needs to be a canonical NaN yet: see [`finish`].
pub trait Float: LaneValue {
    /// A host type that holds every value of it, for comparisons.
    type Native: PartialOrd + Copy;
    /// The NaN that arithmetic gives.
    const CANONICAL_NAN: Self;
    /// +0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// As a host number.
    fn native(self) -> Self::Native;
    /// As an f64, exactly.
    fn wide(self) -> f64;
    /// Rounded from an f64 that is exact or was rounded to odd. NaN gives [`Float::CANONICAL_NAN`].
    fn rounded<R: Mode>(x: f64) -> Self;
    /// Whether it is NaN.
    fn is_nan(self) -> bool;
    /// Whether it is subnormal or zero.
    fn is_tiny(self) -> bool;
    /// Whether it is infinite.
    fn is_infinite(self) -> bool;
    /// Whether the sign bit is set.
    fn is_negative(self) -> bool;
    /// Zero with this sign.
    fn signed_zero(self) -> Self;
    /// With the sign bit flipped.
    fn negate(self) -> Self;
    /// With the sign bit cleared.
    fn magnitude(self) -> Self;
    /// With the sign of `other`.
    fn with_sign_of(self, other: Self) -> Self;
    /// `self + other`
    fn add<R: Mode>(self, other: Self) -> Self;
    /// `self x other`
    fn mul<R: Mode>(self, other: Self) -> Self;
    /// `self x b + c`, rounded once
    fn fma<R: Mode>(self, b: Self, c: Self) -> Self;
    /// `self / other`
    fn div<R: Mode>(self, other: Self) -> Self;
    /// The square root.
    fn sqrt<R: Mode>(self) -> Self;
}

/// `nan` if `x` is NaN, else `other`; decided and chosen as bits, so that every NaN stays the one it is.
#[inline(always)]
pub fn unless_nan<F: Float, G: Float>(x: F, other: G, nan: G) -> G {
    G::from_word(if Float::is_nan(x) { nan.to_word() } else { other.to_word() })
}

/// Sign-preserving zero for a subnormal when `FTZ`.
#[inline(always)]
pub fn flush<F: Float, const FTZ: bool>(x: F) -> F {
    if FTZ && x.is_tiny() { x.signed_zero() } else { x }
}

/// The result as PTX gives it: the canonical NaN, and flushed, clamped to 0..=1 (`SAT`: NaN to +0), or
/// negative clamped to +0 (`RELU`: NaN stays).
#[inline(always)]
pub fn finish<F: Float, const FTZ: bool, const SAT: bool, const RELU: bool>(x: F) -> F {
    let flushed = flush::<F, FTZ>(x);
    if SAT {
        // Comparisons with NaN are false, so it ends as zero; -0 does too.
        let positive = if x.native() > F::ZERO.native() { flushed } else { F::ZERO };
        return if x.native() > F::ONE.native() { F::ONE } else { positive };
    }
    let clamped = if RELU && flushed.is_negative() { F::ZERO } else { flushed };
    unless_nan(x, clamped, F::CANONICAL_NAN)
}

/// The formats of at most 24 significant bits, by way of f64.
mod through {
    use super::super::rounding::{Mode, add_odd, div_odd, sqrt_odd};
    use super::Float;

    #[inline(always)]
    pub fn add<R: Mode, F: Float>(a: F, b: F) -> F {
        F::rounded::<R>(add_odd::<R>(a.wide(), b.wide()))
    }

    #[inline(always)]
    pub fn mul<R: Mode, F: Float>(a: F, b: F) -> F {
        // The product of two significands of 24 bits is exact.
        F::rounded::<R>(a.wide() * b.wide())
    }

    #[inline(always)]
    pub fn fma<R: Mode, F: Float>(a: F, b: F, c: F) -> F {
        F::rounded::<R>(add_odd::<R>(a.wide() * b.wide(), c.wide()))
    }

    #[inline(always)]
    pub fn div<R: Mode, F: Float>(a: F, b: F) -> F {
        F::rounded::<R>(div_odd(a.wide(), b.wide()))
    }

    #[inline(always)]
    pub fn sqrt<R: Mode, F: Float>(a: F) -> F {
        F::rounded::<R>(sqrt_odd(a.wide()))
    }
}

/// The arithmetic of a host type: its own to nearest, `$module`'s in the other modes.
macro_rules! host_arithmetic {
    ($t:ident, $module:ident $(, $f:ident)?) => {
        #[inline(always)]
        fn add<R: Mode>(self, b: Self) -> Self {
            if R::NEAREST { self + b } else { $module::add::<R $(, $f)?>(self, b) }
        }
        #[inline(always)]
        fn mul<R: Mode>(self, b: Self) -> Self {
            if R::NEAREST { self * b } else { $module::mul::<R $(, $f)?>(self, b) }
        }
        #[inline(always)]
        fn fma<R: Mode>(self, b: Self, c: Self) -> Self {
            if R::NEAREST { self.mul_add(b, c) } else { $module::fma::<R $(, $f)?>(self, b, c) }
        }
        #[inline(always)]
        fn div<R: Mode>(self, b: Self) -> Self {
            if R::NEAREST { self / b } else { $module::div::<R $(, $f)?>(self, b) }
        }
        #[inline(always)]
        fn sqrt<R: Mode>(self) -> Self {
            if R::NEAREST { $t::sqrt(self) } else { $module::sqrt::<R $(, $f)?>(self) }
        }
    };
}

/// binary16 to nearest, by way of f32, whose 24 bits are enough for it.
mod halves {
    use super::super::half::F16;
    use super::super::rounding::add_odd_f32;

    /// A sum of numbers of 11 bits may be rounded to 24 first: that is twice as many and two.
    #[inline(always)]
    pub fn add(a: F16, b: F16) -> F16 {
        F16::nearest(a.to_f32() + b.to_f32())
    }

    /// The product is exact.
    #[inline(always)]
    pub fn mul(a: F16, b: F16) -> F16 {
        F16::nearest(a.to_f32() * b.to_f32())
    }

    #[inline(always)]
    pub fn fma(a: F16, b: F16, c: F16) -> F16 {
        F16::nearest(add_odd_f32(a.to_f32() * b.to_f32(), c.to_f32()))
    }
}

/// The arithmetic of a type that the host lacks; `nearest by` a module, if that has a faster one.
macro_rules! wide_arithmetic {
    ($(nearest by $module:ident)?) => {
        #[inline(always)]
        fn add<R: Mode>(self, b: Self) -> Self {
            $(if R::NEAREST {
                return $module::add(self, b);
            })?
            through::add::<R, Self>(self, b)
        }
        #[inline(always)]
        fn mul<R: Mode>(self, b: Self) -> Self {
            $(if R::NEAREST {
                return $module::mul(self, b);
            })?
            through::mul::<R, Self>(self, b)
        }
        #[inline(always)]
        fn fma<R: Mode>(self, b: Self, c: Self) -> Self {
            $(if R::NEAREST {
                return $module::fma(self, b, c);
            })?
            through::fma::<R, Self>(self, b, c)
        }
        #[inline(always)]
        fn div<R: Mode>(self, b: Self) -> Self {
            through::div::<R, Self>(self, b)
        }
        #[inline(always)]
        fn sqrt<R: Mode>(self) -> Self {
            through::sqrt::<R, Self>(self)
        }
    };
}

/// The operations on bits, alike in all formats. `$make` turns bits into the type.
macro_rules! bit_operations {
    ($make:path, sign $sign:literal, infinity $infinity:literal, normal $normal:literal, nan $nan:literal, one $one:literal) => {
        const CANONICAL_NAN: Self = $make($nan);
        const ZERO: Self = $make(0);
        const ONE: Self = $make($one);
        #[inline(always)]
        fn is_nan(self) -> bool {
            self.to_word() & !$sign > $infinity
        }
        #[inline(always)]
        fn is_tiny(self) -> bool {
            self.to_word() & !$sign < $normal
        }
        #[inline(always)]
        fn is_infinite(self) -> bool {
            self.to_word() & !$sign == $infinity
        }
        #[inline(always)]
        fn is_negative(self) -> bool {
            self.to_word() & $sign != 0
        }
        #[inline(always)]
        fn signed_zero(self) -> Self {
            $make(self.to_word() & $sign)
        }
        #[inline(always)]
        fn negate(self) -> Self {
            $make(self.to_word() ^ $sign)
        }
        #[inline(always)]
        fn magnitude(self) -> Self {
            $make(self.to_word() & !$sign)
        }
        #[inline(always)]
        fn with_sign_of(self, other: Self) -> Self {
            $make(self.to_word() & !$sign | other.to_word() & $sign)
        }
    };
}

impl Float for f32 {
    type Native = f32;
    bit_operations! {
        f32::from_bits, sign 0x8000_0000, infinity 0x7f80_0000, normal 0x0080_0000, nan 0x7fff_ffff, one 0x3f80_0000
    }
    host_arithmetic!(f32, through, Self);
    #[inline(always)]
    fn native(self) -> f32 {
        self
    }
    #[inline(always)]
    fn wide(self) -> f64 {
        f64::from(self)
    }
    #[inline(always)]
    fn rounded<R: Mode>(x: f64) -> f32 {
        if R::NEAREST {
            return unless_nan(x, x as f32, Self::CANONICAL_NAN);
        }
        unless_nan(x, f32::from_bits(narrow::<23, 8, R>(x)), Self::CANONICAL_NAN)
    }
}

impl Float for f64 {
    type Native = f64;
    bit_operations! {
        f64::from_bits, sign 0x8000_0000_0000_0000, infinity 0x7ff0_0000_0000_0000, normal 0x0010_0000_0000_0000,
        nan 0xfff8_0000_0000_0000, one 0x3ff0_0000_0000_0000
    }
    host_arithmetic!(f64, soft);
    #[inline(always)]
    fn native(self) -> f64 {
        self
    }
    #[inline(always)]
    fn wide(self) -> f64 {
        self
    }
    #[inline(always)]
    fn rounded<R: Mode>(x: f64) -> f64 {
        unless_nan(x, x, Self::CANONICAL_NAN)
    }
}

impl Float for F16 {
    type Native = f32;
    bit_operations! { F16, sign 0x8000, infinity 0x7c00, normal 0x0400, nan 0x7fff, one 0x3c00 }
    wide_arithmetic! { nearest by halves }
    #[inline(always)]
    fn native(self) -> f32 {
        self.to_f32()
    }
    #[inline(always)]
    fn wide(self) -> f64 {
        f64::from(self.to_f32())
    }
    #[inline(always)]
    fn rounded<R: Mode>(x: f64) -> F16 {
        unless_nan(x, F16(narrow::<10, 5, R>(x) as u16), Self::CANONICAL_NAN)
    }
}

impl Float for Bf16 {
    type Native = f32;
    bit_operations! { Bf16, sign 0x8000, infinity 0x7f80, normal 0x0080, nan 0x7fff, one 0x3f80 }
    wide_arithmetic! {}
    #[inline(always)]
    fn native(self) -> f32 {
        self.to_f32()
    }
    #[inline(always)]
    fn wide(self) -> f64 {
        f64::from(self.to_f32())
    }
    #[inline(always)]
    fn rounded<R: Mode>(x: f64) -> Bf16 {
        unless_nan(x, Bf16(narrow::<7, 8, R>(x) as u16), Self::CANONICAL_NAN)
    }
}

#[cfg(test)]
mod tests {
    use super::super::rounding::Rn;
    use super::*;

    /// Halves by way of f32 are those by way of f64: all pairs of some that are near the edges of the format, and random ones.
    #[test]
    fn halves_by_way_of_f32_are_those_by_way_of_f64() {
        let mut edges: Vec<u16> =
            (0..16).flat_map(|bit| [1 << bit, (1 << bit) - 1, (1 << bit) + 1]).collect();
        edges.extend([0, 0x3c00, 0x3bff, 0x3c01, 0x7bff, 0x7c00, 0x7e00, 0x0400, 0x03ff]);
        edges.extend(edges.clone().iter().map(|bits| bits | 0x8000));
        let same = |a: u16, b: u16, c: u16| {
            let [x, y, z] = [a, b, c].map(F16);
            assert_eq!(halves::add(x, y).0, through::add::<Rn, F16>(x, y).0, "{a:#x} + {b:#x}");
            assert_eq!(halves::mul(x, y).0, through::mul::<Rn, F16>(x, y).0, "{a:#x} * {b:#x}");
            assert_eq!(
                halves::fma(x, y, z).0,
                through::fma::<Rn, F16>(x, y, z).0,
                "{a:#x} * {b:#x} + {c:#x}"
            );
        };
        for a in &edges {
            for b in &edges {
                edges.iter().for_each(|c| same(*a, *b, *c));
            }
        }
        let mut state = 1u64;
        for _ in 0..3_000_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            same((state >> 16) as u16, (state >> 32) as u16, (state >> 48) as u16);
        }
    }
}
