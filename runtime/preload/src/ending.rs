//! NVIDIA's libraries that Bugaroo's stand for have nothing to do at the end of a process.
//!
//! All their functions jump to Bugaroo's, so that nothing sees what their own objects hold. Their destructors, which the C library
//! runs when a process exits, take tables of kernels apart, entry by entry. For a trial that is forked that is to copy some thousand
//! pages. So what such a library registers for the end (`__cxa_atexit`, Itanium C++ ABI 3.3.6) is not taken in; all else is handed on to the
//! C library.
//!
//! What it can miss: a function of such a library that does something outside of the process at its end.

use std::ffi::{c_int, c_void};
use std::ops::Range;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, PoisonError};

type Ends = Option<unsafe extern "C" fn(*mut c_void)>;
type Registers = unsafe extern "C" fn(Ends, *mut c_void, *mut c_void) -> c_int;

/// Where libraries lie whose functions were redirected.
static REDIRECTED: Mutex<Vec<Range<usize>>> = Mutex::new(Vec::new());

/// A library that lies here has been redirected. Its initialisers run after that.
pub fn redirected(place: Range<usize>) {
    REDIRECTED.lock().unwrap_or_else(PoisonError::into_inner).push(place);
}

/// Whether a library's handle, an address in it, is that of such a one.
fn is_redirected(library: *mut c_void) -> bool {
    let all = REDIRECTED.lock().unwrap_or_else(PoisonError::into_inner);
    all.iter().any(|place| place.contains(&(library as usize)))
}

/// Stands before the C library's function of this name.
///
/// # Safety
/// As that function has it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cxa_atexit(function: Ends, argument: *mut c_void, library: *mut c_void) -> c_int {
    if is_redirected(library) {
        return 0;
    }
    static NEXT: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
    let mut next = NEXT.load(Ordering::Relaxed);
    if next.is_null() {
        // SAFETY: a C string.
        next = unsafe { libc::dlsym(libc::RTLD_NEXT, c"__cxa_atexit".as_ptr()) };
        NEXT.store(next, Ordering::Relaxed);
    }
    if next.is_null() {
        // As where there is no memory for it.
        return -1;
    }
    // SAFETY: the C library's function is of this type; the caller's promise.
    unsafe { std::mem::transmute::<*mut c_void, Registers>(next)(function, argument, library) }
}
