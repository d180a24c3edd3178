//! Comparisons: setp and set (PTX ISA 9.7.6 and 9.7.7), of integers and of f16, bf16, f32 and f64.
//!
//! Of a NaN every ordered comparison is false (`ne` too) and every unordered one true; -0 equals +0.
//! The plain `setp` is a lane operation like any other. The forms with a second destination or a third
//! operand, and `set`, are rare: they share one comparison per type and relation, never inlined.

use core::marker::PhantomData;

use bugaroo_ptx::op::Op;
use bugaroo_ptx::types::{BoolOp, Compare, Type};

use super::float::{Float, flush};
use super::half::{Bf16, F16};
use super::predicate::{self, combine};
use super::row::{Inputs, LANES, LaneOp, Lanes, Outputs, Picker, Sink, Value, pack, store_mask};
use super::{Operands, RowFn, Shape, Width};

/// A type that can be compared.
pub trait Compared: Value {
    /// A host type with the same order.
    type Key: PartialOrd + Copy;
    /// As that, subnormals flushed when `FTZ`.
    fn key<const FTZ: bool>(self) -> Self::Key;
}

macro_rules! compared {
    (integers $($t:ty),*) => {$(
        impl Compared for $t {
            type Key = $t;
            #[inline(always)]
            fn key<const FTZ: bool>(self) -> $t {
                self
            }
        }
    )*};
    (floats $($t:ty),*) => {$(
        impl Compared for $t {
            type Key = <$t as Float>::Native;
            #[inline(always)]
            fn key<const FTZ: bool>(self) -> Self::Key {
                flush::<$t, FTZ>(self).native()
            }
        }
    )*};
}
compared!(integers u16, i16, u32, i32, u64, i64);
compared!(floats f32, f64, F16, Bf16);

/// A relation, as a type.
pub trait Relation {
    /// Whether it holds.
    fn holds<K: PartialOrd + Copy>(a: K, b: K) -> bool;
}

/// Whether neither is NaN.
#[inline(always)]
#[allow(clippy::eq_op, reason = "a NaN differs from itself")]
fn numbers<K: PartialOrd + Copy>(a: K, b: K) -> bool {
    a == a && b == b
}

macro_rules! relations {
    ($($(#[$doc:meta])* $name:ident |$a:ident, $b:ident| $holds:expr;)*) => {$(
        $(#[$doc])*
        pub struct $name;
        impl Relation for $name {
            #[inline(always)]
            #[allow(clippy::neg_cmp_op_on_partial_ord, clippy::nonminimal_bool, reason = "NaN is what this is about")]
            fn holds<K: PartialOrd + Copy>($a: K, $b: K) -> bool {
                $holds
            }
        }
    )*};
}
relations! {
    /// Equal.
    Eq |a, b| a == b;
    /// Not equal, of numbers.
    Ne |a, b| a != b && numbers(a, b);
    /// Less.
    Lt |a, b| a < b;
    /// Less or equal.
    Le |a, b| a <= b;
    /// Greater.
    Gt |a, b| a > b;
    /// Greater or equal.
    Ge |a, b| a >= b;
    /// Equal, or a NaN.
    Equ |a, b| a == b || !numbers(a, b);
    /// Not equal, or a NaN.
    Neu |a, b| !(a == b);
    /// Less, or a NaN.
    Ltu |a, b| !(a >= b);
    /// Less or equal, or a NaN.
    Leu |a, b| !(a > b);
    /// Greater, or a NaN.
    Gtu |a, b| !(a <= b);
    /// Greater or equal, or a NaN.
    Geu |a, b| !(a < b);
    /// Both are numbers.
    Num |a, b| numbers(a, b);
    /// One is a NaN.
    Nan |a, b| !numbers(a, b);
}

/// The comparison of two lanes.
pub struct Comparison<T, R, const FTZ: bool>(PhantomData<(T, R)>);

impl<T: Compared, R: Relation, const FTZ: bool> LaneOp for Comparison<T, R, FTZ> {
    type In = (T, T);
    type Out = bool;
    #[inline(always)]
    fn apply((a, b): (T, T)) -> bool {
        R::holds(a.key::<FTZ>(), b.key::<FTZ>())
    }
}

/// The comparison's outcome as a bit per lane.
///
/// # Safety
/// As for [`RowFn`]; the first two sources fit `O`.
#[inline(never)]
unsafe fn outcome<O: LaneOp<Out = bool>>(frame: *const u8, consts: *const u8, ops: &Operands) -> u32 {
    // SAFETY: the caller's promise.
    let rows = unsafe { O::In::load(frame, consts, ops) };
    let mut lanes = [false; LANES];
    for (i, lane) in lanes.iter_mut().enumerate() {
        *lane = O::apply(O::In::lane(&rows, i));
    }
    pack::<false>(&lanes)
}

/// The third operand's use where there is none.
const ALONE: u8 = 3;

/// `t BOOLOP {!}c`, or `t`.
///
/// # Safety
/// As for [`RowFn`]; source 2 is a predicate unless `OP` is [`ALONE`].
#[inline(always)]
unsafe fn combined<const OP: u8, const NOT: bool>(
    t: u32,
    frame: *const u8,
    consts: *const u8,
    ops: &Operands,
) -> u32 {
    if OP == ALONE {
        return t;
    }
    // SAFETY: the caller's promise.
    combine::<OP>(t, unsafe { predicate::load(frame, consts, ops, 2, NOT) })
}

/// `setp` with all that it can have.
///
/// # Safety
/// As for [`RowFn`].
unsafe fn setp<O: LaneOp<Out = bool>, const OP: u8, const NOT: bool, const Q: bool>(
    frame: *mut u8,
    consts: *const u8,
    ops: &Operands,
    mask: u32,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let t = outcome::<O>(frame, consts, ops);
        let p = combined::<OP, NOT>(t, frame, consts, ops);
        let q = combined::<OP, NOT>(!t, frame, consts, ops);
        store_mask(frame.add(ops.dst as usize), p, mask);
        if Q {
            store_mask(frame.add(ops.dst2 as usize), q, mask);
        }
    }
}

/// What `set` writes for true; for false it writes zero.
pub trait Truth {
    /// The destination's type.
    type Out: Sink<Buffer = Lanes<Self::Word>> + Value<Word = Self::Word>;
    /// Its storage.
    type Word;
    /// True.
    const TRUE: Self::Out;
    /// False.
    const FALSE: Self::Out;
}

macro_rules! truths {
    ($($(#[$doc:meta])* $name:ident $t:ty, $yes:expr;)*) => {$(
        $(#[$doc])*
        pub struct $name;
        impl Truth for $name {
            type Out = $t;
            type Word = $t;
            const TRUE: $t = $yes;
            const FALSE: $t = 0;
        }
    )*};
}
truths! {
    /// `.u32`, `.s32`
    Ones32 u32, !0;
    /// `.u16`, `.s16`
    Ones16 u16, !0;
    /// `.f32`
    OneF32 u32, 0x3f80_0000;
    /// `.f16`
    OneF16 u16, 0x3c00;
    /// `.bf16`
    OneBf16 u16, 0x3f80;
}

/// Writes true or false for every bit.
///
/// # Safety
/// As for [`RowFn`]; the destination fits `T`.
#[inline(never)]
unsafe fn store_truth<T: Truth>(bits: u32, at: *mut u8, mask: u32) {
    let mut buffer = <T::Out as Sink>::buffer();
    for i in 0..LANES {
        Sink::put(if bits & (1 << i) != 0 { T::TRUE } else { T::FALSE }, &mut buffer, i);
    }
    // SAFETY: the caller's promise.
    unsafe { <T::Out as Sink>::store::<false>(&buffer, at, mask) }
}

/// `set`
///
/// # Safety
/// As for [`RowFn`].
unsafe fn set<O: LaneOp<Out = bool>, T: Truth, const OP: u8, const NOT: bool>(
    frame: *mut u8,
    consts: *const u8,
    ops: &Operands,
    mask: u32,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let t = outcome::<O>(frame, consts, ops);
        let d = combined::<OP, NOT>(t, frame, consts, ops);
        store_truth::<T>(d, frame.add(ops.dst as usize), mask);
    }
}

/// What is asked of a comparison, apart from its type and relation.
struct Request<'a> {
    picker: Picker<'a>,
    /// None for `setp`.
    set: Option<Type>,
    combine: Option<BoolOp>,
}

impl Request<'_> {
    /// Whether the operands' widths are those of this request on `O`.
    fn fits<O: LaneOp<Out = bool>>(&self) -> bool {
        let shape = self.picker.shape;
        let compared = Shape {
            src: [shape.src[0], shape.src[1], None, None],
            negated: [shape.negated[0], shape.negated[1], false, false],
            ..*shape
        };
        let third = if self.combine.is_some() { Some(Width::Pred) } else { None };
        O::In::fits(&compared) && shape.src[2] == third && shape.src[3].is_none()
    }

    /// The row function.
    fn answer<O: LaneOp<Out = bool>>(&self, half: bool) -> Option<RowFn> {
        let shape = self.picker.shape;
        if !self.fits::<O>() {
            return None;
        }
        let Some(dst) = self.set else {
            if shape.dst != Width::Pred || !matches!(shape.dst2, None | Some(Width::Pred)) {
                return None;
            }
            if self.combine.is_none() && shape.dst2.is_none() {
                return self.picker.pick::<O>();
            }
            return Some(if shape.dst2.is_some() { self.setp::<O, true>() } else { self.setp::<O, false>() });
        };
        match dst {
            Type::U32 | Type::S32 => self.set::<O, Ones32>(),
            Type::F32 => self.set::<O, OneF32>(),
            Type::U16 | Type::S16 if half => self.set::<O, Ones16>(),
            Type::F16 if half => self.set::<O, OneF16>(),
            Type::BF16 if half => self.set::<O, OneBf16>(),
            _ => None,
        }
    }

    fn setp<O: LaneOp<Out = bool>, const Q: bool>(&self) -> RowFn {
        match (self.combine, self.picker.shape.negated[2]) {
            (None, _) => setp::<O, ALONE, false, Q>,
            (Some(BoolOp::And), false) => setp::<O, { predicate::AND }, false, Q>,
            (Some(BoolOp::And), true) => setp::<O, { predicate::AND }, true, Q>,
            (Some(BoolOp::Or), false) => setp::<O, { predicate::OR }, false, Q>,
            (Some(BoolOp::Or), true) => setp::<O, { predicate::OR }, true, Q>,
            (Some(BoolOp::Xor), false) => setp::<O, { predicate::XOR }, false, Q>,
            (Some(BoolOp::Xor), true) => setp::<O, { predicate::XOR }, true, Q>,
        }
    }

    fn set<O: LaneOp<Out = bool>, T: Truth>(&self) -> Option<RowFn> {
        if !<T::Out as Outputs>::fits(self.picker.shape) {
            return None;
        }
        Some(match (self.combine, self.picker.shape.negated[2]) {
            (None, _) => set::<O, T, ALONE, false>,
            (Some(BoolOp::And), false) => set::<O, T, { predicate::AND }, false>,
            (Some(BoolOp::And), true) => set::<O, T, { predicate::AND }, true>,
            (Some(BoolOp::Or), false) => set::<O, T, { predicate::OR }, false>,
            (Some(BoolOp::Or), true) => set::<O, T, { predicate::OR }, true>,
            (Some(BoolOp::Xor), false) => set::<O, T, { predicate::XOR }, false>,
            (Some(BoolOp::Xor), true) => set::<O, T, { predicate::XOR }, true>,
        })
    }
}

/// The relation between integers; the ordered ones alone.
fn integers<T: Compared>(cmp: Compare, request: &Request<'_>) -> Option<RowFn> {
    match cmp {
        Compare::Eq => request.answer::<Comparison<T, Eq, false>>(false),
        Compare::Ne => request.answer::<Comparison<T, Ne, false>>(false),
        Compare::Lt => request.answer::<Comparison<T, Lt, false>>(false),
        Compare::Le => request.answer::<Comparison<T, Le, false>>(false),
        Compare::Gt => request.answer::<Comparison<T, Gt, false>>(false),
        Compare::Ge => request.answer::<Comparison<T, Ge, false>>(false),
        _ => None,
    }
}

/// The relation between bits: equality alone.
fn plain_bits<T: Compared>(cmp: Compare, request: &Request<'_>) -> Option<RowFn> {
    if matches!(cmp, Compare::Eq | Compare::Ne) { integers::<T>(cmp, request) } else { None }
}

/// The relation between floats.
fn floats<T: Compared, const FTZ: bool, const HALF: bool>(
    cmp: Compare,
    request: &Request<'_>,
) -> Option<RowFn> {
    match cmp {
        Compare::Eq => request.answer::<Comparison<T, Eq, FTZ>>(HALF),
        Compare::Ne => request.answer::<Comparison<T, Ne, FTZ>>(HALF),
        Compare::Lt => request.answer::<Comparison<T, Lt, FTZ>>(HALF),
        Compare::Le => request.answer::<Comparison<T, Le, FTZ>>(HALF),
        Compare::Gt => request.answer::<Comparison<T, Gt, FTZ>>(HALF),
        Compare::Ge => request.answer::<Comparison<T, Ge, FTZ>>(HALF),
        Compare::Equ => request.answer::<Comparison<T, Equ, FTZ>>(HALF),
        Compare::Neu => request.answer::<Comparison<T, Neu, FTZ>>(HALF),
        Compare::Ltu => request.answer::<Comparison<T, Ltu, FTZ>>(HALF),
        Compare::Leu => request.answer::<Comparison<T, Leu, FTZ>>(HALF),
        Compare::Gtu => request.answer::<Comparison<T, Gtu, FTZ>>(HALF),
        Compare::Geu => request.answer::<Comparison<T, Geu, FTZ>>(HALF),
        Compare::Num => request.answer::<Comparison<T, Num, FTZ>>(HALF),
        Compare::Nan => request.answer::<Comparison<T, Nan, FTZ>>(HALF),
    }
}

/// `setp` and `set`.
pub fn select(op: &Op, picker: Picker<'_>) -> Option<RowFn> {
    let (cmp, ty, ftz, request) = match *op {
        Op::Setp { cmp, ty, ftz, combine } => (cmp, ty, ftz, Request { picker, set: None, combine }),
        Op::Set { cmp, dst, ty, ftz, combine } => (cmp, ty, ftz, Request { picker, set: Some(dst), combine }),
        _ => return None,
    };
    match (ty, ftz) {
        (Type::U16, _) => integers::<u16>(cmp, &request),
        (Type::S16, _) => integers::<i16>(cmp, &request),
        (Type::U32, _) => integers::<u32>(cmp, &request),
        (Type::S32, _) => integers::<i32>(cmp, &request),
        (Type::U64, _) => integers::<u64>(cmp, &request),
        (Type::S64, _) => integers::<i64>(cmp, &request),
        (Type::B16, _) => plain_bits::<u16>(cmp, &request),
        (Type::B32, _) => plain_bits::<u32>(cmp, &request),
        (Type::B64, _) => plain_bits::<u64>(cmp, &request),
        (Type::F32, false) => floats::<f32, false, false>(cmp, &request),
        (Type::F32, true) => floats::<f32, true, false>(cmp, &request),
        (Type::F64, false) => floats::<f64, false, false>(cmp, &request),
        (Type::F16, false) => floats::<F16, false, true>(cmp, &request),
        (Type::F16, true) => floats::<F16, true, true>(cmp, &request),
        (Type::BF16, false) => floats::<Bf16, false, true>(cmp, &request),
        _ => None,
    }
}
