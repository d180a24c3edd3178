//! What makes numbers: into device memory as work of the generator's stream, or into the host's at the call.

use std::ffi::{c_int, c_uint, c_void};
use std::sync::{Arc, PoisonError};

use bugaroo_cuda_abi::{CUstream, FunctionAddress, Functions};

use super::generator::{self, Handle};
use super::status::{Outcome, Status, anytime};
use crate::driver;
use crate::random::{Kind, Law, State};
use crate::work::{self, Plain};

/// How many numbers are made at a time.
const PIECE: usize = 1 << 20;

/// Makes `count` numbers by `draw`.
///
/// # Errors
/// `CURAND_STATUS_NOT_INITIALIZED` without a generator; as the driver has it.
///
/// # Safety
/// For a generator of the host's, `place` is null or points to a place for as many.
unsafe fn generate<T: Plain>(
    name: &str,
    handle: Handle,
    (place, count): (*mut T, usize),
    pairs: bool,
    draw: impl Fn(&mut State, usize) -> Vec<T> + Send + 'static,
) -> Outcome {
    let generator = generator::find(handle)?;
    let kind = generator.kind;
    let (of, piece) = match kind {
        // As many for each dimension, which come one after the other.
        Kind::Sobol { dimensions, .. } => (dimensions, count.max(1)),
        Kind::Philox => (1, PIECE),
        // The others make two normal numbers at once.
        Kind::Xorwow | Kind::Mrg(_) => (1 + usize::from(pairs), PIECE),
    };
    if count % of != 0 {
        return Err(Status::LENGTH_NOT_MULTIPLE);
    }
    if count == 0 {
        return Ok(());
    }
    if place.is_null() {
        return Err(Status::OUT_OF_RANGE);
    }
    let (begin, state) = (generator.begin(), Arc::clone(&generator.state));
    let pieces = move || (0..count).step_by(piece).map(move |first| (first, piece.min(count - first)));
    if generator.on_host {
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        let state = state.get_or_insert_with(begin);
        state.spread(kind);
        for (first, length) in pieces() {
            for (index, value) in draw(state, length).into_iter().enumerate() {
                // SAFETY: not null, and the caller vouches for the rest.
                unsafe { place.add(first + index).write_unaligned(value) };
            }
        }
        return Ok(());
    }
    driver::ready()?;
    let address = place as u64;
    work::submit(name, generator.stream as CUstream, move |memory| {
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        let state = state.get_or_insert_with(&begin);
        state.spread(kind);
        pieces().try_for_each(|(first, length)| {
            memory.write(address.wrapping_add((first * size_of::<T>()) as u64), &draw(state, length))
        })
    })?;
    Ok(())
}

unsafe extern "C" fn bits(handle: Handle, place: *mut c_uint, count: usize) -> c_int {
    let name = "curandGenerate";
    anytime(name, || {
        if matches!(generator::find(handle)?.kind, Kind::Sobol { wide: true, .. }) {
            return Err(Status::TYPE_ERROR);
        }
        // SAFETY: the caller's promise.
        unsafe { generate(name, handle, (place, count), false, State::bits) }
    })
}

unsafe extern "C" fn uniform(handle: Handle, place: *mut f32, count: usize) -> c_int {
    let name = "curandGenerateUniform";
    // SAFETY: the caller's promise.
    anytime(name, || unsafe {
        generate(name, handle, (place, count), false, |state, count| state.single(Law::Uniform, count))
    })
}

unsafe extern "C" fn uniform_double(handle: Handle, place: *mut f64, count: usize) -> c_int {
    let name = "curandGenerateUniformDouble";
    // SAFETY: the caller's promise.
    anytime(name, || unsafe {
        generate(name, handle, (place, count), false, |state, count| state.double(Law::Uniform, count))
    })
}

macro_rules! normal {
    ($($function:ident $log:ident $name:literal $log_name:literal $draw:ident $type:ty;)*) => {$(
        unsafe extern "C" fn $function(
            handle: Handle,
            place: *mut $type,
            count: usize,
            mean: $type,
            deviation: $type,
        ) -> c_int {
            // SAFETY: the caller's promise.
            anytime($name, || unsafe {
                generate($name, handle, (place, count), true, move |state, count| {
                    let drawn = state.$draw(Law::Normal, count);
                    drawn.into_iter().map(|value| value * deviation + mean).collect()
                })
            })
        }

        unsafe extern "C" fn $log(
            handle: Handle,
            place: *mut $type,
            count: usize,
            mean: $type,
            deviation: $type,
        ) -> c_int {
            // SAFETY: the caller's promise.
            anytime($log_name, || unsafe {
                generate($log_name, handle, (place, count), true, move |state, count| {
                    let drawn = state.$draw(Law::Normal, count);
                    drawn.into_iter().map(|value| (value * deviation + mean).exp()).collect()
                })
            })
        }
    )*};
}
normal! {
    normal log_normal "curandGenerateNormal" "curandGenerateLogNormal" single f32;
    normal_double log_normal_double "curandGenerateNormalDouble" "curandGenerateLogNormalDouble" double f64;
}

/// Numbers of 64 bits are for quasirandom generators of that width.
unsafe extern "C" fn wide_bits(handle: Handle, place: *mut u64, count: usize) -> c_int {
    let name = "curandGenerateLongLong";
    anytime(name, || match generator::find(handle)?.kind {
        // SAFETY: the caller's promise.
        Kind::Sobol { wide: true, .. } => unsafe {
            generate(name, handle, (place, count), false, State::wide_bits)
        },
        _ => Err(Status::TYPE_ERROR),
    })
}

/// The functions of this file, by name.
pub static FUNCTIONS: Functions = &[
    ("curandGenerate", FunctionAddress(bits as *const c_void)),
    ("curandGenerateLongLong", FunctionAddress(wide_bits as *const c_void)),
    ("curandGenerateUniform", FunctionAddress(uniform as *const c_void)),
    ("curandGenerateUniformDouble", FunctionAddress(uniform_double as *const c_void)),
    ("curandGenerateNormal", FunctionAddress(normal as *const c_void)),
    ("curandGenerateNormalDouble", FunctionAddress(normal_double as *const c_void)),
    ("curandGenerateLogNormal", FunctionAddress(log_normal as *const c_void)),
    ("curandGenerateLogNormalDouble", FunctionAddress(log_normal_double as *const c_void)),
];
