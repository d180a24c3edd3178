//! Products of mixed types (cuBLAS, "cublasGemmEx()" and its tables): factors of 8, 16, 32 or 64 bits, sums of 32 or 64.
//!
//! **Departures.** `CUBLAS_COMPUTE_16F` keeps sums in 32 bits and rounds once; the fast modes of 32 bits use all of them. A
//! GPU's results have fewer digits.

use std::ffi::{c_int, c_longlong, c_void};

use half::{bf16, f16};
use num_complex::Complex;
use num_traits::Zero;

use super::batched::Batch;
use super::call::{Call, Handle, Value, call};
use super::functions::functions;
use super::level3::Product;
use super::number::Int;
use super::operand::Place;
use super::status::Outcome;
use crate::blas::matrix::{Matrix, Op};
use crate::blas::product;
use crate::blas::scalar::Scalar;
use crate::driver;
use crate::work::Memory;

/// A type of values (`cudaDataType`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// 16 bits.
    F16,
    /// 16 bits, with the exponent of 32.
    Bf16,
    /// 32 bits.
    F32,
    /// 64 bits.
    F64,
    /// Two of 32.
    C32,
    /// Two of 64.
    C64,
    /// An integer of 8 bits.
    I8,
    /// An integer of 32 bits.
    I32,
}

impl Element {
    /// By its number in `library_types.h`; None for one that there is no arithmetic for.
    pub fn of(number: c_int) -> Option<Element> {
        Some(match number {
            0 => Element::F32,
            1 => Element::F64,
            2 => Element::F16,
            3 => Element::I8,
            4 => Element::C32,
            5 => Element::C64,
            10 => Element::I32,
            14 => Element::Bf16,
            _ => return None,
        })
    }

    /// Bytes of a value.
    pub fn bytes(self) -> usize {
        match self {
            Element::I8 => 1,
            Element::F16 | Element::Bf16 => 2,
            Element::F32 | Element::I32 => 4,
            Element::F64 | Element::C32 => 8,
            Element::C64 => 16,
        }
    }
}

/// What is computed with, and the scalars.
#[derive(Clone, Copy, Debug)]
pub enum Factors {
    /// 32 bits.
    Single(Value<f32>, Value<f32>),
    /// The same, with scalars of 16 bits.
    Half(Value<f16>, Value<f16>),
    /// 64 bits.
    Double(Value<f64>, Value<f64>),
    /// Two of 32.
    Complex(Value<Complex<f32>>, Value<Complex<f32>>),
    /// Two of 64.
    DoubleComplex(Value<Complex<f64>>, Value<Complex<f64>>),
    /// Integers of 32 bits.
    Integer(Value<i32>, Value<i32>),
}

/// Types that go together, as the documentation's table has them.
///
/// # Safety
/// As [`Call::scalar`], for scalars of the type that the table says.
unsafe fn factors(
    call: &Call<'_>,
    compute: c_int,
    [a, b, c]: [Element; 3],
    (alpha, beta): (*const c_void, *const c_void),
) -> Outcome<Factors> {
    use Element::{Bf16, C32, C64, F16, F32, F64, I8, I32};
    if a != b {
        return Err(call.unsupported("a product of two types"));
    }
    macro_rules! scalars {
        ($kind:ident) => {{
            // SAFETY: the caller's promise.
            unsafe { Factors::$kind(call.scalar(alpha.cast())?, call.scalar(beta.cast())?) }
        }};
    }
    Ok(match (compute, a, c) {
        // CUBLAS_COMPUTE_16F and _PEDANTIC
        (64 | 65, F16, F16) => scalars!(Half),
        // CUBLAS_COMPUTE_32F, _PEDANTIC, _FAST_16F, _FAST_16BF and _FAST_TF32
        (68 | 69 | 74 | 75 | 77, F16, F16 | F32)
        | (68 | 69 | 74 | 75 | 77, Bf16, Bf16 | F32)
        | (68 | 69 | 74 | 75 | 77, F32 | I8, F32) => scalars!(Single),
        (68 | 69 | 74 | 75 | 77, C32, C32) => scalars!(Complex),
        // CUBLAS_COMPUTE_64F and _PEDANTIC
        (70 | 71, F64, F64) => scalars!(Double),
        (70 | 71, C64, C64) => scalars!(DoubleComplex),
        // CUBLAS_COMPUTE_32I and _PEDANTIC
        (72 | 73, I8, I32) => scalars!(Integer),
        _ => {
            return Err(
                call.unsupported(&format!("{a:?} times {b:?} into {c:?} with compute type {compute}"))
            );
        }
    })
}

/// With each value in another type.
pub fn converted<F: Copy, T>(matrix: Matrix<F>, to: impl Fn(F) -> T) -> Matrix<T> {
    let data = matrix.data.into_iter().map(to).collect();
    Matrix { rows: matrix.rows, columns: matrix.columns, data }
}

/// A matrix in 32 bits.
///
/// # Errors
/// As [`Memory::rows`].
pub fn single(memory: &Memory<'_>, place: Place, element: Element) -> driver::Outcome<Matrix<f32>> {
    Ok(match element {
        Element::F16 => converted(place.read(memory)?, f16::to_f32),
        Element::Bf16 => converted(place.read(memory)?, bf16::to_f32),
        Element::I8 => converted(place.read(memory)?, |value: i8| f32::from(value)),
        _ => place.read(memory)?,
    })
}

/// A product in 32 bits, of values of other types.
fn in_single(
    memory: &Memory<'_>,
    product: Product,
    [a, _, c]: [Element; 3],
    (alpha, beta): (f32, f32),
) -> driver::Outcome {
    let mut sum = if beta.is_zero() { product.result.blank() } else { single(memory, product.result, c)? };
    if alpha.is_zero() || product.hollow {
        product::scale(beta, &mut sum.data);
    } else {
        let [left, right] = product.factors;
        let (left, right) = (single(memory, left, a)?, single(memory, right, a)?);
        product::gemm(alpha, (&left, product.ops[0]), (&right, product.ops[1]), beta, &mut sum);
    }
    match c {
        Element::F16 => product.result.write(memory, &converted(sum, f16::from_f32)),
        Element::Bf16 => product.result.write(memory, &converted(sum, bf16::from_f32)),
        _ => product.result.write(memory, &sum),
    }
}

/// A product of integers; sums wrap.
fn in_integers(memory: &Memory<'_>, product: Product, (alpha, beta): (i32, i32)) -> driver::Outcome {
    let [a, b] = [product.factors[0], product.factors[1]];
    let (a, b): (Matrix<i8>, Matrix<i8>) = (a.read(memory)?, b.read(memory)?);
    let at = |matrix: &Matrix<i8>, op: Op, row: usize, column: usize| {
        let (row, column) = if op.swaps() { (column, row) } else { (row, column) };
        i32::from(matrix.data[column * matrix.rows + row])
    };
    let inner = if product.ops[0].swaps() { a.rows } else { a.columns };
    let mut sum: Matrix<i32> = product.result.read(memory)?;
    let rows = sum.rows;
    for (index, value) in sum.data.iter_mut().enumerate() {
        let (row, column) = (index % rows, index / rows);
        let term =
            |step| at(&a, product.ops[0], row, step).wrapping_mul(at(&b, product.ops[1], step, column));
        let total = (0..inner).fold(0_i32, |total, step| total.wrapping_add(term(step)));
        let kept = if beta == 0 { 0 } else { beta.wrapping_mul(*value) };
        *value = alpha.wrapping_mul(total).wrapping_add(kept);
    }
    product.result.write(memory, &sum)
}

impl Factors {
    /// Computes each product of a batch.
    fn compute(
        self,
        memory: &Memory<'_>,
        product: Product,
        elements: [Element; 3],
        batch: Batch,
    ) -> driver::Outcome {
        fn plain<T: Scalar>(
            memory: &Memory<'_>,
            product: Product,
            batch: Batch,
            (alpha, beta): (Value<T>, Value<T>),
        ) -> driver::Outcome {
            let (alpha, beta) = (alpha.get(memory)?, beta.get(memory)?);
            batch.each(memory, |places| product.moved(places).compute(memory, alpha, beta))
        }
        let single = |alpha, beta| {
            batch.each(memory, |places| in_single(memory, product.moved(places), elements, (alpha, beta)))
        };
        match self {
            Factors::Single(alpha, beta) => single(alpha.get(memory)?, beta.get(memory)?),
            Factors::Half(alpha, beta) => single(alpha.get(memory)?.to_f32(), beta.get(memory)?.to_f32()),
            Factors::Double(alpha, beta) => plain(memory, product, batch, (alpha, beta)),
            Factors::Complex(alpha, beta) => plain(memory, product, batch, (alpha, beta)),
            Factors::DoubleComplex(alpha, beta) => plain(memory, product, batch, (alpha, beta)),
            Factors::Integer(alpha, beta) => {
                let factors = (alpha.get(memory)?, beta.get(memory)?);
                batch.each(memory, |places| in_integers(memory, product.moved(places), factors))
            }
        }
    }
}

/// An operand: where it is, its type, and the distance from column to column.
type Operand<I> = (u64, c_int, I);

/// Where the operands of a batch are.
enum Batches {
    One,
    Arrays,
    Apart([i64; 3]),
}

/// Checks and hands over what all functions of this file come to.
///
/// # Safety
/// As [`factors`].
#[allow(clippy::too_many_arguments, reason = "the API's own arguments")]
unsafe fn products<I: Int>(
    handle: Handle,
    name: &str,
    ops: [c_int; 2],
    shape: [I; 3],
    scalars: (*const c_void, *const c_void),
    operands: [Operand<I>; 3],
    (batches, count): (Batches, I),
    compute: c_int,
) -> c_int {
    call(handle, name, |call| {
        let product = Product::new(ops, shape, operands.map(|(_, _, leading)| (0, leading)))?;
        let [a, b, c] = operands.map(|(_, number, _)| Element::of(number));
        let (Some(a), Some(b), Some(c)) = (a, b, c) else {
            return Err(call.unsupported(&format!("a type of {:?}", operands.map(|(_, number, _)| number))));
        };
        // SAFETY: the caller's promise.
        let factors = unsafe { factors(call, compute, [a, b, c], scalars) }?;
        let places = operands.map(|(address, ..)| address);
        let batch = match batches {
            Batches::One => Batch::One(places),
            Batches::Arrays => Batch::arrays(places, count)?,
            Batches::Apart([of_a, of_b, of_c]) => {
                let [a_place, b_place, c_place] = places;
                let apart = [(a_place, of_a), (b_place, of_b), (c_place, of_c)];
                Batch::apart(apart, [a, b, c].map(Element::bytes), count)?
            }
        };
        if product.empty {
            return Ok(());
        }
        call.submit(move |memory| factors.compute(memory, product, [a, b, c], batch))
    })
}

#[allow(clippy::too_many_arguments, reason = "the API's own signature")]
unsafe extern "C" fn gemm_ex<I: Int>(
    handle: Handle,
    of_a: c_int,
    of_b: c_int,
    m: I,
    n: I,
    k: I,
    alpha: *const c_void,
    a: u64,
    a_type: c_int,
    a_leading: I,
    b: u64,
    b_type: c_int,
    b_leading: I,
    beta: *const c_void,
    c: u64,
    c_type: c_int,
    c_leading: I,
    compute: c_int,
    _algorithm: c_int,
) -> c_int {
    let operands = [(a, a_type, a_leading), (b, b_type, b_leading), (c, c_type, c_leading)];
    let (ops, scalars) = ([of_a, of_b], (alpha, beta));
    // SAFETY: the caller's promise.
    unsafe { products(handle, "cublasGemmEx", ops, [m, n, k], scalars, operands, (Batches::One, m), compute) }
}

#[allow(clippy::too_many_arguments, reason = "the API's own signature")]
unsafe extern "C" fn gemm_batched_ex<I: Int>(
    handle: Handle,
    of_a: c_int,
    of_b: c_int,
    m: I,
    n: I,
    k: I,
    alpha: *const c_void,
    a: u64,
    a_type: c_int,
    a_leading: I,
    b: u64,
    b_type: c_int,
    b_leading: I,
    beta: *const c_void,
    c: u64,
    c_type: c_int,
    c_leading: I,
    batch: I,
    compute: c_int,
    _algorithm: c_int,
) -> c_int {
    let operands = [(a, a_type, a_leading), (b, b_type, b_leading), (c, c_type, c_leading)];
    let (ops, scalars, batches) = ([of_a, of_b], (alpha, beta), (Batches::Arrays, batch));
    // SAFETY: the caller's promise.
    unsafe { products(handle, "cublasGemmBatchedEx", ops, [m, n, k], scalars, operands, batches, compute) }
}

#[allow(clippy::too_many_arguments, reason = "the API's own signature")]
unsafe extern "C" fn gemm_strided_ex<I: Int>(
    handle: Handle,
    of_a: c_int,
    of_b: c_int,
    m: I,
    n: I,
    k: I,
    alpha: *const c_void,
    a: u64,
    a_type: c_int,
    a_leading: I,
    a_distance: c_longlong,
    b: u64,
    b_type: c_int,
    b_leading: I,
    b_distance: c_longlong,
    beta: *const c_void,
    c: u64,
    c_type: c_int,
    c_leading: I,
    c_distance: c_longlong,
    batch: I,
    compute: c_int,
    _algorithm: c_int,
) -> c_int {
    let operands = [(a, a_type, a_leading), (b, b_type, b_leading), (c, c_type, c_leading)];
    let batches = (Batches::Apart([a_distance, b_distance, c_distance]), batch);
    let (name, ops, scalars) = ("cublasGemmStridedBatchedEx", [of_a, of_b], (alpha, beta));
    // SAFETY: the caller's promise.
    unsafe { products(handle, name, ops, [m, n, k], scalars, operands, batches, compute) }
}

macro_rules! fixed {
    ($($function:ident $name:literal $scalar:ty, $compute:literal;)*) => {$(
        #[allow(clippy::too_many_arguments, reason = "the API's own signature")]
        unsafe extern "C" fn $function<I: Int>(
            handle: Handle,
            of_a: c_int,
            of_b: c_int,
            m: I,
            n: I,
            k: I,
            alpha: *const $scalar,
            a: u64,
            a_type: c_int,
            a_leading: I,
            b: u64,
            b_type: c_int,
            b_leading: I,
            beta: *const $scalar,
            c: u64,
            c_type: c_int,
            c_leading: I,
        ) -> c_int {
            let operands = [(a, a_type, a_leading), (b, b_type, b_leading), (c, c_type, c_leading)];
            let (ops, scalars) = ([of_a, of_b], (alpha.cast(), beta.cast()));
            // SAFETY: the caller's promise.
            unsafe { products(handle, $name, ops, [m, n, k], scalars, operands, (Batches::One, m), $compute) }
        }
    )*};
}
fixed! {
    sgemm_ex "cublasSgemmEx" f32, 68;
    cgemm_ex "cublasCgemmEx" Complex<f32>, 68;
}

/// `CUDA_R_16F`
const HALF: c_int = 2;
/// `CUBLAS_COMPUTE_16F`
const COMPUTE_HALF: c_int = 64;

#[allow(clippy::too_many_arguments, reason = "the API's own signature")]
unsafe extern "C" fn hgemm<I: Int>(
    handle: Handle,
    of_a: c_int,
    of_b: c_int,
    m: I,
    n: I,
    k: I,
    alpha: *const f16,
    a: u64,
    a_leading: I,
    b: u64,
    b_leading: I,
    beta: *const f16,
    c: u64,
    c_leading: I,
) -> c_int {
    let operands = [(a, HALF, a_leading), (b, HALF, b_leading), (c, HALF, c_leading)];
    let (ops, scalars) = ([of_a, of_b], (alpha.cast(), beta.cast()));
    let batches = (Batches::One, m);
    // SAFETY: the caller's promise.
    unsafe { products(handle, "cublasHgemm", ops, [m, n, k], scalars, operands, batches, COMPUTE_HALF) }
}

#[allow(clippy::too_many_arguments, reason = "the API's own signature")]
unsafe extern "C" fn hgemm_batched<I: Int>(
    handle: Handle,
    of_a: c_int,
    of_b: c_int,
    m: I,
    n: I,
    k: I,
    alpha: *const f16,
    a: u64,
    a_leading: I,
    b: u64,
    b_leading: I,
    beta: *const f16,
    c: u64,
    c_leading: I,
    batch: I,
) -> c_int {
    let operands = [(a, HALF, a_leading), (b, HALF, b_leading), (c, HALF, c_leading)];
    let (ops, scalars) = ([of_a, of_b], (alpha.cast(), beta.cast()));
    let batches = (Batches::Arrays, batch);
    // SAFETY: the caller's promise.
    unsafe {
        products(handle, "cublasHgemmBatched", ops, [m, n, k], scalars, operands, batches, COMPUTE_HALF)
    }
}

#[allow(clippy::too_many_arguments, reason = "the API's own signature")]
unsafe extern "C" fn hgemm_strided<I: Int>(
    handle: Handle,
    of_a: c_int,
    of_b: c_int,
    m: I,
    n: I,
    k: I,
    alpha: *const f16,
    a: u64,
    a_leading: I,
    a_distance: c_longlong,
    b: u64,
    b_leading: I,
    b_distance: c_longlong,
    beta: *const f16,
    c: u64,
    c_leading: I,
    c_distance: c_longlong,
    batch: I,
) -> c_int {
    let operands = [(a, HALF, a_leading), (b, HALF, b_leading), (c, HALF, c_leading)];
    let (name, ops, scalars) = ("cublasHgemmStridedBatched", [of_a, of_b], (alpha.cast(), beta.cast()));
    let batches = (Batches::Apart([a_distance, b_distance, c_distance]), batch);
    // SAFETY: the caller's promise.
    unsafe { products(handle, name, ops, [m, n, k], scalars, operands, batches, COMPUTE_HALF) }
}

functions! {
    "cublasGemmEx" = gemm_ex<>; "cublasGemmBatchedEx" = gemm_batched_ex<>;
    "cublasGemmStridedBatchedEx" = gemm_strided_ex<>;
    "cublasSgemmEx" = sgemm_ex<>; "cublasCgemmEx" = cgemm_ex<>;
    "cublasHgemm" = hgemm<>; "cublasHgemmBatched" = hgemm_batched<>;
    "cublasHgemmStridedBatched" = hgemm_strided<>;
}
