//! Arithmetic that is computed lane by lane, told at run time what to do: what programs use too rarely for a row
//! function of its own ([`bugaroo_ptx::rare`], comparisons of packed halves). Values are the registers' bits.
//!
//! Source: PTX ISA 9.0, as cited. Departures: the low bits of a `.tf32` are zero (the ISA leaves them open); a NaN
//! in an eight-bit format is `0x7f`, with any sign.

mod floats;
mod video;

#[cfg(test)]
mod tests;

use bugaroo_ptx::op::Op;
use bugaroo_ptx::rare::{Fp8, PairOp, Rare};
use bugaroo_ptx::types::{BoolOp, Compare, Rounding, Type};

use super::float::{Float, flush};
use super::half::{Bf16, F16};
use super::rounding::Rn;
pub use video::Selector;

/// A comparison of two pairs of halves.
#[derive(Clone, Copy, Debug)]
pub struct PackedCompare {
    compare: Compare,
    bf16: bool,
    ftz: bool,
    combine: Option<BoolOp>,
    /// What a half of the result is where the comparison holds; None for two predicates.
    truth: Option<u16>,
}

/// An operation on one lane.
#[derive(Clone, Copy, Debug)]
pub enum Lanewise {
    /// Rarely used arithmetic, with the selectors of its operands: result first.
    Rare(Rare, [Option<Selector>; 3]),
    /// `set`, `setp` of `.f16x2`, `.bf16x2`.
    Compare(PackedCompare),
}

impl Lanewise {
    /// The comparison of packed halves that `op` is, if it is one.
    pub fn comparison(op: &Op) -> Option<Lanewise> {
        let (compare, ty, ftz, combine, dst) = match *op {
            Op::Setp { cmp, ty, ftz, combine } => (cmp, ty, ftz, combine, None),
            Op::Set { cmp, dst, ty, ftz, combine } => (cmp, ty, ftz, combine, Some(dst)),
            _ => return None,
        };
        let bf16 = match ty {
            Type::F16x2 => false,
            Type::BF16x2 => true,
            _ => return None,
        };
        let truth = match dst {
            None => None,
            Some(Type::F16x2) => Some(0x3c00),
            Some(Type::BF16x2) => Some(0x3f80),
            Some(Type::U32 | Type::S32) => Some(0xffff),
            Some(_) => return None,
        };
        Some(Lanewise::Compare(PackedCompare { compare, bf16, ftz, combine, truth }))
    }

    /// Computes a lane: the result, and a second one that is a predicate.
    pub fn apply(&self, source: &[u64; 5]) -> (u64, bool) {
        match self {
            Lanewise::Rare(rare, selectors) => rarely(rare, selectors, source),
            Lanewise::Compare(compare) => compare.apply(source),
        }
    }
}

/// Whether the relation holds.
fn holds(compare: Compare, a: f32, b: f32) -> bool {
    use std::cmp::Ordering::{Equal, Greater, Less};
    let order = a.partial_cmp(&b);
    match compare {
        Compare::Eq => order == Some(Equal),
        Compare::Ne => matches!(order, Some(Less | Greater)),
        Compare::Lt => order == Some(Less),
        Compare::Le => matches!(order, Some(Less | Equal)),
        Compare::Gt => order == Some(Greater),
        Compare::Ge => matches!(order, Some(Greater | Equal)),
        Compare::Equ => matches!(order, None | Some(Equal)),
        Compare::Neu => order != Some(Equal),
        Compare::Ltu => matches!(order, None | Some(Less)),
        Compare::Leu => order != Some(Greater),
        Compare::Gtu => matches!(order, None | Some(Greater)),
        Compare::Geu => order != Some(Less),
        Compare::Num => order.is_some(),
        Compare::Nan => order.is_none(),
    }
}

/// `a OP b`
fn combined(op: BoolOp, a: bool, b: bool) -> bool {
    match op {
        BoolOp::And => a && b,
        BoolOp::Or => a || b,
        BoolOp::Xor => a != b,
    }
}

impl PackedCompare {
    /// ISA 9.7.7: each half by itself.
    fn apply(&self, source: &[u64; 5]) -> (u64, bool) {
        let half = |pair: u64, upper: bool| {
            let bits = (pair >> if upper { 16 } else { 0 }) as u16;
            match (self.bf16, self.ftz) {
                (true, _) => Bf16(bits).to_f32(),
                (false, false) => F16(bits).to_f32(),
                (false, true) => flush::<F16, true>(F16(bits)).to_f32(),
            }
        };
        let test = |upper: bool| {
            let held = holds(self.compare, half(source[0], upper), half(source[1], upper));
            self.combine.map_or(held, |op| combined(op, held, source[2] & 1 != 0))
        };
        let (low, high) = (test(false), test(true));
        match self.truth {
            None => (u64::from(low), high),
            Some(truth) => {
                let part = |held: bool| if held { u64::from(truth) } else { 0 };
                (part(low) | part(high) << 16, false)
            }
        }
    }
}

/// Bits of the significand behind the point, and the least exponent of a normal number.
fn shape(fp8: Fp8) -> (i32, i32, f64) {
    match fp8 {
        Fp8::E4m3 => (3, -6, 448.0),
        Fp8::E5m2 => (2, -14, 57344.0),
    }
}

/// To nearest, ties to even, and no further than the greatest number (9.7.9.21, `.satfinite`).
fn to_fp8(x: f64, fp8: Fp8, relu: bool) -> u64 {
    if x.is_nan() {
        return 0x7f;
    }
    if relu && x.is_sign_negative() {
        return 0;
    }
    let (digits, least, greatest) = shape(fp8);
    let sign = u64::from(x.is_sign_negative()) << 7;
    let x = x.abs().min(greatest);
    let exponent = ((x.to_bits() >> 52) as i32 - 1023).max(least);
    // A scale by a power of two is exact.
    let steps = (x * f64::from(digits - exponent).exp2()).round_ties_even() as u64;
    // Steps of the exponent above the least one; a carry out of the significand runs into it.
    let bits = steps + ((exponent - least) as u64) * (1 << digits);
    let most = match fp8 {
        Fp8::E4m3 => 0x7e,
        Fp8::E5m2 => 0x7b,
    };
    sign | bits.min(most)
}

/// Exactly, as an `.f16`.
fn from_fp8(byte: u8, fp8: Fp8, relu: bool) -> u16 {
    let half = match fp8 {
        Fp8::E5m2 => u16::from(byte) << 8,
        Fp8::E4m3 if byte & 0x7f == 0x7f => 0x7fff,
        Fp8::E4m3 => {
            let (digits, least, _) = shape(fp8);
            let (exponent, significand) = (i32::from(byte >> 3 & 15), f64::from(byte & 7));
            let number = match exponent {
                0 => significand * f64::from(least - digits).exp2(),
                _ => (8.0 + significand) * f64::from(exponent - 1 + least - digits).exp2(),
            };
            F16::rounded::<Rn>(if byte >> 7 != 0 { -number } else { number }).0
        }
    };
    match half {
        _ if half & 0x7fff > 0x7c00 => 0x7fff,
        _ if relu && half >> 15 != 0 => 0,
        _ => half,
    }
}

/// An `.f32` with ten bits of significand behind the point.
fn to_tf32(bits: u32, rnd: Rounding, relu: bool, satfinite: bool) -> u32 {
    let x = f32::from_bits(bits);
    if x.is_nan() {
        return 0x7fff_ffff;
    }
    if relu && x.is_sign_negative() {
        return 0;
    }
    let rounded = match rnd {
        _ if x.is_infinite() => bits,
        Rounding::Zero => bits,
        Rounding::Nearest => bits + 0xfff + (bits >> 13 & 1),
        _ => bits + 0x1000,
    } & !0x1fff;
    if satfinite && f32::from_bits(rounded).is_infinite() {
        return bits & 0x8000_0000 | 0x7f7f_e000;
    }
    rounded
}

/// Clamps to the range of a type of this many bits.
fn clamp(value: i64, bits: u32, signed: bool) -> i64 {
    if signed {
        value.clamp(-1 << (bits - 1), (1 << (bits - 1)) - 1)
    } else {
        value.clamp(0, (1 << bits) - 1)
    }
}

/// `min` and `max` of magnitudes, with the product's sign (9.7.3.11).
fn xorsign<F: Float>(a: F, b: F, max: bool, nan: bool) -> F {
    let negative = a.is_negative() != b.is_negative();
    let (a, b) = (a.magnitude(), b.magnitude());
    let chosen = match (a.is_nan(), b.is_nan()) {
        (true, true) => return F::CANONICAL_NAN,
        (true, _) | (_, true) if nan => return F::CANONICAL_NAN,
        (true, false) => b,
        (false, true) => a,
        _ if (a.native() < b.native()) != max => a,
        _ => b,
    };
    if negative { chosen.negate() } else { chosen }
}

/// `fns` (9.7.1.17): the position of the n-th set bit from a base on.
fn nth_set(mask: u32, base: u32, offset: i32) -> u32 {
    if offset == 0 {
        return if base < 32 && mask >> base & 1 != 0 { base } else { u32::MAX };
    }
    let wanted = offset.unsigned_abs() as usize - 1;
    let is_set = |position: &u32| mask >> position & 1 != 0;
    let found = if offset > 0 {
        (base.min(32)..32).filter(is_set).nth(wanted)
    } else if base < 32 {
        (0..=base).rev().filter(is_set).nth(wanted)
    } else {
        None
    };
    found.unwrap_or(u32::MAX)
}

fn rarely(rare: &Rare, selectors: &[Option<Selector>; 3], source: &[u64; 5]) -> (u64, bool) {
    let words = source.map(|bits| bits as u32);
    let [a, b, c, ..] = words;
    let halves = |pair: u32| [pair as u16, (pair >> 16) as u16];
    let packed = |low: u16, high: u16| u32::from(low) | u32::from(high) << 16;
    let value = match *rare {
        Rare::ToFp8 { fp8, src, relu } => {
            let (low, high) = match src {
                Type::F32 => (f32::from_bits(b), f32::from_bits(a)),
                _ => (F16(a as u16).to_f32(), F16((a >> 16) as u16).to_f32()),
            };
            return (to_fp8(low.into(), fp8, relu) | to_fp8(high.into(), fp8, relu) << 8, false);
        }
        Rare::FromFp8 { fp8, relu } => {
            packed(from_fp8(a as u8, fp8, relu), from_fp8((a >> 8) as u8, fp8, relu))
        }
        Rare::ToTf32 { rnd, relu, satfinite } => to_tf32(a, rnd, relu, satfinite),
        Rare::Pack { dst } => {
            let bits = dst.bits();
            let narrow =
                |x: u32| clamp(i64::from(x as i32), bits, dst.is_signed()) as u32 & ((1 << bits) - 1);
            let both = narrow(b) | narrow(a) << bits;
            if bits == 8 { both | c << 16 } else { both }
        }
        Rare::Pair { op, signed, relu } => {
            let ([a0, a1], [b0, b1]) = (halves(a), halves(b));
            let one = |a: u16, b: u16| {
                let chosen = match op {
                    PairOp::Add => a.wrapping_add(b),
                    PairOp::Min if signed => (a as i16).min(b as i16) as u16,
                    PairOp::Max if signed => (a as i16).max(b as i16) as u16,
                    PairOp::Min => a.min(b),
                    PairOp::Max => a.max(b),
                };
                if relu { (chosen as i16).max(0) as u16 } else { chosen }
            };
            packed(one(a0, b0), one(a1, b1))
        }
        Rare::FloatPair { op, rnd, ftz } => {
            let [a, b, c, ..] = *source;
            let one = |shift: u32| floats::pair(op, rnd, ftz, [a, b, c].map(|pair| (pair >> shift) as u32));
            return (u64::from(one(0)) | u64::from(one(32)) << 32, false);
        }
        Rare::Mixed { op, half, rnd, sat } => floats::mixed(op, half, rnd, sat, [a, b, c]),
        Rare::Relu { max } => {
            let (a, b) = (a as i32, b as i32);
            if max { a.max(b).max(0) as u32 } else { a.min(b).max(0) as u32 }
        }
        Rare::Xorsign { max, ty, ftz, nan } => {
            let f16 = |a, b| {
                let (a, b) = (F16(a), F16(b));
                let (a, b) = if ftz { (flush::<F16, true>(a), flush::<F16, true>(b)) } else { (a, b) };
                xorsign(a, b, max, nan).0
            };
            let bf16 = |a, b| xorsign(Bf16(a), Bf16(b), max, nan).0;
            let ([a0, a1], [b0, b1]) = (halves(a), halves(b));
            match ty {
                Type::F16 => u32::from(f16(a0, b0)),
                Type::F16x2 => packed(f16(a0, b0), f16(a1, b1)),
                Type::BF16 => u32::from(bf16(a0, b0)),
                Type::BF16x2 => packed(bf16(a0, b0), bf16(a1, b1)),
                _ => {
                    let (a, b) = (f32::from_bits(a), f32::from_bits(b));
                    let (a, b) = if ftz { (flush::<f32, true>(a), flush::<f32, true>(b)) } else { (a, b) };
                    xorsign(a, b, max, nan).to_bits()
                }
            }
        }
        Rare::Fns => nth_set(a, b, c as i32),
        Rare::Lop3 { combine } => {
            let table = words[3];
            let bit = |i: u32| {
                let index = (a >> i & 1) << 2 | (b >> i & 1) << 1 | c >> i & 1;
                (table >> index & 1) << i
            };
            let value = (0..32).map(bit).fold(0, |all, bit| all | bit);
            return (u64::from(value), combined(combine, value != 0, source[4] & 1 != 0));
        }
        Rare::Video(video) => video::video(&video, selectors, [a, b, c]),
    };
    (u64::from(value), false)
}
