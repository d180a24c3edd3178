//! Floating-point arithmetic of all formats in all rounding modes against `rustc_apfloat`, LLVM's software
//! floats; roots, which that lacks, by squaring in 113 bits.

use crate::alu_support::{Numbers, Row, check, edge_pairs, edges, format, row, shape};
use bugaroo_ptx::op::{Op, Precision, TestpKind};
use bugaroo_ptx::types::{Rounding, Type};
use proptest::prelude::*;
use rustc_apfloat::ieee::{BFloat, Double, Half, Quad, Single};
use rustc_apfloat::{Float, FloatConvert, Round};

const MODES: [Rounding; 4] = [Rounding::Nearest, Rounding::Zero, Rounding::Down, Rounding::Up];

fn round(rnd: Rounding) -> Round {
    match rnd {
        Rounding::Nearest => Round::NearestTiesToEven,
        Rounding::NearestAway => Round::NearestTiesToAway,
        Rounding::Zero => Round::TowardZero,
        Rounding::Down => Round::TowardNegative,
        Rounding::Up => Round::TowardPositive,
    }
}

/// The NaN that arithmetic gives.
fn canonical(ty: Type) -> u64 {
    match ty {
        Type::F64 => 0xfff8_0000_0000_0000,
        Type::F32 => 0x7fff_ffff,
        _ => 0x7fff,
    }
}

/// Flags of an instruction.
#[derive(Clone, Copy, Default)]
struct Flags {
    ftz: bool,
    sat: bool,
    relu: bool,
}

/// A format of the reference.
trait Reference: Float {
    const TYPE: Type;

    fn bits(x: u64) -> Self {
        Self::from_bits(u128::from(x))
    }

    fn flushed(self, ftz: bool) -> Self {
        let zero = if self.is_negative() { -Self::ZERO } else { Self::ZERO };
        if ftz && self.is_denormal() { zero } else { self }
    }

    /// The result's bits.
    fn finished(self, flags: Flags) -> u64 {
        let flushed = self.flushed(flags.ftz);
        let one = Self::from_u128(1).value;
        let result = if flags.sat {
            if flushed.is_nan() || flushed < Self::ZERO || flushed.is_zero() {
                Self::ZERO
            } else if flushed > one {
                one
            } else {
                flushed
            }
        } else if flags.relu && flushed.is_negative() && !flushed.is_nan() {
            Self::ZERO
        } else {
            flushed
        };
        if result.is_nan() { canonical(Self::TYPE) } else { result.to_bits() as u64 }
    }
}
impl Reference for Half {
    const TYPE: Type = Type::F16;
}
impl Reference for BFloat {
    const TYPE: Type = Type::BF16;
}
impl Reference for Single {
    const TYPE: Type = Type::F32;
}
impl Reference for Double {
    const TYPE: Type = Type::F64;
}

/// The combinations of flags that a type has.
fn flags(ty: Type) -> Vec<Flags> {
    let none = Flags::default();
    match ty {
        Type::F32 | Type::F16 => vec![
            none,
            Flags { ftz: true, ..none },
            Flags { sat: true, ..none },
            Flags { ftz: true, sat: true, ..none },
        ],
        _ => vec![none],
    }
}

/// The rounding modes that a type has.
fn modes(ty: Type) -> &'static [Rounding] {
    if matches!(ty, Type::F32 | Type::F64) { &MODES } else { &MODES[..1] }
}

/// Checks an instruction on scalars, and on packed pairs of the 16-bit types.
fn check_float(ty: Type, op: impl Fn(Type) -> Op, rows: &[Row], scalar: impl Fn(&[u64]) -> u64) {
    let types = vec![ty; rows.len()];
    check(&op(ty), &shape(ty, &types), rows, |x| (scalar(x), None));
    let packed = match ty {
        Type::F16 => Type::F16x2,
        Type::BF16 => Type::BF16x2,
        _ => return,
    };
    // The upper halves are the lower ones of other lanes.
    let pairs: Vec<Row> =
        rows.iter().map(|row| std::array::from_fn(|i| row[i] | row[(i * 7 + 3) % 32] << 16)).collect();
    let types = vec![packed; rows.len()];
    check(&op(packed), &shape(packed, &types), &pairs, |x| {
        let half = |shift: u32| {
            let lane: Vec<u64> = x.iter().map(|pair| pair >> shift & 0xffff).collect();
            scalar(&lane)
        };
        (half(0) | half(16) << 16, None)
    });
}

fn sums_and_products<F: Reference>(a: Row, b: Row, c: Row) {
    let ty = F::TYPE;
    let both = [a, b];
    let all = [a, b, c];
    for rnd in modes(ty).iter().copied() {
        let r = round(rnd);
        for flags in flags(ty) {
            let Flags { ftz, sat, .. } = flags;
            let at = |x: &[u64], i: usize| F::bits(x[i]).flushed(ftz);
            let add = |ty| Op::Add { ty, rnd, ftz, sat, carry_in: false, carry_out: false };
            check_float(ty, add, &both, |x| at(x, 0).add_r(at(x, 1), r).value.finished(flags));
            let sub = |ty| Op::Sub { ty, rnd, ftz, sat, carry_in: false, carry_out: false };
            check_float(ty, sub, &both, |x| at(x, 0).sub_r(at(x, 1), r).value.finished(flags));
            let mul = |ty| Op::Mul { ty, part: None, rnd, ftz, sat };
            check_float(ty, mul, &both, |x| at(x, 0).mul_r(at(x, 1), r).value.finished(flags));
            let fma = |ty| Op::Fma { ty, rnd, ftz, sat, relu: false };
            check_float(ty, fma, &all, |x| at(x, 0).mul_add_r(at(x, 1), at(x, 2), r).value.finished(flags));
        }
    }
    if matches!(ty, Type::F16 | Type::BF16) {
        let flags = Flags { relu: true, ..Flags::default() };
        let fma = |ty| Op::Fma { ty, rnd: Rounding::Nearest, ftz: false, sat: false, relu: true };
        check_float(ty, fma, &all, |x| {
            F::bits(x[0]).mul_add(F::bits(x[1]), F::bits(x[2])).value.finished(flags)
        });
    }
}

fn quotients<F: Reference>(a: Row, b: Row) {
    let ty = F::TYPE;
    for rnd in MODES {
        for ftz in [false, true] {
            if ftz && ty == Type::F64 {
                continue;
            }
            let flags = Flags { ftz, ..Flags::default() };
            let at = |x: &[u64], i: usize| F::bits(x[i]).flushed(ftz);
            let precision = Precision::Rounded(rnd);
            let div = |ty| Op::Div { ty, precision, ftz };
            check_float(ty, div, &[a, b], |x| at(x, 0).div_r(at(x, 1), round(rnd)).value.finished(flags));
            let rcp = |ty| Op::Rcp { ty, precision, ftz };
            let one = F::from_u128(1).value;
            check_float(ty, rcp, &[a], |x| one.div_r(at(x, 0), round(rnd)).value.finished(flags));
        }
    }
}

/// Whether a finite positive `root` is the square root of `x` rounded. Squares of numbers with at most 54 bits
/// are exact in 113, and so are the midpoints between neighbours.
fn is_root<F: Reference + FloatConvert<Quad>>(root: F, x: F, rnd: Rounding) -> bool {
    let quad = |x: F| -> Quad { x.convert(&mut false).value };
    let half = Quad::from_u128(1).value.scalbn(-1);
    let square = |x: Quad| (x * x).value;
    let (below, above) = (quad(root.next_down().value), quad(root.next_up().value));
    let (root, x) = (quad(root), quad(x));
    let middle = |y: Quad| ((root + y).value * half).value;
    match rnd {
        // A root is never a midpoint.
        Rounding::Nearest => square(middle(below)) < x && x < square(middle(above)),
        Rounding::Up => square(below) < x && x <= square(root),
        _ => square(root) <= x && x < square(above),
    }
}

fn roots<F: Reference + FloatConvert<Quad>>(a: Row) {
    let ty = F::TYPE;
    for rnd in MODES {
        for ftz in [false, true] {
            if ftz && ty == Type::F64 {
                continue;
            }
            let op = Op::Sqrt { ty, precision: Precision::Rounded(rnd), ftz };
            // The reference says of a candidate whether it is right: look for it around the host's root.
            check(&op, &shape(ty, &[ty]), &[a], |x| {
                let x = F::bits(x[0]).flushed(ftz);
                if x.is_zero() || x.is_nan() || (x.is_infinite() && !x.is_negative()) {
                    return (x.finished(Flags::default()), None);
                }
                if x.is_negative() {
                    return (canonical(ty), None);
                }
                let wide: Double =
                    FloatConvert::<Quad>::convert(x, &mut false).value.convert(&mut false).value;
                let guess = f64::from_bits(wide.to_bits() as u64).sqrt();
                let guess =
                    if ty == Type::F64 { guess.to_bits() } else { u64::from((guess as f32).to_bits()) };
                let mut right = (guess - 2..=guess + 2).filter(|bits| is_root(F::bits(*bits), x, rnd));
                let root = right.next().expect("one of them is the root");
                assert_eq!(right.next(), None, "the root is one number");
                (root, None)
            });
        }
    }
}

fn signs_and_extremes<F: Reference>(a: Row, b: Row) {
    let ty = F::TYPE;
    let (exponent, fraction) = format(ty).expect("a float");
    let sign = 1u64 << (exponent + fraction);
    for ftz in [false, true] {
        if ftz && matches!(ty, Type::F64 | Type::BF16) {
            continue;
        }
        let flushed = |x: u64| F::bits(x).flushed(ftz).to_bits() as u64;
        // A flush keeps NaNs as they are, payload and all.
        let flushed = |x: u64| if F::bits(x).is_nan() { x } else { flushed(x) };
        check_float(ty, |ty| Op::Abs { ty, ftz }, &[a], |x| flushed(x[0]) & !sign);
        check_float(ty, |ty| Op::Neg { ty, ftz }, &[a], |x| flushed(x[0]) ^ sign);
        for nan in [false, true] {
            // The order of the ISA, -0 before +0, is that of sign and magnitude as one number.
            let key = |x: u64| if x & sign == 0 { x as i64 as i128 } else { -i128::from(x & !sign) - 1 };
            let extreme = |x: &[u64], greatest: bool| {
                let (p, q) = (flushed(x[0]), flushed(x[1]));
                match (F::bits(p).is_nan(), F::bits(q).is_nan()) {
                    (true, true) => canonical(ty),
                    (true, false) if nan => canonical(ty),
                    (false, true) if nan => canonical(ty),
                    (true, false) => q,
                    (false, true) => p,
                    (false, false) => {
                        if (key(p) < key(q)) != greatest {
                            p
                        } else {
                            q
                        }
                    }
                }
            };
            check_float(ty, |ty| Op::Min { ty, ftz, nan }, &[a, b], |x| extreme(x, false));
            check_float(ty, |ty| Op::Max { ty, ftz, nan }, &[a, b], |x| extreme(x, true));
        }
    }
    if matches!(ty, Type::F32 | Type::F64) {
        check_float(ty, |ty| Op::Copysign { ty }, &[a, b], |x| x[0] & sign | x[1] & !sign);
        let test = |kind, of: fn(F) -> bool| {
            check(&Op::Testp { ty, kind }, &shape(Type::Pred, &[ty]), &[a], |x| {
                (u64::from(of(F::bits(x[0]))), None)
            });
        };
        test(TestpKind::Finite, |x| x.is_finite());
        test(TestpKind::Infinite, |x| x.is_infinite());
        test(TestpKind::Number, |x| !x.is_nan());
        test(TestpKind::NotANumber, |x| x.is_nan());
        test(TestpKind::Normal, |x| x.is_normal() || x.is_zero());
        test(TestpKind::Subnormal, |x| x.is_denormal());
    }
}

fn everything<F: Reference>(numbers: &mut Numbers) {
    let [a, b, c] = [(); 3].map(|()| row(numbers, F::TYPE));
    sums_and_products::<F>(a, b, c);
    signs_and_extremes::<F>(a, b);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn arithmetic_is_correctly_rounded(seed: u64) {
        let mut numbers = Numbers(seed);
        everything::<Half>(&mut numbers);
        everything::<BFloat>(&mut numbers);
        everything::<Single>(&mut numbers);
        everything::<Double>(&mut numbers);
    }

    #[test]
    fn quotients_and_roots_are_correctly_rounded(seed: u64) {
        let mut numbers = Numbers(seed);
        let (a, b) = (row(&mut numbers, Type::F32), row(&mut numbers, Type::F32));
        quotients::<Single>(a, b);
        roots::<Single>(a);
        let (a, b) = (row(&mut numbers, Type::F64), row(&mut numbers, Type::F64));
        quotients::<Double>(a, b);
        roots::<Double>(a);
    }

    /// `a x b + c` where c is close to the product's opposite, so that nearly everything cancels.
    #[test]
    fn fused_sums_that_cancel(seed: u64) {
        let mut numbers = Numbers(seed);
        let (a, b) = (row(&mut numbers, Type::F32), row(&mut numbers, Type::F32));
        let c = std::array::from_fn(|i| {
            let product = -(f32::from_bits(a[i] as u32) * f32::from_bits(b[i] as u32));
            u64::from(product.to_bits().wrapping_add(numbers.below(3) as u32).wrapping_sub(1))
        });
        sums_and_products::<Single>(a, b, c);
        let (a, b) = (row(&mut numbers, Type::F64), row(&mut numbers, Type::F64));
        let c = std::array::from_fn(|i| {
            let product = -(f64::from_bits(a[i]) * f64::from_bits(b[i]));
            product.to_bits().wrapping_add(numbers.below(3)).wrapping_sub(1)
        });
        sums_and_products::<Double>(a, b, c);
    }
}

fn edges_of<F: Reference>(seed: u64) {
    let mut numbers = Numbers(seed);
    for [a, b] in edge_pairs(F::TYPE, F::TYPE) {
        let c = row(&mut numbers, F::TYPE);
        sums_and_products::<F>(a, b, c);
        sums_and_products::<F>(a, c, b);
        signs_and_extremes::<F>(a, b);
    }
}

#[test]
fn edges_meet_edges_of_16_bits() {
    edges_of::<Half>(1);
    edges_of::<BFloat>(2);
}

#[test]
fn edges_meet_edges_of_32_bits() {
    edges_of::<Single>(3);
    for [a, b] in edge_pairs(Type::F32, Type::F32) {
        quotients::<Single>(a, b);
    }
}

#[test]
fn edges_meet_edges_of_64_bits() {
    edges_of::<Double>(4);
    for [a, b] in edge_pairs(Type::F64, Type::F64) {
        quotients::<Double>(a, b);
    }
}

#[test]
fn roots_of_edges() {
    for chunk in edges(Type::F32).chunks(32) {
        roots::<Single>(std::array::from_fn(|i| chunk[i % chunk.len()]));
    }
    for chunk in edges(Type::F64).chunks(32) {
        roots::<Double>(std::array::from_fn(|i| chunk[i % chunk.len()]));
    }
}
