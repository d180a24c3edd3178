//! A fork that the program does not hear of.
//!
//! A trial is to go on as the program would have, and the program has not asked for a fork. `fork` runs what libraries have
//! registered for it (`pthread_atfork`): torch notes there that it must not use the GPU any more, and fails whatever comes next. `_Fork`
//! (POSIX.1-2024, glibc 2.34) runs none of it. What else `fork` does is to hold the C library's locks meanwhile, against other threads;
//! a program that is forked has none ([`super::examine`]).
//!
//! What it can miss: before glibc 2.34 the handlers run.

use std::sync::OnceLock;

type Fork = unsafe extern "C" fn() -> libc::pid_t;

/// Forks this process.
///
/// # Safety
/// The process has one thread.
pub unsafe fn fork() -> libc::pid_t {
    static UNHEARD: OnceLock<Option<Fork>> = OnceLock::new();
    let unheard = UNHEARD.get_or_init(|| {
        // SAFETY: the name is a C string; a function by that name is of this type.
        unsafe {
            let place = libc::dlsym(libc::RTLD_DEFAULT, c"_Fork".as_ptr());
            (!place.is_null()).then(|| std::mem::transmute::<*mut libc::c_void, Fork>(place))
        }
    });
    // SAFETY: with one thread, no lock is held that the child would wait for.
    unsafe { unheard.map_or_else(|| libc::fork(), |fork| fork()) }
}
