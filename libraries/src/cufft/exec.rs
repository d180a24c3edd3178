//! What a plan does, as work of its stream.

use std::ffi::{c_int, c_void};

use bugaroo_cuda_abi::{CUstream, FunctionAddress, Functions};
use num_complex::Complex;
use rustfft::FftDirection;

use super::plan::{self, Kind, Transforms};
use super::status::{Outcome, Status, anytime};
use crate::driver;
use crate::fft::{self, C};
use crate::work::{self, Memory, Plain};

/// A precision.
trait Real: Plain {
    type Complex: Plain;
    fn full(self) -> f64;
    fn of(value: f64) -> Self;
    fn full_complex(value: Self::Complex) -> C;
    fn of_complex(value: C) -> Self::Complex;
}

macro_rules! precisions {
    ($($type:ty)*) => {$(
        impl Real for $type {
            type Complex = Complex<$type>;
            fn full(self) -> f64 {
                f64::from(self)
            }
            fn of(value: f64) -> Self {
                value as $type
            }
            fn full_complex(value: Complex<$type>) -> C {
                C::new(f64::from(value.re), f64::from(value.im))
            }
            fn of_complex(value: C) -> Complex<$type> {
                Complex::new(value.re as $type, value.im as $type)
            }
        }
    )*};
}
precisions! { f32 f64 }

/// Does a plan's transforms.
///
/// # Errors
/// As [`Memory::rows`].
fn compute<R: Real>(
    memory: &Memory<'_>,
    plan: &Transforms,
    (from, to): (u64, u64),
    direction: FftDirection,
) -> driver::Outcome {
    let which = usize::from(from != to);
    let (input, output) = (&plan.from[which], &plan.to[which]);
    // All is read before anything is written: in place, transforms may stand in each other's way.
    let complex = |transform| -> driver::Outcome<Vec<C>> {
        let values = input.read::<R::Complex>(memory, from, transform)?;
        Ok(values.into_iter().map(R::full_complex).collect())
    };
    let mut results = Vec::with_capacity(plan.batch);
    let mut reals = Vec::new();
    for transform in 0..plan.batch {
        match plan.kind {
            Kind::Complex => {
                let mut values = complex(transform)?;
                fft::complex(&plan.extents, direction, &mut values);
                results.push(values);
            }
            Kind::Forth => {
                let values: Vec<f64> =
                    input.read::<R>(memory, from, transform)?.into_iter().map(R::full).collect();
                results.push(fft::real(&plan.extents, &values));
            }
            Kind::Back => reals.push(fft::back_to_real(&plan.extents, complex(transform)?)),
        }
    }
    for (transform, values) in results.into_iter().enumerate() {
        let values: Vec<R::Complex> = values.into_iter().map(R::of_complex).collect();
        output.write(memory, to, transform, &values)?;
    }
    for (transform, values) in reals.into_iter().enumerate() {
        let values: Vec<R> = values.into_iter().map(R::of).collect();
        output.write(memory, to, transform, &values)?;
    }
    Ok(())
}

/// Hands a plan's transforms over to its stream.
///
/// # Errors
/// `CUFFT_INVALID_PLAN` for a plan of another type, or one that was not made; as the driver has it.
fn exec(
    name: &str,
    number: c_int,
    (kind, double): (Kind, bool),
    places: (u64, u64),
    direction: FftDirection,
) -> Outcome {
    let plan = plan::find(number)?;
    let transforms = plan.transforms.ok_or(Status::INVALID_PLAN)?;
    if (transforms.kind, transforms.double) != (kind, double) {
        return Err(Status::INVALID_PLAN);
    }
    if places.0 == 0 || places.1 == 0 {
        return Err(Status::INVALID_VALUE);
    }
    driver::ready()?;
    let done = work::submit(name, plan.stream as CUstream, move |memory| {
        if transforms.double {
            compute::<f64>(memory, &transforms, places, direction)
        } else {
            compute::<f32>(memory, &transforms, places, direction)
        }
    });
    Ok(done?)
}

/// `CUFFT_FORWARD` and `CUFFT_INVERSE`.
fn direction(number: c_int) -> Outcome<FftDirection> {
    match number {
        -1 => Ok(FftDirection::Forward),
        1 => Ok(FftDirection::Inverse),
        _ => Err(Status::INVALID_VALUE),
    }
}

/// Does what a plan says, of whatever type it is.
pub fn of_any_type(name: &str, number: c_int, places: (u64, u64), way: c_int) -> c_int {
    anytime(name, || {
        let transforms = plan::find(number)?.transforms.ok_or(Status::INVALID_PLAN)?;
        let way = match transforms.kind {
            Kind::Complex => direction(way)?,
            Kind::Forth => FftDirection::Forward,
            Kind::Back => FftDirection::Inverse,
        };
        exec(name, number, (transforms.kind, transforms.double), places, way)
    })
}

macro_rules! complex {
    ($($function:ident $name:literal $double:literal;)*) => {$(
        extern "C" fn $function(plan: c_int, from: u64, to: u64, way: c_int) -> c_int {
            anytime($name, || exec($name, plan, (Kind::Complex, $double), (from, to), direction(way)?))
        }
    )*};
}
complex! { c2c "cufftExecC2C" false; z2z "cufftExecZ2Z" true; }

macro_rules! real {
    ($($function:ident $name:literal $kind:ident $direction:ident $double:literal;)*) => {$(
        extern "C" fn $function(plan: c_int, from: u64, to: u64) -> c_int {
            anytime($name, || {
                exec($name, plan, (Kind::$kind, $double), (from, to), FftDirection::$direction)
            })
        }
    )*};
}
real! {
    r2c "cufftExecR2C" Forth Forward false;
    c2r "cufftExecC2R" Back Inverse false;
    d2z "cufftExecD2Z" Forth Forward true;
    z2d "cufftExecZ2D" Back Inverse true;
}

/// The functions of this file, by name.
pub static FUNCTIONS: Functions = &[
    ("cufftExecC2C", FunctionAddress(c2c as *const c_void)),
    ("cufftExecZ2Z", FunctionAddress(z2z as *const c_void)),
    ("cufftExecR2C", FunctionAddress(r2c as *const c_void)),
    ("cufftExecC2R", FunctionAddress(c2r as *const c_void)),
    ("cufftExecD2Z", FunctionAddress(d2z as *const c_void)),
    ("cufftExecZ2D", FunctionAddress(z2d as *const c_void)),
];
