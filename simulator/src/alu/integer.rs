//! Integer arithmetic (PTX ISA 9.7.1): add, sub, mul, mad, mul24, mad24, sad, div, rem, abs, neg, min, max.
//!
//! Everything wraps around but `.sat`. Division by zero gives all ones, see [`super`]; `MIN / -1` is `MIN`,
//! its remainder 0. Carry chains are in [`super::wide`].

use bugaroo_ptx::op::{Op, Part, Precision};
use bugaroo_ptx::types::Type;

use super::RowFn;
use super::row::{LaneValue, Picker, lane_ops};

/// An integer type of PTX.
pub trait Int: LaneValue + Ord {
    /// The type of a `.wide` product's destination; itself for 64 bit, which has none.
    type Double: Int;
    /// 0.
    const ZERO: Self;
    /// Sum, wrapping.
    fn add(self, other: Self) -> Self;
    /// Difference, wrapping.
    fn sub(self, other: Self) -> Self;
    /// Low half of the product.
    fn mul_lo(self, other: Self) -> Self;
    /// High half of the product.
    fn mul_hi(self, other: Self) -> Self;
    /// The whole product (for 64 bit, its low half).
    fn mul_wide(self, other: Self) -> Self::Double;
    /// Quotient, truncated.
    fn div(self, other: Self) -> Self;
    /// Remainder, with the dividend's sign.
    fn rem(self, other: Self) -> Self;
    /// Magnitude; `MIN` stays.
    fn abs(self) -> Self;
    /// Sum, limited to the type's range.
    fn add_sat(self, other: Self) -> Self;
    /// Difference, limited to the type's range.
    fn sub_sat(self, other: Self) -> Self;
}

macro_rules! ints {
    ($($t:ty, double $d:ty, hi in $h:ty, |$x:ident| $abs:expr;)*) => {$(
        impl Int for $t {
            type Double = $d;
            const ZERO: Self = 0;
            #[inline(always)]
            fn add(self, other: Self) -> Self { self.wrapping_add(other) }
            #[inline(always)]
            fn sub(self, other: Self) -> Self { self.wrapping_sub(other) }
            #[inline(always)]
            fn mul_lo(self, other: Self) -> Self { self.wrapping_mul(other) }
            #[inline(always)]
            fn mul_hi(self, other: Self) -> Self {
                (<$h>::from(self).wrapping_mul(<$h>::from(other)) >> <$t>::BITS) as $t
            }
            #[inline(always)]
            fn mul_wide(self, other: Self) -> $d { <$d>::from(self).wrapping_mul(<$d>::from(other)) }
            #[inline(always)]
            fn div(self, other: Self) -> Self { if other == 0 { !0 } else { self.wrapping_div(other) } }
            #[inline(always)]
            fn rem(self, other: Self) -> Self { if other == 0 { !0 } else { self.wrapping_rem(other) } }
            #[inline(always)]
            fn abs(self) -> Self { let $x = self; $abs }
            #[inline(always)]
            fn add_sat(self, other: Self) -> Self { self.saturating_add(other) }
            #[inline(always)]
            fn sub_sat(self, other: Self) -> Self { self.saturating_sub(other) }
        }
    )*};
}
ints! {
    u16, double u32, hi in u32, |x| x;
    i16, double i32, hi in i32, |x| x.wrapping_abs();
    u32, double u64, hi in u64, |x| x;
    i32, double i64, hi in i64, |x| x.wrapping_abs();
    u64, double u64, hi in u128, |x| x;
    i64, double i64, hi in i128, |x| x.wrapping_abs();
}

lane_ops! {
    /// `add`, `add.sat`
    Add<T: Int, const SAT: bool>(a: T, b: T) -> T { if SAT { a.add_sat(b) } else { a.add(b) } }
    /// `sub`, `sub.sat`
    Sub<T: Int, const SAT: bool>(a: T, b: T) -> T { if SAT { a.sub_sat(b) } else { a.sub(b) } }
    /// `mul.lo`
    MulLo<T: Int>(a: T, b: T) -> T { a.mul_lo(b) }
    /// `mul.hi`
    MulHi<T: Int>(a: T, b: T) -> T { a.mul_hi(b) }
    /// `mul.wide`
    MulWide<T: Int>(a: T, b: T) -> T::Double { a.mul_wide(b) }
    /// `mad.lo`
    MadLo<T: Int>(a: T, b: T, c: T) -> T { a.mul_lo(b).add(c) }
    /// `mad.hi`, `mad.hi.sat`
    MadHi<T: Int, const SAT: bool>(a: T, b: T, c: T) -> T {
        let high = a.mul_hi(b);
        if SAT { high.add_sat(c) } else { high.add(c) }
    }
    /// `mad.wide`
    MadWide<T: Int>(a: T, b: T, c: T::Double) -> T::Double { a.mul_wide(b).add(c) }
    /// `sad`: the difference is taken with the type's order, and added wrapping.
    Sad<T: Int>(a: T, b: T, c: T) -> T { c.add(a.max(b).sub(a.min(b))) }
    /// `div`
    Div<T: Int>(a: T, b: T) -> T { a.div(b) }
    /// `rem`
    Rem<T: Int>(a: T, b: T) -> T { a.rem(b) }
    /// `abs`
    Abs<T: Int>(a: T) -> T { a.abs() }
    /// `neg`
    Neg<T: Int>(a: T) -> T { T::ZERO.sub(a) }
    /// `min`
    Min<T: Int>(a: T, b: T) -> T { a.min(b) }
    /// `max`
    Max<T: Int>(a: T, b: T) -> T { a.max(b) }
}

/// The 48-bit product of the operands' low 24 bits.
#[inline(always)]
fn product_24(a: u32, b: u32, signed: bool) -> u64 {
    if signed {
        // The product of two 24-bit factors fits in 48 bits, so 64-bit arithmetic is exact.
        let factor = |x: u32| i64::from((x << 8) as i32 >> 8);
        (factor(a) * factor(b)) as u64
    } else {
        u64::from(a & 0xff_ffff) * u64::from(b & 0xff_ffff)
    }
}

/// Bits 47..16 or 31..0 of the 48-bit product.
#[inline(always)]
fn part_24(product: u64, hi: bool) -> u32 {
    if hi { (product >> 16) as u32 } else { product as u32 }
}

lane_ops! {
    /// `mul24` (9.7.1.5)
    Mul24<const SIGNED: bool, const HI: bool>(a: u32, b: u32) -> u32 { part_24(product_24(a, b, SIGNED), HI) }
    /// `mad24` (9.7.1.6)
    Mad24<const SIGNED: bool, const HI: bool>(a: u32, b: u32, c: u32) -> u32 {
        part_24(product_24(a, b, SIGNED), HI).wrapping_add(c)
    }
    /// `mad24.hi.sat.s32`
    Mad24Sat(a: u32, b: u32, c: i32) -> i32 { (part_24(product_24(a, b, true), true) as i32).saturating_add(c) }
}

/// Picks `$op` for an integer type; the bit-size types count as unsigned.
macro_rules! by_int {
    ($picker:expr, $ty:expr, $op:ident $(, $flag:literal)*) => {
        match $ty {
            Type::U16 | Type::B16 => $picker.pick::<$op<u16 $(, $flag)*>>(),
            Type::S16 => $picker.pick::<$op<i16 $(, $flag)*>>(),
            Type::U32 | Type::B32 => $picker.pick::<$op<u32 $(, $flag)*>>(),
            Type::S32 => $picker.pick::<$op<i32 $(, $flag)*>>(),
            Type::U64 | Type::B64 => $picker.pick::<$op<u64 $(, $flag)*>>(),
            Type::S64 => $picker.pick::<$op<i64 $(, $flag)*>>(),
            _ => None,
        }
    };
}
pub(super) use by_int;

/// Picks a `.wide` operation: 16 and 32 bit only.
macro_rules! by_narrow_int {
    ($picker:expr, $ty:expr, $op:ident) => {
        match $ty {
            Type::U16 => $picker.pick::<$op<u16>>(),
            Type::S16 => $picker.pick::<$op<i16>>(),
            Type::U32 => $picker.pick::<$op<u32>>(),
            Type::S32 => $picker.pick::<$op<i32>>(),
            _ => None,
        }
    };
}

/// The integer instructions without carries.
pub fn select(op: &Op, p: Picker<'_>) -> Option<RowFn> {
    match *op {
        Op::Add { ty: Type::S32, sat: true, carry_in: false, carry_out: false, .. } => {
            p.pick::<Add<i32, true>>()
        }
        Op::Sub { ty: Type::S32, sat: true, carry_in: false, carry_out: false, .. } => {
            p.pick::<Sub<i32, true>>()
        }
        Op::Add { ty, sat: false, carry_in: false, carry_out: false, .. } => by_int!(p, ty, Add, false),
        Op::Sub { ty, sat: false, carry_in: false, carry_out: false, .. } => by_int!(p, ty, Sub, false),
        Op::Mul { ty, part: Some(Part::Lo), .. } => by_int!(p, ty, MulLo),
        Op::Mul { ty, part: Some(Part::Hi), .. } => by_int!(p, ty, MulHi),
        Op::Mul { ty, part: Some(Part::Wide), .. } => by_narrow_int!(p, ty, MulWide),
        Op::Mad { ty: Type::S32, part: Part::Hi, sat: true, carry_in: false, carry_out: false } => {
            p.pick::<MadHi<i32, true>>()
        }
        Op::Mad { ty, part, sat: false, carry_in: false, carry_out: false } => match part {
            Part::Lo => by_int!(p, ty, MadLo),
            Part::Hi => by_int!(p, ty, MadHi, false),
            Part::Wide => by_narrow_int!(p, ty, MadWide),
        },
        Op::Mul24 { ty, hi } => match (ty, hi) {
            (Type::U32, false) => p.pick::<Mul24<false, false>>(),
            (Type::U32, true) => p.pick::<Mul24<false, true>>(),
            (Type::S32, false) => p.pick::<Mul24<true, false>>(),
            (Type::S32, true) => p.pick::<Mul24<true, true>>(),
            _ => None,
        },
        Op::Mad24 { ty, hi, sat } => match (ty, hi, sat) {
            (Type::U32, false, false) => p.pick::<Mad24<false, false>>(),
            (Type::U32, true, false) => p.pick::<Mad24<false, true>>(),
            (Type::S32, false, false) => p.pick::<Mad24<true, false>>(),
            (Type::S32, true, false) => p.pick::<Mad24<true, true>>(),
            (Type::S32, true, true) => p.pick::<Mad24Sat>(),
            _ => None,
        },
        Op::Sad { ty } => by_int!(p, ty, Sad),
        Op::Div { ty, precision: Precision::Integer, .. } => by_int!(p, ty, Div),
        Op::Rem { ty } => by_int!(p, ty, Rem),
        Op::Abs { ty, .. } => by_int!(p, ty, Abs),
        Op::Neg { ty, .. } => by_int!(p, ty, Neg),
        Op::Min { ty, .. } => by_int!(p, ty, Min),
        Op::Max { ty, .. } => by_int!(p, ty, Max),
        _ => None,
    }
}
