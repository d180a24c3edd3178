//! Floating-point arithmetic (PTX ISA 9.7.3 to 9.7.5): add, sub, mul, fma, div, rcp, sqrt with every rounding,
//! min, max, abs, neg, copysign, testp.
//!
//! Departures: abs and neg change the sign bit of a NaN and nothing else (the ISA leaves a NaN's result
//! unspecified, and foresees this). The result of `.ftz` is flushed when it is subnormal as rounded.

use core::marker::PhantomData;

use bugaroo_ptx::op::{Op, Precision, TestpKind};
use bugaroo_ptx::types::{Rounding, Type};

use super::RowFn;
use super::float::{Float, finish, flush, unless_nan};
use super::half::{Bf16, F16, Packed};
use super::rounding::{Mode, Rm, Rn, Rp, Rz};
use super::row::{LaneOp, Picker, lane_ops};

/// Defines rounded operations: type, mode, `.ftz`, `.sat`.
macro_rules! rounded_ops {
    ($($(#[$doc:meta])* $name:ident($($arg:ident),*) |$r:ident| $body:expr;)*) => {$(
        $(#[$doc])*
        pub struct $name<F, R, const FTZ: bool, const SAT: bool>(PhantomData<(F, R)>);
        impl<F: Float, $r: Mode, const FTZ: bool, const SAT: bool> LaneOp for $name<F, $r, FTZ, SAT> {
            type In = ($(rounded_ops!(@ $arg F),)*);
            type Out = F;
            #[inline(always)]
            fn apply(($($arg,)*): Self::In) -> F {
                $(let $arg = flush::<F, FTZ>($arg);)*
                finish::<F, FTZ, SAT, false>($body)
            }
        }
    )*};
    (@ $arg:ident $f:ident) => { $f };
}
rounded_ops! {
    /// `add`
    Add(a, b) |R| a.add::<R>(b);
    /// `sub`
    Sub(a, b) |R| a.add::<R>(b.negate());
    /// `mul`
    Mul(a, b) |R| a.mul::<R>(b);
    /// `fma`, `mad`
    Fma(a, b, c) |R| a.fma::<R>(b, c);
    /// `div`
    Div(a, b) |R| a.div::<R>(b);
    /// `rcp`
    Rcp(a) |R| F::ONE.div::<R>(a);
    /// `sqrt`
    Sqrt(a) |R| a.sqrt::<R>();
}

/// The lesser, -0 before +0.
#[inline(always)]
fn lesser<F: Float>(a: F, b: F) -> F {
    let (x, y) = (a.native(), b.native());
    if x < y || (x == y && a.is_negative()) { a } else { b }
}

/// `min` and `max` of numbers; of a number and a NaN, the number or (`NAN`) NaN.
#[inline(always)]
fn choose<F: Float, const NAN: bool>(a: F, b: F, chosen: F) -> F {
    if NAN {
        return unless_nan(a, unless_nan(b, chosen, F::CANONICAL_NAN), F::CANONICAL_NAN);
    }
    let number = unless_nan(b, unless_nan(a, chosen, b), a);
    unless_nan(number, number, F::CANONICAL_NAN)
}

lane_ops! {
    /// `fma.relu`
    FmaRelu<F: Float, const FTZ: bool>(a: F, b: F, c: F) -> F {
        let sum = flush::<F, FTZ>(a).fma::<Rn>(flush::<F, FTZ>(b), flush::<F, FTZ>(c));
        finish::<F, FTZ, false, true>(sum)
    }
    /// `min`
    Min<F: Float, const FTZ: bool, const NAN: bool>(a: F, b: F) -> F {
        let (a, b) = (flush::<F, FTZ>(a), flush::<F, FTZ>(b));
        choose::<F, NAN>(a, b, lesser(a, b))
    }
    /// `max`: the opposite of the lesser of the opposites.
    Max<F: Float, const FTZ: bool, const NAN: bool>(a: F, b: F) -> F {
        let (a, b) = (flush::<F, FTZ>(a), flush::<F, FTZ>(b));
        choose::<F, NAN>(a, b, lesser(a.negate(), b.negate()).negate())
    }
    /// `abs`
    Abs<F: Float, const FTZ: bool>(a: F) -> F { flush::<F, FTZ>(a).magnitude() }
    /// `neg`
    Neg<F: Float, const FTZ: bool>(a: F) -> F { flush::<F, FTZ>(a).negate() }
    /// `copysign`: the sign of `a`, the magnitude of `b` (9.7.3.2)
    Copysign<F: Float>(a: F, b: F) -> F { b.with_sign_of(a) }
    /// `testp.finite`
    TestFinite<F: Float>(a: F) -> bool { !a.is_nan() && !a.is_infinite() }
    /// `testp.infinite`
    TestInfinite<F: Float>(a: F) -> bool { a.is_infinite() }
    /// `testp.number`
    TestNumber<F: Float>(a: F) -> bool { !a.is_nan() }
    /// `testp.notanumber`
    TestNan<F: Float>(a: F) -> bool { a.is_nan() }
    /// `testp.normal`: zero counts as normal (9.7.3.1).
    TestNormal<F: Float>(a: F) -> bool {
        !a.is_nan() && !a.is_infinite() && (!a.is_tiny() || a.native() == F::ZERO.native())
    }
    /// `testp.subnormal`
    TestSubnormal<F: Float>(a: F) -> bool { a.is_tiny() && a.native() != F::ZERO.native() }
}

/// An operation as it is, for macros that take [`Packed`] or this.
type Whole<O> = O;

/// Picks `$wrap<$op<$f, mode, ftz, sat>>` for one mode.
macro_rules! flags {
    ($p:expr, $wrap:ident, $op:ident, $f:ty, $r:ty, $ftz:expr, $sat:expr) => {
        match ($ftz, $sat) {
            (false, false) => $p.pick::<$wrap<$op<$f, $r, false, false>>>(),
            (true, false) => $p.pick::<$wrap<$op<$f, $r, true, false>>>(),
            (false, true) => $p.pick::<$wrap<$op<$f, $r, false, true>>>(),
            (true, true) => $p.pick::<$wrap<$op<$f, $r, true, true>>>(),
        }
    };
}

/// Picks a rounded operation. f32 has all modes and flags, f64 all modes, the 16-bit types the nearest mode.
macro_rules! by_float {
    ($p:expr, $op:ident, $ty:expr, $rnd:expr, $ftz:expr, $sat:expr) => {
        match ($ty, $rnd) {
            (Type::F32, Rounding::Nearest) => flags!($p, Whole, $op, f32, Rn, $ftz, $sat),
            (Type::F32, Rounding::Zero) => flags!($p, Whole, $op, f32, Rz, $ftz, $sat),
            (Type::F32, Rounding::Down) => flags!($p, Whole, $op, f32, Rm, $ftz, $sat),
            (Type::F32, Rounding::Up) => flags!($p, Whole, $op, f32, Rp, $ftz, $sat),
            (Type::F64, Rounding::Nearest) if !$ftz && !$sat => $p.pick::<$op<f64, Rn, false, false>>(),
            (Type::F64, Rounding::Zero) if !$ftz && !$sat => $p.pick::<$op<f64, Rz, false, false>>(),
            (Type::F64, Rounding::Down) if !$ftz && !$sat => $p.pick::<$op<f64, Rm, false, false>>(),
            (Type::F64, Rounding::Up) if !$ftz && !$sat => $p.pick::<$op<f64, Rp, false, false>>(),
            (Type::F16, Rounding::Nearest) => flags!($p, Whole, $op, F16, Rn, $ftz, $sat),
            (Type::F16x2, Rounding::Nearest) => flags!($p, Packed, $op, F16, Rn, $ftz, $sat),
            (Type::BF16, Rounding::Nearest) if !$ftz && !$sat => $p.pick::<$op<Bf16, Rn, false, false>>(),
            (Type::BF16x2, Rounding::Nearest) if !$ftz && !$sat => {
                $p.pick::<Packed<$op<Bf16, Rn, false, false>>>()
            }
            _ => None,
        }
    };
}

/// Picks `div`, `rcp`, `sqrt`, which have no `.sat` and no 16-bit types.
macro_rules! by_wide_float {
    ($p:expr, $op:ident, $ty:expr, $rnd:expr, $ftz:expr) => {
        match ($ty, $rnd, $ftz) {
            (Type::F32, Rounding::Nearest, false) => $p.pick::<$op<f32, Rn, false, false>>(),
            (Type::F32, Rounding::Nearest, true) => $p.pick::<$op<f32, Rn, true, false>>(),
            (Type::F32, Rounding::Zero, false) => $p.pick::<$op<f32, Rz, false, false>>(),
            (Type::F32, Rounding::Zero, true) => $p.pick::<$op<f32, Rz, true, false>>(),
            (Type::F32, Rounding::Down, false) => $p.pick::<$op<f32, Rm, false, false>>(),
            (Type::F32, Rounding::Down, true) => $p.pick::<$op<f32, Rm, true, false>>(),
            (Type::F32, Rounding::Up, false) => $p.pick::<$op<f32, Rp, false, false>>(),
            (Type::F32, Rounding::Up, true) => $p.pick::<$op<f32, Rp, true, false>>(),
            (Type::F64, Rounding::Nearest, false) => $p.pick::<$op<f64, Rn, false, false>>(),
            (Type::F64, Rounding::Zero, false) => $p.pick::<$op<f64, Rz, false, false>>(),
            (Type::F64, Rounding::Down, false) => $p.pick::<$op<f64, Rm, false, false>>(),
            (Type::F64, Rounding::Up, false) => $p.pick::<$op<f64, Rp, false, false>>(),
            _ => None,
        }
    };
}

/// Picks an operation of any float type that has flags but no rounding.
macro_rules! by_format {
    ($p:expr, $op:ident, $ty:expr $(, $flag:literal)*) => {
        match $ty {
            Type::F32 => $p.pick::<$op<f32 $(, $flag)*>>(),
            Type::F64 => $p.pick::<$op<f64 $(, $flag)*>>(),
            Type::F16 => $p.pick::<$op<F16 $(, $flag)*>>(),
            Type::F16x2 => $p.pick::<Packed<$op<F16 $(, $flag)*>>>(),
            Type::BF16 => $p.pick::<$op<Bf16 $(, $flag)*>>(),
            Type::BF16x2 => $p.pick::<Packed<$op<Bf16 $(, $flag)*>>>(),
            _ => None,
        }
    };
}

/// Picks `testp`, of f32 and f64.
macro_rules! by_tested {
    ($p:expr, $op:ident, $ty:expr) => {
        match $ty {
            Type::F32 => $p.pick::<$op<f32>>(),
            Type::F64 => $p.pick::<$op<f64>>(),
            _ => None,
        }
    };
}

/// The floating-point arithmetic that the ISA defines exactly.
pub fn select(op: &Op, p: Picker<'_>) -> Option<RowFn> {
    match *op {
        Op::Add { ty, rnd, ftz, sat, carry_in: false, carry_out: false } => {
            by_float!(p, Add, ty, rnd, ftz, sat)
        }
        Op::Sub { ty, rnd, ftz, sat, carry_in: false, carry_out: false } => {
            by_float!(p, Sub, ty, rnd, ftz, sat)
        }
        Op::Mul { ty, part: None, rnd, ftz, sat } => by_float!(p, Mul, ty, rnd, ftz, sat),
        Op::Fma { ty, rnd, ftz, sat, relu: false } => by_float!(p, Fma, ty, rnd, ftz, sat),
        Op::Fma { ty, rnd: Rounding::Nearest, ftz, sat: false, relu: true } => match (ty, ftz) {
            (Type::F16, false) => p.pick::<FmaRelu<F16, false>>(),
            (Type::F16, true) => p.pick::<FmaRelu<F16, true>>(),
            (Type::F16x2, false) => p.pick::<Packed<FmaRelu<F16, false>>>(),
            (Type::F16x2, true) => p.pick::<Packed<FmaRelu<F16, true>>>(),
            (Type::BF16, false) => p.pick::<FmaRelu<Bf16, false>>(),
            (Type::BF16x2, false) => p.pick::<Packed<FmaRelu<Bf16, false>>>(),
            _ => None,
        },
        Op::Div { ty, precision: Precision::Rounded(rnd), ftz } => by_wide_float!(p, Div, ty, rnd, ftz),
        Op::Rcp { ty, precision: Precision::Rounded(rnd), ftz } => by_wide_float!(p, Rcp, ty, rnd, ftz),
        Op::Sqrt { ty, precision: Precision::Rounded(rnd), ftz } => by_wide_float!(p, Sqrt, ty, rnd, ftz),
        Op::Min { ty, ftz, nan } => match (ftz, nan) {
            (false, false) => by_format!(p, Min, ty, false, false),
            (false, true) => by_format!(p, Min, ty, false, true),
            (true, false) => by_format!(p, Min, ty, true, false),
            (true, true) => by_format!(p, Min, ty, true, true),
        },
        Op::Max { ty, ftz, nan } => match (ftz, nan) {
            (false, false) => by_format!(p, Max, ty, false, false),
            (false, true) => by_format!(p, Max, ty, false, true),
            (true, false) => by_format!(p, Max, ty, true, false),
            (true, true) => by_format!(p, Max, ty, true, true),
        },
        Op::Abs { ty, ftz: false } => by_format!(p, Abs, ty, false),
        Op::Abs { ty, ftz: true } => by_format!(p, Abs, ty, true),
        Op::Neg { ty, ftz: false } => by_format!(p, Neg, ty, false),
        Op::Neg { ty, ftz: true } => by_format!(p, Neg, ty, true),
        Op::Copysign { ty: Type::F32 } => p.pick::<Copysign<f32>>(),
        Op::Copysign { ty: Type::F64 } => p.pick::<Copysign<f64>>(),
        Op::Testp { ty, kind } => match kind {
            TestpKind::Finite => by_tested!(p, TestFinite, ty),
            TestpKind::Infinite => by_tested!(p, TestInfinite, ty),
            TestpKind::Number => by_tested!(p, TestNumber, ty),
            TestpKind::NotANumber => by_tested!(p, TestNan, ty),
            TestpKind::Normal => by_tested!(p, TestNormal, ty),
            TestpKind::Subnormal => by_tested!(p, TestSubnormal, ty),
        },
        _ => None,
    }
}
