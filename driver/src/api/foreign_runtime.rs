//! Tells of a CUDA runtime of NVIDIA's that runs in the program in spite of all.
//!
//! Such a runtime asks the driver for tables of internal functions before all else, which there are none of here: it
//! fails with an error that says nothing. It was linked into a library whose symbols are gone, so
//! that nothing could redirect it. Most such libraries are loaded and never used: so it is told here, and not when they
//! are loaded.

use std::collections::BTreeSet;
use std::ffi::{CStr, c_int, c_void};
use std::sync::{Mutex, PoisonError};

/// NVIDIA's compilers ask for a table, too, and do without.
const COMPILERS: [&str; 2] = ["libnvrtc", "libnvJitLink"];

/// Frames of the stack that are looked at: the calls within this library, and the caller.
const FRAMES: usize = 32;

/// Libraries that were named already.
static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Says, once, what asks for the tables.
pub fn tell() {
    let Some(library) = caller() else { return };
    let name = library.rsplit('/').next().unwrap_or_default();
    if COMPILERS.iter().any(|compiler| name.starts_with(compiler)) {
        return;
    }
    if SAID.lock().unwrap_or_else(PoisonError::into_inner).insert(library.clone()) {
        eprintln!(
            "bugaroo: {library} was linked with the static CUDA runtime and stripped of its symbols, and so its calls of the \
             runtime fail: relink it with `-cudart shared`, or don't strip it (NVIDIA's own libraries, as cuBLAS, \
             hold machine code, which Bugaroo does not run)"
        );
    }
}

/// The file of the code that called, which is not this library's.
fn caller() -> Option<String> {
    let mut frames = [std::ptr::null_mut::<c_void>(); FRAMES];
    // SAFETY: there is room for as many.
    let count = unsafe { libc::backtrace(frames.as_mut_ptr(), FRAMES as c_int) };
    let own = object(caller as *const c_void)?;
    let count = usize::try_from(count).unwrap_or(0).min(FRAMES);
    let mut others = frames[..count].iter().filter_map(|frame| object(*frame)).filter(|file| *file != own);
    others.next()
}

/// The file that an address of code came from.
fn object(address: *const c_void) -> Option<String> {
    // SAFETY: plain data; what is found is a C string of the loader's.
    unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        if libc::dladdr(address, &raw mut info) == 0 || info.dli_fname.is_null() {
            return None;
        }
        Some(CStr::from_ptr(info.dli_fname).to_string_lossy().into_owned())
    }
}
