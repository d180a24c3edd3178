//! Level 3: matrices.

use std::ffi::c_int;

use num_complex::Complex;

use super::call::{Call, Handle, Value, call};
use super::functions::functions;
use super::number::{self, Int, count};
use super::operand::{Place, Vector};
use super::status::{Outcome, Status};
use crate::blas::matrix::{Matrix, Op};
use crate::blas::product;
use crate::blas::scalar::Scalar;
use crate::blas::triangle::Triangle;
use crate::driver;
use crate::work::Memory;

/// A product of two matrices, its arguments checked.
#[derive(Clone, Copy, Debug)]
pub struct Product {
    /// How the factors are taken.
    pub ops: [Op; 2],
    /// The factors.
    pub factors: [Place; 2],
    /// The result.
    pub result: Place,
    /// Whether it has no values.
    pub empty: bool,
    /// Whether the factors have none.
    pub hollow: bool,
}

impl Product {
    /// Checks the arguments of a `gemm`: operations, counts, and matrices with their leading dimensions.
    ///
    /// # Errors
    /// `CUBLAS_STATUS_INVALID_VALUE`
    pub fn new<I: Int>(ops: [c_int; 2], [m, n, k]: [I; 3], [a, b, c]: [(u64, I); 3]) -> Outcome<Product> {
        let [of_a, of_b] = [number::op(ops[0])?, number::op(ops[1])?];
        let (m, n, k) = (count(m)?, count(n)?, count(k)?);
        let shape = |op: Op, rows, columns| if op.swaps() { (columns, rows) } else { (rows, columns) };
        let ((a_rows, a_columns), (b_rows, b_columns)) = (shape(of_a, m, k), shape(of_b, k, n));
        Ok(Product {
            ops: [of_a, of_b],
            factors: [Place::new(a.0, a_rows, a_columns, a.1)?, Place::new(b.0, b_rows, b_columns, b.1)?],
            result: Place::new(c.0, m, n, c.1)?,
            empty: m == 0 || n == 0,
            hollow: k == 0,
        })
    }

    /// The same with other addresses, of a batch.
    pub fn moved(self, [a, b, c]: [u64; 3]) -> Product {
        let [of_a, of_b] = self.factors;
        Product { factors: [of_a.moved(a), of_b.moved(b)], result: self.result.moved(c), ..self }
    }

    /// Computes it.
    ///
    /// # Errors
    /// As [`Memory::rows`].
    pub fn compute<T: Scalar>(&self, memory: &Memory<'_>, alpha: T, beta: T) -> driver::Outcome {
        let mut sum: Matrix<T> =
            if beta.is_zero() { self.result.blank() } else { self.result.read(memory)? };
        if alpha.is_zero() || self.hollow {
            product::scale(beta, &mut sum.data);
        } else {
            let (a, b) = (self.factors[0].read(memory)?, self.factors[1].read(memory)?);
            product::gemm(alpha, (&a, self.ops[0]), (&b, self.ops[1]), beta, &mut sum);
        }
        self.result.write(memory, &sum)
    }
}

#[allow(clippy::too_many_arguments, reason = "the API's own signature")]
unsafe extern "C" fn gemm<T: Scalar, I: Int>(
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
) -> c_int {
    call(handle, &format!("cublas{}gemm", T::LETTER), |call| {
        let places = [(a, a_leading), (b, b_leading), (c, c_leading)];
        let product = Product::new([of_a, of_b], [m, n, k], places)?;
        // SAFETY: the caller's promise.
        let (alpha, beta) = unsafe { (call.scalar(alpha)?, call.scalar(beta)?) };
        if product.empty {
            return Ok(());
        }
        call.submit(move |memory| product.compute(memory, alpha.get(memory)?, beta.get(memory)?))
    })
}

/// A product with a symmetric matrix, or a Hermitian one, on a side.
#[allow(clippy::too_many_arguments, reason = "the API's own arguments")]
unsafe fn symmetric<T: Scalar, I: Int>(
    handle: Handle,
    hermitian: bool,
    [side, half]: [c_int; 2],
    [m, n]: [I; 2],
    alpha: *const T,
    [a, b, c]: [(u64, I); 3],
    beta: *const T,
) -> c_int {
    let name = if hermitian { "hemm" } else { "symm" };
    call(handle, &format!("cublas{}{name}", T::LETTER), |call| {
        let (right, half, m, n) = (number::second(side)?, number::half(half)?, count(m)?, count(n)?);
        let size = if right { n } else { m };
        let a = Place::new(a.0, size, size, a.1)?;
        let (b, c) = (Place::new(b.0, m, n, b.1)?, Place::new(c.0, m, n, c.1)?);
        // SAFETY: the caller's promise.
        let (alpha, beta) = unsafe { (call.scalar(alpha)?, call.scalar(beta)?) };
        if m == 0 || n == 0 {
            return Ok(());
        }
        call.submit(move |memory| {
            let (alpha, beta) = (alpha.get(memory)?, beta.get(memory)?);
            let mut sum: Matrix<T> = if beta.is_zero() { c.blank() } else { c.read(memory)? };
            if alpha.is_zero() {
                product::scale(beta, &mut sum.data);
            } else {
                let full = a.read_half(memory, half, false)?.mirrored(half, hermitian);
                let other = b.read(memory)?;
                let (left, after) = if right { (&other, &full) } else { (&full, &other) };
                product::gemm(alpha, (left, Op::None), (after, Op::None), beta, &mut sum);
            }
            c.write(memory, &sum)
        })
    })
}

macro_rules! symmetric {
    ($($function:ident $hermitian:literal)*) => {$(
        #[allow(clippy::too_many_arguments, reason = "the API's own signature")]
        unsafe extern "C" fn $function<T: Scalar, I: Int>(
            handle: Handle,
            side: c_int,
            half: c_int,
            m: I,
            n: I,
            alpha: *const T,
            a: u64,
            a_leading: I,
            b: u64,
            b_leading: I,
            beta: *const T,
            c: u64,
            c_leading: I,
        ) -> c_int {
            let places = [(a, a_leading), (b, b_leading), (c, c_leading)];
            // SAFETY: the caller's promise.
            unsafe { symmetric(handle, $hermitian, [side, half], [m, n], alpha, places, beta) }
        }
    )*};
}
symmetric! { symm false hemm true }

/// A triangular matrix, or its inverse, on a side of another matrix.
struct Triangular<T> {
    right: bool,
    op: Op,
    half: crate::blas::matrix::Half,
    ones: bool,
    alpha: Value<T>,
    a: Place,
}

impl<T: Scalar> Triangular<T> {
    /// Checks the arguments.
    ///
    /// # Safety
    /// As [`Call::scalar`].
    unsafe fn new<I: Int>(
        call: &Call<'_>,
        [side, half, op, diagonal]: [c_int; 4],
        [m, n]: [I; 2],
        alpha: *const T,
        a: (u64, I),
    ) -> Outcome<Self> {
        let right = number::second(side)?;
        let (half, op, ones) = (number::half(half)?, number::op(op)?, number::second(diagonal)?);
        let size = if right { count(n)? } else { count(m)? };
        count(m)?;
        count(n)?;
        let a = Place::new(a.0, size, size, a.1)?;
        // SAFETY: the caller's promise.
        let alpha = unsafe { call.scalar(alpha) }?;
        Ok(Triangular { right, op, half, ones, alpha, a })
    }

    /// Reads `from`, computes, and writes `to`.
    fn compute(&self, memory: &Memory<'_>, solve: bool, from: Place, to: Place) -> driver::Outcome {
        let alpha = self.alpha.get(memory)?;
        if alpha.is_zero() {
            return to.write::<T>(memory, &to.blank());
        }
        let matrix = self.a.read_half::<T>(memory, self.half, self.ones)?;
        let mut triangle = Triangle { matrix, half: self.half }.taken(self.op);
        let mut other: Matrix<T> = from.read(memory)?;
        if self.right {
            // b a is the transpose of a^T b^T.
            triangle = triangle.taken(Op::Transpose);
            other = other.transposed();
        }
        if solve {
            triangle.solve(alpha, &mut other);
        } else {
            triangle.multiply(alpha, &mut other);
        }
        to.write(memory, &if self.right { other.transposed() } else { other })
    }
}

#[allow(clippy::too_many_arguments, reason = "the API's own signature")]
unsafe extern "C" fn trsm<T: Scalar, I: Int>(
    handle: Handle,
    side: c_int,
    half: c_int,
    op: c_int,
    diagonal: c_int,
    m: I,
    n: I,
    alpha: *const T,
    a: u64,
    a_leading: I,
    b: u64,
    b_leading: I,
) -> c_int {
    call(handle, &format!("cublas{}trsm", T::LETTER), |call| {
        let how = [side, half, op, diagonal];
        // SAFETY: the caller's promise.
        let triangular = unsafe { Triangular::<T>::new(call, how, [m, n], alpha, (a, a_leading)) }?;
        let b = Place::new(b, count(m)?, count(n)?, b_leading)?;
        if b.is_empty() {
            return Ok(());
        }
        call.submit(move |memory| triangular.compute(memory, true, b, b))
    })
}

/// Unlike the BLAS's, the function has a place for the result.
#[allow(clippy::too_many_arguments, reason = "the API's own signature")]
unsafe extern "C" fn trmm<T: Scalar, I: Int>(
    handle: Handle,
    side: c_int,
    half: c_int,
    op: c_int,
    diagonal: c_int,
    m: I,
    n: I,
    alpha: *const T,
    a: u64,
    a_leading: I,
    b: u64,
    b_leading: I,
    c: u64,
    c_leading: I,
) -> c_int {
    call(handle, &format!("cublas{}trmm", T::LETTER), |call| {
        let how = [side, half, op, diagonal];
        // SAFETY: the caller's promise.
        let triangular = unsafe { Triangular::<T>::new(call, how, [m, n], alpha, (a, a_leading)) }?;
        let b = Place::new(b, count(m)?, count(n)?, b_leading)?;
        let c = Place::new(c, count(m)?, count(n)?, c_leading)?;
        if b.is_empty() {
            return Ok(());
        }
        call.submit(move |memory| triangular.compute(memory, false, b, c))
    })
}

#[allow(clippy::too_many_arguments, reason = "the API's own signature")]
unsafe extern "C" fn trsm_batched<T: Scalar, I: Int>(
    handle: Handle,
    side: c_int,
    half: c_int,
    op: c_int,
    diagonal: c_int,
    m: I,
    n: I,
    alpha: *const T,
    a: u64,
    a_leading: I,
    b: u64,
    b_leading: I,
    batch: I,
) -> c_int {
    call(handle, &format!("cublas{}trsmBatched", T::LETTER), |call| {
        let how = [side, half, op, diagonal];
        // SAFETY: the caller's promise.
        let triangular = unsafe { Triangular::<T>::new(call, how, [m, n], alpha, (0, a_leading)) }?;
        let (place, batch) = (Place::new(0, count(m)?, count(n)?, b_leading)?, count(batch)?);
        if place.is_empty() {
            return Ok(());
        }
        call.submit(move |memory| {
            let (of_a, of_b) = (memory.read::<u64>(a, batch)?, memory.read::<u64>(b, batch)?);
            of_a.into_iter().zip(of_b).try_for_each(|(a, b)| {
                let one = Triangular { a: triangular.a.moved(a), ..triangular };
                let b = place.moved(b);
                one.compute(memory, true, b, b)
            })
        })
    })
}

#[allow(clippy::too_many_arguments, reason = "the API's own signature")]
unsafe extern "C" fn geam<T: Scalar, I: Int>(
    handle: Handle,
    of_a: c_int,
    of_b: c_int,
    m: I,
    n: I,
    alpha: *const T,
    a: u64,
    a_leading: I,
    beta: *const T,
    b: u64,
    b_leading: I,
    c: u64,
    c_leading: I,
) -> c_int {
    call(handle, &format!("cublas{}geam", T::LETTER), |call| {
        let (of_a, of_b, m, n) = (number::op(of_a)?, number::op(of_b)?, count(m)?, count(n)?);
        let place = |op: Op, address, leading| {
            let (rows, columns) = if op.swaps() { (n, m) } else { (m, n) };
            Place::new(address, rows, columns, leading)
        };
        let (a, b, c) =
            (place(of_a, a, a_leading)?, place(of_b, b, b_leading)?, place(Op::None, c, c_leading)?);
        // In place only without a transposition, as documented.
        let shares = |other: Place, op: Op| c.address() == other.address() && (op.swaps() || !c.same(other));
        if shares(a, of_a) || shares(b, of_b) {
            return Err(Status::INVALID_VALUE);
        }
        // SAFETY: the caller's promise.
        let (alpha, beta) = unsafe { (call.scalar(alpha)?, call.scalar(beta)?) };
        if c.is_empty() {
            return Ok(());
        }
        call.submit(move |memory| {
            let mut sum: Matrix<T> = c.blank();
            for (factor, place, op) in [(alpha, a, of_a), (beta, b, of_b)] {
                let factor = factor.get(memory)?;
                // What is multiplied by 0 is not read, as documented.
                if !factor.is_zero() {
                    crate::blas::vector::axpy(factor, &place.read(memory)?.taken(op).data, &mut sum.data);
                }
            }
            c.write(memory, &sum)
        })
    })
}

#[allow(clippy::too_many_arguments, reason = "the API's own signature")]
extern "C" fn dgmm<T: Scalar, I: Int>(
    handle: Handle,
    side: c_int,
    m: I,
    n: I,
    a: u64,
    a_leading: I,
    x: u64,
    x_step: I,
    c: u64,
    c_leading: I,
) -> c_int {
    call(handle, &format!("cublas{}dgmm", T::LETTER), |call| {
        let (right, m, n) = (number::second(side)?, count(m)?, count(n)?);
        let (a, c) = (Place::new(a, m, n, a_leading)?, Place::new(c, m, n, c_leading)?);
        let x = Vector::new(x, if right { n } else { m }, x_step);
        if c.is_empty() {
            return Ok(());
        }
        call.submit(move |memory| {
            let (mut values, x): (Matrix<T>, _) = (a.read(memory)?, x.read::<T>(memory)?);
            for column in 0..n {
                for (row, value) in values.column_mut(column).iter_mut().enumerate() {
                    *value *= x[if right { column } else { row }];
                }
            }
            c.write(memory, &values)
        })
    })
}

functions! {
    "cublasSgemm_v2" = gemm<f32>; "cublasDgemm_v2" = gemm<f64>;
    "cublasCgemm_v2" = gemm<Complex<f32>>; "cublasZgemm_v2" = gemm<Complex<f64>>;
    "cublasCgemm3m" = gemm<Complex<f32>>; "cublasZgemm3m" = gemm<Complex<f64>>;
    "cublasSsymm_v2" = symm<f32>; "cublasDsymm_v2" = symm<f64>;
    "cublasCsymm_v2" = symm<Complex<f32>>; "cublasZsymm_v2" = symm<Complex<f64>>;
    "cublasChemm_v2" = hemm<Complex<f32>>; "cublasZhemm_v2" = hemm<Complex<f64>>;
    "cublasStrsm_v2" = trsm<f32>; "cublasDtrsm_v2" = trsm<f64>;
    "cublasCtrsm_v2" = trsm<Complex<f32>>; "cublasZtrsm_v2" = trsm<Complex<f64>>;
    "cublasStrmm_v2" = trmm<f32>; "cublasDtrmm_v2" = trmm<f64>;
    "cublasCtrmm_v2" = trmm<Complex<f32>>; "cublasZtrmm_v2" = trmm<Complex<f64>>;
    "cublasStrsmBatched" = trsm_batched<f32>; "cublasDtrsmBatched" = trsm_batched<f64>;
    "cublasCtrsmBatched" = trsm_batched<Complex<f32>>; "cublasZtrsmBatched" = trsm_batched<Complex<f64>>;
    "cublasSgeam" = geam<f32>; "cublasDgeam" = geam<f64>;
    "cublasCgeam" = geam<Complex<f32>>; "cublasZgeam" = geam<Complex<f64>>;
    "cublasSdgmm" = dgmm<f32>; "cublasDdgmm" = dgmm<f64>;
    "cublasCdgmm" = dgmm<Complex<f32>>; "cublasZdgmm" = dgmm<Complex<f64>>;
}
