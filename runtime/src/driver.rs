//! The Driver API, bound by name when first called.
//!
//! The library asks the loader for `libcuda.so.1`, which is the copy that the program uses itself, if it
//! does. Nothing is linked: this library also stands in processes that never touch a device.

use std::ffi::{CStr, c_int, c_uint, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::error::{Error, Outcome};

/// A device address.
pub type CUdeviceptr = u64;
/// Handles of the driver; the runtime's own handles are the same ones.
pub type CUcontext = *mut c_void;
/// A device's number.
pub type CUdevice = c_int;

/// The driver library's handle; null when there is none.
fn library() -> *mut c_void {
    static LIBRARY: OnceLock<usize> = OnceLock::new();
    // SAFETY: a C string; the library's initialisers are the driver's own business.
    let open =
        || unsafe { libc::dlopen(c"libcuda.so.1".as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) } as usize;
    *LIBRARY.get_or_init(open) as *mut c_void
}

/// Looks a function up, once.
pub(crate) fn bind(slot: &AtomicPtr<c_void>, name: &CStr) -> Outcome<*mut c_void> {
    let known = slot.load(Ordering::Relaxed);
    if !known.is_null() {
        return Ok(known);
    }
    let library = library();
    if library.is_null() {
        return Err(Error::INSUFFICIENT_DRIVER);
    }
    // SAFETY: the library is open and never closed; the name is a C string.
    let found = unsafe { libc::dlsym(library, name.as_ptr()) };
    if found.is_null() {
        return Err(Error::INSUFFICIENT_DRIVER);
    }
    slot.store(found, Ordering::Relaxed);
    Ok(found)
}

/// Declares functions of the Driver API by their C prototypes; each gives an [`Outcome`].
macro_rules! driver {
    ($($name:ident($($argument:ident: $type:ty),* $(,)?);)*) => {$(
        #[doc = concat!("`", stringify!($name), "` of the Driver API.")]
        ///
        /// # Safety
        /// As its documentation asks.
        #[allow(clippy::too_many_arguments, reason = "the API's own signature")]
        pub unsafe fn $name($($argument: $type),*) -> $crate::error::Outcome {
            static SLOT: std::sync::atomic::AtomicPtr<std::ffi::c_void> =
                std::sync::atomic::AtomicPtr::new(std::ptr::null_mut());
            // The name holds no NUL: it is an identifier.
            const NAME: &std::ffi::CStr = match std::ffi::CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                Ok(name) => name,
                Err(_) => c"",
            };
            let address = $crate::driver::bind(&SLOT, NAME)?;
            // SAFETY: the prototype is the one that cuda.h states for this name.
            let function: unsafe extern "C" fn($($type),*) -> std::ffi::c_int = unsafe { std::mem::transmute(address) };
            // SAFETY: the caller's promise.
            match unsafe { function($($argument),*) } {
                0 => Ok(()),
                result => Err($crate::error::Error::from_driver(result)),
            }
        }
    )*};
}
#[allow(unused_imports, reason = "files of subjects declare what they call")]
pub(crate) use driver;

driver! {
    cuInit(flags: c_uint);
    cuDriverGetVersion(place: *mut c_int);
    cuDeviceGet(place: *mut CUdevice, ordinal: c_int);
    cuDeviceGetCount(place: *mut c_int);
    cuDevicePrimaryCtxRetain(place: *mut CUcontext, device: CUdevice);
    cuCtxGetCurrent(place: *mut CUcontext);
    cuCtxSetCurrent(context: CUcontext);
}
