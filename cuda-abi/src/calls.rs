//! The driver's functions, found by name when they are first called.
//!
//! Nothing is linked: the loader gives the `libcuda.so.1` that the program uses itself, if it does. So a library that calls the
//! driver also stands in processes that never touch a device.

use std::ffi::{CStr, c_uint, c_void};
use std::ptr::null_mut;
use std::sync::OnceLock;

/// Why a call of the driver's gave nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallFailure {
    /// There is no driver, or it lacks the function.
    Absent,
    /// A `CUresult` other than `CUDA_SUCCESS`.
    Code(c_uint),
}

/// The code, or `CUDA_ERROR_NOT_INITIALIZED` without a driver.
impl From<CallFailure> for c_uint {
    fn from(failure: CallFailure) -> c_uint {
        match failure {
            CallFailure::Absent => 3,
            CallFailure::Code(code) => code,
        }
    }
}

/// A function of the driver's; null where there is none.
pub fn find(name: &CStr) -> *mut c_void {
    static LIBRARY: OnceLock<usize> = OnceLock::new();
    // SAFETY: a C string; the library's initialisers are the driver's own business.
    let open =
        || unsafe { libc::dlopen(c"libcuda.so.1".as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) } as usize;
    let library = *LIBRARY.get_or_init(open) as *mut c_void;
    if library.is_null() {
        return null_mut();
    }
    // SAFETY: the library is open and never closed; the name is a C string.
    unsafe { libc::dlsym(library, name.as_ptr()) }
}

/// Declares functions of the Driver API by their C prototypes. Each gives nothing, or an error that is made of a [`CallFailure`]:
///
/// ```
/// # use std::ffi::c_uint;
/// bugaroo_cuda_abi::functions_of_driver! { c_uint;
///     cuInit(flags: c_uint);
/// }
/// let _: unsafe fn(c_uint) -> Result<(), c_uint> = cuInit;
/// ```
#[macro_export]
macro_rules! functions_of_driver {
    ($error:ty; $($name:ident($($argument:ident: $type:ty),* $(,)?);)*) => {$(
        #[doc = concat!("`", stringify!($name), "` of the Driver API.")]
        ///
        /// # Errors
        /// As its documentation says.
        ///
        /// # Safety
        /// As its documentation asks.
        #[allow(non_snake_case, reason = "cuda.h's own name")]
        #[allow(clippy::too_many_arguments, reason = "the API's own signature")]
        pub unsafe fn $name($($argument: $type),*) -> Result<(), $error> {
            // Null until it is found. A driver that is not there is asked for again.
            static ADDRESS: $crate::exports::Slot = $crate::exports::Slot::new(std::ptr::null_mut());
            // The name holds no NUL: it is an identifier.
            const NAME: &std::ffi::CStr =
                match std::ffi::CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                    Ok(name) => name,
                    Err(_) => c"",
                };
            let mut address = ADDRESS.load(std::sync::atomic::Ordering::Relaxed);
            if address.is_null() {
                address = $crate::calls::find(NAME);
                if address.is_null() {
                    return Err($crate::calls::CallFailure::Absent.into());
                }
                ADDRESS.store(address, std::sync::atomic::Ordering::Relaxed);
            }
            type Function = unsafe extern "C" fn($($type),*) -> std::ffi::c_uint;
            // SAFETY: the prototype is the one that cuda.h states for this name.
            let function = unsafe { std::mem::transmute::<*mut std::ffi::c_void, Function>(address) };
            // SAFETY: the caller's promise.
            match unsafe { function($($argument),*) } {
                0 => Ok(()),
                code => Err($crate::calls::CallFailure::Code(code).into()),
            }
        }
    )*};
}
