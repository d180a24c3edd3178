//! Tells of a library that asks for internal functions of NVIDIA's driver which Bugaroo lacks ([`crate::api::export`]).
//!
//! Such a library, a profiler's or a CUDA runtime of another version for one, may fail then with an error that says nothing. Most such
//! libraries are loaded and never used: so it is told when they ask, and not when they are loaded.

use std::collections::BTreeSet;
use std::ffi::{CStr, c_int, c_void};
use std::sync::{Mutex, PoisonError};

/// NVIDIA's compilers do without, whatever they ask for.
const COMPILERS: [&str; 2] = ["libnvrtc", "libnvJitLink"];

/// Frames of the stack that are looked at: the calls within this library, and the caller.
const FRAMES: usize = 32;

/// Libraries that were named already.
static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Says, once, who asks for a table, and for which.
pub fn tell(table: u128) {
    let Some(library) = caller() else { return };
    let name = library.rsplit('/').next().unwrap_or_default();
    if COMPILERS.iter().any(|compiler| name.starts_with(compiler)) {
        return;
    }
    if SAID.lock().unwrap_or_else(PoisonError::into_inner).insert(library.clone()) {
        eprintln!(
            "bugaroo: {library} asks for internal functions of NVIDIA's driver that Bugaroo lacks (table {}): what it needs them for may \
             fail. If it is a program or library with the CUDA runtime linked in, relink it with `-cudart shared`, or don't strip it",
            hyphenated(table)
        );
    }
}

/// A UUID as it is written.
fn hyphenated(uuid: u128) -> String {
    let text = format!("{uuid:032x}");
    [&text[..8], &text[8..12], &text[12..16], &text[16..20], &text[20..]].join("-")
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
