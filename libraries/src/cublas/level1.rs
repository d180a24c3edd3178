//! Level 1: functions of vectors. Counts below 1 are no error: there is nothing to do.

use std::ffi::c_int;

use num_complex::Complex;

use super::call::{Call, Handle, call};
use super::functions::functions;
use super::number::Int;
use super::operand::Vector;
use super::status::{Outcome, Status};
use crate::blas::scalar::Scalar;
use crate::blas::vector;
use crate::work::Plain;

/// A count of values.
fn some<I: Int>(n: I) -> usize {
    usize::try_from(n.wide()).unwrap_or(0)
}

/// A vector of a function that has none where the increment is not above 0, as the reference BLAS says.
fn forward<I: Int>(address: u64, n: I, increment: I) -> Vector {
    Vector::new(address, if increment.wide() > 0 { some(n) } else { 0 }, increment)
}

unsafe extern "C" fn axpy<T: Scalar, I: Int>(
    handle: Handle,
    n: I,
    alpha: *const T,
    x: u64,
    x_step: I,
    y: u64,
    y_step: I,
) -> c_int {
    call(handle, &format!("cublas{}axpy", T::LETTER), |call| {
        // SAFETY: the caller's promise.
        let alpha = unsafe { call.scalar(alpha) }?;
        let (x, y) = (Vector::new(x, some(n), x_step), Vector::written(call, y, some(n), y_step)?);
        call.submit(move |memory| {
            let alpha = alpha.get(memory)?;
            if alpha.is_zero() {
                return Ok(());
            }
            let mut sum = y.read::<T>(memory)?;
            vector::axpy(alpha, &x.read(memory)?, &mut sum);
            y.write(memory, sum)
        })
    })
}

extern "C" fn copy<T: Scalar, I: Int>(handle: Handle, n: I, x: u64, x_step: I, y: u64, y_step: I) -> c_int {
    call(handle, &format!("cublas{}copy", T::LETTER), |call| {
        let (x, y) = (Vector::new(x, some(n), x_step), Vector::written(call, y, some(n), y_step)?);
        call.submit(move |memory| y.write(memory, x.read::<T>(memory)?))
    })
}

extern "C" fn swap<T: Scalar, I: Int>(handle: Handle, n: I, x: u64, x_step: I, y: u64, y_step: I) -> c_int {
    call(handle, &format!("cublas{}swap", T::LETTER), |call| {
        let x = Vector::written(call, x, some(n), x_step)?;
        let y = Vector::written(call, y, some(n), y_step)?;
        call.submit(move |memory| {
            let (from_x, from_y) = (x.read::<T>(memory)?, y.read::<T>(memory)?);
            x.write(memory, from_y)?;
            y.write(memory, from_x)
        })
    })
}

/// The sum of products, and what it is called.
///
/// # Safety
/// As [`Call::result`].
#[allow(clippy::too_many_arguments, reason = "the API's own arguments")]
unsafe fn products<T: Scalar, I: Int>(
    handle: Handle,
    (name, conjugated): (&str, bool),
    n: I,
    x: (u64, I),
    y: (u64, I),
    place: *mut T,
) -> c_int {
    call(handle, &format!("cublas{}{name}", T::LETTER), |call| {
        let (x, y) = (Vector::new(x.0, some(n), x.1), Vector::new(y.0, some(n), y.1));
        // SAFETY: the caller's promise.
        unsafe {
            call.result(place, move |memory| {
                Ok(vector::dot(&x.read::<T>(memory)?, &y.read(memory)?, conjugated))
            })
        }
    })
}

macro_rules! dots {
    ($($function:ident $name:literal $conjugated:literal)*) => {$(
        unsafe extern "C" fn $function<T: Scalar, I: Int>(
            handle: Handle,
            n: I,
            x: u64,
            x_step: I,
            y: u64,
            y_step: I,
            place: *mut T,
        ) -> c_int {
            // SAFETY: the caller's promise.
            unsafe { products(handle, ($name, $conjugated), n, (x, x_step), (y, y_step), place) }
        }
    )*};
}
dots! { dot "dot" false dotu "dotu" false dotc "dotc" true }

/// A real number of a vector.
macro_rules! sizes {
    ($($function:ident)*) => {$(
        unsafe extern "C" fn $function<T: Scalar, I: Int>(
            handle: Handle,
            n: I,
            x: u64,
            step: I,
            place: *mut T::Real,
        ) -> c_int {
            call(handle, &format!("cublas{}{}", T::REAL, stringify!($function)), |call| {
                let x = forward(x, n, step);
                // SAFETY: the caller's promise.
                unsafe { call.result(place, move |memory| Ok(vector::$function(&x.read::<T>(memory)?))) }
            })
        }
    )*};
}
sizes! { nrm2 asum }

/// Finds the place of the largest value, or of the smallest.
///
/// # Safety
/// As [`Call::result`].
unsafe fn extreme<T: Scalar, I: Int + Plain>(
    handle: Handle,
    largest: bool,
    x: (u64, I, I),
    place: *mut I,
) -> c_int {
    let name = format!("cublasI{}{}", T::LETTER.to_lowercase(), if largest { "amax" } else { "amin" });
    call(handle, &name, |call| {
        let (address, n, step) = x;
        let x = forward(address, n, step);
        // SAFETY: the caller's promise.
        unsafe {
            call.result(place, move |memory| Ok(I::of(vector::extreme(&x.read::<T>(memory)?, largest))))
        }
    })
}

unsafe extern "C" fn amax<T: Scalar, I: Int + Plain>(
    handle: Handle,
    n: I,
    x: u64,
    step: I,
    place: *mut I,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { extreme::<T, I>(handle, true, (x, n, step), place) }
}

unsafe extern "C" fn amin<T: Scalar, I: Int + Plain>(
    handle: Handle,
    n: I,
    x: u64,
    step: I,
    place: *mut I,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { extreme::<T, I>(handle, false, (x, n, step), place) }
}

/// A factor of a vector of `T`: of the same type, or a real one.
trait Factor<T>: Plain {
    /// Its letters before the function's name.
    const LETTERS: &'static str;
    /// In the vector's type.
    fn full(self) -> T;
}

macro_rules! factors {
    ($($factor:ty => $type:ty, $letters:literal, |$value:ident| $full:expr;)*) => {$(
        impl Factor<$type> for $factor {
            const LETTERS: &'static str = $letters;
            fn full(self) -> $type {
                let $value = self;
                $full
            }
        }
    )*};
}
factors! {
    f32 => f32, "S", |value| value;
    f64 => f64, "D", |value| value;
    Complex<f32> => Complex<f32>, "C", |value| value;
    Complex<f64> => Complex<f64>, "Z", |value| value;
    f32 => Complex<f32>, "Cs", |value| Complex::new(value, 0.0);
    f64 => Complex<f64>, "Zd", |value| Complex::new(value, 0.0);
}

unsafe extern "C" fn scal<T: Scalar, F: Factor<T>, I: Int>(
    handle: Handle,
    n: I,
    alpha: *const F,
    x: u64,
    step: I,
) -> c_int {
    call(handle, &format!("cublas{}scal", F::LETTERS), |call| {
        // SAFETY: the caller's promise.
        let alpha = unsafe { call.scalar(alpha) }?;
        let x = forward(x, n, step);
        call.submit(move |memory| {
            let mut values = x.read::<T>(memory)?;
            vector::scal(alpha.get(memory)?.full(), &mut values);
            x.write(memory, values)
        })
    })
}

#[allow(clippy::too_many_arguments, reason = "the API's own signature")]
unsafe extern "C" fn rot<T: Scalar, F: Factor<T>, I: Int>(
    handle: Handle,
    n: I,
    x: u64,
    x_step: I,
    y: u64,
    y_step: I,
    c: *const T::Real,
    s: *const F,
) -> c_int {
    call(handle, &format!("cublas{}rot", F::LETTERS), |call| {
        // SAFETY: the caller's promise.
        let (c, s) = unsafe { (call.scalar(c)?, call.scalar(s)?) };
        let x = Vector::written(call, x, some(n), x_step)?;
        let y = Vector::written(call, y, some(n), y_step)?;
        call.submit(move |memory| {
            let (mut of_x, mut of_y) = (x.read::<T>(memory)?, y.read::<T>(memory)?);
            vector::rot(&mut of_x, &mut of_y, c.get(memory)?, s.get(memory)?.full());
            x.write(memory, of_x)?;
            y.write(memory, of_y)
        })
    })
}

/// `rotg` for real numbers; it has no counts.
unsafe extern "C" fn rotg<T: Scalar<Real = T> + num_traits::Float>(
    handle: Handle,
    a: *mut T,
    b: *mut T,
    c: *mut T,
    s: *mut T,
) -> c_int {
    call(handle, &format!("cublas{}rotg", T::LETTER), |call| {
        let places = [a, b, c, s];
        if places.iter().any(|place| place.is_null()) {
            return Err(Status::INVALID_VALUE);
        }
        if !call.on_device() {
            // SAFETY: not null, and the caller's promise.
            unsafe {
                let turn = vector::rotg(a.read_unaligned(), b.read_unaligned());
                places.into_iter().zip(turn).for_each(|(place, value)| place.write_unaligned(value));
            }
            return Ok(());
        }
        turn_on_device::<T>(call, places.map(|place| place as u64))
    })
}

fn turn_on_device<T: Scalar<Real = T> + num_traits::Float>(call: &Call<'_>, places: [u64; 4]) -> Outcome {
    call.submit(move |memory| {
        let turn = vector::rotg(memory.one::<T>(places[0])?, memory.one::<T>(places[1])?);
        places.iter().zip(turn).try_for_each(|(place, value)| memory.write(*place, &[value]))
    })
}

/// The functions of this file that have no counts.
pub static PLAIN: bugaroo_cuda_abi::Functions = &[
    ("cublasSrotg_v2", bugaroo_cuda_abi::FunctionAddress(rotg::<f32> as *const std::ffi::c_void)),
    ("cublasDrotg_v2", bugaroo_cuda_abi::FunctionAddress(rotg::<f64> as *const std::ffi::c_void)),
];

functions! {
    "cublasSaxpy_v2" = axpy<f32>; "cublasDaxpy_v2" = axpy<f64>;
    "cublasCaxpy_v2" = axpy<Complex<f32>>; "cublasZaxpy_v2" = axpy<Complex<f64>>;
    "cublasScopy_v2" = copy<f32>; "cublasDcopy_v2" = copy<f64>;
    "cublasCcopy_v2" = copy<Complex<f32>>; "cublasZcopy_v2" = copy<Complex<f64>>;
    "cublasSswap_v2" = swap<f32>; "cublasDswap_v2" = swap<f64>;
    "cublasCswap_v2" = swap<Complex<f32>>; "cublasZswap_v2" = swap<Complex<f64>>;
    "cublasSdot_v2" = dot<f32>; "cublasDdot_v2" = dot<f64>;
    "cublasCdotu_v2" = dotu<Complex<f32>>; "cublasZdotu_v2" = dotu<Complex<f64>>;
    "cublasCdotc_v2" = dotc<Complex<f32>>; "cublasZdotc_v2" = dotc<Complex<f64>>;
    "cublasSnrm2_v2" = nrm2<f32>; "cublasDnrm2_v2" = nrm2<f64>;
    "cublasScnrm2_v2" = nrm2<Complex<f32>>; "cublasDznrm2_v2" = nrm2<Complex<f64>>;
    "cublasSasum_v2" = asum<f32>; "cublasDasum_v2" = asum<f64>;
    "cublasScasum_v2" = asum<Complex<f32>>; "cublasDzasum_v2" = asum<Complex<f64>>;
    "cublasIsamax_v2" = amax<f32>; "cublasIdamax_v2" = amax<f64>;
    "cublasIcamax_v2" = amax<Complex<f32>>; "cublasIzamax_v2" = amax<Complex<f64>>;
    "cublasIsamin_v2" = amin<f32>; "cublasIdamin_v2" = amin<f64>;
    "cublasIcamin_v2" = amin<Complex<f32>>; "cublasIzamin_v2" = amin<Complex<f64>>;
    "cublasSscal_v2" = scal<f32, f32>; "cublasDscal_v2" = scal<f64, f64>;
    "cublasCscal_v2" = scal<Complex<f32>, Complex<f32>>; "cublasZscal_v2" = scal<Complex<f64>, Complex<f64>>;
    "cublasCsscal_v2" = scal<Complex<f32>, f32>; "cublasZdscal_v2" = scal<Complex<f64>, f64>;
    "cublasSrot_v2" = rot<f32, f32>; "cublasDrot_v2" = rot<f64, f64>;
    "cublasCrot_v2" = rot<Complex<f32>, Complex<f32>>; "cublasZrot_v2" = rot<Complex<f64>, Complex<f64>>;
    "cublasCsrot_v2" = rot<Complex<f32>, f32>; "cublasZdrot_v2" = rot<Complex<f64>, f64>;
}
