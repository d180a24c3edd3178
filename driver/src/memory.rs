//! Device memory (CUDA Driver API, "Memory Management"): allocation, freeing, and what is known of it.
//!
//! Memory belongs to the context that it was allocated in, and goes with it. What a freed or foreign
//! address does is told at once (`CUDA_ERROR_INVALID_VALUE`), also where the real driver finds out late.

use std::ffi::c_uint;

use bugaroo_simulator::AllocationKind;

use crate::attributes::PITCH_ALIGNMENT;
use crate::entry::{not_null, synchronising, with_context, with_driver, write, write_if_wanted};
use crate::error::{Outcome, Status};
use crate::state::{Allocation, DEVICE_MEMORY, Driver};
use crate::submit::{on_stream, submit};
use crate::types::{CUcontext, CUdeviceptr, CUstream};
use crate::work::Work;

impl Driver {
    /// Allocates device memory for the program.
    ///
    /// # Errors
    /// `InvalidValue` for no bytes at all, `OutOfMemory`.
    pub fn allocate(&mut self, context: CUcontext, bytes: usize) -> Outcome<CUdeviceptr> {
        if bytes == 0 {
            return Err(Status::InvalidValue);
        }
        let size = bytes as u64;
        let found = self.memory.alloc(size, 256, AllocationKind::Program);
        let address = found.map_err(|_| Status::OutOfMemory)?;
        self.allocations.insert(address, Allocation { context, size });
        Ok(address)
    }

    /// Frees what [`Self::allocate`] gave.
    ///
    /// # Errors
    /// `InvalidValue` when it is not the first address of such memory.
    pub fn free(&mut self, address: CUdeviceptr) -> Outcome {
        self.allocations.remove(&address).ok_or(Status::InvalidValue)?;
        self.memory.free(address).map_err(|_| Status::InvalidValue)
    }
}

/// Allocates device memory. Its content is zero, which a program must not rely on.
///
/// # Safety
/// `place` is null or points to a place for an address.
pub unsafe extern "C" fn cuMemAlloc_v2(place: *mut CUdeviceptr, bytes: usize) -> Status {
    with_context("cuMemAlloc_v2", |driver, context| {
        not_null(place)?;
        let address = driver.allocate(context, bytes)?;
        // SAFETY: the caller's promise.
        unsafe { write(place, address) }
    })
}

/// Allocates device memory in stream order: its address is known, and its memory there, from now on.
///
/// # Safety
/// `place` is null or points to a place for an address.
pub unsafe extern "C" fn cuMemAllocAsync(place: *mut CUdeviceptr, bytes: usize, stream: CUstream) -> Status {
    on_stream("cuMemAllocAsync", stream, |driver, stream| {
        not_null(place)?;
        let address = driver.allocate(stream.context, bytes)?;
        // SAFETY: the caller's promise.
        unsafe { write(place, address) }
    })
}

/// Allocates device memory for rows of `width` bytes, each aligned.
///
/// # Safety
/// `place` and `pitch` are null, which is refused, or point to places for their results.
pub unsafe extern "C" fn cuMemAllocPitch_v2(
    place: *mut CUdeviceptr,
    pitch: *mut usize,
    width: usize,
    height: usize,
    element_bytes: c_uint,
) -> Status {
    with_context("cuMemAllocPitch_v2", |driver, context| {
        not_null(place)?;
        not_null(pitch)?;
        if !matches!(element_bytes, 4 | 8 | 16) {
            return Err(Status::InvalidValue);
        }
        let row = width.checked_next_multiple_of(PITCH_ALIGNMENT).ok_or(Status::InvalidValue)?;
        let bytes = row.checked_mul(height).ok_or(Status::OutOfMemory)?;
        let address = driver.allocate(context, bytes)?;
        // SAFETY: the caller's promise, for both.
        unsafe {
            write(pitch, row)?;
            write(place, address)
        }
    })
}

/// Memory that host and device share: not supported.
///
/// # Safety
/// `place` is not used.
pub unsafe extern "C" fn cuMemAllocManaged(
    _place: *mut CUdeviceptr,
    _bytes: usize,
    _flags: c_uint,
) -> Status {
    with_context("cuMemAllocManaged", |driver, _| {
        Err(driver.report.unsupported("cuMemAllocManaged: managed memory is not supported"))
    })
}

/// Frees device memory, once the device's work is done. Null is nothing to free.
pub extern "C" fn cuMemFree_v2(address: CUdeviceptr) -> Status {
    synchronising("cuMemFree_v2", |driver, _| match address {
        0 => Ok(()),
        _ => driver.free(address),
    })
}

/// Frees device memory in stream order.
pub extern "C" fn cuMemFreeAsync(address: CUdeviceptr, stream: CUstream) -> Status {
    submit("cuMemFreeAsync", stream, |driver, _| {
        driver.allocations.get(&address).ok_or(Status::InvalidValue)?;
        Ok(Some(Work::act(move |driver| driver.free(address))))
    })
}

/// Free and total device memory in bytes.
///
/// # Safety
/// Each is null, which is refused, or points to a place for a number.
pub unsafe extern "C" fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) -> Status {
    with_context("cuMemGetInfo_v2", |driver, _| {
        not_null(total)?;
        // SAFETY: the caller's promise, for both.
        unsafe {
            write(free, driver.memory.available() as usize)?;
            write(total, DEVICE_MEMORY as usize)
        }
    })
}

/// The allocation that an address lies in: its first address and its size in bytes.
///
/// # Safety
/// Each place is null (not wanted) or points to a place for its result.
pub unsafe extern "C" fn cuMemGetAddressRange_v2(
    base: *mut CUdeviceptr,
    size: *mut usize,
    address: CUdeviceptr,
) -> Status {
    with_driver("cuMemGetAddressRange_v2", |driver| {
        let (first, bytes) = driver.memory.allocation(address).ok_or(Status::NotFound)?;
        // SAFETY: the caller's promise, for both.
        unsafe {
            write_if_wanted(base, first);
            write_if_wanted(size, bytes as usize);
        }
        Ok(())
    })
}
