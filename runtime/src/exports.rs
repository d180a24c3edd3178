//! The functions of the API by name, and how they reach programs.
//!
//! This library exports none of them: a `cudaMalloc` of ours in the global scope would answer for a
//! program that wants another version's. Programs find them in small libraries beside this one
//! (`libcudart.so.13`, `libcudart.so.12`), whose names jump through slots, or through a preloaded library that
//! redirects a runtime that was linked into the program. Both have their slots filled by
//! [`bugaroo_cudart_bind`], by name. So a function of the API is an ordinary `pub unsafe extern "C" fn`
//! in the file of its subject, and a name in the list here.
//!
//! A name that is in no list is refused by name.

use std::collections::BTreeSet;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::{Mutex, PoisonError};

use bugaroo_cuda_abi::{FunctionAddress, fill_slots, refusal};

use crate::entry::anytime;
use crate::error::RuntimeError;
use crate::list::export;
use crate::{configuration, registration, subjects, told, version12};

export! {
    configuration {
        __cudaPopCallConfiguration __cudaPushCallConfiguration
    }
    registration {
        __cudaGetKernel __cudaInitModule __cudaRegisterFatBinary __cudaRegisterFatBinaryEnd
        __cudaRegisterFunction __cudaRegisterHostVar __cudaRegisterManagedVar __cudaRegisterUnifiedTable
        __cudaRegisterVar __cudaUnregisterFatBinary
    }
}

/// The function that a name stands for in a version of the API (its major number).
pub fn find(name: &str, version: c_int) -> Option<FunctionAddress> {
    let older: &[_] = if version <= 12 { version12::FUNCTIONS } else { &[] };
    older
        .iter()
        .chain(FUNCTIONS)
        .chain(subjects::all())
        .find(|(known, _)| *known == name)
        .map(|(_, function)| *function)
}

/// Fills `slots` with the functions that `names` stand for in a version of the API; what is missing gets
/// a function that refuses by name.
///
/// # Safety
/// `names` are `count` C strings that are never freed, `slots` as many places.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bugaroo_cudart_bind(
    names: *const *const c_char,
    slots: *mut *const c_void,
    count: c_uint,
    version: c_int,
) {
    // SAFETY: the caller's promise.
    unsafe { fill_slots((names, slots, count), |name| find(name, version), refuse) };
}

refusal! { refuse, missing }

/// Answers for a function that this version lacks: says its name, once, here and to the harness.
///
/// # Safety
/// `name` is a C string.
unsafe extern "C" fn missing(name: *const c_char) -> c_int {
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    // SAFETY: the caller's promise.
    let name = unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned();
    anytime("a missing function", || {
        if SAID.lock().unwrap_or_else(PoisonError::into_inner).insert(name.clone()) {
            told::unsupported(&format!("{name} is not supported"));
        }
        Err(RuntimeError::NOT_SUPPORTED)
    })
}

#[cfg(test)]
mod tests;
