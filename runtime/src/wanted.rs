//! Tells Bugaroo's driver which kernel a module is loaded for, so that it can name it where it refuses the module.

use std::ffi::{CStr, c_char, c_void};
use std::sync::atomic::AtomicPtr;

use crate::driver::bind;

type Wanted = unsafe extern "C" fn(*const c_char);

/// Does something for the sake of a kernel. Another driver is not told.
pub fn for_kernel<T>(name: &CStr, does: impl FnOnce() -> T) -> T {
    tell(name.as_ptr());
    let done = does();
    tell(std::ptr::null());
    done
}

fn tell(name: *const c_char) {
    static SLOT: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
    let Ok(address) = bind(&SLOT, c"bugaroo_wanted_kernel") else { return };
    // SAFETY: the driver's function by that name is of this type.
    let wanted: Wanted = unsafe { std::mem::transmute(address) };
    // SAFETY: null, or a C string that lives through the call.
    unsafe { wanted(name) };
}
