//! The functions of the API by name, and how they reach programs.
//!
//! This library exports none of them: a `cudaMalloc` of ours in the global scope would answer for a
//! program that wants another version's. Programs find them in small libraries beside this one
//! (`libcudart.so.13`, `libcudart.so.12`), whose names jump through slots, or through a preloaded library that
//! redirects a runtime that was linked into the program. Both have their slots filled by
//! [`bugaroo_cudart_bind`], by name. So a function of the API is an ordinary `pub unsafe extern "C" fn`
//! in the file of its subject, and a name in the list here.
//!
//! A name that is in no list is answered by a stub, which is told the name by whoever jumps to it: all of
//! them leave the name's address in `rax`, which carries nothing else in a call by the C calling convention
//! of 64-bit Linux without variable arguments.

use std::collections::BTreeSet;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::{Mutex, PoisonError};

use crate::entry::anytime;
use crate::error::Error;
use crate::{configuration, harness, registration, subjects, version12};

/// A function's address.
#[derive(Clone, Copy, Debug)]
pub struct Function(pub *const c_void);

// SAFETY: an address of code, which never changes.
unsafe impl Sync for Function {}
// SAFETY: as above.
unsafe impl Send for Function {}

/// Lists functions of modules in scope, in `FUNCTIONS`. `name = function` where the two are called differently.
macro_rules! export {
    ($($module:ident { $($name:ident $(= $function:ident)?)* })*) => {
        /// Every name listed here, with its function.
        pub static FUNCTIONS: &[(&str, $crate::exports::Function)] = &[$($(
            (stringify!($name), $crate::exports::Function(
                $crate::exports::chosen!($module $name $($function)?) as *const std::ffi::c_void)),
        )*)*];
    };
}
pub(crate) use export;

/// The function that [`export`] lists under a name.
macro_rules! chosen {
    ($module:ident $name:ident) => {
        $module::$name
    };
    ($module:ident $name:ident $function:ident) => {
        $module::$function
    };
}
pub(crate) use chosen;

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
pub fn find(name: &str, version: c_int) -> Option<Function> {
    let older: &[_] = if version <= 12 { version12::FUNCTIONS } else { &[] };
    older
        .iter()
        .chain(FUNCTIONS)
        .chain(subjects::all())
        .find(|(known, _)| *known == name)
        .map(|(_, function)| *function)
}

/// Fills `slots` with the functions that `names` stand for in a version of the API; what is missing gets
/// a stub that names itself.
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
    for index in 0..count as usize {
        // SAFETY: the caller's promise.
        let name = unsafe { CStr::from_ptr(*names.add(index)) };
        let found = name.to_str().ok().and_then(|name| find(name, version));
        let found = found.unwrap_or(Function(missing_stub as *const c_void));
        // SAFETY: the caller's promise.
        unsafe { slots.add(index).write(found.0) };
    }
}

/// Tells [`missing`] the name that its caller left in `rax`.
#[unsafe(naked)]
unsafe extern "C" fn missing_stub() {
    std::arch::naked_asm!("mov rdi, rax", "jmp {missing}", missing = sym missing)
}

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
            harness::unsupported(&format!("{name} is not supported"));
        }
        Err(Error::NOT_SUPPORTED)
    })
}

#[cfg(test)]
mod tests;
