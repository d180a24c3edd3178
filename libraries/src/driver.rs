//! The functions of the Driver API that are called here, and the door that Bugaroo's driver has for this library.

use std::ffi::{c_int, c_uint, c_void};
use std::ptr::null_mut;
use std::sync::OnceLock;

use bugaroo_cuda_abi::door::{self, Door};
use bugaroo_cuda_abi::{CUDA_MEMCPY2D, CUcontext, CUstream, functions_of_driver};

/// What a function of the driver's gives: a `CUresult` other than `CUDA_SUCCESS` is an error.
pub type Outcome<T = ()> = Result<T, c_uint>;

/// `CUDA_ERROR_NOT_SUPPORTED`
const NOT_SUPPORTED: c_uint = 801;

functions_of_driver! { c_uint;
    cuInit(flags: c_uint);
    cuDeviceGet(place: *mut c_int, ordinal: c_int);
    cuDevicePrimaryCtxRetain(place: *mut CUcontext, device: c_int);
    cuCtxGetCurrent(place: *mut CUcontext);
    cuCtxSetCurrent(context: CUcontext);
    cuCtxSynchronize();
    cuStreamSynchronize(stream: CUstream);
    cuMemcpy2D_v2(copy: *const CUDA_MEMCPY2D);
    cuMemcpy2DAsync_v2(copy: *const CUDA_MEMCPY2D, stream: CUstream);
}

/// The door, which is never taken away.
///
/// # Errors
/// `NOT_SUPPORTED` where the driver is not Bugaroo's virtual GPU of this version, which is said once.
pub fn door() -> Outcome<&'static Door> {
    static DOOR: OnceLock<Option<&'static Door>> = OnceLock::new();
    let open = || {
        let door = door::open();
        if door.is_none() {
            eprintln!(
                "bugaroo: its substitutes of NVIDIA's libraries are of its virtual GPU only, and the driver of this process is \
                 another, or one of another version"
            );
        }
        door
    };
    DOOR.get_or_init(open).ok_or(NOT_SUPPORTED)
}

/// Sees to it that the calling thread has a current context: the first device's primary one, if no other. So does the runtime
/// (CUDA Runtime API, "Interactions with the CUDA Driver API").
///
/// # Errors
/// When the driver cannot be initialised.
pub fn ready() -> Outcome {
    static PRIMARY: OnceLock<Outcome<usize>> = OnceLock::new();
    // SAFETY: places for the answers; a context that was retained.
    unsafe {
        cuInit(0)?;
        let mut current = null_mut();
        cuCtxGetCurrent(&raw mut current)?;
        if !current.is_null() {
            return Ok(());
        }
        let retain = || {
            let (mut device, mut context) = (0, null_mut());
            cuDeviceGet(&raw mut device, 0)?;
            cuDevicePrimaryCtxRetain(&raw mut context, device)?;
            Ok(context as usize)
        };
        cuCtxSetCurrent((*PRIMARY.get_or_init(retain))? as *mut c_void)
    }
}
