//! Tells Bugaroo's driver which kernel a module is loaded for, so that it can name it where it refuses the module.

use std::ffi::{CStr, c_char};

use bugaroo_cuda_abi::door;

/// Does something for the sake of a kernel. Another driver is not told.
pub fn for_kernel<T>(name: &CStr, does: impl FnOnce() -> T) -> T {
    tell(name.as_ptr());
    let done = does();
    tell(std::ptr::null());
    done
}

fn tell(name: *const c_char) {
    if let Some(door) = door::open() {
        // SAFETY: null, or a C string that lives through the call. It always succeeds.
        let _ = unsafe { (door.wanted_kernel)(name) };
    }
}
