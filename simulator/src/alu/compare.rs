//! Comparisons: setp and set (PTX ISA 9.7.6 and 9.7.7), of integers and of f16, bf16, f32 and f64.
//!
//! Of a NaN every ordered comparison is false (`ne` too) and every unordered one true; -0 equals +0.
//! The plain `setp` is a lane operation like any other. The forms with a second destination or a third
//! operand, and `set`, are rare: each is a trampoline to one function that is told the form at run time.

use core::marker::PhantomData;

use bugaroo_ptx::op::Op;
use bugaroo_ptx::types::{BoolOp, Compare, Type};

use super::float::{Float, flush};
use super::half::{Bf16, F16};
use super::predicate;
use super::row::{Inputs, LANES, LaneOp, LaneValue, Picker, RowMemory, Sink, pack, store_mask};
use super::{OperandShape, Operands, RowFn, Width};

/// A type that can be compared.
pub trait Compared: LaneValue {
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

/// What is done with a comparison's outcome.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    /// `setp` with one destination.
    Setp,
    /// `setp p|q`
    SetpPair,
    /// `set` to 32 bits: this for true, zero for false.
    Set32(u32),
    /// `set` to 16 bits.
    Set16(u16),
}

/// The uses, in the order of their codes.
const USES: [Use; 7] = [
    Use::Setp,
    Use::SetpPair,
    Use::Set32(!0),
    Use::Set32(0x3f80_0000),
    Use::Set16(!0),
    Use::Set16(0x3c00),
    Use::Set16(0x3f80),
];

/// The third operand's uses, in the order of their codes: the operator, and whether the operand is negated.
const COMBINATIONS: [Option<(BoolOp, bool)>; 7] = [
    None,
    Some((BoolOp::And, false)),
    Some((BoolOp::And, true)),
    Some((BoolOp::Or, false)),
    Some((BoolOp::Or, true)),
    Some((BoolOp::Xor, false)),
    Some((BoolOp::Xor, true)),
];

/// A rare form of comparison.
struct Form {
    /// Compares.
    outcome: unsafe fn(*const u8, *const u8, &Operands) -> u32,
    /// Combines with source 2.
    combination: Option<(BoolOp, bool)>,
    /// Writes.
    then: Use,
}

/// Computes a rare form.
///
/// # Safety
/// As for [`RowFn`]; the operands are what `form` says.
#[inline(never)]
unsafe fn compute(form: &Form, frame: *mut u8, consts: *const u8, ops: &Operands, mask: u32) {
    // SAFETY: the caller's promise.
    let t = unsafe { (form.outcome)(frame, consts, ops) };
    let (p, q) = match form.combination {
        None => (t, !t),
        Some((op, not)) => {
            // SAFETY: as above; a combination has a predicate as source 2.
            let c = unsafe { predicate::load(frame, consts, ops, 2, not) };
            match op {
                BoolOp::And => (t & c, !t & c),
                BoolOp::Or => (t | c, !t | c),
                BoolOp::Xor => (t ^ c, !t ^ c),
            }
        }
    };
    // SAFETY: as above.
    unsafe {
        let at = frame.add(ops.dst as usize);
        match form.then {
            Use::Setp => store_mask(at, p, mask),
            Use::SetpPair => {
                store_mask(at, p, mask);
                store_mask(frame.add(ops.dst2 as usize), q, mask);
            }
            Use::Set32(truth) => u32::store::<false>(&RowMemory(choose(p, truth, 0)), at, mask),
            Use::Set16(truth) => u16::store::<false>(&RowMemory(choose(p, truth, 0)), at, mask),
        }
    }
}

/// `yes` or `no` for each bit.
fn choose<W: Copy>(bits: u32, yes: W, no: W) -> [W; LANES] {
    core::array::from_fn(|i| if bits & (1 << i) != 0 { yes } else { no })
}

/// A rare form as a row function: all that it does is known when it is compiled.
///
/// # Safety
/// As for [`RowFn`].
unsafe fn rare<O: LaneOp<Out = bool>, const COMBINATION: usize, const USE: usize>(
    frame: *mut u8,
    consts: *const u8,
    ops: &Operands,
    mask: u32,
) {
    let form =
        const { &Form { outcome: outcome::<O>, combination: COMBINATIONS[COMBINATION], then: USES[USE] } };
    // SAFETY: the caller's promise.
    unsafe { compute(form, frame, consts, ops, mask) }
}

/// [`rare`] for a combination and one of the listed uses.
macro_rules! by_use {
    ($o:ty, $combination:expr, $used:expr, [$($use:literal)*]) => {
        match $used {
            $($use => by_combination!($o, $combination, $use, [0 1 2 3 4 5 6]),)*
            _ => None,
        }
    };
}

/// [`rare`] for one of the listed combinations and a use.
macro_rules! by_combination {
    ($o:ty, $combination:expr, $use:literal, [$($listed:literal)*]) => {
        match $combination {
            $($listed => Some(rare::<$o, $listed, $use> as RowFn),)*
            _ => None,
        }
    };
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
        let compared = OperandShape {
            src: [shape.src[0], shape.src[1], None, None],
            negated: [shape.negated[0], shape.negated[1], false, false],
            ..*shape
        };
        let third = if self.combine.is_some() { Some(Width::Pred) } else { None };
        O::In::fits(&compared) && shape.src[2] == third && shape.src[3].is_none()
    }

    /// The use that is made of the outcome, and whether the destinations have its widths. A 16-bit
    /// destination is for 16-bit floats (`half`).
    fn then(&self, half: bool) -> Option<Use> {
        let OperandShape { dst, dst2, .. } = *self.picker.shape;
        let (then, width, second) = match self.set {
            None if dst2.is_some() => (Use::SetpPair, Width::Pred, Some(Width::Pred)),
            None => (Use::Setp, Width::Pred, None),
            Some(Type::U32 | Type::S32) => (Use::Set32(!0), Width::W32, None),
            Some(Type::F32) => (Use::Set32(0x3f80_0000), Width::W32, None),
            Some(Type::U16 | Type::S16) if half => (Use::Set16(!0), Width::W16, None),
            Some(Type::F16) if half => (Use::Set16(0x3c00), Width::W16, None),
            Some(Type::BF16) if half => (Use::Set16(0x3f80), Width::W16, None),
            Some(_) => return None,
        };
        (dst == width && dst2 == second).then_some(then)
    }

    /// The row function.
    fn answer<O: LaneOp<Out = bool>, const HALF: bool>(&self) -> Option<RowFn> {
        if !self.fits::<O>() {
            return None;
        }
        let then = self.then(HALF)?;
        if self.combine.is_none() && then == Use::Setp {
            return self.picker.pick::<O>();
        }
        let combination = self.combine.map(|op| (op, self.picker.shape.negated[2]));
        let combination = COMBINATIONS.iter().position(|known| *known == combination)?;
        let used = USES.iter().position(|known| *known == then)?;
        by_use!(O, combination, used, [0 1 2 3 4 5 6])
    }
}

/// The relation between integers; the ordered ones alone.
fn integers<T: Compared>(cmp: Compare, request: &Request<'_>) -> Option<RowFn> {
    match cmp {
        Compare::Eq => request.answer::<Comparison<T, Eq, false>, false>(),
        Compare::Ne => request.answer::<Comparison<T, Ne, false>, false>(),
        Compare::Lt => request.answer::<Comparison<T, Lt, false>, false>(),
        Compare::Le => request.answer::<Comparison<T, Le, false>, false>(),
        Compare::Gt => request.answer::<Comparison<T, Gt, false>, false>(),
        Compare::Ge => request.answer::<Comparison<T, Ge, false>, false>(),
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
        Compare::Eq => request.answer::<Comparison<T, Eq, FTZ>, HALF>(),
        Compare::Ne => request.answer::<Comparison<T, Ne, FTZ>, HALF>(),
        Compare::Lt => request.answer::<Comparison<T, Lt, FTZ>, HALF>(),
        Compare::Le => request.answer::<Comparison<T, Le, FTZ>, HALF>(),
        Compare::Gt => request.answer::<Comparison<T, Gt, FTZ>, HALF>(),
        Compare::Ge => request.answer::<Comparison<T, Ge, FTZ>, HALF>(),
        Compare::Equ => request.answer::<Comparison<T, Equ, FTZ>, HALF>(),
        Compare::Neu => request.answer::<Comparison<T, Neu, FTZ>, HALF>(),
        Compare::Ltu => request.answer::<Comparison<T, Ltu, FTZ>, HALF>(),
        Compare::Leu => request.answer::<Comparison<T, Leu, FTZ>, HALF>(),
        Compare::Gtu => request.answer::<Comparison<T, Gtu, FTZ>, HALF>(),
        Compare::Geu => request.answer::<Comparison<T, Geu, FTZ>, HALF>(),
        Compare::Num => request.answer::<Comparison<T, Num, FTZ>, HALF>(),
        Compare::Nan => request.answer::<Comparison<T, Nan, FTZ>, HALF>(),
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
