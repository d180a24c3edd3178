//! `/dev/nvidia0`, which is there for a program that asks whether it is.
//!
//! JAX takes a machine without that file for one without a GPU, and asks nobody else (`jax/_src/hardware_utils.py`, JAX 0.10). It asks
//! by `stat`. So ours stands before the C library's, and answers as for `/dev/null`. Opened, the file is missing as ever.

use std::ffi::{CStr, c_char, c_int, c_long, c_void};

/// The file of the first device.
const DEVICE: &CStr = c"/dev/nvidia0";

/// The file that stands for it.
const SHOWN: &CStr = c"/dev/null";

/// # Safety
/// As for `stat`.
unsafe fn look(path: *const c_char, answer: *mut c_void) -> c_int {
    // SAFETY: the caller's promise; a path that is null the kernel refuses, as one that leads nowhere.
    let is_device = !path.is_null() && unsafe { CStr::from_ptr(path) } == DEVICE;
    let path = if is_device { SHOWN.as_ptr() } else { path };
    // SAFETY: the caller's promise. It sets `errno` as `stat` does.
    let done: c_long = unsafe { libc::syscall(libc::SYS_newfstatat, libc::AT_FDCWD, path, answer, 0) };
    done as c_int
}

macro_rules! stats {
    ($($name:ident)*) => {
        $(
            /// # Safety
            /// As for `stat`.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name(path: *const c_char, answer: *mut c_void) -> c_int {
                // SAFETY: the caller's promise.
                unsafe { look(path, answer) }
            }
        )*
    };
}

stats! { stat stat64 }

macro_rules! older {
    ($($name:ident)*) => {
        $(
            /// What programs call that were linked with glibc before 2.33.
            ///
            /// # Safety
            /// As for `stat`.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name(_version: c_int, path: *const c_char, answer: *mut c_void) -> c_int {
                // SAFETY: the caller's promise.
                unsafe { look(path, answer) }
            }
        )*
    };
}

older! { __xstat __xstat64 }

#[cfg(test)]
mod tests {
    use std::path::Path;

    #[test]
    fn the_device_is_there_and_other_files_are_as_they_are() {
        let answer = |path: &std::ffi::CStr| {
            let mut place = std::mem::MaybeUninit::<libc::stat>::uninit();
            // SAFETY: a path and a place for the answer.
            (unsafe { super::stat(path.as_ptr(), place.as_mut_ptr().cast()) } == 0)
                // SAFETY: it was filled.
                .then(|| unsafe { place.assume_init() }.st_mode & libc::S_IFMT)
        };
        assert_eq!(answer(c"/dev/nvidia0"), Some(libc::S_IFCHR));
        assert_eq!(answer(c"/"), Some(libc::S_IFDIR));
        assert_eq!(answer(c"/dev/nvidia00"), None);
        assert!(Path::new("/proc/self/exe").is_file());
    }
}
