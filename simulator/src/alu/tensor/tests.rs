//! Every shape and type, on random registers, against sums taken element by element.

use bugaroo_ptx::op::MatrixType::{self, *};
use bugaroo_ptx::op::{BitOp, MatrixPart, MatrixShape, Mma};

use super::places::{mma_place, per_register, wmma_place};
use super::{Registers, Tensor, quads};
use crate::alu::Isa;
use crate::alu::sixteen::HalfFormat;

/// Registers of A, B, C and D.
struct Rows([Vec<[u64; 32]>; 4]);

impl Registers for Rows {
    fn words(&self, part: MatrixPart, register: usize) -> [u32; 32] {
        self.0[part as usize][register].map(|bits| bits as u32)
    }
    fn doubles(&self, part: MatrixPart, register: usize) -> [u64; 32] {
        self.0[part as usize][register]
    }
    fn set_words(&mut self, register: usize, row: &[u32; 32]) {
        self.0[3][register] = row.map(u64::from);
    }
    fn set_doubles(&mut self, register: usize, row: &[u64; 32]) {
        self.0[3][register] = *row;
    }
}

/// A number of 8 bits, by the definition of the format.
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

fn number(ty: MatrixType, bits: u64) -> f32 {
    match ty {
        F16 => HalfFormat::Half.widen(bits as u16),
        BF16 => f32::from_bits((bits as u32) << 16),
        TF32 => f32::from_bits(bits as u32 & 0xffff_e000),
        E4M3 => small(bits as u8, 4, 3),
        E5M2 => small(bits as u8, 5, 2),
        _ => f32::from_bits(bits as u32),
    }
}

fn integer(ty: MatrixType, bits: u64) -> i64 {
    match ty {
        S8 => i64::from(bits as u8 as i8),
        S4 => (bits as i64) << 60 >> 60,
        _ => bits as i64,
    }
}

/// An element of D, of the elements of a row of A and a column of B, and one of C.
fn element(mma: &Mma, pairs: impl Iterator<Item = (u64, u64)>, c: u64) -> u64 {
    match mma.a {
        F64 => {
            let sum = pairs
                .fold(f64::from_bits(c), |sum, (a, b)| f64::from_bits(a).mul_add(f64::from_bits(b), sum));
            if sum.is_nan() { 0xfff8_0000_0000_0000 } else { sum.to_bits() }
        }
        B1 => {
            let ones =
                pairs.filter(|(a, b)| if mma.bits == Some(BitOp::And) { a & b != 0 } else { a ^ b != 0 });
            u64::from((c as u32).wrapping_add(ones.count() as u32))
        }
        S4 | U4 | S8 | U8 => {
            let c = i64::from(c as u32 as i32);
            let sum = pairs.fold(c, |sum, (a, b)| sum + integer(mma.a, a) * integer(mma.b, b));
            u64::from(if mma.satfinite { sum.clamp(i32::MIN.into(), i32::MAX.into()) } else { sum } as u32)
        }
        _ => {
            let sum = pairs.fold(number(mma.c, c), |sum, (a, b)| sum + number(mma.a, a) * number(mma.b, b));
            if mma.d == F16 {
                let half = HalfFormat::Half.narrow(sum);
                let infinite = half & 0x7fff == 0x7c00 && mma.satfinite;
                return u64::from(if infinite { half & 0x8000 | 0x7bff } else { half });
            }
            u64::from(if sum.is_nan() { 0x7fff_ffff } else { sum.to_bits() })
        }
    }
}

/// Calls `each` with every element that the lanes hold: product, row, column, register, lane and first bit. What repeats comes last.
fn elements(mma: &Mma, part: MatrixPart, ty: MatrixType, registers: usize, mut each: impl FnMut([usize; 6])) {
    let (per, extent) = (per_register(ty), mma.shape.extent(part));
    for lane in 0..32 {
        for i in 0..registers * per {
            let (register, e) = (i / per, i % per);
            let (product, (row, column)) = if mma.of_quads() {
                (quads::product(lane), quads::place(mma, part, ty, lane, i))
            } else if mma.wmma {
                (0, wmma_place(extent, registers * per, lane, i))
            } else {
                (0, mma_place(mma.shape, part, ty, (register, lane, e)))
            };
            each([product, row, column, register, lane, e * ty.bits() as usize]);
        }
    }
}

fn reference(mma: &Mma, rows: &Rows) -> Vec<[u64; 32]> {
    let [ra, rb, rc, rd] = mma.registers();
    let spread = |part: MatrixPart, ty: MatrixType, registers| {
        let (height, width) = mma.shape.extent(part);
        let mut all = vec![vec![vec![None; width]; height]; 4];
        elements(mma, part, ty, registers, |[product, row, column, register, lane, bit]| {
            let value = rows.0[part as usize][register][lane] >> bit & (u64::MAX >> (64 - ty.bits()));
            all[product][row][column].get_or_insert(value);
        });
        all
    };
    let (a, b, c) = (
        spread(MatrixPart::A, mma.a, ra),
        spread(MatrixPart::B, mma.b, rb),
        spread(MatrixPart::C, mma.c, rc),
    );
    let mut d = vec![[0; 32]; rd];
    elements(mma, MatrixPart::C, mma.d, rd, |[product, row, column, register, lane, bit]| {
        let held = |element: Option<u64>| element.expect("each element has a lane");
        let pairs = (0..mma.shape.depth()).map(|k| (held(a[product][row][k]), held(b[product][k][column])));
        d[register][lane] |= element(mma, pairs, held(c[product][row][column])) << bit;
    });
    d
}

/// All multiplications: shapes of `mma` and of `wmma`, and the types of A, B, C and D.
fn all() -> Vec<Mma> {
    let mut all = Vec::new();
    let mut add = |wmma: bool, shapes: &[(u8, u8, u8)], types: &[[MatrixType; 4]]| {
        for (m, n, k) in shapes {
            for [a, b, c, d] in types {
                let of = |bits| Mma {
                    wmma,
                    shape: MatrixShape { m: *m, n: *n, k: *k },
                    a_row: true,
                    b_row: false,
                    a: *a,
                    b: *b,
                    c: *c,
                    d: *d,
                    satfinite: false,
                    bits,
                };
                match a {
                    B1 => all.extend([of(Some(BitOp::And)), of(Some(BitOp::Xor))]),
                    F64 | BF16 | TF32 => all.push(of(None)),
                    _ => all.extend([of(None), Mma { satfinite: true, ..of(None) }]),
                }
            }
        }
    };
    let halves = [[F16, F16, F16, F16], [F16, F16, F32, F32], [F16, F16, F16, F32], [F16, F16, F32, F16]];
    let octets = [[S8, S8, S32, S32], [S8, U8, S32, S32], [U8, S8, S32, S32], [U8, U8, S32, S32]];
    let nibbles = [[S4, S4, S32, S32], [S4, U4, S32, S32], [U4, S4, S32, S32], [U4, U4, S32, S32]];
    let mut small = Vec::new();
    for (a, b) in [(E4M3, E4M3), (E4M3, E5M2), (E5M2, E4M3), (E5M2, E5M2)] {
        small.extend([[a, b, F32, F32], [a, b, F16, F16]]);
    }
    add(false, &[(8, 8, 4), (16, 8, 8), (16, 8, 16)], &halves);
    add(false, &[(16, 8, 8), (16, 8, 16)], &[[BF16, BF16, F32, F32]]);
    add(false, &[(16, 8, 4), (16, 8, 8)], &[[TF32, TF32, F32, F32]]);
    add(false, &[(16, 8, 16), (16, 8, 32)], &small);
    add(false, &[(8, 8, 16), (16, 8, 16), (16, 8, 32)], &octets);
    add(false, &[(8, 8, 32), (16, 8, 32), (16, 8, 64)], &nibbles);
    add(false, &[(8, 8, 128), (16, 8, 128), (16, 8, 0)], &[[B1, B1, S32, S32]]);
    add(false, &[(8, 8, 4), (16, 8, 4), (16, 8, 8), (16, 8, 16)], &[[F64, F64, F64, F64]]);
    let wide = [(16, 16, 16), (32, 8, 16), (8, 32, 16)];
    add(true, &wide, &halves);
    add(true, &wide, &[[BF16, BF16, F32, F32]]);
    add(true, &wide, &[octets[0], octets[3]]);
    add(true, &[(16, 16, 8)], &[[TF32, TF32, F32, F32]]);
    add(true, &[(8, 8, 32)], &[nibbles[0], nibbles[3]]);
    add(true, &[(8, 8, 128)], &[[B1, B1, S32, S32]]);
    add(true, &[(8, 8, 4)], &[[F64, F64, F64, F64]]);
    all
}

/// Bits of an operand: any, or such as sums do not soon become NaN of.
fn bits(random: &mut impl FnMut() -> u64, ty: MatrixType, tame: bool) -> u64 {
    let any = random();
    match ty {
        _ if !tame => any,
        F64 => (any & 1023) as f64 as u64 | (1.5f64 * (any >> 32) as f64).to_bits(),
        F32 | TF32 => u64::from(((any as u32 as i32 >> 12) as f32 * 0.37).to_bits()),
        BF16 => any & 0xbfff_bfff,
        F16 => any & 0xcfff_cfff,
        E4M3 | E5M2 => any & 0xbebe_bebe,
        S32 if any & 1 == 0 => any | 0x7fff_0000,
        _ => any,
    }
}

#[test]
fn every_shape_and_type_gives_what_single_elements_give() {
    let mut state = 7u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state ^ state >> 29
    };
    let mut finite = 0;
    for mma in all() {
        for trial in 0..24 {
            let types = [mma.a, mma.b, mma.c, mma.d];
            let row_major = [mma.a_row, mma.b_row, random() & 1 == 0, random() & 1 == 0];
            let mma =
                if mma.of_quads() { Mma { a_row: row_major[2], b_row: row_major[3], ..mma } } else { mma };
            let mut rows = Rows(std::array::from_fn(|i| {
                let count = mma.registers()[i];
                let wide = types[i] == F64;
                (0..count)
                    .map(|_| {
                        std::array::from_fn(|_| {
                            let bits = bits(&mut random, types[i], trial % 3 != 0);
                            if wide { bits } else { bits & 0xffff_ffff }
                        })
                    })
                    .collect()
            }));
            let expected = reference(&mma, &rows);
            finite +=
                usize::from(expected.iter().flatten().any(|bits| !matches!(bits, 0x7fff_ffff | 0x7fff_7fff)));
            for isa in [Isa::Portable, Isa::detect()] {
                rows.0[3].iter_mut().for_each(|row| *row = [0xdead; 32]);
                Tensor::new(&mma, isa).multiply(&mut rows);
                assert_eq!(rows.0[3], expected, "{mma:?} by {isa:?}");
            }
        }
    }
    assert!(finite > 1_000, "{finite} products with numbers");
}
