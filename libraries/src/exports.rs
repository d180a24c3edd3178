//! The functions by name, and how they reach programs.
//!
//! This library exports none of them, as a program may want those of one version and another one those of the next: small
//! libraries with NVIDIA's names beside it have slots, which [`bugaroo_libraries_bind`] fills when they are loaded. A name
//! that is missing here is refused by name.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

use bugaroo_cuda_abi::{FunctionAddress, fill_slots, refusal};

use crate::unsupported::unsupported;
use crate::{cublas, cufft, curand};

/// What a library answers for what it does not do, by how its names begin: `CUBLAS_STATUS_NOT_SUPPORTED`,
/// `CUFFT_NOT_SUPPORTED`; cuRAND has no such status, and gives `CURAND_STATUS_INTERNAL_ERROR`.
const NOT_SUPPORTED: [(&str, c_int); 3] = [("cublas", 15), ("cufft", 16), ("curand", 999)];

/// The function that a name stands for.
pub fn find(name: &str) -> Option<FunctionAddress> {
    let mut all = cublas::FUNCTIONS
        .iter()
        .chain(cufft::FUNCTIONS)
        .chain(curand::FUNCTIONS)
        .flat_map(|functions| functions.iter());
    all.find(|(known, _)| *known == name).map(|(_, function)| *function)
}

/// Fills `slots` with the functions that `names` stand for; what is missing gets a function that refuses by name. `version` is the
/// library's major number.
///
/// # Safety
/// `names` are `count` C strings that are never freed, `slots` as many places.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bugaroo_libraries_bind(
    names: *const *const c_char,
    slots: *mut *const c_void,
    count: c_uint,
    _version: c_int,
) {
    // SAFETY: the caller's promise.
    unsafe { fill_slots((names, slots, count), find, refuse) };
}

refusal! { refuse, missing }

/// Answers for a function that this version lacks.
///
/// # Safety
/// `name` is a C string.
unsafe extern "C" fn missing(name: *const c_char) -> c_int {
    // SAFETY: the caller's promise.
    let name = unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned();
    unsupported(&format!("{name} is not supported"));
    let answer = NOT_SUPPORTED.iter().find(|(library, _)| name.starts_with(library));
    // No other names jump here; if one did, it would fail.
    answer.map_or(1, |(_, status)| *status)
}
