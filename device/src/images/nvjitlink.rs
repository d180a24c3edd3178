//! Python's CUDA libraries are kept from linking machine code by themselves.
//!
//! Where `libnvJitLink` is installed, numba-cuda and cuda.core have it turn PTX into machine code, which
//! the virtual GPU cannot run; where it lacks its functions, they link PTX with the driver's own
//! `cuLink*`. They look for a library of that name among those that are loaded before they search for one
//! (`cuda.pathfinder`). So an empty one by its name is loaded together with the driver, unless the program loaded
//! the real one before. (They ask before they initialise the driver, but after they loaded it.)
//!
//! Only in Python: a library of NVIDIA's that was linked with the real one would find the empty one, too.
//! None of them runs here, as they hold machine code alone.

use std::ffi::CStr;
use std::fs::File;
use std::io::Write as _;
use std::os::fd::{AsRawFd as _, FromRawFd as _};

use crate::own_writes;

/// Names of the real library, and an empty one of that name, which the build script links.
const EMPTY: [(&CStr, &[u8]); 2] = [
    (c"libnvJitLink.so.13", include_bytes!(concat!(env!("OUT_DIR"), "/libnvJitLink.so.13"))),
    (c"libnvJitLink.so.12", include_bytes!(concat!(env!("OUT_DIR"), "/libnvJitLink.so.12"))),
];

/// Run by the loader, with this library.
#[used]
#[unsafe(link_section = ".init_array")]
static START: extern "C" fn() = start;

extern "C" fn start() {
    if is_python() {
        // A panic that came out of here would end a program that might never need us.
        let _ = std::panic::catch_unwind(hide);
    }
}

fn is_python() -> bool {
    // SAFETY: the name is a C string; a symbol that is found is not touched.
    !unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"Py_IsInitialized".as_ptr()) }.is_null()
}

/// Loads the empty libraries. Where this fails, Python's libraries find the real one, and the driver says what
/// is wrong with machine code.
fn hide() {
    if EMPTY.iter().any(|(name, _)| loaded(name)) {
        return;
    }
    // All are kept open until all are loaded: the loader tells them apart by the numbers in their paths.
    let _files: Vec<_> = EMPTY.iter().map(|(_, bytes)| load(bytes)).collect();
}

fn loaded(name: &CStr) -> bool {
    // SAFETY: the name is a C string; nothing is loaded.
    let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
    if !handle.is_null() {
        // SAFETY: the handle was just given out; the library stays loaded as often as before.
        unsafe { libc::dlclose(handle) };
    }
    !handle.is_null()
}

/// Loads a library from memory, for good; the file may be closed then.
fn load(bytes: &[u8]) -> std::io::Result<File> {
    // SAFETY: the name is a C string; the descriptor is nobody else's.
    let mut file = unsafe {
        let descriptor = libc::memfd_create(c"bugaroo-nvjitlink".as_ptr(), libc::MFD_CLOEXEC);
        if descriptor < 0 {
            return Err(std::io::Error::last_os_error());
        }
        File::from_raw_fd(descriptor)
    };
    file.write_all(bytes)?;
    own_writes::add(bytes.len());
    let path = format!("/proc/self/fd/{}\0", file.as_raw_fd());
    // SAFETY: the path ends with a NUL; the library has no code.
    let handle = unsafe { libc::dlopen(path.as_ptr().cast(), libc::RTLD_LAZY | libc::RTLD_LOCAL) };
    if handle.is_null() { Err(std::io::Error::other("the loader refuses it")) } else { Ok(file) }
}

#[cfg(test)]
mod tests;
