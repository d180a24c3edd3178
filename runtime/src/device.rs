//! Devices: choosing, asking, limits, peers (CUDA Runtime API, "Device Management", "Peer Device
//! Memory Access").

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::ptr::null_mut;

use bugaroo_cuda_abi::{CUcontext, CUdevice};

use crate::api::api;
use crate::context::{self, device, initialise};
use crate::driver::{cuCtxGetCurrent, cuCtxSetCurrent, cuDeviceGet, cuDeviceGetCount, driver};
use crate::error::{RuntimeError, RuntimeResult};
use crate::registration;
use crate::types::{not_null, write};

driver! {
    cuDeviceGetAttribute(place: *mut c_int, attribute: c_int, device: CUdevice);
    cuDeviceGetPCIBusId(place: *mut c_char, length: c_int, device: CUdevice);
    cuDeviceGetByPCIBusId(place: *mut CUdevice, id: *const c_char);
    cuDeviceCanAccessPeer(place: *mut c_int, device: CUdevice, peer: CUdevice);
    cuDeviceGetP2PAttribute(place: *mut c_int, attribute: c_int, from: CUdevice, to: CUdevice);
    cuDeviceGetHostAtomicCapabilities(place: *mut c_uint, operations: *const c_int, count: c_uint, device: CUdevice);
    cuDeviceGetP2PAtomicCapabilities(place: *mut c_uint, operations: *const c_int, count: c_uint, from: CUdevice, to: CUdevice);
    cuDevicePrimaryCtxReset_v2(device: CUdevice);
    cuDevicePrimaryCtxSetFlags_v2(device: CUdevice, flags: c_uint);
    cuDevicePrimaryCtxGetState(device: CUdevice, flags: *mut c_uint, active: *mut c_int);
    cuCtxGetDevice(place: *mut CUdevice);
    cuCtxSynchronize();
    cuCtxSetLimit(limit: c_int, value: usize);
    cuCtxGetLimit(place: *mut usize, limit: c_int);
    cuCtxGetCacheConfig(place: *mut c_int);
    cuCtxSetCacheConfig(config: c_int);
    cuCtxGetSharedMemConfig(place: *mut c_int);
    cuCtxSetSharedMemConfig(config: c_int);
    cuCtxGetStreamPriorityRange(least: *mut c_int, greatest: *mut c_int);
    cuCtxResetPersistingL2Cache();
    cuCtxEnablePeerAccess(peer: CUcontext, flags: c_uint);
    cuCtxDisablePeerAccess(peer: CUcontext);
    cuProfilerStart();
    cuProfilerStop();
}

/// Flags of `cudaSetDeviceFlags`: scheduling, mapped host memory, local memory, synchronous copies.
const FLAGS_MASK: c_uint = 0xff;
/// `cudaInitDeviceFlagsAreValid`
const INIT_FLAGS_ARE_VALID: c_uint = 1;

/// The driver's handle of a device, with the driver initialised.
///
/// # Errors
/// `cudaErrorInvalidDevice`
pub fn handle(ordinal: c_int) -> RuntimeResult<CUdevice> {
    initialise()?;
    let mut handle = 0;
    // SAFETY: a place for the answer.
    unsafe { cuDeviceGet(&raw mut handle, ordinal) }.map_err(|_| RuntimeError::INVALID_DEVICE)?;
    Ok(handle)
}

/// How many devices there are.
fn count() -> RuntimeResult<c_int> {
    initialise()?;
    let mut count = 0;
    // SAFETY: a place for the answer.
    unsafe { cuDeviceGetCount(&raw mut count) }?;
    if count == 0 { Err(RuntimeError::NO_DEVICE) } else { Ok(count) }
}

/// The device of the current context, which a program may have made by the Driver API; the thread's
/// chosen one when there is none.
pub fn current_device() -> RuntimeResult<c_int> {
    initialise()?;
    let (mut context, mut found) = (null_mut(), 0);
    // SAFETY: places for the answers.
    unsafe {
        cuCtxGetCurrent(&raw mut context)?;
        if context.is_null() {
            return Ok(device());
        }
        cuCtxGetDevice(&raw mut found)?;
    }
    Ok(found)
}

/// Destroys what the device's primary context owns. The next call makes a new one.
fn reset() -> RuntimeResult {
    let ordinal = current_device()?;
    let handle = handle(ordinal)?;
    // SAFETY: no pointers; no current context is one of the driver's answers.
    unsafe {
        cuDevicePrimaryCtxReset_v2(handle)?;
        context::forget(ordinal);
        registration::forget_loaded();
        cuCtxSetCurrent(null_mut())
    }
}

/// The primary context of another device than the current one.
fn peer(ordinal: c_int) -> RuntimeResult<CUcontext> {
    handle(ordinal)?;
    if ordinal == current_device()? { Err(RuntimeError::INVALID_DEVICE) } else { context::primary(ordinal) }
}

api! {
    anytime cudaGetDeviceCount(place: *mut c_int) {
        let count = count();
        write(place, *count.as_ref().unwrap_or(&0))?;
        count.map(|_| ())
    }
    anytime cudaGetDevice(place: *mut c_int) { write(place, current_device()?) }
    anytime cudaSetDevice(ordinal: c_int) { context::choose(ordinal) }
    /// Unlike `cudaSetDevice` it does not make the device the thread's.
    anytime cudaInitDevice(ordinal: c_int, device_flags: c_uint, flags: c_uint) {
        let handle = handle(ordinal)?;
        match flags {
            0 => {}
            INIT_FLAGS_ARE_VALID => cuDevicePrimaryCtxSetFlags_v2(handle, device_flags & FLAGS_MASK)?,
            _ => return Err(RuntimeError::INVALID_VALUE),
        }
        context::primary(ordinal).map(|_| ())
    }
    /// All virtual GPUs are alike, so that none fits better than the first.
    anytime cudaChooseDevice(place: *mut c_int, wanted: *const c_void) {
        not_null(wanted)?;
        count()?;
        write(place, 0)
    }
    /// The devices are tried in the order given, and the first always works.
    anytime cudaSetValidDevices(devices: *mut c_int, length: c_int) {
        let length = usize::try_from(length).map_err(|_| RuntimeError::INVALID_VALUE)?;
        if length > 0 {
            not_null(devices)?;
        }
        for index in 0..length {
            handle(*devices.add(index))?;
        }
        Ok(())
    }
    anytime cudaSetDeviceFlags(flags: c_uint) {
        if flags & !FLAGS_MASK != 0 {
            return Err(RuntimeError::INVALID_VALUE);
        }
        cuDevicePrimaryCtxSetFlags_v2(handle(current_device()?)?, flags)
    }
    anytime cudaGetDeviceFlags(place: *mut c_uint) {
        let (mut flags, mut active) = (0, 0);
        cuDevicePrimaryCtxGetState(handle(current_device()?)?, &raw mut flags, &raw mut active)?;
        write(place, flags)
    }
    anytime cudaDeviceReset() { reset() }
    with_device cudaDeviceSynchronize() { cuCtxSynchronize() }
    with_device cudaDeviceSetLimit(limit: c_int, value: usize) { cuCtxSetLimit(limit, value) }
    with_device cudaDeviceGetLimit(place: *mut usize, limit: c_int) { cuCtxGetLimit(place, limit) }
    with_device cudaDeviceGetCacheConfig(place: *mut c_int) { cuCtxGetCacheConfig(place) }
    with_device cudaDeviceSetCacheConfig(config: c_int) { cuCtxSetCacheConfig(config) }
    with_device cudaDeviceGetSharedMemConfig(place: *mut c_int) { cuCtxGetSharedMemConfig(place) }
    with_device cudaDeviceSetSharedMemConfig(config: c_int) { cuCtxSetSharedMemConfig(config) }
    with_device cudaDeviceGetStreamPriorityRange(least: *mut c_int, greatest: *mut c_int) {
        cuCtxGetStreamPriorityRange(least, greatest)
    }
    with_device cudaCtxResetPersistingL2Cache() { cuCtxResetPersistingL2Cache() }
    anytime cudaDeviceGetAttribute(place: *mut c_int, attribute: c_int, ordinal: c_int) {
        cuDeviceGetAttribute(place, attribute, handle(ordinal)?)
    }
    anytime cudaDeviceGetPCIBusId(place: *mut c_char, length: c_int, ordinal: c_int) {
        cuDeviceGetPCIBusId(place, length, handle(ordinal)?)
    }
    anytime cudaDeviceGetByPCIBusId(place: *mut c_int, id: *const c_char) {
        initialise()?;
        cuDeviceGetByPCIBusId(place, id)
    }
    anytime cudaDeviceCanAccessPeer(place: *mut c_int, ordinal: c_int, peer: c_int) {
        cuDeviceCanAccessPeer(place, handle(ordinal)?, handle(peer)?)
    }
    with_device cudaDeviceEnablePeerAccess(ordinal: c_int, flags: c_uint) {
        cuCtxEnablePeerAccess(peer(ordinal)?, flags)
    }
    with_device cudaDeviceDisablePeerAccess(ordinal: c_int) { cuCtxDisablePeerAccess(peer(ordinal)?) }
    anytime cudaDeviceGetP2PAttribute(place: *mut c_int, attribute: c_int, from: c_int, to: c_int) {
        cuDeviceGetP2PAttribute(place, attribute, handle(from)?, handle(to)?)
    }
    anytime cudaDeviceGetHostAtomicCapabilities(
        place: *mut c_uint, operations: *const c_int, count: c_uint, ordinal: c_int,
    ) {
        cuDeviceGetHostAtomicCapabilities(place, operations, count, handle(ordinal)?)
    }
    anytime cudaDeviceGetP2PAtomicCapabilities(
        place: *mut c_uint, operations: *const c_int, count: c_uint, from: c_int, to: c_int,
    ) {
        cuDeviceGetP2PAtomicCapabilities(place, operations, count, handle(from)?, handle(to)?)
    }
    with_device cudaProfilerStart() { cuProfilerStart() }
    with_device cudaProfilerStop() { cuProfilerStop() }
}
