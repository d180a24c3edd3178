//! The functions by name, and how they reach programs.
//!
//! This library exports none of them, as a program may want those of one version and another one those of the next: small
//! libraries with NVIDIA's names beside it have slots, which [`bugaroo_libraries_bind`] fills when they are loaded. A name
//! that is missing here gets a stub, which is told the name by whoever jumps to it: in `rax`, which carries nothing
//! else in a call by the C calling convention of 64-bit Linux without variable arguments.

use std::collections::BTreeSet;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::panic::catch_unwind;
use std::sync::{Mutex, PoisonError};

use bugaroo_protocol::{ORDERS_VARIABLE, notice};

use crate::{cublas, cufft, curand};

/// What a library answers for what it does not do, by how its names begin: `CUBLAS_STATUS_NOT_SUPPORTED`,
/// `CUFFT_NOT_SUPPORTED`; cuRAND has no such status, and gives `CURAND_STATUS_INTERNAL_ERROR`.
const NOT_SUPPORTED: [(&str, c_int); 3] = [("cublas", 15), ("cufft", 16), ("curand", 999)];

/// A function's address.
#[derive(Clone, Copy, Debug)]
pub struct Function(pub *const c_void);

// SAFETY: an address of code, which never changes.
unsafe impl Sync for Function {}
// SAFETY: as above.
unsafe impl Send for Function {}

/// A table of functions by name.
pub type Functions = &'static [(&'static str, Function)];

/// The function that a name stands for.
pub fn find(name: &str) -> Option<Function> {
    let mut all = cublas::FUNCTIONS
        .iter()
        .chain(cufft::FUNCTIONS)
        .chain(curand::FUNCTIONS)
        .flat_map(|functions| functions.iter());
    all.find(|(known, _)| *known == name).map(|(_, function)| *function)
}

/// Fills `slots` with the functions that `names` stand for; what is missing gets a stub that names itself. `version` is the
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
    for index in 0..count as usize {
        // SAFETY: the caller's promise.
        let name = unsafe { CStr::from_ptr(*names.add(index)) };
        let found = name.to_str().ok().and_then(find);
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

/// Says what cannot be done, once, here and to the harness.
pub fn unsupported(what: &str) {
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let _ = catch_unwind(|| {
        if SAID.lock().unwrap_or_else(PoisonError::into_inner).insert(what.to_owned()) {
            notice::unsupported(std::env::var(ORDERS_VARIABLE).ok().as_deref(), what);
        }
    });
}
