//! Extended-precision integer arithmetic (PTX ISA 9.7.2): add.cc, addc, sub.cc, subc, mad.cc, madc.
//!
//! CC.CF is a predicate row: the last source where it is read, the second destination where it is
//! written. Signed and unsigned types differ only in `mad.hi`.
//!
//! After a subtraction it holds the carry of `a + !b + 1`, which is set where nothing was borrowed, as in the
//! hardware's adder. The ISA speaks of the borrow there, and within a chain of subtractions nobody can tell; but
//! what nvcc puts in for a division of 128-bit integers asks by `addc` whether a `subc.cc` borrowed.

use core::marker::PhantomData;

use bugaroo_ptx::op::{Op, Part};
use bugaroo_ptx::types::Type;

use super::RowFn;
use super::integer::Int;
use super::row::{Inputs, LaneOp, LaneValue, Picker, Source};

/// An unsigned type with carries.
pub trait Carry: Int {
    /// `self + other + carry`, and the carry out.
    fn add_carry(self, other: Self, carry: bool) -> (Self, bool);
    /// `self - other - borrow`, and the borrow out.
    fn sub_borrow(self, other: Self, borrow: bool) -> (Self, bool);
}

macro_rules! carries {
    ($($t:ty),*) => {$(
        impl Carry for $t {
            #[inline(always)]
            fn add_carry(self, other: Self, carry: bool) -> (Self, bool) {
                let (sum, first) = self.overflowing_add(other);
                let (sum, second) = sum.overflowing_add(<$t>::from(carry));
                (sum, first | second)
            }
            #[inline(always)]
            fn sub_borrow(self, other: Self, borrow: bool) -> (Self, bool) {
                let (difference, first) = self.overflowing_sub(other);
                let (difference, second) = difference.overflowing_sub(<$t>::from(borrow));
                (difference, first | second)
            }
        }
    )*};
}
carries!(u32, u64);

/// Sources followed by CC.CF.
pub trait WithCarry: Inputs {
    /// The longer tuple.
    type Carrying: Inputs;
    /// Takes the carry off.
    fn split(x: Self::Carrying) -> (Self, bool);
}

impl<A: Source, B: Source> WithCarry for (A, B) {
    type Carrying = (A, B, bool);
    #[inline(always)]
    fn split((a, b, carry): Self::Carrying) -> (Self, bool) {
        ((a, b), carry)
    }
}

impl<A: Source, B: Source, C: Source> WithCarry for (A, B, C) {
    type Carrying = (A, B, C, bool);
    #[inline(always)]
    fn split((a, b, c, carry): Self::Carrying) -> (Self, bool) {
        ((a, b, c), carry)
    }
}

/// An operation that takes a carry and gives one.
pub trait Chain {
    /// Sources but for the carry.
    type In: WithCarry;
    /// Type of the result.
    type T: LaneValue;
    /// CC.CF as an operation takes it that doesn't read it.
    const START: bool;
    /// The operation.
    fn step(x: Self::In, carry: bool) -> (Self::T, bool);
}

/// `add`
pub struct Add<T>(PhantomData<T>);
/// `sub`
pub struct Sub<T>(PhantomData<T>);
/// `mad.lo` and `mad.hi` on factors of type `S`
pub struct Mad<S, const HI: bool>(PhantomData<S>);

impl<T: Carry> Chain for Add<T> {
    type In = (T, T);
    type T = T;
    const START: bool = false;
    #[inline(always)]
    fn step((a, b): (T, T), carry: bool) -> (T, bool) {
        a.add_carry(b, carry)
    }
}

impl<T: Carry> Chain for Sub<T> {
    type In = (T, T);
    type T = T;
    const START: bool = true;
    #[inline(always)]
    fn step((a, b): (T, T), carry: bool) -> (T, bool) {
        let (difference, borrow) = a.sub_borrow(b, !carry);
        (difference, !borrow)
    }
}

impl<S: Int<Word: Carry>, const HI: bool> Chain for Mad<S, HI> {
    type In = (S, S, S::Word);
    type T = S::Word;
    const START: bool = false;
    #[inline(always)]
    fn step((a, b, c): (S, S, S::Word), carry: bool) -> (S::Word, bool) {
        let part = if HI { a.mul_hi(b) } else { a.mul_lo(b) };
        part.to_word().add_carry(c, carry)
    }
}

/// `X.cc`: writes the carry without reading it.
pub struct Out<X>(PhantomData<X>);
/// `Xc`: reads the carry without writing it.
pub struct In<X>(PhantomData<X>);
/// `Xc.cc`: reads and writes the carry.
pub struct InOut<X>(PhantomData<X>);

impl<X: Chain> LaneOp for Out<X> {
    type In = X::In;
    type Out = (X::T, bool);
    #[inline(always)]
    fn apply(x: Self::In) -> Self::Out {
        X::step(x, X::START)
    }
}

impl<X: Chain> LaneOp for In<X> {
    type In = <X::In as WithCarry>::Carrying;
    type Out = X::T;
    #[inline(always)]
    fn apply(x: Self::In) -> Self::Out {
        let (x, carry) = X::In::split(x);
        X::step(x, carry).0
    }
}

impl<X: Chain> LaneOp for InOut<X> {
    type In = <X::In as WithCarry>::Carrying;
    type Out = (X::T, bool);
    #[inline(always)]
    fn apply(x: Self::In) -> Self::Out {
        let (x, carry) = X::In::split(x);
        X::step(x, carry)
    }
}

/// The form of `X` that reads and writes CC.CF as told.
fn form<X: Chain>(p: Picker<'_>, carry_in: bool, carry_out: bool) -> Option<RowFn> {
    match (carry_in, carry_out) {
        (false, true) => p.pick::<Out<X>>(),
        (true, false) => p.pick::<In<X>>(),
        (true, true) => p.pick::<InOut<X>>(),
        (false, false) => None,
    }
}

/// The instructions with carries.
pub fn select(op: &Op, p: Picker<'_>) -> Option<RowFn> {
    match *op {
        Op::Add { ty, sat: false, carry_in, carry_out, .. } => match ty {
            Type::U32 | Type::S32 | Type::B32 => form::<Add<u32>>(p, carry_in, carry_out),
            Type::U64 | Type::S64 | Type::B64 => form::<Add<u64>>(p, carry_in, carry_out),
            _ => None,
        },
        Op::Sub { ty, sat: false, carry_in, carry_out, .. } => match ty {
            Type::U32 | Type::S32 | Type::B32 => form::<Sub<u32>>(p, carry_in, carry_out),
            Type::U64 | Type::S64 | Type::B64 => form::<Sub<u64>>(p, carry_in, carry_out),
            _ => None,
        },
        Op::Mad { ty, part, sat: false, carry_in, carry_out } => match (ty, part) {
            (Type::U32 | Type::S32, Part::Lo) => form::<Mad<u32, false>>(p, carry_in, carry_out),
            (Type::U32, Part::Hi) => form::<Mad<u32, true>>(p, carry_in, carry_out),
            (Type::S32, Part::Hi) => form::<Mad<i32, true>>(p, carry_in, carry_out),
            (Type::U64 | Type::S64, Part::Lo) => form::<Mad<u64, false>>(p, carry_in, carry_out),
            (Type::U64, Part::Hi) => form::<Mad<u64, true>>(p, carry_in, carry_out),
            (Type::S64, Part::Hi) => form::<Mad<i64, true>>(p, carry_in, carry_out),
            _ => None,
        },
        _ => None,
    }
}
