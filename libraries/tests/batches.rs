//! Batches, products of mixed types, copies, and what is refused.

#![allow(clippy::macro_metavars_in_unsafe, reason = "the tests pass plain values")]

#[macro_use]
mod support;

use std::ffi::{c_int, c_void};
use std::ptr::null;

use half::{bf16, f16};
use num_complex::Complex;
use support::{C, Full, Number, Random, download, handle, upload};

type Handle = *mut c_void;

/// `CUBLAS_STATUS_INVALID_VALUE`
const INVALID_VALUE: c_int = 7;
/// `CUBLAS_STATUS_NOT_SUPPORTED`
const NOT_SUPPORTED: c_int = 15;

const SHAPE: [usize; 3] = [5, 4, 7];

/// Factors and results of a batch of three, without gaps.
struct Three<T> {
    values: [Vec<T>; 3],
    addresses: [u64; 3],
}

impl<T: Number> Three<T> {
    fn new(random: &mut Random) -> Self {
        let [m, n, k] = SHAPE;
        let values = [3 * m * k, 3 * k * n, 3 * m * n].map(|count| random.values(count));
        let addresses = [upload(&values[0]), upload(&values[1]), upload(&values[2])];
        Three { values, addresses }
    }

    /// Asks that each result is `alpha` times the product plus `beta` times what was there.
    fn is(&self, what: &str, alpha: T, beta: T) {
        let [m, n, k] = SHAPE;
        let after = download::<T>(self.addresses[2], self.values[2].len());
        for one in 0..3 {
            let a = Full::read(&self.values[0][one * m * k..], m, k, m);
            let b = Full::read(&self.values[1][one * k * n..], k, n, k);
            let c = Full::read(&self.values[2][one * m * n..], m, n, m);
            let want = a.times(&b).plus(alpha.full(), &c, beta.full());
            let got = Full::read(&after[one * m * n..], m, n, m);
            for (row, column) in (0..m).flat_map(|row| (0..n).map(move |column| (row, column))) {
                let far = (got.at(row, column) - want.at(row, column)).norm();
                assert!(far <= T::EPSILON * 20.0, "{what}: product {one} at {row}, {column} is off by {far}");
            }
        }
    }

    /// An array of the addresses of an operand.
    fn array(&self, operand: usize) -> u64 {
        let each = self.values[operand].len() / 3 * size_of::<T>();
        upload(&[0, 1, 2].map(|one| self.addresses[operand] + one * each as u64))
    }
}

fn batches<T: Number>(handle: Handle, random: &mut Random) {
    let [m, n, k] = SHAPE.map(|size| size as c_int);
    let scalars: Vec<T> = random.values(2);
    let (alpha, beta) = (scalars[0], scalars[1]);
    let three = Three::<T>::new(random);
    let name = format!("cublas{}gemmBatched", T::LETTER);
    let status = call!(
        &name, handle => Handle, 0 => c_int, 0 => c_int, m => c_int, n => c_int, k => c_int, &raw const alpha => *const T,
        three.array(0) => u64, m => c_int, three.array(1) => u64, k => c_int, &raw const beta => *const T,
        three.array(2) => u64, m => c_int, 3 => c_int
    );
    assert_eq!(status, 0);
    three.is(&name, alpha, beta);
    let three = Three::<T>::new(random);
    let name = format!("cublas{}gemmStridedBatched", T::LETTER);
    let [a, b, c] = three.addresses;
    let status = call!(
        &name, handle => Handle, 0 => c_int, 0 => c_int, m => c_int, n => c_int, k => c_int, &raw const alpha => *const T,
        a => u64, m => c_int, i64::from(m * k) => i64, b => u64, k => c_int, i64::from(k * n) => i64,
        &raw const beta => *const T, c => u64, m => c_int, i64::from(m * n) => i64, 3 => c_int
    );
    assert_eq!(status, 0);
    three.is(&name, alpha, beta);
    // The same with counts of 64 bits.
    let three = Three::<T>::new(random);
    let [a, b, c] = three.addresses;
    let [wide_m, wide_n, wide_k] = [m, n, k].map(i64::from);
    let status = call!(
        &format!("{name}_64"), handle => Handle, 0 => c_int, 0 => c_int, wide_m => i64, wide_n => i64, wide_k => i64,
        &raw const alpha => *const T, a => u64, wide_m => i64, wide_m * wide_k => i64, b => u64, wide_k => i64,
        wide_k * wide_n => i64, &raw const beta => *const T, c => u64, wide_m => i64, wide_m * wide_n => i64, 3 => i64
    );
    assert_eq!(status, 0);
    three.is(&name, alpha, beta);
}

#[test]
fn batches_of_all_types() {
    let (handle, mut random) = (handle(), Random(3));
    batches::<f32>(handle, &mut random);
    batches::<f64>(handle, &mut random);
    batches::<Complex<f32>>(handle, &mut random);
    batches::<C>(handle, &mut random);
}

/// One product by `cublasGemmEx`, of columns of values that any of the types holds.
#[allow(clippy::too_many_arguments, reason = "as many as the function's own")]
fn mixed<A: Copy + 'static, R: Copy + Default + 'static, S>(
    handle: Handle,
    from: impl Fn(i32) -> A,
    to: impl Fn(R) -> f64,
    [a_type, c_type, compute]: [c_int; 3],
    (alpha, beta): (S, S),
    (alpha_is, beta_is): (f64, f64),
    start: impl Fn(i32) -> R,
) {
    let [m, n, k] = SHAPE;
    let number = |index: usize| (index * 5 % 13) as i32 - 6;
    let a: Vec<A> = (0..m * k).map(|index| from(number(index))).collect();
    let b: Vec<A> = (0..k * n).map(|index| from(number(index + 4))).collect();
    let c: Vec<R> = (0..m * n).map(|index| start(number(index + 9))).collect();
    let (a, b, result) = (upload(&a), upload(&b), upload(&c));
    let [wide, high, deep] = [n, m, k].map(|size| size as c_int);
    let status = call!(
        "cublasGemmEx", handle => Handle, 0 => c_int, 0 => c_int, high => c_int, wide => c_int, deep => c_int,
        &raw const alpha => *const S, a => u64, a_type => c_int, high => c_int, b => u64, a_type => c_int, deep => c_int,
        &raw const beta => *const S, result => u64, c_type => c_int, high => c_int, compute => c_int, -1 => c_int
    );
    assert_eq!(status, 0, "{a_type} into {c_type} by {compute}");
    let after = download::<R>(result, m * n);
    for (index, after) in after.into_iter().enumerate() {
        let (row, column) = (index % m, index / m);
        let term = |step: usize| f64::from(number(step * m + row) * number(column * k + step + 4));
        let sum: f64 = (0..k).map(term).sum();
        let want = alpha_is * sum + beta_is * f64::from(number(index + 9));
        assert_eq!(to(after), want, "{a_type} into {c_type} by {compute} at {row}, {column}");
    }
}

#[test]
fn products_of_mixed_types() {
    let handle = handle();
    // All of these numbers are exact in all of the types.
    let halves = |value: i32| f16::from_f32(value as f32);
    let brain = |value: i32| bf16::from_f32(value as f32);
    let ones = (1.0_f32, 2.0_f32);
    mixed(handle, halves, |r: f16| r.to_f64(), [2, 2, 68], ones, (1.0, 2.0), halves);
    mixed(handle, halves, f64::from, [2, 0, 68], ones, (1.0, 2.0), |value| value as f32);
    mixed(handle, halves, |r: f16| r.to_f64(), [2, 2, 64], (halves(1), halves(2)), (1.0, 2.0), halves);
    mixed(handle, brain, |r: bf16| r.to_f64(), [14, 14, 68], (0.25_f32, 0.0), (0.25, 0.0), brain_of_nothing);
    mixed(handle, brain, f64::from, [14, 0, 75], ones, (1.0, 2.0), |value| value as f32);
    mixed(handle, |value| value as f32, f64::from, [0, 0, 77], ones, (1.0, 2.0), |value| value as f32);
    mixed(handle, f64::from, |r: f64| r, [1, 1, 70], (1.0_f64, 2.0), (1.0, 2.0), f64::from);
    mixed(handle, |value| value as i8, f64::from, [3, 10, 72], (1_i32, 2), (1.0, 2.0), |value| value);
    mixed(handle, |value| value as i8, f64::from, [3, 0, 68], ones, (1.0, 2.0), |value| value as f32);
}

/// What must not be looked at where the factor is 0.
fn brain_of_nothing(_: i32) -> bf16 {
    bf16::NAN
}

#[test]
fn types_that_do_not_go_together_are_refused() {
    let handle = handle();
    let one = 1.0_f32;
    let refused = |a_type: c_int, c_type: c_int, compute: c_int| {
        call!(
            "cublasGemmEx", handle => Handle, 0 => c_int, 0 => c_int, 1 => c_int, 1 => c_int, 1 => c_int,
            &raw const one => *const f32, 0 => u64, a_type => c_int, 1 => c_int, 0 => u64, a_type => c_int, 1 => c_int,
            &raw const one => *const f32, 0 => u64, c_type => c_int, 1 => c_int, compute => c_int, -1 => c_int
        )
    };
    assert_eq!(refused(1, 0, 68), NOT_SUPPORTED);
    assert_eq!(refused(0, 0, 64), NOT_SUPPORTED);
    assert_eq!(refused(99, 0, 68), NOT_SUPPORTED);
}

#[test]
fn arguments_are_checked_as_documented() {
    let handle = handle();
    let one = 1.0_f32;
    let gemm = |handle: Handle,
                op: c_int,
                [m, n, k]: [c_int; 3],
                [a, b, c]: [c_int; 3],
                alpha: *const f32| {
        call!(
            "cublasSgemm_v2", handle => Handle, op => c_int, 0 => c_int, m => c_int, n => c_int, k => c_int,
            alpha => *const f32, 0 => u64, a => c_int, 0 => u64, b => c_int, &raw const one => *const f32, 0 => u64,
            c => c_int
        )
    };
    let alpha = &raw const one;
    assert_eq!(gemm(std::ptr::null_mut(), 0, [0; 3], [1; 3], alpha), 1, "no handle");
    assert_eq!(gemm(handle, 0, [0, 4, 4], [1, 4, 1], alpha), 0, "nothing to do");
    assert_eq!(gemm(handle, 5, [0, 4, 4], [1, 4, 1], alpha), INVALID_VALUE);
    for shape in [[-1, 4, 4], [4, -1, 4], [4, 4, -1]] {
        assert_eq!(gemm(handle, 0, shape, [4; 3], alpha), INVALID_VALUE, "{shape:?}");
    }
    for leading in [[3, 5, 4], [4, 4, 4], [4, 5, 3]] {
        assert_eq!(gemm(handle, 0, [4, 4, 5], leading, alpha), INVALID_VALUE, "{leading:?}");
    }
    assert_eq!(gemm(handle, 1, [4, 4, 5], [4, 5, 4], alpha), INVALID_VALUE, "transposed it has five rows");
    assert_eq!(gemm(handle, 0, [4, 4, 5], [4, 5, 4], null()), INVALID_VALUE);
    let gemv = call!(
        "cublasSgemv_v2", handle => Handle, 0 => c_int, 1 => c_int, 1 => c_int, alpha => *const f32, 0 => u64,
        1 => c_int, 0 => u64, 0 => c_int, alpha => *const f32, 0 => u64, 1 => c_int
    );
    assert_eq!(gemv, INVALID_VALUE, "an increment of 0");
    assert_eq!(call!("cublasSetPointerMode_v2", handle => Handle, 7 => c_int), INVALID_VALUE);
    let axpy = call!(
        "cublasSaxpy_v2", handle => Handle, 3 => c_int, alpha => *const f32, 0 => u64, 1 => c_int, 0 => u64, 0 => c_int
    );
    assert_eq!(axpy, NOT_SUPPORTED, "what would stay there depends on the order");
}

#[test]
fn copies_go_both_ways_with_gaps() {
    let _handle = handle();
    let there = upload(&[0_i32; 12]);
    let from: Vec<i32> = (0..12).collect();
    let status = call!(
        "cublasSetVector", 4 => c_int, 4 => c_int, from.as_ptr() => *const i32, 3 => c_int, there => u64, 2 => c_int
    );
    assert_eq!(status, 0);
    assert_eq!(download::<i32>(there, 8), [0, 0, 3, 0, 6, 0, 9, 0]);
    let mut back = [-1_i32; 4];
    let status = call!(
        "cublasGetVector", 4 => c_int, 4 => c_int, there => u64, 2 => c_int, back.as_mut_ptr() => *mut i32, 1 => c_int
    );
    assert_eq!((status, back), (0, [0, 3, 6, 9]));
    let status = call!(
        "cublasSetMatrix", 2 => c_int, 3 => c_int, 4 => c_int, from.as_ptr() => *const i32, 4 => c_int, there => u64,
        2 => c_int
    );
    assert_eq!(status, 0);
    assert_eq!(download::<i32>(there, 6), [0, 1, 4, 5, 8, 9]);
    let status = call!(
        "cublasGetMatrix", 2 => c_int, 3 => c_int, 4 => c_int, there => u64, 2 => c_int, back.as_mut_ptr() => *mut i32,
        1 => c_int
    );
    assert_eq!(status, INVALID_VALUE, "fewer than its rows");
}

#[test]
fn what_is_missing_is_told_by_name() {
    assert!(bugaroo_libraries::exports::find("cublasSgelsBatched").is_none());
    let name = c"cublasSgelsBatched".as_ptr();
    let mut slot = null::<c_void>();
    // SAFETY: one name, which stays, and one place; the stub takes the name in rax.
    unsafe {
        bugaroo_libraries::exports::bugaroo_libraries_bind(&raw const name, &raw mut slot, 1, 13);
        let status: u64;
        std::arch::asm!(
            "call {stub}", stub = in(reg) slot, inlateout("rax") name as u64 => status, clobber_abi("C")
        );
        assert_eq!(status as c_int, NOT_SUPPORTED);
    }
}
