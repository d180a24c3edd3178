//! cvt, the common forms (PTX ISA 9.7.9.21): those that compilers emit, as lane operations. The others, and
//! the rules of conversion in full, are in [`super::convert_any`].

use core::marker::PhantomData;

use bugaroo_ptx::op::Op;
use bugaroo_ptx::types::{Rounding, Type};

use super::float::{Float, finish, unless_nan};
use super::half::{Bf16, F16};
use super::integer::Int;
use super::rounding::{Mode, Rm, Rn, Rp, Rz};
use super::row::{LaneOp, LaneValue, Picker, Word, lane_ops};
use super::{RowFn, Width, convert_any};

/// An integer type of a conversion.
pub trait Integer: Copy {
    /// The low bits.
    fn cut(bits: u64) -> Self;
    /// Extended by the type's sign.
    fn extend(self) -> u64;
}

macro_rules! integers {
    ($($t:ty: $wide:ty),*) => {$(
        impl Integer for $t {
            #[inline(always)]
            fn cut(bits: u64) -> Self {
                bits as $t
            }
            #[inline(always)]
            fn extend(self) -> u64 {
                <$wide>::from(self) as u64
            }
        }
    )*};
}
integers!(u8: u64, i8: i64, u16: u64, i16: i64, u32: u64, i32: i64, u64: u64, i64: i64);

/// An integer of type `T` in a register of type `W`: the low bits are read, the whole register is written.
#[derive(Clone, Copy)]
pub struct Held<T, W>(T, PhantomData<W>);

impl<T: Integer, W: Integer + Word> LaneValue for Held<T, W> {
    type Word = W;
    #[inline(always)]
    fn from_word(word: W) -> Self {
        Held(T::cut(word.extend()), PhantomData)
    }
    #[inline(always)]
    fn to_word(self) -> W {
        W::cut(self.0.extend())
    }
}

/// Integer to integer.
pub struct Resize<A, B>(PhantomData<(A, B)>);

impl<S: Integer, V: Integer + Word, D: Integer, W: Integer + Word> LaneOp for Resize<Held<S, V>, Held<D, W>> {
    type In = (Held<S, V>,);
    type Out = Held<D, W>;
    #[inline(always)]
    fn apply((a,): Self::In) -> Self::Out {
        Held(D::cut(a.0.extend()), PhantomData)
    }
}

/// Conversions that the host has: integer to float to nearest, float to integer towards zero and clamped.
pub trait Host<T> {
    /// Converts.
    fn convert(self) -> T;
}

macro_rules! host {
    ($($a:ty => $($b:ty)*;)*) => {$($(
        impl Host<$b> for $a {
            #[inline(always)]
            fn convert(self) -> $b {
                self as $b
            }
        }
    )*)*};
}
host! {
    u16 => f32 f64;
    i16 => f32 f64;
    u32 => f32 f64;
    i32 => f32 f64;
    u64 => f32 f64;
    i64 => f32 f64;
    f32 => u16 i16 u64 i64;
    f64 => u16 i16 u64 i64;
}

/// Float to 32 bits. The language's clamping cast is compiled lane by lane; clamping first, to the least and
/// the greatest number that fit, is not.
macro_rules! host_clamped {
    ($($a:ty => $b:ty, $least:literal to $greatest:literal;)*) => {$(
        impl Host<$b> for $a {
            #[inline(always)]
            fn convert(self) -> $b {
                // `max` makes a number of NaN.
                let inside = self.max($least).min($greatest);
                // SAFETY: from `$least` to `$greatest` everything fits.
                let converted = unsafe { inside.to_int_unchecked::<$b>() };
                if self > $greatest { <$b>::MAX } else { converted }
            }
        }
    )*};
}
host_clamped! {
    f32 => i32, -2_147_483_648.0 to 2_147_483_520.0;
    f32 => u32, 0.0 to 4_294_967_040.0;
    f64 => i32, -2_147_483_648.0 to 2_147_483_647.0;
    f64 => u32, 0.0 to 4_294_967_295.0;
}

/// Integer to float, to nearest.
pub struct ToFloat<A, B>(PhantomData<(A, B)>);

impl<A: Int + Host<B>, B: Float> LaneOp for ToFloat<A, B> {
    type In = (A,);
    type Out = B;
    #[inline(always)]
    fn apply((a,): (A,)) -> B {
        a.convert()
    }
}

/// A float that can be rounded to an integral value.
pub trait Integral: Float {
    /// Rounds.
    fn integral<R: Mode>(self) -> Self;
}

macro_rules! integral {
    ($($t:ty),*) => {$(
        impl Integral for $t {
            #[inline(always)]
            fn integral<R: Mode>(self) -> Self {
                match R::RND {
                    Rounding::Nearest => self.round_ties_even(),
                    Rounding::NearestAway => self.round(),
                    Rounding::Zero => self.trunc(),
                    Rounding::Down => self.floor(),
                    Rounding::Up => self.ceil(),
                }
            }
        }
    )*};
}
integral!(f32, f64);

/// What NaN becomes as an integer: zero from f32 to at most 32 bits, else the sign bit alone.
pub trait FromNan<T> {
    /// The value.
    const NAN: T;
}

macro_rules! from_nan {
    ($a:ty: $($b:ty, $value:expr;)*) => {$(
        impl FromNan<$b> for $a {
            const NAN: $b = $value;
        }
    )*};
}
from_nan! {
    f32: u16, 0; i16, 0; u32, 0; i32, 0; u64, 1 << 63; i64, i64::MIN;
}
from_nan! {
    f64: u16, 1 << 15; i16, i16::MIN; u32, 1 << 31; i32, i32::MIN; u64, 1 << 63; i64, i64::MIN;
}

/// Float to integer.
pub struct ToInteger<A, B, R>(PhantomData<(A, B, R)>);

impl<A: Integral + Host<B> + FromNan<B>, B: Int, R: Mode> LaneOp for ToInteger<A, B, R> {
    type In = (A,);
    type Out = B;
    #[inline(always)]
    fn apply((a,): (A,)) -> B {
        let clamped = a.integral::<R>().convert();
        if a.is_nan() { <A as FromNan<B>>::NAN } else { clamped }
    }
}

/// Float to an integral value of the same type.
pub struct ToIntegral<A, R>(PhantomData<(A, R)>);

impl<A: Integral, R: Mode> LaneOp for ToIntegral<A, R> {
    type In = (A,);
    type Out = A;
    #[inline(always)]
    fn apply((a,): (A,)) -> A {
        finish::<A, false, false, false>(a.integral::<R>())
    }
}

lane_ops! {
    /// `cvt.f64.f32`. The NaN is the canonical one of f32, as wide.
    Widen<>(a: f32) -> f64 { unless_nan(a, f64::from(a), f64::from_bits(convert_any::WIDENED_NAN)) }
    /// `cvt.rn.f32.f64`
    Narrow<>(a: f64) -> f32 { f32::rounded::<Rn>(a) }
    /// `cvt.f32.f16`
    WidenF16<>(a: F16) -> f32 { finish::<f32, false, false, false>(a.to_f32()) }
    /// `cvt.f32.bf16`
    WidenBf16<>(a: Bf16) -> f32 { finish::<f32, false, false, false>(a.to_f32()) }
    /// `cvt.rn.f16.f32`
    NarrowF16<>(a: f32) -> F16 { F16::nearest(a) }
    /// `cvt.rn.bf16.f32`
    NarrowBf16<>(a: f32) -> Bf16 { Bf16::rounded::<Rn>(f64::from(a)) }
    /// `cvt.sat.f32.f32`
    Saturate<>(a: f32) -> f32 { finish::<f32, false, true, false>(a) }
}

/// Two f32s to a packed pair, the first in the upper half.
pub struct Pair<F, R, const RELU: bool>(PhantomData<(F, R)>);

impl<F: Float<Word = u16>, R: Mode, const RELU: bool> LaneOp for Pair<F, R, RELU> {
    type In = (f32, f32);
    type Out = u32;
    #[inline(always)]
    fn apply((a, b): (f32, f32)) -> u32 {
        let half = |x: f32| finish::<F, false, false, RELU>(F::rounded::<R>(f64::from(x))).to_word();
        u32::from(half(a)) << 16 | u32::from(half(b))
    }
}

/// Picks a resize from the integer `$a` by the destination's type and register.
macro_rules! resize_from {
    ($p:expr, $a:ty, $dst:expr) => {
        match ($dst, $p.shape.dst) {
            (Type::U8 | Type::B8, Width::W16) => $p.pick::<Resize<$a, Held<u8, u16>>>(),
            (Type::S8, Width::W16) => $p.pick::<Resize<$a, Held<i8, u16>>>(),
            (Type::U8 | Type::B8, Width::W32) => $p.pick::<Resize<$a, Held<u8, u32>>>(),
            (Type::S8, Width::W32) => $p.pick::<Resize<$a, Held<i8, u32>>>(),
            (Type::U16 | Type::S16 | Type::B16, Width::W16) => $p.pick::<Resize<$a, Held<u16, u16>>>(),
            (Type::U32 | Type::S32 | Type::B32, Width::W32) => $p.pick::<Resize<$a, Held<u32, u32>>>(),
            (Type::U64 | Type::S64 | Type::B64, Width::W64) => $p.pick::<Resize<$a, Held<u64, u64>>>(),
            _ => None,
        }
    };
}

/// Integer to integer without `.sat`, in registers of the types' own size (8 bits in 16 or 32).
fn resize(p: Picker<'_>, dst: Type, src: Type) -> Option<RowFn> {
    match (src, p.shape.src[0]?) {
        (Type::U8 | Type::B8, Width::W16) => resize_from!(p, Held<u8, u16>, dst),
        (Type::S8, Width::W16) => resize_from!(p, Held<i8, u16>, dst),
        (Type::U8 | Type::B8, Width::W32) => resize_from!(p, Held<u8, u32>, dst),
        (Type::S8, Width::W32) => resize_from!(p, Held<i8, u32>, dst),
        (Type::U16 | Type::B16, Width::W16) => resize_from!(p, Held<u16, u16>, dst),
        (Type::S16, Width::W16) => resize_from!(p, Held<i16, u16>, dst),
        (Type::U32 | Type::B32, Width::W32) => resize_from!(p, Held<u32, u32>, dst),
        (Type::S32, Width::W32) => resize_from!(p, Held<i32, u32>, dst),
        (Type::U64 | Type::S64 | Type::B64, Width::W64) => resize_from!(p, Held<u64, u64>, dst),
        _ => None,
    }
}

/// Integer to float, to nearest.
fn to_float<B: Float>(p: Picker<'_>, src: Type) -> Option<RowFn>
where
    u16: Host<B>,
    i16: Host<B>,
    u32: Host<B>,
    i32: Host<B>,
    u64: Host<B>,
    i64: Host<B>,
{
    match src {
        Type::U16 => p.pick::<ToFloat<u16, B>>(),
        Type::S16 => p.pick::<ToFloat<i16, B>>(),
        Type::U32 => p.pick::<ToFloat<u32, B>>(),
        Type::S32 => p.pick::<ToFloat<i32, B>>(),
        Type::U64 => p.pick::<ToFloat<u64, B>>(),
        Type::S64 => p.pick::<ToFloat<i64, B>>(),
        _ => None,
    }
}

/// f32 or f64 to integer in mode `R`.
fn to_integer<R: Mode>(p: Picker<'_>, dst: Type, src: Type) -> Option<RowFn> {
    match (src, dst) {
        (Type::F32, Type::U16) => p.pick::<ToInteger<f32, u16, R>>(),
        (Type::F32, Type::S16) => p.pick::<ToInteger<f32, i16, R>>(),
        (Type::F32, Type::U32) => p.pick::<ToInteger<f32, u32, R>>(),
        (Type::F32, Type::S32) => p.pick::<ToInteger<f32, i32, R>>(),
        (Type::F32, Type::U64) => p.pick::<ToInteger<f32, u64, R>>(),
        (Type::F32, Type::S64) => p.pick::<ToInteger<f32, i64, R>>(),
        (Type::F64, Type::U16) => p.pick::<ToInteger<f64, u16, R>>(),
        (Type::F64, Type::S16) => p.pick::<ToInteger<f64, i16, R>>(),
        (Type::F64, Type::U32) => p.pick::<ToInteger<f64, u32, R>>(),
        (Type::F64, Type::S32) => p.pick::<ToInteger<f64, i32, R>>(),
        (Type::F64, Type::U64) => p.pick::<ToInteger<f64, u64, R>>(),
        (Type::F64, Type::S64) => p.pick::<ToInteger<f64, i64, R>>(),
        (Type::F32, Type::F32) => p.pick::<ToIntegral<f32, R>>(),
        (Type::F64, Type::F64) => p.pick::<ToIntegral<f64, R>>(),
        _ => None,
    }
}

/// Two f32s to a pair.
fn pair<F: Float<Word = u16>>(p: Picker<'_>, rnd: Option<Rounding>, relu: bool) -> Option<RowFn> {
    match (rnd, relu) {
        (Some(Rounding::Nearest), false) => p.pick::<Pair<F, Rn, false>>(),
        (Some(Rounding::Nearest), true) => p.pick::<Pair<F, Rn, true>>(),
        (Some(Rounding::Zero), false) => p.pick::<Pair<F, Rz, false>>(),
        (Some(Rounding::Zero), true) => p.pick::<Pair<F, Rz, true>>(),
        _ => None,
    }
}

/// The common forms.
fn common(op: &Op, p: Picker<'_>) -> Option<RowFn> {
    let Op::Cvt { dst, src, rnd, int_rnd, ftz: false, sat, relu: false } = *op else {
        return None;
    };
    match (src, dst, rnd) {
        (Type::F32, Type::F32, None) if sat => p.pick::<Saturate>(),
        _ if sat => None,
        (_, _, Some(Rounding::Nearest)) if int_rnd => to_integer::<Rn>(p, dst, src),
        (_, _, Some(Rounding::Zero)) if int_rnd => to_integer::<Rz>(p, dst, src),
        (_, _, Some(Rounding::Down)) if int_rnd => to_integer::<Rm>(p, dst, src),
        (_, _, Some(Rounding::Up)) if int_rnd => to_integer::<Rp>(p, dst, src),
        (Type::F32, Type::F64, None) => p.pick::<Widen>(),
        (Type::F16, Type::F32, None) => p.pick::<WidenF16>(),
        (Type::BF16, Type::F32, None) => p.pick::<WidenBf16>(),
        (Type::F64, Type::F32, Some(Rounding::Nearest)) => p.pick::<Narrow>(),
        (Type::F32, Type::F16, Some(Rounding::Nearest)) => p.pick::<NarrowF16>(),
        (Type::F32, Type::BF16, Some(Rounding::Nearest)) => p.pick::<NarrowBf16>(),
        (_, Type::F32, Some(Rounding::Nearest)) => to_float::<f32>(p, src),
        (_, Type::F64, Some(Rounding::Nearest)) => to_float::<f64>(p, src),
        (_, _, None) => resize(p, dst, src),
        _ => None,
    }
}

/// `cvt`
pub fn select(op: &Op, p: Picker<'_>) -> Option<RowFn> {
    match *op {
        Op::Cvt { dst: Type::F16x2, src: Type::F32, rnd, ftz: false, sat: false, relu, .. } => {
            pair::<F16>(p, rnd, relu)
        }
        Op::Cvt { dst: Type::BF16x2, src: Type::F32, rnd, ftz: false, sat: false, relu, .. } => {
            pair::<Bf16>(p, rnd, relu)
        }
        Op::Cvt { .. } => common(op, p).or_else(|| convert_any::select(op, p)),
        _ => None,
    }
}
