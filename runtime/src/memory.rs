//! Allocating memory of the device and of the host (CUDA Runtime API, "Memory Management").
//!
//! Asking for nothing succeeds and gives a null pointer, except for managed memory; freeing a null
//! pointer succeeds.

use std::ffi::{c_uint, c_void};
use std::ptr::null_mut;

use bugaroo_cuda_abi::CUdeviceptr;

use crate::api::api;
use crate::driver::driver;
use crate::error::{RuntimeError, RuntimeResult};
use crate::types::{Extent, PitchedPtr, not_null, write};

driver! {
    cuMemAlloc_v2(place: *mut CUdeviceptr, bytes: usize);
    cuMemAllocPitch_v2(place: *mut CUdeviceptr, pitch: *mut usize, width: usize, height: usize, element: c_uint);
    cuMemAllocManaged(place: *mut CUdeviceptr, bytes: usize, flags: c_uint);
    cuMemFree_v2(address: CUdeviceptr);
    cuMemHostAlloc(place: *mut *mut c_void, bytes: usize, flags: c_uint);
    cuMemFreeHost(memory: *mut c_void);
    cuMemHostRegister_v2(memory: *mut c_void, bytes: usize, flags: c_uint);
    cuMemHostUnregister(memory: *mut c_void);
    cuMemHostGetDevicePointer_v2(place: *mut CUdeviceptr, memory: *mut c_void, flags: c_uint);
    cuMemHostGetFlags(place: *mut c_uint, memory: *mut c_void);
    cuMemGetInfo_v2(free: *mut usize, total: *mut usize);
}

/// The widest access that rows must be aligned for.
const ROW_ELEMENT: c_uint = 16;

/// An answer of the driver's as the pointer that the program sees.
fn pointer(address: CUdeviceptr) -> *mut c_void {
    address as *mut c_void
}

/// Rows at a distance that suits the device, and that distance.
fn pitched(width: usize, rows: usize) -> RuntimeResult<(*mut c_void, usize)> {
    if width == 0 || rows == 0 {
        return Ok((null_mut(), 0));
    }
    let (mut address, mut pitch) = (0, 0);
    // SAFETY: places for the answers.
    unsafe { cuMemAllocPitch_v2(&raw mut address, &raw mut pitch, width, rows, ROW_ELEMENT) }?;
    Ok((pointer(address), pitch))
}

/// Page-locked memory of the host's.
///
/// # Safety
/// `place` is null or points to a place for a pointer.
unsafe fn host(place: *mut *mut c_void, bytes: usize, flags: c_uint) -> RuntimeResult {
    not_null(place)?;
    let mut memory = null_mut();
    // SAFETY: a place for the answer, and the caller's promise.
    unsafe {
        if bytes > 0 {
            cuMemHostAlloc(&raw mut memory, bytes, flags)?;
        }
        write(place, memory)
    }
}

api! {
    with_device cudaMalloc(place: *mut *mut c_void, bytes: usize) {
        not_null(place)?;
        let mut address = 0;
        if bytes > 0 {
            cuMemAlloc_v2(&raw mut address, bytes)?;
        }
        write(place, pointer(address))
    }
    with_device cudaFree(memory: *mut c_void) {
        if memory.is_null() { Ok(()) } else { cuMemFree_v2(memory as CUdeviceptr) }
    }
    with_device cudaMallocPitch(place: *mut *mut c_void, pitch: *mut usize, width: usize, height: usize) {
        not_null(place)?;
        not_null(pitch)?;
        let (memory, distance) = pitched(width, height)?;
        write(pitch, distance)?;
        write(place, memory)
    }
    with_device cudaMalloc3D(place: *mut PitchedPtr, extent: Extent) {
        not_null(place)?;
        let rows = extent.height.checked_mul(extent.depth).ok_or(RuntimeError::MEMORY_ALLOCATION)?;
        let (ptr, pitch) = pitched(extent.width, rows)?;
        write(place, PitchedPtr { ptr, pitch, xsize: extent.width, ysize: extent.height })
    }
    with_device cudaMallocManaged(place: *mut *mut c_void, bytes: usize, flags: c_uint) {
        not_null(place)?;
        let mut address = 0;
        cuMemAllocManaged(&raw mut address, bytes, flags)?;
        write(place, pointer(address))
    }
    with_device cudaMallocHost(place: *mut *mut c_void, bytes: usize) { host(place, bytes, 0) }
    with_device cudaHostAlloc(place: *mut *mut c_void, bytes: usize, flags: c_uint) { host(place, bytes, flags) }
    with_device cudaFreeHost(memory: *mut c_void) {
        if memory.is_null() { Ok(()) } else { cuMemFreeHost(memory) }
    }
    with_device cudaHostRegister(memory: *mut c_void, bytes: usize, flags: c_uint) {
        cuMemHostRegister_v2(memory, bytes, flags)
    }
    with_device cudaHostUnregister(memory: *mut c_void) { cuMemHostUnregister(memory) }
    with_device cudaHostGetDevicePointer(place: *mut *mut c_void, memory: *mut c_void, flags: c_uint) {
        not_null(place)?;
        let mut address = 0;
        cuMemHostGetDevicePointer_v2(&raw mut address, memory, flags)?;
        write(place, pointer(address))
    }
    with_device cudaHostGetFlags(place: *mut c_uint, memory: *mut c_void) { cuMemHostGetFlags(place, memory) }
    with_device cudaMemGetInfo(free: *mut usize, total: *mut usize) { cuMemGetInfo_v2(free, total) }
}
