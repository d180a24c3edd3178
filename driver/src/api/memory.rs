//! Device memory (CUDA Driver API, "Memory Management"): allocation, freeing, and what is known of it.
//!
//! Memory belongs to the context that it was allocated in, and goes with it. What a freed or foreign
//! address does is told at once (`CUDA_ERROR_INVALID_VALUE`), also where the real driver finds out late.

use std::ffi::c_uint;

use bugaroo_cuda_abi::{CUdeviceptr, CUstream};
use bugaroo_simulator::AllocationKind;

use crate::api::entry::{with_context, with_gpu};
use crate::api::submit::{on_stream, submit, twin};
use crate::api::synchronising::taking_away;
use bugaroo_device::attributes::PITCH_ALIGNMENT;
use bugaroo_device::error::Status;
use bugaroo_device::objects::work::{Act, NodeBody, Work};
use bugaroo_device::places::{not_null, write, write_if_wanted};
use bugaroo_device::state::Gpu;

/// `CU_MEM_ATTACH_GLOBAL`
const ATTACH_GLOBAL: c_uint = 1;
/// `CU_MEM_ATTACH_HOST`: the host alone may touch the memory until it is attached otherwise. Not enforced.
const ATTACH_HOST: c_uint = 2;

/// Allocates device memory. Its content is zero, which a program must not rely on.
///
/// # Safety
/// `place` is null or points to a place for an address.
pub unsafe extern "C" fn cuMemAlloc_v2(place: *mut CUdeviceptr, bytes: usize) -> Status {
    with_context("cuMemAlloc_v2", |gpu, context| {
        not_null(place)?;
        let address = gpu.allocate(context, bytes)?;
        // SAFETY: the caller's promise.
        unsafe { write(place, address) }
    })
}

twin! { cuMemAllocAsync_ptsz =
    /// Allocates device memory from the current pool, in stream order: its address is known, and its memory
    /// there, from now on.
    ///
    /// # Safety
    /// `place` is null or points to a place for an address.
    pub unsafe extern "C" fn cuMemAllocAsync(place: *mut CUdeviceptr, bytes: usize, stream: CUstream) -> Status {
        on_stream("cuMemAllocAsync", stream, |gpu, stream| {
            not_null(place)?;
            let address = match gpu.is_capturing(&stream) {
                true => gpu.capture_allocation(&stream, bytes)?,
                false => {
                    let device = gpu.device_of(stream.context);
                    let pool = gpu.held.pools.of(device)?.current;
                    gpu.allocate_in(&stream, pool, bytes)?
                }
            };
            // SAFETY: the caller's promise.
            unsafe { write(place, address) }
        })
    }
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
    with_context("cuMemAllocPitch_v2", |gpu, context| {
        not_null(place)?;
        not_null(pitch)?;
        if !matches!(element_bytes, 4 | 8 | 16) {
            return Err(Status::InvalidValue);
        }
        let row = width.checked_next_multiple_of(PITCH_ALIGNMENT).ok_or(Status::InvalidValue)?;
        let bytes = row.checked_mul(height).ok_or(Status::OutOfMemory)?;
        let address = gpu.allocate(context, bytes)?;
        // SAFETY: the caller's promise, for both.
        unsafe {
            write(pitch, row)?;
            write(place, address)
        }
    })
}

/// Allocates memory that host and device reach by the same address, at any time.
///
/// # Safety
/// `place` is null or points to a place for an address.
pub unsafe extern "C" fn cuMemAllocManaged(place: *mut CUdeviceptr, bytes: usize, flags: c_uint) -> Status {
    with_context("cuMemAllocManaged", |gpu, context| {
        not_null(place)?;
        if !matches!(flags, ATTACH_GLOBAL | ATTACH_HOST) {
            return Err(Status::InvalidValue);
        }
        let address = gpu.allocate_kind(context, bytes, AllocationKind::Managed)?;
        // SAFETY: the caller's promise.
        unsafe { write(place, address) }
    })
}

/// Frees device memory, once the device's work is done. Null is nothing to free.
pub extern "C" fn cuMemFree_v2(address: CUdeviceptr) -> Status {
    let owner = |gpu: &Gpu| gpu.held.allocations.get(&address).map(|allocation| allocation.context);
    taking_away("cuMemFree_v2", owner, |gpu| match address {
        0 => Ok(()),
        _ => gpu.free(address),
    })
}

twin! { cuMemFreeAsync_ptsz =
    /// Frees device memory in stream order.
    pub extern "C" fn cuMemFreeAsync(address: CUdeviceptr, stream: CUstream) -> Status {
        submit("cuMemFreeAsync", stream, |gpu, stream| {
            if gpu.is_capturing(stream) {
                // A graph frees what a graph has allocated.
                let memory = gpu.ordered.graphs.memory.get(address)?;
                return gpu.capture_body(stream, NodeBody::Free(memory)).map(|()| None);
            }
            let bytes = gpu.held.allocations.get(&address).ok_or(Status::InvalidValue)?.size;
            if gpu.ordered.graphs.memory.has(address) {
                gpu.ordered.graphs.memory.close(address)?;
                let memory = gpu.ordered.graphs.memory.get(address)?;
                return Ok(Some(Gpu::graph_memory_work(&memory, false)));
            }
            gpu.held.origins.releasing(address);
            Ok(Some(Work::Act(Act::Free { address, bytes })))
        })
    }
}

/// Free and total device memory in bytes. Managed and page-locked memory is the host's and does not count.
///
/// # Safety
/// Each is null, which is refused, or points to a place for a number.
pub unsafe extern "C" fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) -> Status {
    with_context("cuMemGetInfo_v2", |gpu, _| {
        not_null(total)?;
        not_null(free)?;
        // SAFETY: the caller's promise, for both.
        unsafe {
            write(free, gpu.memory.available() as usize)?;
            write(total, gpu.memory.capacity() as usize)
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
    with_gpu("cuMemGetAddressRange_v2", |gpu| {
        let (first, bytes) = gpu.memory.allocation(address).ok_or(Status::NotFound)?;
        // SAFETY: the caller's promise, for both.
        unsafe {
            write_if_wanted(base, first);
            write_if_wanted(size, bytes as usize);
        }
        Ok(())
    })
}
