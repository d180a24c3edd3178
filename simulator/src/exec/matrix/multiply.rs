//! `D = A × B + C`. What is exact and what is rounded says the parent module's head.

use bugaroo_ptx::op::{BitOp, MatrixPart, MatrixType, Mma};

use super::fragments::Fragment;
use crate::exec::half::Format;

/// The product's fragment.
pub(super) fn multiply(mma: &Mma, a: &Fragment, b: &Fragment, c: &Fragment) -> Fragment {
    if mma.of_quads() {
        return super::quads::multiply(mma, a, b, c);
    }
    let (rows, columns) = mma.shape.extent(MatrixPart::C);
    let depth = mma.shape.depth();
    let spread = |fragment: &Fragment, part| {
        let (_, width) = mma.shape.extent(part);
        let (height, _) = mma.shape.extent(part);
        let mut all = vec![0u64; width * height];
        fragment.elements(mma.shape, part, mma.wmma, |(i, j), bits| all[i * width + j] = bits);
        all
    };
    let (a, b, c) = (spread(a, MatrixPart::A), spread(b, MatrixPart::B), spread(c, MatrixPart::C));
    let mut d = vec![0u64; rows * columns];
    for i in 0..rows {
        for j in 0..columns {
            let pairs = (0..depth).map(|k| (a[i * depth + k], b[k * columns + j]));
            d[i * columns + j] = element(mma, pairs, c[i * columns + j]);
        }
    }
    let mut product = Fragment::new(mma.d, mma.registers()[3]);
    product.fill(mma.shape, MatrixPart::C, mma.wmma, |(i, j)| d[i * columns + j]);
    product
}

/// An element of D: the pairs whose products are summed up, and the element of C.
pub(super) fn element(mma: &Mma, pairs: impl Iterator<Item = (u64, u64)>, c: u64) -> u64 {
    match mma.a {
        MatrixType::F64 => {
            let sum = pairs
                .fold(f64::from_bits(c), |sum, (a, b)| f64::from_bits(a).mul_add(f64::from_bits(b), sum));
            if sum.is_nan() { 0xfff8_0000_0000_0000 } else { sum.to_bits() }
        }
        MatrixType::B1 => {
            let ones = pairs.filter(|(a, b)| match mma.bits {
                Some(BitOp::And) => a & b != 0,
                _ => a ^ b != 0,
            });
            u64::from((c as u32).wrapping_add(ones.count() as u32))
        }
        MatrixType::S4 | MatrixType::U4 | MatrixType::S8 | MatrixType::U8 => {
            let sum = pairs
                .fold(i64::from(c as u32 as i32), |sum, (x, y)| sum + integer(mma.a, x) * integer(mma.b, y));
            let kept = if mma.satfinite { sum.clamp(i32::MIN.into(), i32::MAX.into()) } else { sum };
            u64::from(kept as u32)
        }
        _ => {
            let sum = pairs.fold(number(mma.c, c), |sum, (a, b)| sum + number(mma.a, a) * number(mma.b, b));
            if mma.d == MatrixType::F16 {
                let half = Format::Half.narrow(sum);
                let infinite = half & 0x7fff == 0x7c00 && mma.satfinite;
                return u64::from(if infinite { half & 0x8000 | 0x7bff } else { half });
            }
            u64::from(if sum.is_nan() { 0x7fff_ffff } else { sum.to_bits() })
        }
    }
}

fn integer(ty: MatrixType, bits: u64) -> i64 {
    match ty {
        MatrixType::S8 => i64::from(bits as u8 as i8),
        MatrixType::S4 => (bits as i64) << 60 >> 60,
        _ => bits as i64,
    }
}

fn number(ty: MatrixType, bits: u64) -> f32 {
    match ty {
        MatrixType::F16 => Format::Half.widen(bits as u16),
        MatrixType::BF16 => Format::Brain.widen(bits as u16),
        // The low bits do not count.
        MatrixType::TF32 => f32::from_bits(bits as u32 & 0xffff_e000),
        MatrixType::E4M3 => small(bits as u8, 4, 3),
        MatrixType::E5M2 => small(bits as u8, 5, 2),
        _ => f32::from_bits(bits as u32),
    }
}

/// A number of 8 bits. `.e4m3` has no infinities, and one NaN of either sign.
fn small(bits: u8, exponent_bits: u32, fraction_bits: u32) -> f32 {
    let sign = if bits >> 7 == 0 { 1.0 } else { -1.0 };
    let exponent = i32::from(bits >> fraction_bits) & ((1 << exponent_bits) - 1);
    let fraction = f32::from(bits & ((1 << fraction_bits) - 1)) / (1 << fraction_bits) as f32;
    let bias = (1 << (exponent_bits - 1)) - 1;
    if exponent_bits == 4 && bits & 0x7f == 0x7f {
        return f32::NAN;
    }
    if exponent_bits == 5 && exponent == 31 {
        return if fraction == 0.0 { sign * f32::INFINITY } else { f32::NAN };
    }
    let value = if exponent == 0 {
        fraction * 2f32.powi(1 - bias)
    } else {
        (1.0 + fraction) * 2f32.powi(exponent - bias)
    };
    sign * value
}
