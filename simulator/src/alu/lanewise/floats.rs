//! Pairs of floats, and sums of numbers of 16 bits and floats (PTX ISA, `add`, `sub`, `mul`, `fma` of "Floating Point
//! Instructions" and of "Mixed Precision Floating-Point Instructions").

use bugaroo_ptx::rare::FloatOp;
use bugaroo_ptx::types::{Rounding, Type};

use crate::alu::float::{Float, finish, flush};
use crate::alu::half::{Bf16, F16};
use crate::alu::rounding::{Mode, Rm, Rn, Rp, Rz};

/// One number of a pair.
pub(super) fn pair(op: FloatOp, rnd: Rounding, ftz: bool, words: [u32; 3]) -> u32 {
    let numbers = words.map(f32::from_bits);
    let value = if ftz {
        finish::<f32, true, false, false>(rounded(op, rnd, numbers.map(flush::<f32, true>)))
    } else {
        finish::<f32, false, false, false>(rounded(op, rnd, numbers))
    };
    value.to_bits()
}

/// What comes before the last of the operands is widened first.
pub(super) fn mixed(op: FloatOp, half: Type, rnd: Rounding, sat: bool, words: [u32; 3]) -> u32 {
    let wide = |bits: u32| match half {
        Type::F16 => F16(bits as u16).to_f32(),
        _ => Bf16(bits as u16).to_f32(),
    };
    let [a, b, c] = words;
    let numbers = match op {
        FloatOp::Fma => [wide(a), wide(b), f32::from_bits(c)],
        _ => [wide(a), f32::from_bits(b), 0.0],
    };
    let value = rounded(op, rnd, numbers);
    let value = if sat {
        finish::<f32, false, true, false>(value)
    } else {
        finish::<f32, false, false, false>(value)
    };
    value.to_bits()
}

fn rounded(op: FloatOp, rnd: Rounding, numbers: [f32; 3]) -> f32 {
    match rnd {
        Rounding::Nearest | Rounding::NearestAway => compute::<Rn>(op, numbers),
        Rounding::Zero => compute::<Rz>(op, numbers),
        Rounding::Down => compute::<Rm>(op, numbers),
        Rounding::Up => compute::<Rp>(op, numbers),
    }
}

fn compute<R: Mode>(op: FloatOp, [a, b, c]: [f32; 3]) -> f32 {
    match op {
        FloatOp::Add => Float::add::<R>(a, b),
        FloatOp::Sub => Float::add::<R>(a, Float::negate(b)),
        FloatOp::Mul => Float::mul::<R>(a, b),
        FloatOp::Fma => Float::fma::<R>(a, b, c),
    }
}
