//! cvt in every form: any pair of scalar types, rounding, `.ftz`, `.sat`, `.relu`, and registers wider than the
//! type (PTX ISA 9.7.9.21 and 9.4.1).
//!
//! One function converts one number, told what to do at run time; that it is slow does not matter, the
//! forms that do are in [`super::convert`]. A row function cannot be told anything, so each form is a
//! trampoline that holds its description as constants.
//!
//! The rules:
//! - Of a source register the low bits are read. A destination register is filled: with the sign for
//!   signed types, with zeros for all others.
//! - Integer to integer keeps the low bits; `.sat` clamps to the destination's range.
//! - Float to integer rounds as told and clamps always. NaN gives 0 if the source is not f64 and the
//!   destination has at most 32 bits, else the destination's highest bit alone.
//! - A NaN that stays a float becomes the destination's canonical one, see [`super`]; but to f64 it is
//!   [`WIDENED_NAN`], so that a printed NaN has no sign. `.sat` makes it +0.
//! - `.ftz` flushes f32 operands and results, no others.

use bugaroo_ptx::op::Op;
use bugaroo_ptx::types::{Rounding, Type};

use super::float::{Float, finish, flush};
use super::half::{Bf16, F16};
use super::rounding::{Mode, Rm, Rn, Rna, Rp, Rz, magnitude_odd};
use super::row::{Picker, RowMemory, Sink, Source};
use super::{Operands, RowFn, Width, soft};

/// `0x7fffffff` widened to f64.
pub const WIDENED_NAN: u64 = 0x7fff_ffff_e000_0000;

/// A type in a register.
type Kind = (Type, Width);

/// Every kind: the integers, then, from [`FIRST_FLOAT`], the floats. A register may not be wider than a `.bf16`.
const KINDS: [Kind; 25] = [
    (Type::U8, Width::W16),
    (Type::U8, Width::W32),
    (Type::U8, Width::W64),
    (Type::S8, Width::W16),
    (Type::S8, Width::W32),
    (Type::S8, Width::W64),
    (Type::U16, Width::W16),
    (Type::U16, Width::W32),
    (Type::U16, Width::W64),
    (Type::S16, Width::W16),
    (Type::S16, Width::W32),
    (Type::S16, Width::W64),
    (Type::U32, Width::W32),
    (Type::U32, Width::W64),
    (Type::S32, Width::W32),
    (Type::S32, Width::W64),
    (Type::U64, Width::W64),
    (Type::S64, Width::W64),
    (Type::F16, Width::W16),
    (Type::F16, Width::W32),
    (Type::F16, Width::W64),
    (Type::BF16, Width::W16),
    (Type::F32, Width::W32),
    (Type::F32, Width::W64),
    (Type::F64, Width::W64),
];

/// Index of the first float in [`KINDS`].
const FIRST_FLOAT: usize = 18;

/// How to convert.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Form {
    /// Source type and register.
    pub src: Kind,
    /// Destination type and register.
    pub dst: Kind,
    /// Rounding, of the kind that the types need.
    pub rnd: Rounding,
    /// Whether a float is rounded to an integral one.
    pub int_rnd: bool,
    /// `.ftz`
    pub ftz: bool,
    /// `.sat`
    pub sat: bool,
    /// `.relu`
    pub relu: bool,
}

/// A number between its types; every float of PTX fits an f64.
enum Number {
    Integer(i128),
    Float(f64),
}

/// `$body` with `$r` as the mode that `$rnd` is.
macro_rules! with_mode {
    ($rnd:expr, $r:ident => $body:expr) => {
        match $rnd {
            Rounding::Nearest => {
                type $r = Rn;
                $body
            }
            Rounding::NearestAway => {
                type $r = Rna;
                $body
            }
            Rounding::Zero => {
                type $r = Rz;
                $body
            }
            Rounding::Down => {
                type $r = Rm;
                $body
            }
            Rounding::Up => {
                type $r = Rp;
                $body
            }
        }
    };
}

/// Reads the low bits of a register.
fn read(form: &Form, bits: u64) -> Number {
    match form.src.0 {
        Type::F16 => Number::Float(F16(bits as u16).wide()),
        Type::BF16 => Number::Float(Bf16(bits as u16).wide()),
        Type::F32 if form.ftz => Number::Float(flush::<f32, true>(f32::from_bits(bits as u32)).wide()),
        Type::F32 => Number::Float(f32::from_bits(bits as u32).wide()),
        Type::F64 => Number::Float(f64::from_bits(bits)),
        Type::S8 => Number::Integer(i128::from(bits as i8)),
        Type::S16 => Number::Integer(i128::from(bits as i16)),
        Type::S32 => Number::Integer(i128::from(bits as i32)),
        Type::S64 => Number::Integer(i128::from(bits as i64)),
        other => Number::Integer(i128::from(bits & (u64::MAX >> (64 - other.bits())))),
    }
}

/// To an integral value.
fn integral(x: f64, rnd: Rounding) -> f64 {
    match rnd {
        Rounding::Nearest => x.round_ties_even(),
        Rounding::NearestAway => x.round(),
        Rounding::Zero => x.trunc(),
        Rounding::Down => x.floor(),
        Rounding::Up => x.ceil(),
    }
}

/// The integer that a number becomes, as the destination register's bits.
fn to_integer(form: &Form, number: Number) -> u64 {
    let ty = form.dst.0;
    let (least, greatest) = if ty.is_signed() {
        (-(1i128 << (ty.bits() - 1)), (1i128 << (ty.bits() - 1)) - 1)
    } else {
        (0, (1i128 << ty.bits()) - 1)
    };
    let value = match number {
        Number::Integer(x) if form.sat => x.clamp(least, greatest),
        Number::Integer(x) => x,
        Number::Float(x) if x.is_nan() => {
            let zero = form.src.0 != Type::F64 && ty.bits() <= 32;
            if zero { 0 } else { 1i128 << (ty.bits() - 1) }
        }
        // The cast clamps to 128 bits.
        Number::Float(x) => (integral(x, form.rnd) as i128).clamp(least, greatest),
    };
    // The type's bits, extended by its sign to the register.
    let unused = 64 - ty.bits();
    if ty.is_signed() {
        ((value as i64) << unused >> unused) as u64
    } else {
        (value as u64) << unused >> unused
    }
}

/// The float of type `F` that a number becomes; an f64 destination is rounded by [`soft`].
fn to_float<F: Float, R: Mode>(form: &Form, number: Number) -> F {
    let rounded = match number {
        Number::Integer(x) => {
            let magnitude = x.unsigned_abs() as u64;
            let wide = match form.dst.0 {
                Type::F64 if magnitude != 0 => soft::round::<R>(x < 0, 0, u128::from(magnitude)),
                _ if x < 0 => -magnitude_odd(magnitude),
                _ => magnitude_odd(magnitude),
            };
            F::rounded::<R>(wide)
        }
        Number::Float(x) if form.int_rnd => F::rounded::<Rn>(integral(x, form.rnd)),
        Number::Float(x) => F::rounded::<R>(x),
    };
    let flushed = if form.ftz && form.dst.0 == Type::F32 { flush::<F, true>(rounded) } else { rounded };
    match (form.sat, form.relu) {
        (true, _) => finish::<F, false, true, false>(flushed),
        (_, true) => finish::<F, false, false, true>(flushed),
        _ => finish::<F, false, false, false>(flushed),
    }
}

/// Converts one number: source register in, destination register out.
pub fn convert(form: &Form, bits: u64) -> u64 {
    let number = read(form, bits);
    match form.dst.0 {
        Type::F16 => u64::from(with_mode!(form.rnd, R => to_float::<F16, R>(form, number)).0),
        Type::BF16 => u64::from(with_mode!(form.rnd, R => to_float::<Bf16, R>(form, number)).0),
        Type::F32 => u64::from(with_mode!(form.rnd, R => to_float::<f32, R>(form, number)).to_bits()),
        Type::F64 => {
            let widened = form.src.0 != Type::F64 && matches!(number, Number::Float(x) if x.is_nan());
            if widened && !form.sat {
                return WIDENED_NAN;
            }
            with_mode!(form.rnd, R => to_float::<f64, R>(form, number)).to_bits()
        }
        _ => to_integer(form, number),
    }
}

/// Converts a row.
///
/// # Safety
/// As for [`RowFn`].
#[inline(never)]
unsafe fn convert_row(form: &Form, frame: *mut u8, consts: *const u8, ops: &Operands, mask: u32) {
    // SAFETY: the caller's promise, here and below.
    let at = unsafe { ops.source(frame, consts, 0) };
    // SAFETY: as above.
    let row = unsafe {
        match form.src.1 {
            Width::W16 => u16::load(at).0.map(u64::from),
            Width::W32 => u32::load(at).0.map(u64::from),
            _ => u64::load(at).0,
        }
    };
    let row = row.map(|bits| convert(form, bits));
    // SAFETY: as above.
    unsafe {
        let at = frame.add(ops.dst as usize);
        match form.dst.1 {
            Width::W16 => u16::store::<false>(&RowMemory(row.map(|x| x as u16)), at, mask),
            Width::W32 => u32::store::<false>(&RowMemory(row.map(|x| x as u32)), at, mask),
            _ => u64::store::<false>(&RowMemory(row), at, mask),
        }
    }
}

/// The modes in the order of their codes.
const MODES: [Rounding; 4] = [Rounding::Nearest, Rounding::Zero, Rounding::Down, Rounding::Up];

/// Bits of a form's code; the mode is below them.
const INTEGRAL: u8 = 4;
const FTZ: u8 = 8;
const SAT: u8 = 16;
const RELU: u8 = 32;

/// The form with this code.
const fn form(src: Kind, dst: Kind, code: u8) -> Form {
    Form {
        src,
        dst,
        rnd: MODES[(code & 3) as usize],
        int_rnd: code & INTEGRAL != 0,
        ftz: code & FTZ != 0,
        sat: code & SAT != 0,
        relu: code & RELU != 0,
    }
}

/// # Safety
/// As for [`RowFn`].
unsafe fn trampoline<const S: usize, const D: usize, const CODE: u8>(
    frame: *mut u8,
    consts: *const u8,
    ops: &Operands,
    mask: u32,
) {
    // SAFETY: the caller's promise.
    unsafe { convert_row(const { &form(KINDS[S], KINDS[D], CODE) }, frame, consts, ops, mask) }
}

/// A function that picks among all trampolines between kinds, with the codes listed.
macro_rules! trampolines {
    ($(#[$doc:meta])* $name:ident from [$($s:literal)*] to [$($d:literal)*] codes [$($code:literal)*]) => {
        $(#[$doc])*
        fn $name(src: usize, dst: usize, code: u8) -> Option<RowFn> {
            fn by_code<const S: usize, const D: usize>(code: u8) -> Option<RowFn> {
                match code {
                    $($code => Some(trampoline::<S, D, $code>),)*
                    _ => None,
                }
            }
            fn by_dst<const S: usize>(dst: usize, code: u8) -> Option<RowFn> {
                match dst {
                    $($d => by_code::<S, $d>(code),)*
                    _ => None,
                }
            }
            match src {
                $($s => by_dst::<$s>(dst, code),)*
                _ => None,
            }
        }
    };
}
trampolines! {
    /// Integer to integer: with and without [`SAT`].
    resize
    from [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17]
    to [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17]
    codes [0 16]
}
trampolines! {
    /// Integer to float: modes, with and without [`SAT`].
    integer_to_float
    from [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17]
    to [18 19 20 21 22 23 24]
    codes [0 1 2 3 16 17 18 19]
}
trampolines! {
    /// Float to integer: integral modes, with and without [`FTZ`].
    float_to_integer
    from [18 19 20 21 22 23 24]
    to [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17]
    codes [4 5 6 7 12 13 14 15]
}
trampolines! {
    /// Float to float: modes and integral modes, with and without [`FTZ`], with and without [`SAT`].
    float_to_float
    from [18 19 20 21 22 23 24]
    to [18 19 20 21 22 23 24]
    codes [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31]
}
trampolines! {
    /// f32 to 16 bits with [`RELU`].
    float_to_float_relu
    from [22 23]
    to [18 19 20 21]
    codes [32 33]
}

/// The index of a type in a register of this width; bit-size types count as unsigned.
fn kind(ty: Type, width: Width) -> Option<usize> {
    let ty = match ty {
        Type::B8 => Type::U8,
        Type::B16 => Type::U16,
        Type::B32 => Type::U32,
        Type::B64 => Type::U64,
        other => other,
    };
    KINDS.iter().position(|known| *known == (ty, width))
}

/// `cvt` in any form.
pub fn select(op: &Op, p: Picker<'_>) -> Option<RowFn> {
    let Op::Cvt { dst, src, rnd, int_rnd, ftz, sat, relu } = *op else {
        return None;
    };
    let shape = p.shape;
    if shape.src[1..].iter().any(Option::is_some) || shape.dst2.is_some() || shape.negated[0] {
        return None;
    }
    let (from, to) = (kind(src, shape.src[0]?)?, kind(dst, shape.dst)?);
    let (from_float, to_float) = (from >= FIRST_FLOAT, to >= FIRST_FLOAT);
    // A rounding that the source leaves out is one that changes nothing, or (float to integer, in old
    // code) truncation.
    let unstated = if from_float && !to_float { Rounding::Zero } else { Rounding::Nearest };
    let mode = MODES.iter().position(|mode| *mode == rnd.unwrap_or(unstated))? as u8;
    let flag = |set: bool, code: u8| if set { code } else { 0 };
    let flushes = flag(ftz && (src == Type::F32 || dst == Type::F32), FTZ);
    match (from_float, to_float) {
        _ if relu && (sat || ftz || int_rnd) => None,
        (false, false) => resize(from, to, flag(sat, SAT)),
        (false, true) => integer_to_float(from, to, mode | flag(sat, SAT)),
        (true, false) => float_to_integer(from, to, mode | INTEGRAL | flag(ftz && src == Type::F32, FTZ)),
        (true, true) if int_rnd && src != dst => None,
        (true, true) if relu => float_to_float_relu(from, to, mode | RELU),
        (true, true) => float_to_float(from, to, mode | flag(int_rnd, INTEGRAL) | flushes | flag(sat, SAT)),
    }
}
