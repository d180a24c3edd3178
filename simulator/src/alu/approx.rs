//! The approximations: div.approx, div.full, rcp.approx, sqrt.approx, rsqrt, sin, cos, lg2, ex2, tanh (PTX ISA
//! 9.7.3.8 and 9.7.3.13 to 9.7.3.22; of 16 bits 9.7.4.9 and 9.7.4.10).
//!
//! Each is computed in f64 to 37 good bits or more and rounded to nearest, so that it differs from the correctly
//! rounded result rarely and by one unit at most. The ISA's bounds, all far wider:
//!
//! | instruction | largest error |
//! |---|---|
//! | `div.approx.f32`, |b| in 2^-126..=2^126, and `div.full.f32` | 2 ulp |
//! | `rcp.approx.f32` | 1 ulp |
//! | `sqrt.approx.f32` | relative 2^-23 |
//! | `rsqrt.approx.f32` | relative 2^-22.9 |
//! | `sin.approx`, `cos.approx` | absolute 2^-20.5 in -2π..2π, 2^-14.7 in -100π..100π |
//! | `lg2.approx` | absolute 2^-22 in 0.5..2, elsewhere relative 2^-22 |
//! | `ex2.approx.f32` | 2 ulp; `.f16` relative 2^-9.9, `.bf16` 2^-7 |
//! | `tanh.approx.f32` | relative 2^-11; absolute `.f16` 2^-10.987, `.bf16` 2^-8 |
//!
//! `rcp.approx.ftz.f64` and `rsqrt.approx.ftz.f64` read and write the upper 32 bits alone; the ISA states no
//! bound, ours are rounded to nearest there. Beyond 100π the ISA promises nothing of sin and cos: ours are right
//! to 2^-20 up to 2^30 and in -1..=1 everywhere. No host library is called for any of it but the remainder, which is
//! exact, so that results are the same on every machine.

use core::marker::PhantomData;

use bugaroo_ptx::op::{Op, Precision};
use bugaroo_ptx::types::Type;

use super::RowFn;
use super::arith::{Div, Rcp, Sqrt};
use super::float::{Float, finish, flush, unless_nan};
use super::half::{Bf16, F16, Packed};
use super::rounding::Rn;
use super::row::{LaneOp, Picker, lane_ops};

/// Rounds to the nearest integer, ties to even, for magnitudes up to 2^51: the sum has no bits for a fraction.
#[inline(always)]
fn nearest_integer(x: f64) -> f64 {
    const SHIFT: f64 = 6_755_399_441_055_744.0; // 1.5 x 2^52
    (x + SHIFT) - SHIFT
}

/// The low bits of an integral f64 of magnitude up to 2^51.
#[inline(always)]
fn low_bits(x: f64) -> u64 {
    (x + 6_755_399_441_055_744.0).to_bits()
}

/// A polynomial, coefficients from the constant up.
#[inline(always)]
fn polynomial<const N: usize>(x: f64, coefficients: [f64; N]) -> f64 {
    let mut value = 0.0;
    for i in 0..N {
        value = value * x + coefficients[N - 1 - i];
    }
    value
}

/// `2^x` for a number or infinity: below 2^-300 as zero, above 2^300 as huge. The series of e^y at y = r ln 2,
/// |r| <= 1/2, to y^13: its rest is below 2^-53.
#[inline(always)]
fn exp2(x: f64) -> f64 {
    let x = x.clamp(-300.0, 300.0);
    let whole = nearest_integer(x);
    let y = (x - whole) * core::f64::consts::LN_2;
    let series = polynomial(
        y,
        [
            1.0,
            1.0,
            1.0 / 2.0,
            1.0 / 6.0,
            1.0 / 24.0,
            1.0 / 120.0,
            1.0 / 720.0,
            1.0 / 5_040.0,
            1.0 / 40_320.0,
            1.0 / 362_880.0,
            1.0 / 3_628_800.0,
            1.0 / 39_916_800.0,
            1.0 / 479_001_600.0,
            1.0 / 6_227_020_800.0,
        ],
    );
    series * f64::from_bits((low_bits(whole).wrapping_add(1023)) << 52)
}

/// `log2 x` for a positive normal f64. With m in sqrt(1/2)..sqrt(2), ln m = 2 artanh s, s = (m-1)/(m+1) of
/// magnitude below 0.172: the series to s^21 leaves a rest below 2^-58.
#[inline(always)]
fn log2(x: f64) -> f64 {
    const SQRT_HALF: u64 = 0x3fe6_a09e_667f_3bcd;
    let bits = x.to_bits();
    let exponent = bits.wrapping_sub(SQRT_HALF) as i64 >> 52;
    let m = f64::from_bits(bits.wrapping_sub((exponent as u64) << 52));
    let s = (m - 1.0) / (m + 1.0);
    let series = polynomial(
        s * s,
        [
            1.0,
            1.0 / 3.0,
            1.0 / 5.0,
            1.0 / 7.0,
            1.0 / 9.0,
            1.0 / 11.0,
            1.0 / 13.0,
            1.0 / 15.0,
            1.0 / 17.0,
            1.0 / 19.0,
            1.0 / 21.0,
        ],
    );
    // An i32 converts in vectors, an i64 does not.
    f64::from(exponent as i32) + 2.0 * core::f64::consts::LOG2_E * s * series
}

/// `tanh x` for a number or infinity.
#[inline(always)]
fn tanh(x: f64) -> f64 {
    // e^2x - 1 cancels near zero, where the series x - x^3/3 + 2x^5/15 - 17x^7/315 is good to 2^-37 of x.
    let square = x * x;
    let small = x * polynomial(square, [1.0, -1.0 / 3.0, 2.0 / 15.0, -17.0 / 315.0]);
    let power = exp2(x.abs() * (2.0 * core::f64::consts::LOG2_E));
    let large = 1.0 - 2.0 / (power + 1.0);
    if x.abs() < 0.05 { small } else { large.copysign(x) }
}

/// `sin(x + quarter π/2)` for a number.
#[inline(always)]
fn sine(x: f64, quarter: u64) -> f64 {
    // Far out, the remainder first, so that the quarter turns can be counted.
    let x = if x.abs() < 1_073_741_824.0 { x } else { x % core::f64::consts::TAU };
    let turns = nearest_integer(x * core::f64::consts::FRAC_2_PI);
    // π/2 in two parts: the first, of 33 bits, times the turns is exact up to 2^20 turns and nearly so beyond.
    const HIGH: f64 = 1.570_796_326_734_125_6;
    const LOW: f64 = 6.077_100_506_506_192e-11;
    let r = (x - turns * HIGH) - turns * LOW;
    let square = r * r;
    let sin = r * polynomial(
        square,
        [
            1.0,
            -1.0 / 6.0,
            1.0 / 120.0,
            -1.0 / 5_040.0,
            1.0 / 362_880.0,
            -1.0 / 39_916_800.0,
            1.0 / 6_227_020_800.0,
            -1.0 / 1_307_674_368_000.0,
        ],
    );
    let cos = polynomial(
        square,
        [
            1.0,
            -1.0 / 2.0,
            1.0 / 24.0,
            -1.0 / 720.0,
            1.0 / 40_320.0,
            -1.0 / 3_628_800.0,
            1.0 / 479_001_600.0,
            -1.0 / 87_178_291_200.0,
            1.0 / 20_922_789_888_000.0,
        ],
    );
    let quadrant = low_bits(turns).wrapping_add(quarter);
    let value = if quadrant & 1 == 0 { sin } else { cos };
    if quadrant & 2 == 0 { value } else { -value }
}

/// An approximated function of one operand: flushed, computed in f64, rounded.
pub trait Function {
    /// The function; NaN of NaN.
    fn of(x: f64) -> f64;
}

macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident |$x:ident| $value:expr;)*) => {$(
        $(#[$doc])*
        pub struct $name;
        impl Function for $name {
            #[inline(always)]
            fn of($x: f64) -> f64 {
                $value
            }
        }
    )*};
}
functions! {
    /// `rsqrt`: of -0 it is minus infinity.
    Rsqrt |x| 1.0 / x.sqrt();
    /// `sin`: NaN of infinities, -0 of -0.
    Sin |x| {
        let of_others = if x.is_infinite() { f64::NAN } else { sine(x, 0) };
        if x == 0.0 { x } else { of_others }
    };
    /// `cos`: NaN of infinities.
    Cos |x| if x.is_infinite() { f64::NAN } else { sine(x, 1) };
    /// `lg2`: minus infinity of zeros, NaN of negative numbers.
    Lg2 |x| {
        let of_others = if x == 0.0 { f64::NEG_INFINITY } else if x > 0.0 { x } else { f64::NAN };
        if x > 0.0 && x < f64::INFINITY { log2(x) } else { of_others }
    };
    /// `ex2`
    Ex2 |x| if x.is_nan() { x } else { exp2(x) };
    /// `tanh`: -0 of -0, subnormals stay.
    Tanh |x| if x.is_nan() { x } else { tanh(x) };
}

/// `G` of an operand of type `F`.
pub struct Of<G, F, const FTZ: bool>(PhantomData<(G, F)>);

impl<G: Function, F: Float, const FTZ: bool> LaneOp for Of<G, F, FTZ> {
    type In = (F,);
    type Out = F;
    #[inline(always)]
    fn apply((a,): (F,)) -> F {
        finish::<F, FTZ, false, false>(F::rounded::<Rn>(G::of(flush::<F, FTZ>(a).wide())))
    }
}

/// The reciprocal (of the root) of the upper halves of f64s (9.7.3.14 and 9.7.3.17).
#[inline(always)]
fn gross(a: f64, function: impl Fn(f64) -> f64) -> f64 {
    const UPPER: u64 = 0xffff_ffff_0000_0000;
    let x = flush::<f64, true>(f64::from_bits(a.to_bits() & UPPER));
    let exact = function(x);
    let bits = exact.to_bits();
    // To nearest, ties to even. A carry out of the fraction is right in the exponent.
    let rounded = bits.wrapping_add(0x7fff_ffff + (bits >> 32 & 1)) & UPPER;
    let result = flush::<f64, true>(f64::from_bits(rounded));
    unless_nan(exact, result, f64::from_bits(0x7fff_ffff_0000_0000))
}

lane_ops! {
    /// `div.approx.f32`: right in the range that the ISA bounds. Above it the divisor's reciprocal is zero.
    DivApprox<const FTZ: bool>(a: f32, b: f32) -> f32 {
        let (a, b) = (flush::<f32, FTZ>(a), flush::<f32, FTZ>(b));
        let vanishes = b.abs() > 2f32.powi(126) && b.abs() < f32::INFINITY;
        let quotient = if vanishes { a * 0f32.with_sign_of(b) } else { a / b };
        finish::<f32, FTZ, false, false>(quotient)
    }
    /// `rcp.approx.ftz.f64`
    RcpGross<>(a: f64) -> f64 { gross(a, |x| 1.0 / x) }
    /// `rsqrt.approx.ftz.f64`
    RsqrtGross<>(a: f64) -> f64 { gross(a, |x| 1.0 / x.sqrt()) }
}

/// Picks a function of f32.
fn of_f32<G: Function>(p: Picker<'_>, ftz: bool) -> Option<RowFn> {
    if ftz { p.pick::<Of<G, f32, true>>() } else { p.pick::<Of<G, f32, false>>() }
}

/// The approximations.
pub fn select(op: &Op, p: Picker<'_>) -> Option<RowFn> {
    match *op {
        Op::Div { ty: Type::F32, precision: Precision::Approx, ftz: false } => p.pick::<DivApprox<false>>(),
        Op::Div { ty: Type::F32, precision: Precision::Approx, ftz: true } => p.pick::<DivApprox<true>>(),
        Op::Div { ty: Type::F32, precision: Precision::Full, ftz: false } => {
            p.pick::<Div<f32, Rn, false, false>>()
        }
        Op::Div { ty: Type::F32, precision: Precision::Full, ftz: true } => {
            p.pick::<Div<f32, Rn, true, false>>()
        }
        Op::Rcp { ty: Type::F32, precision: Precision::Approx, ftz: false } => {
            p.pick::<Rcp<f32, Rn, false, false>>()
        }
        Op::Rcp { ty: Type::F32, precision: Precision::Approx, ftz: true } => {
            p.pick::<Rcp<f32, Rn, true, false>>()
        }
        Op::Rcp { ty: Type::F64, precision: Precision::Approx, ftz: true } => p.pick::<RcpGross>(),
        Op::Sqrt { ty: Type::F32, precision: Precision::Approx, ftz: false } => {
            p.pick::<Sqrt<f32, Rn, false, false>>()
        }
        Op::Sqrt { ty: Type::F32, precision: Precision::Approx, ftz: true } => {
            p.pick::<Sqrt<f32, Rn, true, false>>()
        }
        Op::Rsqrt { ty: Type::F32, ftz } => of_f32::<Rsqrt>(p, ftz),
        Op::Rsqrt { ty: Type::F64, ftz: false } => p.pick::<Of<Rsqrt, f64, false>>(),
        Op::Rsqrt { ty: Type::F64, ftz: true } => p.pick::<RsqrtGross>(),
        Op::Sin { ftz } => of_f32::<Sin>(p, ftz),
        Op::Cos { ftz } => of_f32::<Cos>(p, ftz),
        Op::Lg2 { ftz } => of_f32::<Lg2>(p, ftz),
        Op::Ex2 { ty, ftz } => match (ty, ftz) {
            (Type::F32, _) => of_f32::<Ex2>(p, ftz),
            (Type::F16, false) => p.pick::<Of<Ex2, F16, false>>(),
            (Type::F16x2, false) => p.pick::<Packed<Of<Ex2, F16, false>>>(),
            (Type::BF16, true) => p.pick::<Of<Ex2, Bf16, true>>(),
            (Type::BF16x2, true) => p.pick::<Packed<Of<Ex2, Bf16, true>>>(),
            _ => None,
        },
        Op::Tanh { ty } => match ty {
            Type::F32 => p.pick::<Of<Tanh, f32, false>>(),
            Type::F16 => p.pick::<Of<Tanh, F16, false>>(),
            Type::F16x2 => p.pick::<Packed<Of<Tanh, F16, false>>>(),
            Type::BF16 => p.pick::<Of<Tanh, Bf16, false>>(),
            Type::BF16x2 => p.pick::<Packed<Of<Tanh, Bf16, false>>>(),
            _ => None,
        },
        _ => None,
    }
}
