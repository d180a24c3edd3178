//! Which device's primary context a thread works in.
//!
//! The runtime initialises itself at the first call that needs a device: `cuInit`, and the primary context
//! of the thread's device ([`choose`]; 0 at first) is made current unless the program made another context current by
//! the Driver API (CUDA Runtime API, "Interactions with the CUDA Driver API").

use std::cell::Cell;
use std::ffi::c_int;
use std::ptr::null_mut;
use std::sync::Mutex;

use bugaroo_cuda_abi::CUcontext;

use crate::driver::{cuCtxGetCurrent, cuCtxSetCurrent, cuDeviceGet, cuDevicePrimaryCtxRetain, cuInit};
use crate::error::{RuntimeError, RuntimeResult};

thread_local! {
    static DEVICE: Cell<c_int> = const { Cell::new(0) };
}

/// Primary contexts that were retained, by device; they are kept until the device is reset.
static PRIMARY: Mutex<Vec<(c_int, usize)>> = Mutex::new(Vec::new());

/// The calling thread's device.
pub fn device() -> c_int {
    DEVICE.get()
}

/// Initialises the driver.
///
/// # Errors
/// When there is none, or it has no device.
pub fn initialise() -> RuntimeResult {
    // SAFETY: no pointers.
    unsafe { cuInit(0) }
}

/// Makes a device the calling thread's.
///
/// # Errors
/// `cudaErrorInvalidDevice` when there is no such device.
pub fn choose(device: c_int) -> RuntimeResult {
    initialise()?;
    let context = primary(device)?;
    // SAFETY: a context that was retained.
    unsafe { cuCtxSetCurrent(context) }?;
    DEVICE.set(device);
    Ok(())
}

/// Sees to it that the calling thread has a current context.
///
/// # Errors
/// When the driver cannot be initialised.
pub fn ready() -> RuntimeResult {
    initialise()?;
    let mut current = null_mut();
    // SAFETY: a place for the answer.
    unsafe { cuCtxGetCurrent(&raw mut current) }?;
    if current.is_null() {
        // SAFETY: a context that was retained.
        unsafe { cuCtxSetCurrent(primary(device())?) }?;
    }
    Ok(())
}

/// The primary context of a device, retained once.
///
/// # Errors
/// `cudaErrorInvalidDevice` when there is no such device.
pub fn primary(device: c_int) -> RuntimeResult<CUcontext> {
    let mut known = PRIMARY.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some((_, context)) = known.iter().find(|(of, _)| *of == device) {
        return Ok(*context as CUcontext);
    }
    let (mut handle, mut context) = (0, null_mut());
    // SAFETY: places for the answers.
    unsafe {
        cuDeviceGet(&raw mut handle, device).map_err(|_| RuntimeError::INVALID_DEVICE)?;
        cuDevicePrimaryCtxRetain(&raw mut context, handle)?;
    }
    known.push((device, context as usize));
    Ok(context)
}

/// Forgets a device's primary context, which was reset.
pub fn forget(device: c_int) {
    let mut known = PRIMARY.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    known.retain(|(of, _)| *of != device);
}
