//! Level 2: a matrix and a vector.

use std::ffi::c_int;

use num_complex::Complex;

use super::call::{Handle, call};
use super::functions::functions;
use super::number::{self, Int, count};
use super::operand::{Place, Vector};
use crate::blas::matrix::{Matrix, Op};
use crate::blas::product;
use crate::blas::scalar::Scalar;
use crate::blas::triangle::Triangle;

#[allow(clippy::too_many_arguments, reason = "the API's own signature")]
unsafe extern "C" fn gemv<T: Scalar, I: Int>(
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
) -> c_int {
    call(handle, &format!("cublas{}gemv", T::LETTER), |call| {
        let (op, m, n) = (number::op(op)?, count(m)?, count(n)?);
        let a = Place::new(a, m, n, a_leading)?;
        let (inputs, outputs) = if op.swaps() { (m, n) } else { (n, m) };
        let (x, y) = (Vector::strict(x, inputs, x_step)?, Vector::strict(y, outputs, y_step)?);
        // SAFETY: the caller's promise.
        let (alpha, beta) = unsafe { (call.scalar(alpha)?, call.scalar(beta)?) };
        if m == 0 || n == 0 {
            return Ok(());
        }
        call.submit(move |memory| {
            let (alpha, beta) = (alpha.get(memory)?, beta.get(memory)?);
            let mut result = vec![T::zero(); outputs];
            if !beta.is_zero() {
                result = y.read(memory)?;
            }
            if alpha.is_zero() {
                product::scale(beta, &mut result);
            } else {
                product::gemv(alpha, &a.read(memory)?, op, &x.read::<T>(memory)?, beta, &mut result);
            }
            y.write(memory, result)
        })
    })
}

/// A product with a symmetric matrix, or a Hermitian one.
#[allow(clippy::too_many_arguments, reason = "the API's own arguments")]
unsafe fn symmetric<T: Scalar, I: Int>(
    handle: Handle,
    hermitian: bool,
    half: c_int,
    n: I,
    alpha: *const T,
    a: (u64, I),
    x: (u64, I),
    beta: *const T,
    y: (u64, I),
) -> c_int {
    let name = if hermitian { "hemv" } else { "symv" };
    call(handle, &format!("cublas{}{name}", T::LETTER), |call| {
        let (half, n) = (number::half(half)?, count(n)?);
        let a = Place::new(a.0, n, n, a.1)?;
        let (x, y) = (Vector::strict(x.0, n, x.1)?, Vector::strict(y.0, n, y.1)?);
        // SAFETY: the caller's promise.
        let (alpha, beta) = unsafe { (call.scalar(alpha)?, call.scalar(beta)?) };
        call.submit(move |memory| {
            let (alpha, beta) = (alpha.get(memory)?, beta.get(memory)?);
            let mut result = vec![T::zero(); n];
            if !beta.is_zero() {
                result = y.read(memory)?;
            }
            if alpha.is_zero() {
                product::scale(beta, &mut result);
            } else {
                let full = a.read_half(memory, half, false)?.mirrored(half, hermitian);
                product::gemv(alpha, &full, Op::None, &x.read::<T>(memory)?, beta, &mut result);
            }
            y.write(memory, result)
        })
    })
}

macro_rules! symmetric {
    ($($function:ident $hermitian:literal)*) => {$(
        #[allow(clippy::too_many_arguments, reason = "the API's own signature")]
        unsafe extern "C" fn $function<T: Scalar, I: Int>(
            handle: Handle,
            half: c_int,
            n: I,
            alpha: *const T,
            a: u64,
            a_leading: I,
            x: u64,
            x_step: I,
            beta: *const T,
            y: u64,
            y_step: I,
        ) -> c_int {
            let (a, x, y) = ((a, a_leading), (x, x_step), (y, y_step));
            // SAFETY: the caller's promise.
            unsafe { symmetric(handle, $hermitian, half, n, alpha, a, x, beta, y) }
        }
    )*};
}
symmetric! { symv false hemv true }

/// A triangular matrix times a vector, or the inverse of it.
fn triangular<T: Scalar, I: Int>(
    handle: Handle,
    solve: bool,
    [half, op, diagonal]: [c_int; 3],
    n: I,
    a: (u64, I),
    x: (u64, I),
) -> c_int {
    let name = if solve { "trsv" } else { "trmv" };
    call(handle, &format!("cublas{}{name}", T::LETTER), |call| {
        let (half, op, ones, n) =
            (number::half(half)?, number::op(op)?, number::second(diagonal)?, count(n)?);
        let (a, x) = (Place::new(a.0, n, n, a.1)?, Vector::strict(x.0, n, x.1)?);
        call.submit(move |memory| {
            let triangle = Triangle { matrix: a.read_half::<T>(memory, half, ones)?, half }.taken(op);
            let mut column = Matrix { rows: n, columns: usize::from(n > 0), data: x.read(memory)? };
            if solve {
                triangle.solve(T::one(), &mut column);
            } else {
                triangle.multiply(T::one(), &mut column);
            }
            x.write(memory, column.data)
        })
    })
}

macro_rules! triangular {
    ($($function:ident $solve:literal)*) => {$(
        #[allow(clippy::too_many_arguments, reason = "the API's own signature")]
        extern "C" fn $function<T: Scalar, I: Int>(
            handle: Handle,
            half: c_int,
            op: c_int,
            diagonal: c_int,
            n: I,
            a: u64,
            a_leading: I,
            x: u64,
            x_step: I,
        ) -> c_int {
            triangular::<T, I>(handle, $solve, [half, op, diagonal], n, (a, a_leading), (x, x_step))
        }
    )*};
}
triangular! { trmv false trsv true }

/// Adds the product of two vectors.
///
/// # Safety
/// As [`super::call::Call::scalar`].
unsafe fn outer<T: Scalar, I: Int>(
    handle: Handle,
    (name, conjugated): (&str, bool),
    (m, n): (I, I),
    alpha: *const T,
    [x, y, a]: [(u64, I); 3],
) -> c_int {
    call(handle, &format!("cublas{}{name}", T::LETTER), |call| {
        let (m, n) = (count(m)?, count(n)?);
        let (x, y) = (Vector::strict(x.0, m, x.1)?, Vector::strict(y.0, n, y.1)?);
        let a = Place::new(a.0, m, n, a.1)?;
        // SAFETY: the caller's promise.
        let alpha = unsafe { call.scalar(alpha) }?;
        call.submit(move |memory| {
            let alpha = alpha.get(memory)?;
            if alpha.is_zero() {
                return Ok(());
            }
            let mut sum = a.read(memory)?;
            product::ger(alpha, &x.read::<T>(memory)?, &y.read::<T>(memory)?, conjugated, &mut sum);
            a.write(memory, &sum)
        })
    })
}

macro_rules! outer {
    ($($function:ident $name:literal $conjugated:literal)*) => {$(
        #[allow(clippy::too_many_arguments, reason = "the API's own signature")]
        unsafe extern "C" fn $function<T: Scalar, I: Int>(
            handle: Handle,
            m: I,
            n: I,
            alpha: *const T,
            x: u64,
            x_step: I,
            y: u64,
            y_step: I,
            a: u64,
            a_leading: I,
        ) -> c_int {
            let operands = [(x, x_step), (y, y_step), (a, a_leading)];
            // SAFETY: the caller's promise.
            unsafe { outer(handle, ($name, $conjugated), (m, n), alpha, operands) }
        }
    )*};
}
outer! { ger "ger" false geru "geru" false gerc "gerc" true }

functions! {
    "cublasSgemv_v2" = gemv<f32>; "cublasDgemv_v2" = gemv<f64>;
    "cublasCgemv_v2" = gemv<Complex<f32>>; "cublasZgemv_v2" = gemv<Complex<f64>>;
    "cublasSsymv_v2" = symv<f32>; "cublasDsymv_v2" = symv<f64>;
    "cublasCsymv_v2" = symv<Complex<f32>>; "cublasZsymv_v2" = symv<Complex<f64>>;
    "cublasChemv_v2" = hemv<Complex<f32>>; "cublasZhemv_v2" = hemv<Complex<f64>>;
    "cublasStrmv_v2" = trmv<f32>; "cublasDtrmv_v2" = trmv<f64>;
    "cublasCtrmv_v2" = trmv<Complex<f32>>; "cublasZtrmv_v2" = trmv<Complex<f64>>;
    "cublasStrsv_v2" = trsv<f32>; "cublasDtrsv_v2" = trsv<f64>;
    "cublasCtrsv_v2" = trsv<Complex<f32>>; "cublasZtrsv_v2" = trsv<Complex<f64>>;
    "cublasSger_v2" = ger<f32>; "cublasDger_v2" = ger<f64>;
    "cublasCgeru_v2" = geru<Complex<f32>>; "cublasZgeru_v2" = geru<Complex<f64>>;
    "cublasCgerc_v2" = gerc<Complex<f32>>; "cublasZgerc_v2" = gerc<Complex<f64>>;
}
