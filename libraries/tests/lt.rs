//! cuBLASLt's products against plain loops: operations, orders, batches, epilogues, types; and what is refused.

#![allow(clippy::macro_metavars_in_unsafe, reason = "the tests pass plain values")]

#[macro_use]
mod support;

use std::ffi::{c_int, c_void};
use std::ptr::{null, null_mut};

use half::f16;
use support::{Random, download, handle, upload};

type Handle = *mut c_void;
type Words = *mut c_void;

/// `CUBLAS_STATUS_INVALID_VALUE`
const INVALID_VALUE: c_int = 7;
/// `CUBLAS_STATUS_NOT_SUPPORTED`
const NOT_SUPPORTED: c_int = 15;

fn set<T>(name: &str, words: Words, attribute: c_int, value: &T) -> c_int {
    call!(
        name, words => Words, attribute => c_int, std::ptr::from_ref(value) => *const T, size_of::<T>() => usize
    )
}

fn layout(kind: c_int, [rows, columns]: [usize; 2], by_rows: bool, leading: usize, batch: c_int) -> Words {
    let mut words = null_mut();
    let status = call!(
        "cublasLtMatrixLayoutCreate", &raw mut words => *mut Words, kind => c_int, rows as u64 => u64,
        columns as u64 => u64, leading as i64 => i64
    );
    assert_eq!(status, 0);
    let across = if by_rows { rows } else { columns };
    let name = "cublasLtMatrixLayoutSetAttribute";
    assert_eq!(set(name, words, 1, &c_int::from(by_rows)), 0);
    assert_eq!(set(name, words, 5, &batch), 0);
    assert_eq!(set(name, words, 6, &((leading * across) as i64)), 0);
    words
}

fn operation(compute: c_int, scale: c_int, ops: [c_int; 2], epilogue: c_int, bias: u64) -> Words {
    let mut words = null_mut();
    let status = call!(
        "cublasLtMatmulDescCreate", &raw mut words => *mut Words, compute => c_int, scale => c_int
    );
    assert_eq!(status, 0);
    let name = "cublasLtMatmulDescSetAttribute";
    assert_eq!(set(name, words, 3, &ops[0]), 0);
    assert_eq!(set(name, words, 4, &ops[1]), 0);
    assert_eq!(set(name, words, 7, &epilogue), 0);
    assert_eq!(set(name, words, 8, &bias), 0);
    words
}

/// A type of values: its number, that of sums, that of factors, and how far results may be off.
struct Kind<T> {
    number: c_int,
    compute: c_int,
    of: fn(f64) -> T,
    full: fn(T) -> f64,
    allowed: f64,
}

/// A batch of matrices in a buffer with gaps.
struct Operand<T> {
    layout: Words,
    address: u64,
    values: Vec<T>,
    leading: usize,
    extent: [usize; 2],
    by_rows: bool,
}

impl<T: Copy + Default> Operand<T> {
    fn new(random: &mut Random, kind: &Kind<T>, extent: [usize; 2], batch: usize) -> Self {
        let by_rows = random.below(2) == 1;
        let (along, across) = if by_rows { (extent[1], extent[0]) } else { (extent[0], extent[1]) };
        let leading = along + random.below(3);
        let values: Vec<T> = (0..leading * across * batch).map(|_| (kind.of)(random.value())).collect();
        let layout = layout(kind.number, extent, by_rows, leading, batch as c_int);
        Operand { layout, address: upload(&values), values, leading, extent, by_rows }
    }

    fn place(&self, one: usize, row: usize, column: usize) -> usize {
        let across = if self.by_rows { self.extent[0] } else { self.extent[1] };
        let (along, over) = if self.by_rows { (column, row) } else { (row, column) };
        one * self.leading * across + over * self.leading + along
    }
}

fn shaped(epilogue: c_int, value: f64) -> f64 {
    match epilogue & !4 {
        2 => value.max(0.0),
        32 => {
            let inner = (2.0 / std::f64::consts::PI).sqrt() * (value + 0.044715 * value.powi(3));
            0.5 * value * (1.0 + inner.tanh())
        }
        _ => value,
    }
}

fn products<T: Copy + Default + PartialEq + std::fmt::Debug + 'static, S: Copy + 'static>(
    kind: &Kind<T>,
    scale: c_int,
    factor: fn(f64) -> S,
) {
    let (handle, mut random) = (handle(), Random(31));
    for round in 0..60 {
        let epilogue = [1, 2, 4, 6, 32, 36][round % 6];
        let [m, n, k, batch] =
            [1 + random.below(9), 1 + random.below(9), 1 + random.below(9), 1 + random.below(3)];
        let ops = [random.below(2) as c_int, random.below(2) as c_int];
        let shape = |op: c_int, rows, columns| if op == 0 { [rows, columns] } else { [columns, rows] };
        let a = Operand::new(&mut random, kind, shape(ops[0], m, k), batch);
        let b = Operand::new(&mut random, kind, shape(ops[1], k, n), batch);
        let [c, d] = [(); 2].map(|()| Operand::new(&mut random, kind, [m, n], batch));
        let bias: Vec<T> = (0..m).map(|_| (kind.of)(random.value())).collect();
        let operation = operation(kind.compute, scale, ops, epilogue, upload(&bias));
        let (alpha_is, beta_is) = (0.5, [0.0, 2.0][random.below(2)]);
        let (alpha, beta) = (factor(alpha_is), factor(beta_is));
        let (mut found, mut count) = ([0_u64; 12], 0);
        let status = call!(
            "cublasLtMatmulAlgoGetHeuristic", handle => Handle, operation => Words, a.layout => Words, b.layout => Words,
            c.layout => Words, d.layout => Words, null() => *const c_void, 1 => c_int, found.as_mut_ptr() => *mut u64,
            &raw mut count => *mut c_int
        );
        assert_eq!((status, count, found[8]), (0, 1, 0), "one algorithm, without a workspace");
        let status = call!(
            "cublasLtMatmul", handle => Handle, operation => Words, &raw const alpha => *const S, a.address => u64,
            a.layout => Words, b.address => u64, b.layout => Words, &raw const beta => *const S, c.address => u64,
            c.layout => Words, d.address => u64, d.layout => Words, found.as_ptr() => *const u64,
            null_mut() => *mut c_void, 0 => usize, null_mut() => *mut c_void
        );
        assert_eq!(status, 0);
        let mut expected = d.values.clone();
        let after = download::<T>(d.address, d.values.len());
        for one in 0..batch {
            for (row, column) in (0..m).flat_map(|row| (0..n).map(move |column| (row, column))) {
                let term = |step: usize| {
                    let [of_a, of_b] = [shape(ops[0], row, step), shape(ops[1], step, column)];
                    let left = a.values[a.place(one, of_a[0], of_a[1])];
                    (kind.full)(left) * (kind.full)(b.values[b.place(one, of_b[0], of_b[1])])
                };
                let mut sum = alpha_is * (0..k).map(term).sum::<f64>();
                sum += beta_is * (kind.full)(c.values[c.place(one, row, column)]);
                if epilogue & 4 != 0 {
                    sum += (kind.full)(bias[row]);
                }
                let (want, place) = (shaped(epilogue, sum), d.place(one, row, column));
                let got = (kind.full)(after[place]);
                assert!(
                    (got - want).abs() <= kind.allowed * (1.0 + want.abs()),
                    "epilogue {epilogue}: {got}, {want}"
                );
                expected[place] = after[place];
            }
        }
        assert_eq!(after, expected, "gaps are not to be touched");
        for words in [a.layout, b.layout, c.layout, d.layout] {
            assert_eq!(call!("cublasLtMatrixLayoutDestroy", words => Words), 0);
        }
        assert_eq!(call!("cublasLtMatmulDescDestroy", operation => Words), 0);
    }
}

#[test]
fn of_32_bits() {
    let kind = Kind { number: 0, compute: 68, of: |value| value as f32, full: f64::from, allowed: 3e-6 };
    products(&kind, 0, |value| value as f32);
}

#[test]
fn of_64_bits() {
    let kind = Kind { number: 1, compute: 70, of: |value| value, full: |value: f64| value, allowed: 1e-14 };
    products(&kind, 1, |value| value);
}

#[test]
fn of_16_bits() {
    let kind = Kind { number: 2, compute: 68, of: f16::from_f64, full: f16::to_f64, allowed: 1e-3 };
    products(&kind, 0, |value| value as f32);
    let kind = Kind { number: 2, compute: 64, ..kind };
    products(&kind, 2, f16::from_f64);
}

#[test]
fn what_does_not_fit_is_refused() {
    let handle = handle();
    let one = 1.0_f32;
    let product = |operation: Words, [a, b, d]: [Words; 3]| {
        call!(
            "cublasLtMatmul", handle => Handle, operation => Words, &raw const one => *const f32, 0 => u64, a => Words,
            0 => u64, b => Words, &raw const one => *const f32, 0 => u64, d => Words, 0 => u64, d => Words,
            null() => *const c_void, null_mut() => *mut c_void, 0 => usize, null_mut() => *mut c_void
        )
    };
    let square = |kind: c_int, size: usize| layout(kind, [size, size], false, size, 1);
    let plain = || operation(68, 0, [0, 0], 1, 0);
    let [four, five] = [square(0, 4), square(0, 5)];
    assert_eq!(product(plain(), [four, five, four]), INVALID_VALUE);
    assert_eq!(product(plain(), [four, four, five]), INVALID_VALUE);
    // That there are no factors of the matrices' own may be said.
    for attribute in [17, 18, 19, 20, 21, 23, 24] {
        let name = "cublasLtMatmulDescSetAttribute";
        assert_eq!(set(name, plain(), attribute, &0_u64), 0, "{attribute}");
        assert_eq!(set(name, plain(), attribute, &16_u64), NOT_SUPPORTED, "{attribute}");
    }
    assert_eq!(product(plain(), [four, four, null_mut()]), INVALID_VALUE);
    assert_eq!(product(operation(68, 1, [0, 0], 1, 0), [four; 3]), NOT_SUPPORTED, "factors of another type");
    assert_eq!(product(operation(68, 0, [0, 0], 152, 0), [four; 3]), NOT_SUPPORTED, "a gradient");
    assert_eq!(product(plain(), [square(4, 4); 3]), NOT_SUPPORTED, "complex numbers");
    assert_eq!(product(plain(), [square(1, 4); 3]), NOT_SUPPORTED, "64 bits in sums of 32");
    let columns = layout(0, [4, 4], false, 4, 1);
    assert_eq!(set("cublasLtMatrixLayoutSetAttribute", columns, 1, &2), 0);
    assert_eq!(product(plain(), [columns; 3]), NOT_SUPPORTED, "an order of tiles");
    assert_eq!(set("cublasLtMatmulDescSetAttribute", plain(), 17, &16_u64), NOT_SUPPORTED, "a scale");
    assert_eq!(set("cublasLtMatmulDescSetAttribute", plain(), 8, &0_u32), INVALID_VALUE, "half a pointer");
}
