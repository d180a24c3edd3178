//! Levels 2 and 3: what is added to one half of a symmetric or Hermitian matrix.

use std::ffi::c_int;

use num_complex::Complex;

use super::call::{Call, Handle, Value, call};
use super::functions::functions;
use super::number::{self, Int, count};
use super::operand::{Place, Vector};
use super::status::Outcome;
use crate::blas::matrix::{Half, Matrix, Op};
use crate::blas::product::{self, Update};
use crate::blas::scalar::Scalar;
use crate::driver;
use crate::work::Memory;

/// Which function of the family it is.
#[derive(Clone, Copy, Debug)]
struct Kind {
    /// The result is Hermitian, not symmetric.
    hermitian: bool,
    /// There are two products, each of them the other's transpose.
    both: bool,
}

/// A scalar, of the matrix's type or real.
#[derive(Clone, Copy, Debug)]
enum Factor<T: Scalar> {
    Full(Value<T>),
    Real(Value<T::Real>),
}

impl<T: Scalar> Factor<T> {
    fn get(self, memory: &Memory<'_>) -> driver::Outcome<T> {
        match self {
            Factor::Full(value) => value.get(memory),
            Factor::Real(value) => value.get(memory).map(T::real),
        }
    }
}

/// Adds products of matrices.
///
/// # Errors
/// For arguments that the documentation forbids; as the driver has it.
fn matrices<T: Scalar, I: Int>(
    call: &Call<'_>,
    kind: Kind,
    (half, op): (c_int, c_int),
    (n, k): (I, I),
    factors: [Factor<T>; 2],
    [a, b, c]: [(u64, I); 3],
) -> Outcome {
    let (half, op, n, k) = (number::half(half)?, number::op(op)?, count(n)?, count(k)?);
    let (rows, columns) = if op.swaps() { (k, n) } else { (n, k) };
    let (a, b) = (Place::new(a.0, rows, columns, a.1)?, Place::new(b.0, rows, columns, b.1)?);
    let c = Place::new(c.0, n, n, c.1)?;
    if n == 0 {
        return Ok(());
    }
    let op = match (op, kind.hermitian) {
        (Op::None, _) => Op::None,
        (_, true) => Op::Adjoint,
        (_, false) => Op::Transpose,
    };
    call.submit(move |memory| {
        let (alpha, beta) = (factors[0].get(memory)?, factors[1].get(memory)?);
        let update = Update { alpha, beta, hermitian: kind.hermitian };
        let mut sum = if beta.is_zero() { c.blank() } else { c.read_half(memory, half, false)? };
        let read = |place: Place| -> driver::Outcome<Matrix<T>> {
            if alpha.is_zero() { Ok(Matrix::zero(n, 0)) } else { Ok(place.read(memory)?.taken(op)) }
        };
        let left = read(a)?;
        let right = if a.same(b) { left.clone() } else { read(b)? };
        product::rank_k(update, &left, &right, kind.both, half, &mut sum);
        c.write_half(memory, half, &sum)
    })
}

macro_rules! one {
    ($($function:ident $name:literal $hermitian:literal $kind:ident $factor:ty;)*) => {$(
        #[allow(clippy::too_many_arguments, reason = "the API's own signature")]
        unsafe extern "C" fn $function<T: Scalar, I: Int>(
            handle: Handle,
            half: c_int,
            op: c_int,
            n: I,
            k: I,
            alpha: *const $factor,
            a: u64,
            a_leading: I,
            beta: *const $factor,
            c: u64,
            c_leading: I,
        ) -> c_int {
            call(handle, &format!("cublas{}{}", T::LETTER, $name), |call| {
                // SAFETY: the caller's promise.
                let factors = unsafe { [call.scalar(alpha)?, call.scalar(beta)?] }.map(Factor::<T>::$kind);
                let kind = Kind { hermitian: $hermitian, both: false };
                let places = [(a, a_leading), (a, a_leading), (c, c_leading)];
                matrices(call, kind, (half, op), (n, k), factors, places)
            })
        }
    )*};
}
one! {
    syrk "syrk" false Full T;
    herk "herk" true Real T::Real;
}

macro_rules! two {
    ($($function:ident $name:literal $hermitian:literal $both:literal $kind:ident $factor:ty;)*) => {$(
        #[allow(clippy::too_many_arguments, reason = "the API's own signature")]
        unsafe extern "C" fn $function<T: Scalar, I: Int>(
            handle: Handle,
            half: c_int,
            op: c_int,
            n: I,
            k: I,
            alpha: *const T,
            a: u64,
            a_leading: I,
            b: u64,
            b_leading: I,
            beta: *const $factor,
            c: u64,
            c_leading: I,
        ) -> c_int {
            call(handle, &format!("cublas{}{}", T::LETTER, $name), |call| {
                // SAFETY: the caller's promise.
                let (alpha, beta) = unsafe { (call.scalar(alpha)?, call.scalar(beta)?) };
                let kind = Kind { hermitian: $hermitian, both: $both };
                let places = [(a, a_leading), (b, b_leading), (c, c_leading)];
                let factors = [Factor::Full(alpha), Factor::$kind(beta)];
                matrices::<T, I>(call, kind, (half, op), (n, k), factors, places)
            })
        }
    )*};
}
two! {
    syr2k "syr2k" false true Full T;
    her2k "her2k" true true Real T::Real;
    syrkx "syrkx" false false Full T;
    herkx "herkx" true false Real T::Real;
}

/// Adds products of vectors.
///
/// # Errors
/// As [`matrices`].
fn vectors<T: Scalar, I: Int>(
    call: &Call<'_>,
    kind: Kind,
    half: c_int,
    n: I,
    alpha: Factor<T>,
    [x, y, a]: [(u64, I); 3],
) -> Outcome {
    let (half, n): (Half, usize) = (number::half(half)?, count(n)?);
    let (x, y) = (Vector::strict(x.0, n, x.1)?, Vector::strict(y.0, n, y.1)?);
    let a = Place::new(a.0, n, n, a.1)?;
    call.submit(move |memory| {
        let update = Update { alpha: alpha.get(memory)?, beta: T::one(), hermitian: kind.hermitian };
        if update.alpha.is_zero() {
            return Ok(());
        }
        let column = |data| Matrix { rows: n, columns: 1, data };
        let (x, y) = (column(x.read(memory)?), column(y.read(memory)?));
        let mut sum = a.read_half(memory, half, false)?;
        product::rank_k(update, &x, &y, kind.both, half, &mut sum);
        a.write_half(memory, half, &sum)
    })
}

macro_rules! one_vector {
    ($($function:ident $name:literal $hermitian:literal $kind:ident $factor:ty;)*) => {$(
        #[allow(clippy::too_many_arguments, reason = "the API's own signature")]
        unsafe extern "C" fn $function<T: Scalar, I: Int>(
            handle: Handle,
            half: c_int,
            n: I,
            alpha: *const $factor,
            x: u64,
            x_step: I,
            a: u64,
            a_leading: I,
        ) -> c_int {
            call(handle, &format!("cublas{}{}", T::LETTER, $name), |call| {
                // SAFETY: the caller's promise.
                let alpha = Factor::<T>::$kind(unsafe { call.scalar(alpha) }?);
                let kind = Kind { hermitian: $hermitian, both: false };
                vectors(call, kind, half, n, alpha, [(x, x_step), (x, x_step), (a, a_leading)])
            })
        }
    )*};
}
one_vector! {
    syr "syr" false Full T;
    her "her" true Real T::Real;
}

macro_rules! two_vectors {
    ($($function:ident $name:literal $hermitian:literal;)*) => {$(
        #[allow(clippy::too_many_arguments, reason = "the API's own signature")]
        unsafe extern "C" fn $function<T: Scalar, I: Int>(
            handle: Handle,
            half: c_int,
            n: I,
            alpha: *const T,
            x: u64,
            x_step: I,
            y: u64,
            y_step: I,
            a: u64,
            a_leading: I,
        ) -> c_int {
            call(handle, &format!("cublas{}{}", T::LETTER, $name), |call| {
                // SAFETY: the caller's promise.
                let alpha = Factor::<T>::Full(unsafe { call.scalar(alpha) }?);
                let kind = Kind { hermitian: $hermitian, both: true };
                vectors(call, kind, half, n, alpha, [(x, x_step), (y, y_step), (a, a_leading)])
            })
        }
    )*};
}
two_vectors! { syr2 "syr2" false; her2 "her2" true; }

functions! {
    "cublasSsyrk_v2" = syrk<f32>; "cublasDsyrk_v2" = syrk<f64>;
    "cublasCsyrk_v2" = syrk<Complex<f32>>; "cublasZsyrk_v2" = syrk<Complex<f64>>;
    "cublasCherk_v2" = herk<Complex<f32>>; "cublasZherk_v2" = herk<Complex<f64>>;
    "cublasSsyr2k_v2" = syr2k<f32>; "cublasDsyr2k_v2" = syr2k<f64>;
    "cublasCsyr2k_v2" = syr2k<Complex<f32>>; "cublasZsyr2k_v2" = syr2k<Complex<f64>>;
    "cublasCher2k_v2" = her2k<Complex<f32>>; "cublasZher2k_v2" = her2k<Complex<f64>>;
    "cublasSsyrkx" = syrkx<f32>; "cublasDsyrkx" = syrkx<f64>;
    "cublasCsyrkx" = syrkx<Complex<f32>>; "cublasZsyrkx" = syrkx<Complex<f64>>;
    "cublasCherkx" = herkx<Complex<f32>>; "cublasZherkx" = herkx<Complex<f64>>;
    "cublasSsyr_v2" = syr<f32>; "cublasDsyr_v2" = syr<f64>;
    "cublasCsyr_v2" = syr<Complex<f32>>; "cublasZsyr_v2" = syr<Complex<f64>>;
    "cublasCher_v2" = her<Complex<f32>>; "cublasZher_v2" = her<Complex<f64>>;
    "cublasSsyr2_v2" = syr2<f32>; "cublasDsyr2_v2" = syr2<f64>;
    "cublasCsyr2_v2" = syr2<Complex<f32>>; "cublasZsyr2_v2" = syr2<Complex<f64>>;
    "cublasCher2_v2" = her2<Complex<f32>>; "cublasZher2_v2" = her2<Complex<f64>>;
}
