//! Batches of products: by arrays of addresses in device memory, or with the same distance from each to the next.

use std::ffi::{c_int, c_longlong};

use num_complex::Complex;

use super::call::{Handle, call};
use super::functions::functions;
use super::level3::Product;
use super::number::{self, Int, count};
use super::operand::{Place, Vector};
use super::status::Outcome;
use crate::blas::product;
use crate::blas::scalar::Scalar;
use crate::driver;
use crate::work::Memory;

/// Where the operands of a batch are, three of each.
#[derive(Clone, Copy, Debug)]
pub enum Batch {
    /// There is one, at these addresses.
    One([u64; 3]),
    /// Arrays of so many addresses.
    Arrays([u64; 3], usize),
    /// The first ones, and the distances in bytes.
    Apart([u64; 3], [u64; 3], usize),
}

impl Batch {
    /// Arrays of addresses, in device memory.
    ///
    /// # Errors
    /// `CUBLAS_STATUS_INVALID_VALUE` for fewer than none.
    pub fn arrays(arrays: [u64; 3], batch: impl Int) -> Outcome<Batch> {
        Ok(Batch::Arrays(arrays, count(batch)?))
    }

    /// Operands with distances in values of so many bytes.
    ///
    /// # Errors
    /// `CUBLAS_STATUS_INVALID_VALUE` for fewer than none.
    pub fn apart(places: [(u64, i64); 3], bytes: [usize; 3], batch: impl Int) -> Outcome<Batch> {
        let mut distances = [0; 3];
        for ((distance, (_, values)), bytes) in distances.iter_mut().zip(places).zip(bytes) {
            *distance = number::distance(values).wrapping_mul(bytes as u64);
        }
        Ok(Batch::Apart(places.map(|(address, _)| address), distances, count(batch)?))
    }

    /// Does something with the addresses of each.
    ///
    /// # Errors
    /// As `each` and [`Memory::read`].
    pub fn each(
        &self,
        memory: &Memory<'_>,
        mut each: impl FnMut([u64; 3]) -> driver::Outcome,
    ) -> driver::Outcome {
        match *self {
            Batch::One(places) => each(places),
            Batch::Arrays([a, b, c], batch) => {
                let read = |array| memory.read::<u64>(array, batch);
                let (a, b, c) = (read(a)?, read(b)?, read(c)?);
                a.into_iter().zip(b).zip(c).try_for_each(|((a, b), c)| each([a, b, c]))
            }
            Batch::Apart(first, distances, batch) => (0..batch as u64).try_for_each(|index| {
                let [a, b, c] = [0, 1, 2].map(|operand: usize| {
                    first[operand].wrapping_add(distances[operand].wrapping_mul(index))
                });
                each([a, b, c])
            }),
        }
    }
}

/// Products of a batch.
///
/// # Safety
/// As [`super::call::Call::scalar`].
#[allow(clippy::too_many_arguments, reason = "the API's own arguments")]
unsafe fn products<T: Scalar, I: Int>(
    handle: Handle,
    name: &str,
    ops: [c_int; 2],
    shape: [I; 3],
    alpha: *const T,
    leading: [I; 3],
    beta: *const T,
    batch: Outcome<Batch>,
) -> c_int {
    call(handle, &format!("cublas{}{name}", T::LETTER), |call| {
        let (product, batch) = (Product::new(ops, shape, leading.map(|leading| (0, leading)))?, batch?);
        // SAFETY: the caller's promise.
        let (alpha, beta) = unsafe { (call.scalar(alpha)?, call.scalar(beta)?) };
        if product.empty {
            return Ok(());
        }
        call.submit(move |memory| {
            let (alpha, beta) = (alpha.get(memory)?, beta.get(memory)?);
            batch.each(memory, |places| product.moved(places).compute(memory, alpha, beta))
        })
    })
}

#[allow(clippy::too_many_arguments, reason = "the API's own signature")]
unsafe extern "C" fn gemm_batched<T: Scalar, I: Int>(
    handle: Handle,
    of_a: c_int,
    of_b: c_int,
    m: I,
    n: I,
    k: I,
    alpha: *const T,
    a: u64,
    a_leading: I,
    b: u64,
    b_leading: I,
    beta: *const T,
    c: u64,
    c_leading: I,
    batch: I,
) -> c_int {
    let (batch, leading) = (Batch::arrays([a, b, c], batch), [a_leading, b_leading, c_leading]);
    // SAFETY: the caller's promise.
    unsafe { products(handle, "gemmBatched", [of_a, of_b], [m, n, k], alpha, leading, beta, batch) }
}

#[allow(clippy::too_many_arguments, reason = "the API's own signature")]
unsafe extern "C" fn gemm_strided<T: Scalar, I: Int>(
    handle: Handle,
    of_a: c_int,
    of_b: c_int,
    m: I,
    n: I,
    k: I,
    alpha: *const T,
    a: u64,
    a_leading: I,
    a_distance: c_longlong,
    b: u64,
    b_leading: I,
    b_distance: c_longlong,
    beta: *const T,
    c: u64,
    c_leading: I,
    c_distance: c_longlong,
    batch: I,
) -> c_int {
    let places = [(a, a_distance), (b, b_distance), (c, c_distance)];
    let batch = Batch::apart(places, [size_of::<T>(); 3], batch);
    let leading = [a_leading, b_leading, c_leading];
    // SAFETY: the caller's promise.
    unsafe { products(handle, "gemmStridedBatched", [of_a, of_b], [m, n, k], alpha, leading, beta, batch) }
}

/// Products with vectors of a batch.
///
/// # Safety
/// As [`super::call::Call::scalar`].
#[allow(clippy::too_many_arguments, reason = "the API's own arguments")]
unsafe fn vectors<T: Scalar, I: Int>(
    handle: Handle,
    name: &str,
    op: c_int,
    [m, n]: [I; 2],
    alpha: *const T,
    [leading, x_step, y_step]: [I; 3],
    beta: *const T,
    batch: Outcome<Batch>,
) -> c_int {
    call(handle, &format!("cublas{}{name}", T::LETTER), |call| {
        let (op, m, n, batch) = (number::op(op)?, count(m)?, count(n)?, batch?);
        let matrix = Place::new(0, m, n, leading)?;
        let (inputs, outputs) = if op.swaps() { (m, n) } else { (n, m) };
        Vector::strict(0, inputs, x_step)?;
        Vector::strict(0, outputs, y_step)?;
        // SAFETY: the caller's promise.
        let (alpha, beta) = unsafe { (call.scalar(alpha)?, call.scalar(beta)?) };
        if matrix.is_empty() {
            return Ok(());
        }
        call.submit(move |memory| {
            let (alpha, beta) = (alpha.get(memory)?, beta.get(memory)?);
            batch.each(memory, |[a, x, y]| {
                let (x, y) = (Vector::new(x, inputs, x_step), Vector::new(y, outputs, y_step));
                let mut result = if beta.is_zero() { vec![T::zero(); outputs] } else { y.read(memory)? };
                if alpha.is_zero() {
                    product::scale(beta, &mut result);
                } else {
                    let a = matrix.moved(a).read(memory)?;
                    product::gemv(alpha, &a, op, &x.read::<T>(memory)?, beta, &mut result);
                }
                y.write(memory, result)
            })
        })
    })
}

#[allow(clippy::too_many_arguments, reason = "the API's own signature")]
unsafe extern "C" fn gemv_batched<T: Scalar, I: Int>(
    handle: Handle,
    op: c_int,
    m: I,
    n: I,
    alpha: *const T,
    a: u64,
    a_leading: I,
    x: u64,
    x_step: I,
    beta: *const T,
    y: u64,
    y_step: I,
    batch: I,
) -> c_int {
    let (batch, steps) = (Batch::arrays([a, x, y], batch), [a_leading, x_step, y_step]);
    // SAFETY: the caller's promise.
    unsafe { vectors(handle, "gemvBatched", op, [m, n], alpha, steps, beta, batch) }
}

#[allow(clippy::too_many_arguments, reason = "the API's own signature")]
unsafe extern "C" fn gemv_strided<T: Scalar, I: Int>(
    handle: Handle,
    op: c_int,
    m: I,
    n: I,
    alpha: *const T,
    a: u64,
    a_leading: I,
    a_distance: c_longlong,
    x: u64,
    x_step: I,
    x_distance: c_longlong,
    beta: *const T,
    y: u64,
    y_step: I,
    y_distance: c_longlong,
    batch: I,
) -> c_int {
    let places = [(a, a_distance), (x, x_distance), (y, y_distance)];
    let (batch, steps) = (Batch::apart(places, [size_of::<T>(); 3], batch), [a_leading, x_step, y_step]);
    // SAFETY: the caller's promise.
    unsafe { vectors(handle, "gemvStridedBatched", op, [m, n], alpha, steps, beta, batch) }
}

functions! {
    "cublasSgemmBatched" = gemm_batched<f32>; "cublasDgemmBatched" = gemm_batched<f64>;
    "cublasCgemmBatched" = gemm_batched<Complex<f32>>; "cublasZgemmBatched" = gemm_batched<Complex<f64>>;
    "cublasCgemm3mBatched" = gemm_batched<Complex<f32>>;
    "cublasSgemmStridedBatched" = gemm_strided<f32>; "cublasDgemmStridedBatched" = gemm_strided<f64>;
    "cublasCgemmStridedBatched" = gemm_strided<Complex<f32>>;
    "cublasZgemmStridedBatched" = gemm_strided<Complex<f64>>;
    "cublasCgemm3mStridedBatched" = gemm_strided<Complex<f32>>;
    "cublasSgemvBatched" = gemv_batched<f32>; "cublasDgemvBatched" = gemv_batched<f64>;
    "cublasCgemvBatched" = gemv_batched<Complex<f32>>; "cublasZgemvBatched" = gemv_batched<Complex<f64>>;
    "cublasSgemvStridedBatched" = gemv_strided<f32>; "cublasDgemvStridedBatched" = gemv_strided<f64>;
    "cublasCgemvStridedBatched" = gemv_strided<Complex<f32>>;
    "cublasZgemvStridedBatched" = gemv_strided<Complex<f64>>;
}
