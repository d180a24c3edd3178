//! Logic, shifts and bit fields (PTX ISA 9.7.8 and 9.7.1.14 to 9.7.1.22), and the selections and moves that
//! copy bits (selp, slct, mov).
//!
//! Shift amounts are clamped to the width (`shf.wrap` aside), so that a shift past it gives zeros, or sign
//! bits for `shr.s`.

use bugaroo_ptx::op::Op;
use bugaroo_ptx::types::Type;

use super::integer::{Int, by_int};
use super::row::{LaneOp, LaneValue, Picker, lane_ops};
use super::{RowFn, Width};

/// A lane's bits, with the operations on them.
pub trait Bits: Int {
    /// Width.
    const SIZE: u32;
    /// 1.
    const ONE: Self;
    /// Bitwise and.
    fn and(self, other: Self) -> Self;
    /// Bitwise or.
    fn or(self, other: Self) -> Self;
    /// Bitwise exclusive or.
    fn xor(self, other: Self) -> Self;
    /// Bitwise complement.
    fn not(self) -> Self;
    /// Shifts left by less than the width.
    fn left(self, by: u32) -> Self;
    /// Shifts right by less than the width, by the type's sign.
    fn right(self, by: u32) -> Self;
    /// Every bit a copy of the sign bit; zero for unsigned types.
    fn sign_fill(self) -> Self;
    /// Leading zeros.
    fn clz(self) -> u32;
    /// Ones.
    fn popc(self) -> u32;
    /// In reverse order.
    fn brev(self) -> Self;
}

macro_rules! bit_types {
    ($($t:ty, |$x:ident| $sign:expr;)*) => {$(
        impl Bits for $t {
            const SIZE: u32 = <$t>::BITS;
            const ONE: Self = 1;
            #[inline(always)]
            fn and(self, other: Self) -> Self { self & other }
            #[inline(always)]
            fn or(self, other: Self) -> Self { self | other }
            #[inline(always)]
            fn xor(self, other: Self) -> Self { self ^ other }
            #[inline(always)]
            fn not(self) -> Self { !self }
            #[inline(always)]
            fn left(self, by: u32) -> Self { self.wrapping_shl(by) }
            #[inline(always)]
            fn right(self, by: u32) -> Self { self.wrapping_shr(by) }
            #[inline(always)]
            fn sign_fill(self) -> Self { let $x = self; $sign }
            #[inline(always)]
            fn clz(self) -> u32 { self.leading_zeros() }
            #[inline(always)]
            fn popc(self) -> u32 { self.count_ones() }
            #[inline(always)]
            fn brev(self) -> Self { self.reverse_bits() }
        }
    )*};
}
bit_types! {
    u16, |_x| 0;
    i16, |x| x >> 15;
    u32, |_x| 0;
    i32, |x| x >> 31;
    u64, |_x| 0;
    i64, |x| x >> 63;
}

/// A shift amount: `.u32` in the ISA; wider and narrower rows come from immediates.
pub trait Amount: LaneValue {
    /// Clamped to 32 bits.
    fn clamp(self) -> u32;
}
impl Amount for u16 {
    #[inline(always)]
    fn clamp(self) -> u32 {
        u32::from(self)
    }
}
impl Amount for u32 {
    #[inline(always)]
    fn clamp(self) -> u32 {
        self
    }
}
impl Amount for u64 {
    #[inline(always)]
    fn clamp(self) -> u32 {
        self.min(u64::from(u32::MAX)) as u32
    }
}

/// `shl`
pub struct Shl<T, A>(core::marker::PhantomData<(T, A)>);
/// `shr`
pub struct Shr<T, A>(core::marker::PhantomData<(T, A)>);

impl<T: Bits, A: Amount> LaneOp for Shl<T, A> {
    type In = (T, A);
    type Out = T;
    #[inline(always)]
    fn apply((a, b): (T, A)) -> T {
        let by = b.clamp();
        if by < T::SIZE { a.left(by) } else { T::ZERO }
    }
}

impl<T: Bits, A: Amount> LaneOp for Shr<T, A> {
    type In = (T, A);
    type Out = T;
    #[inline(always)]
    fn apply((a, b): (T, A)) -> T {
        let by = b.clamp();
        if by < T::SIZE { a.right(by) } else { a.sign_fill() }
    }
}

lane_ops! {
    /// `and`
    And<T: Bits>(a: T, b: T) -> T { a.and(b) }
    /// `or`
    Or<T: Bits>(a: T, b: T) -> T { a.or(b) }
    /// `xor`
    Xor<T: Bits>(a: T, b: T) -> T { a.xor(b) }
    /// `not`
    Not<T: Bits>(a: T) -> T { a.not() }
    /// `cnot`: C's `!`
    Cnot<T: Bits>(a: T) -> T { if a == T::ZERO { T::ONE } else { T::ZERO } }
    /// `mov`
    Mov<T: Bits>(a: T) -> T { a }
    /// `selp`
    Selp<T: Bits, const NEGATED: bool>(a: T, b: T, c: bool) -> T { if c != NEGATED { a } else { b } }
    /// `slct` on an `.s32` selector
    SlctInt<T: Bits>(a: T, b: T, c: i32) -> T { if c >= 0 { a } else { b } }
    /// `slct` on an `.f32` selector: -0 is not negative, NaN selects `b`. A subnormal that `.ftz` flushes
    /// to a zero of either sign selects `a`.
    SlctFloat<T: Bits, const FTZ: bool>(a: T, b: T, c: f32) -> T {
        let flushed = FTZ && c.abs() < f32::MIN_POSITIVE;
        if c >= 0.0 || flushed { a } else { b }
    }
    /// `clz`
    Clz<T: Bits>(a: T) -> u32 { a.clz() }
    /// `popc`
    Popc<T: Bits>(a: T) -> u32 { a.popc() }
    /// `brev`
    Brev<T: Bits>(a: T) -> T { a.brev() }
    /// `bfind`: the position of the highest bit that is not a sign bit, from below or (`.shiftamt`) above.
    Bfind<T: Bits, const SHIFTAMT: bool>(a: T) -> u32 {
        let zeros = a.xor(a.sign_fill()).clz();
        let position = if SHIFTAMT { zeros } else { (T::SIZE - 1).wrapping_sub(zeros) };
        if zeros == T::SIZE { u32::MAX } else { position }
    }
    /// `bfe` (9.7.1.19)
    Bfe<T: Bits>(a: T, b: u32, c: u32) -> T {
        let (start, length) = (b & 0xff, c & 0xff);
        // The field is brought to the top, where the sign decides what enters from the left. A field that
        // reaches beyond the top is one that ends there, filled with the operand's own sign.
        let missing = T::SIZE.saturating_sub(start + length);
        let kept = (T::SIZE - missing).saturating_sub(start);
        let field = a.left(missing).right(T::SIZE.wrapping_sub(kept));
        if length == 0 { T::ZERO } else if kept == 0 { a.sign_fill() } else { field }
    }
    /// `bfi` (9.7.1.20)
    Bfi<T: Bits>(a: T, b: T, c: u32, d: u32) -> T {
        let (start, length) = (c & 0xff, d & 0xff);
        let ones = if length < T::SIZE { T::ONE.left(length).sub(T::ONE) } else { T::ZERO.not() };
        let field = ones.left(start);
        let inserted = b.and(field.not()).or(a.left(start).and(field));
        if start < T::SIZE { inserted } else { b }
    }
}

lane_ops! {
    /// `shf.l`, `shf.r` (9.7.8.7): the upper or lower half of the shifted pair `b:a`.
    Shf<const LEFT: bool, const WRAP: bool>(a: u32, b: u32, c: u32) -> u32 {
        let pair = u64::from(b) << 32 | u64::from(a);
        let by = if WRAP { c & 31 } else { c.min(32) };
        if LEFT { (pair << by >> 32) as u32 } else { (pair >> by) as u32 }
    }
    /// `bmsk` (9.7.1.22): ones from bit `a`, `b` of them.
    Bmsk<const WRAP: bool>(a: u32, b: u32) -> u32 {
        let (start, length) = if WRAP { (a & 31, b & 31) } else { (a.min(32), b.min(32)) };
        ((((1u64 << length) - 1) << start) & 0xffff_ffff) as u32
    }
    /// `szext` (9.7.1.21)
    Szext<const SIGNED: bool, const WRAP: bool>(a: u32, b: u32) -> u32 {
        let size = if WRAP { b & 31 } else { b.min(32) };
        let unused = (32 - size) & 31;
        let extended = if SIGNED { ((a << unused) as i32 >> unused) as u32 } else { a << unused >> unused };
        if size == 0 { 0 } else { extended }
    }
}

/// Picks `$op` by a bit-size: all types of a width alike.
macro_rules! by_width {
    ($picker:expr, $width:expr, $op:ident $(, $flag:literal)*) => {
        match $width {
            Width::W16 => $picker.pick::<$op<u16 $(, $flag)*>>(),
            Width::W32 => $picker.pick::<$op<u32 $(, $flag)*>>(),
            Width::W64 => $picker.pick::<$op<u64 $(, $flag)*>>(),
            Width::Pred => None,
        }
    };
}

/// Picks a shift by the width of its amount.
macro_rules! by_amount {
    ($picker:expr, $op:ident, $t:ty) => {
        match $picker.shape.src[1] {
            Some(Width::W16) => $picker.pick::<$op<$t, u16>>(),
            Some(Width::W32) => $picker.pick::<$op<$t, u32>>(),
            Some(Width::W64) => $picker.pick::<$op<$t, u64>>(),
            _ => None,
        }
    };
}

/// The row width of a type whose bits are just copied.
fn width_of(ty: Type) -> Option<Width> {
    match ty.bytes() {
        2 => Some(Width::W16),
        4 => Some(Width::W32),
        8 => Some(Width::W64),
        _ => None,
    }
}

/// The logic, shift, bit-field, selection and move instructions.
pub fn select(op: &Op, p: Picker<'_>) -> Option<RowFn> {
    match *op {
        Op::And { ty } => by_width!(p, width_of(ty)?, And),
        Op::Or { ty } => by_width!(p, width_of(ty)?, Or),
        Op::Xor { ty } => by_width!(p, width_of(ty)?, Xor),
        Op::Not { ty } => by_width!(p, width_of(ty)?, Not),
        Op::Cnot { ty } => by_width!(p, width_of(ty)?, Cnot),
        Op::Mov { ty } => by_width!(p, width_of(ty)?, Mov),
        Op::Selp { ty } => {
            let mut plain = *p.shape;
            let negated = core::mem::take(&mut plain.negated[2]);
            let p = Picker { shape: &plain, ..p };
            if negated {
                by_width!(p, width_of(ty)?, Selp, true)
            } else {
                by_width!(p, width_of(ty)?, Selp, false)
            }
        }
        Op::Slct { ty, selector: Type::S32, .. } => by_width!(p, width_of(ty)?, SlctInt),
        Op::Slct { ty, selector: Type::F32, ftz: false } => by_width!(p, width_of(ty)?, SlctFloat, false),
        Op::Slct { ty, selector: Type::F32, ftz: true } => by_width!(p, width_of(ty)?, SlctFloat, true),
        Op::Shl { ty } => match width_of(ty)? {
            Width::W16 => by_amount!(p, Shl, u16),
            Width::W32 => by_amount!(p, Shl, u32),
            _ => by_amount!(p, Shl, u64),
        },
        Op::Shr { ty } => match ty {
            Type::U16 | Type::B16 => by_amount!(p, Shr, u16),
            Type::S16 => by_amount!(p, Shr, i16),
            Type::U32 | Type::B32 => by_amount!(p, Shr, u32),
            Type::S32 => by_amount!(p, Shr, i32),
            Type::U64 | Type::B64 => by_amount!(p, Shr, u64),
            Type::S64 => by_amount!(p, Shr, i64),
            _ => None,
        },
        Op::Shf { left, wrap } => match (left, wrap) {
            (false, false) => p.pick::<Shf<false, false>>(),
            (false, true) => p.pick::<Shf<false, true>>(),
            (true, false) => p.pick::<Shf<true, false>>(),
            (true, true) => p.pick::<Shf<true, true>>(),
        },
        Op::Bfe { ty } => by_int!(p, ty, Bfe),
        Op::Bfi { ty } => by_width!(p, width_of(ty)?, Bfi),
        Op::Bfind { ty, shiftamt: false } => by_int!(p, ty, Bfind, false),
        Op::Bfind { ty, shiftamt: true } => by_int!(p, ty, Bfind, true),
        Op::Brev { ty } => by_width!(p, width_of(ty)?, Brev),
        Op::Clz { ty } => by_width!(p, width_of(ty)?, Clz),
        Op::Popc { ty } => by_width!(p, width_of(ty)?, Popc),
        Op::Bmsk { wrap: false } => p.pick::<Bmsk<false>>(),
        Op::Bmsk { wrap: true } => p.pick::<Bmsk<true>>(),
        Op::Szext { ty, wrap } => match (ty, wrap) {
            (Type::U32, false) => p.pick::<Szext<false, false>>(),
            (Type::U32, true) => p.pick::<Szext<false, true>>(),
            (Type::S32, false) => p.pick::<Szext<true, false>>(),
            (Type::S32, true) => p.pick::<Szext<true, true>>(),
            _ => None,
        },
        _ => None,
    }
}
