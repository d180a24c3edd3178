//! The approximations against f64 arithmetic: the ISA's bounds over dense samples, its tables of special
//! values, `.ftz`, and the same bits from every instantiation.

use crate::alu_support::{Call, Numbers, Row, edges, execute, isas, row, shape};
use bugaroo_ptx::op::{Op, Precision};
use bugaroo_ptx::types::Type;
use bugaroo_simulator::alu::select;
use proptest::prelude::*;

const NAN: u64 = 0x7fff_ffff;
const INF: f32 = f32::INFINITY;

/// The result of every lane, which all instantiations agree on.
fn run(op: &Op, ty: Type, sources: &[Row]) -> Row {
    let shape = shape(ty, &vec![ty; sources.len()]);
    let old = [0; 32];
    let mut results = isas().into_iter().map(|isa| {
        let function = select(op, &shape, isa).unwrap_or_else(|| panic!("no row function for {op:?}"));
        execute(function, &shape, sources, (&old, &old), Call { isa, mask: !0, alias: None, constant: None })
            .0
    });
    let first = results.next().expect("the portable one always runs");
    for other in results {
        assert_eq!(first, other, "{op:?} of {sources:x?}");
    }
    first
}

fn single(bits: u64) -> f64 {
    f64::from(f32::from_bits(bits as u32))
}

fn bits(x: f32) -> u64 {
    u64::from(x.to_bits())
}

/// One operand.
fn run_on(op: &Op, inputs: &[f32]) -> Vec<u64> {
    let chunks = inputs.chunks(32).flat_map(|chunk| {
        let row = std::array::from_fn(|i| bits(chunk[i % chunk.len()]));
        run(op, Type::F32, &[row])[..chunk.len()].to_vec()
    });
    chunks.collect()
}

/// Distance between two f32s at `exact`, which is not zero.
fn ulp(exact: f64) -> f64 {
    let exponent = exact.abs().log2().floor().max(-126.0);
    2f64.powi(exponent as i32 - 23)
}

/// Positive f32s, evenly by exponent, a prime number of steps apart, subnormals too.
fn positive() -> Vec<f32> {
    (1..0x7f80_0000u32).step_by(20_011).map(f32::from_bits).collect()
}

/// Numbers evenly in a range.
fn between(low: f32, high: f32) -> Vec<f32> {
    (0..=200_000).map(|i| low + (high - low) * (i as f32 / 200_000.0)).collect()
}

fn both_signs(mut values: Vec<f32>) -> Vec<f32> {
    let negative: Vec<f32> = values.iter().map(|x| -x).collect();
    values.extend(negative);
    values
}

/// Asserts a bound on the error of every sample.
fn bound(op: &Op, inputs: &[f32], exact: impl Fn(f64) -> f64, limit: impl Fn(f64) -> f64) {
    for (x, got) in inputs.iter().zip(run_on(op, inputs)) {
        let want = exact(f64::from(*x));
        let error = (single(got) - want).abs();
        assert!(error <= limit(want), "{op:?} of {x:e}: got {:e}, want {want:e}", single(got));
    }
}

/// Asserts a table of special values.
fn table(op: &Op, rows: &[(f32, f32)]) {
    let inputs: Vec<f32> = rows.iter().map(|row| row.0).collect();
    for ((x, want), got) in rows.iter().zip(run_on(op, &inputs)) {
        let want = if want.is_nan() { NAN } else { bits(*want) };
        assert_eq!(got, want, "{op:?} of {x:e}");
    }
}

fn rcp(ftz: bool) -> Op {
    Op::Rcp { ty: Type::F32, precision: Precision::Approx, ftz }
}

fn sqrt(ftz: bool) -> Op {
    Op::Sqrt { ty: Type::F32, precision: Precision::Approx, ftz }
}

fn rsqrt(ftz: bool) -> Op {
    Op::Rsqrt { ty: Type::F32, ftz }
}

fn ex2(ftz: bool) -> Op {
    Op::Ex2 { ty: Type::F32, ftz }
}

const TANH: Op = Op::Tanh { ty: Type::F32 };
const SUBNORMAL: f32 = 1e-40;

#[test]
fn reciprocals_and_roots_stay_within_bounds() {
    let normal: Vec<f32> = positive().into_iter().filter(|x| (1.0 / x).is_finite()).collect();
    bound(&rcp(false), &both_signs(normal), |x| 1.0 / x, ulp);
    bound(&sqrt(false), &positive(), f64::sqrt, |want| want * 2f64.powi(-23));
    bound(&rsqrt(false), &positive(), |x| 1.0 / x.sqrt(), |want| want * 2f64.powf(-22.9));
}

#[test]
fn sines_stay_within_bounds() {
    use std::f32::consts::PI;
    let near = both_signs(between(0.0, 2.0 * PI));
    let far = both_signs(between(2.0 * PI, 100.0 * PI));
    for (op, exact) in
        [(Op::Sin { ftz: false }, f64::sin as fn(f64) -> f64), (Op::Cos { ftz: false }, f64::cos)]
    {
        bound(&op, &near, exact, |_| 2f64.powf(-20.5));
        bound(&op, &far, exact, |_| 2f64.powf(-14.7));
        // What the module promises beyond the ISA.
        bound(&op, &both_signs(between(300.0, 1.0e9)), exact, |_| 2f64.powi(-20));
        bound(&op, &both_signs(positive()), |_| 0.0, |_| 1.0);
    }
    // Small angles keep their relative error, down to subnormals.
    let small: Vec<f32> = positive().into_iter().filter(|x| *x < 0.5).collect();
    bound(&Op::Sin { ftz: false }, &both_signs(small), f64::sin, ulp);
}

#[test]
fn logarithms_and_powers_stay_within_bounds() {
    let lg2 = Op::Lg2 { ftz: false };
    bound(&lg2, &between(0.5, 2.0), f64::log2, |_| 2f64.powi(-22));
    bound(&lg2, &positive(), f64::log2, |want| {
        if want.abs() < 1.0 { 2f64.powi(-22) } else { want.abs() * 2f64.powi(-22) }
    });
    bound(&ex2(false), &between(-150.0, 127.99), f64::exp2, |want| 2.0 * ulp(want));
    let tiny: Vec<f32> = positive().into_iter().filter(|x| *x < 0.1).collect();
    bound(&ex2(false), &both_signs(tiny), f64::exp2, |want| 2.0 * ulp(want));
    bound(&TANH, &both_signs(positive()), f64::tanh, |want| want.abs() * 2f64.powi(-11));
    bound(&TANH, &both_signs(between(0.0, 10.0)), f64::tanh, |want| want.abs() * 2f64.powi(-11));
}

#[test]
fn special_values_are_the_tables() {
    let nan = f32::NAN;
    table(
        &rcp(false),
        &[(-INF, -0.0), (-0.0, -INF), (0.0, INF), (INF, 0.0), (nan, nan), (SUBNORMAL / 16.0, INF)],
    );
    table(
        &sqrt(false),
        &[(-INF, nan), (-1.0, nan), (-0.0, -0.0), (0.0, 0.0), (INF, INF), (nan, nan), (4.0, 2.0)],
    );
    table(
        &rsqrt(false),
        &[(-INF, nan), (-1.0, nan), (-0.0, -INF), (0.0, INF), (INF, 0.0), (nan, nan), (4.0, 0.5)],
    );
    table(&rsqrt(false), &[(-SUBNORMAL, nan)]);
    let sin = Op::Sin { ftz: false };
    table(&sin, &[(-INF, nan), (-0.0, -0.0), (0.0, 0.0), (INF, nan), (nan, nan), (SUBNORMAL, SUBNORMAL)]);
    let cos = Op::Cos { ftz: false };
    table(&cos, &[(-INF, nan), (-0.0, 1.0), (0.0, 1.0), (INF, nan), (nan, nan), (SUBNORMAL, 1.0)]);
    let lg2 = Op::Lg2 { ftz: false };
    table(
        &lg2,
        &[(-INF, nan), (-1.0, nan), (-SUBNORMAL, nan), (-0.0, -INF), (0.0, -INF), (INF, INF), (nan, nan)],
    );
    table(&lg2, &[(1.0, 0.0), (8.0, 3.0), (2f32.powi(-140), -140.0)]);
    table(
        &ex2(false),
        &[(-INF, 0.0), (-0.0, 1.0), (0.0, 1.0), (INF, INF), (nan, nan), (3.0, 8.0), (128.0, INF)],
    );
    table(&ex2(false), &[(SUBNORMAL, 1.0), (-140.0, 2f32.powi(-140)), (-151.0, 0.0)]);
    table(&TANH, &[(-INF, -1.0), (-0.0, -0.0), (0.0, 0.0), (INF, 1.0), (nan, nan), (-SUBNORMAL, -SUBNORMAL)]);
}

#[test]
fn ftz_flushes_operands_and_results() {
    table(&rcp(true), &[(SUBNORMAL, INF), (-SUBNORMAL, -INF), (2f32.powi(127), 0.0), (-3e38, -0.0)]);
    table(&sqrt(true), &[(SUBNORMAL, 0.0), (-SUBNORMAL, -0.0)]);
    table(&rsqrt(true), &[(SUBNORMAL, INF), (-SUBNORMAL, -INF)]);
    table(&Op::Sin { ftz: true }, &[(SUBNORMAL, 0.0), (-SUBNORMAL, -0.0)]);
    table(&Op::Cos { ftz: true }, &[(SUBNORMAL, 1.0)]);
    table(&Op::Lg2 { ftz: true }, &[(SUBNORMAL, -INF), (-SUBNORMAL, -INF)]);
    table(&ex2(true), &[(-140.0, 0.0), (SUBNORMAL, 1.0)]);
}

/// Two operands, of which the quotient is bounded.
fn quotients(precision: Precision, ftz: bool, a: Row, b: Row) {
    let op = Op::Div { ty: Type::F32, precision, ftz };
    let results = run(&op, Type::F32, &[a, b]);
    for i in 0..32 {
        let (x, y) = (single(a[i]), single(b[i]));
        let full = precision == Precision::Full;
        let tiny = |x: f64| x.abs() < f64::from(f32::MIN_POSITIVE);
        let got = single(results[i]);
        if !full && y.abs() > 2f64.powi(126) && y.is_finite() {
            let want =
                if x.is_infinite() || x.is_nan() { f64::NAN } else { 0f64.copysign(x) * 1f64.copysign(y) };
            assert!(
                got.is_nan() == want.is_nan() && (got.is_nan() || got.to_bits() == want.to_bits()),
                "{x:e}/{y:e}"
            );
            continue;
        }
        if ftz && (tiny(x) || tiny(y)) {
            continue;
        }
        let want = x / y;
        if want.is_nan() || want.abs() >= f64::from(f32::MAX) {
            assert!(
                got.is_nan() == want.is_nan() && (got.is_nan() || got == f64::from(want as f32)),
                "{x:e}/{y:e}"
            );
        } else if ftz && tiny(got) {
            assert!(got == 0.0 && want.abs() <= f64::from(f32::MIN_POSITIVE), "{x:e}/{y:e}");
        } else {
            assert!((got - want).abs() <= 2.0 * ulp(want) || got == want, "{x:e}/{y:e}: {got:e}");
        }
    }
}

/// The upper halves of f64s, and functions of them.
fn gross(op: &Op, exact: impl Fn(f64) -> f64, a: Row) {
    let results = run(op, Type::F64, &[a]);
    for i in 0..32 {
        let x = f64::from_bits(a[i] & 0xffff_ffff_0000_0000);
        let x = if x.is_subnormal() { 0f64.copysign(x) } else { x };
        let (got, want) = (f64::from_bits(results[i]), exact(x));
        assert_eq!(results[i] as u32, 0, "the lower half is zero");
        if want.is_nan() {
            assert_eq!(results[i], 0x7fff_ffff_0000_0000);
        } else if want.is_infinite() || want == 0.0 {
            assert_eq!(got.to_bits(), want.to_bits(), "{op:?} of {x:e}");
        } else if want.abs() < f64::MIN_POSITIVE * (1.0 - 2f64.powi(-20)) {
            assert_eq!(got.to_bits(), 0f64.copysign(want).to_bits(), "{op:?} of {x:e} is flushed");
        } else if want.abs() < f64::MIN_POSITIVE && got == 0.0 {
            // The error that is allowed reaches over the bound, so that both are right.
            assert_eq!(got.is_sign_negative(), want.is_sign_negative(), "{op:?} of {x:e}");
        } else {
            assert!((got - want).abs() <= want.abs() * 2f64.powi(-20), "{op:?} of {x:e}");
        }
    }
}

/// A 16-bit float's value.
fn half(ty: Type, bits: u64) -> f64 {
    if ty == Type::BF16 {
        return single(bits << 16);
    }
    let magnitude = bits & 0x7fff;
    let (exponent, fraction) = ((magnitude >> 10) as i32, (magnitude & 0x3ff) as f64);
    let value = match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
    };
    if bits & 0x8000 != 0 { -value } else { value }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn divisions_stay_within_bounds(seed: u64) {
        let mut numbers = Numbers(seed);
        let (a, b) = (row(&mut numbers, Type::F32), row(&mut numbers, Type::F32));
        for precision in [Precision::Approx, Precision::Full] {
            quotients(precision, false, a, b);
            quotients(precision, true, a, b);
        }
    }

    #[test]
    fn functions_of_upper_halves(seed: u64) {
        let mut numbers = Numbers(seed);
        let a = row(&mut numbers, Type::F64);
        gross(&Op::Rcp { ty: Type::F64, precision: Precision::Approx, ftz: true }, |x| 1.0 / x, a);
        gross(&Op::Rsqrt { ty: Type::F64, ftz: true }, |x| 1.0 / x.sqrt(), a);
    }

    #[test]
    fn roots_of_doubles(seed: u64) {
        let mut numbers = Numbers(seed);
        let a = row(&mut numbers, Type::F64);
        let results = run(&Op::Rsqrt { ty: Type::F64, ftz: false }, Type::F64, &[a]);
        for i in 0..32 {
            let (x, got) = (f64::from_bits(a[i]), f64::from_bits(results[i]));
            // The root's error is half a unit, and so is the quotient's.
            let right = got * got * x;
            if x.is_finite() && x > 0.0 {
                prop_assert!((right - 1.0).abs() < 1e-15 || x.is_subnormal(), "{x:e}: {got:e}");
            } else if x == 0.0 {
                prop_assert_eq!(got, 1.0 / x);
            } else if x == f64::INFINITY {
                prop_assert_eq!(results[i], 0);
            } else {
                prop_assert_eq!(results[i], 0xfff8_0000_0000_0000);
            }
        }
    }

    #[test]
    fn instantiations_agree_on_anything(seed: u64) {
        let mut numbers = Numbers(seed);
        let a = row(&mut numbers, Type::F32);
        for ftz in [false, true] {
            for op in [rcp(ftz), sqrt(ftz), rsqrt(ftz), ex2(ftz), Op::Sin { ftz }, Op::Cos { ftz }, Op::Lg2 { ftz }] {
                run(&op, Type::F32, &[a]);
            }
        }
        run(&TANH, Type::F32, &[a]);
    }
}

/// Every 16-bit operand.
#[test]
fn sixteen_bit_functions_stay_within_bounds() {
    for base in 0..0x10000u64 / 32 {
        let a: Row = std::array::from_fn(|i| base * 32 + i as u64);
        let cases = [
            (Op::Ex2 { ty: Type::F16, ftz: false }, Type::F16, true, 2f64.powf(-9.9)),
            (Op::Ex2 { ty: Type::BF16, ftz: true }, Type::BF16, true, 2f64.powi(-7)),
            (Op::Tanh { ty: Type::F16 }, Type::F16, false, 2f64.powf(-10.987)),
            (Op::Tanh { ty: Type::BF16 }, Type::BF16, false, 2f64.powi(-8)),
        ];
        for (op, ty, relative, limit) in cases {
            let results = run(&op, ty, &[a]);
            for i in 0..32 {
                let (x, got) = (half(ty, a[i]), half(ty, results[i]));
                let want = if relative { x.exp2() } else { x.tanh() };
                let greatest = if ty == Type::F16 { 65504.0 } else { 3.389e38 };
                let least = if ty == Type::F16 { 2f64.powi(-14) } else { 2f64.powi(-126) };
                if x.is_nan() {
                    assert_eq!(results[i], 0x7fff);
                } else if want > greatest {
                    assert!(got == f64::INFINITY || want < greatest * 1.01, "{op:?} of {x}");
                } else if relative && want < least {
                    // The ISA's relative bound cannot hold where the result is subnormal, or flushed.
                    assert!(got <= least, "{op:?} of {x}");
                } else {
                    let error = if relative { (got - want).abs() / want } else { (got - want).abs() };
                    assert!(error <= limit, "{op:?} of {x}: {got}, want {want}");
                }
            }
        }
        // Packed pairs are two of them.
        let pairs: Row = a.map(|x| x | (0xffff - x) << 16);
        let upper: Row = a.map(|x| 0xffff - x);
        for (packed, scalar) in [
            (Op::Ex2 { ty: Type::F16x2, ftz: false }, Op::Ex2 { ty: Type::F16, ftz: false }),
            (Op::Tanh { ty: Type::F16x2 }, Op::Tanh { ty: Type::F16 }),
        ] {
            let (low, high) = (run(&scalar, Type::F16, &[a]), run(&scalar, Type::F16, &[upper]));
            let both = run(&packed, Type::F16x2, &[pairs]);
            assert_eq!(both, std::array::from_fn(|i| low[i] | high[i] << 16));
        }
    }
}

#[test]
fn edges_divide_edges() {
    let all = edges(Type::F32);
    for x in &all {
        for chunk in all.chunks(32) {
            let b = std::array::from_fn(|i| chunk[i % chunk.len()]);
            quotients(Precision::Approx, false, [*x; 32], b);
            quotients(Precision::Approx, true, [*x; 32], b);
            quotients(Precision::Full, false, [*x; 32], b);
        }
    }
}
