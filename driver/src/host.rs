//! Page-locked host memory (CUDA Driver API, `cuMemHostAlloc` and the like).
//!
//! It is plain host memory here: copies take it, but the virtual GPU, being a sandbox, cannot reach it
//! (`CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY` is 0). Asking for its device address is refused; a kernel
//! that gets the host address faults.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ffi::{c_uint, c_void};

use crate::entry::{not_null, synchronising, with_context, write};
use crate::error::{Outcome, Status};
use crate::state::{Driver, HostBlock};
use crate::types::{CUcontext, CUdeviceptr};

/// Host pages, as the alignment that programs expect.
const ALIGNMENT: usize = 4096;
/// `PORTABLE`, `DEVICEMAP`, `WRITECOMBINED`
const FLAGS_MASK: c_uint = 7;

fn layout(bytes: usize) -> Outcome<Layout> {
    Layout::from_size_align(bytes, ALIGNMENT).map_err(|_| Status::OutOfMemory)
}

fn allocate(driver: &mut Driver, context: CUcontext, bytes: usize, flags: c_uint) -> Outcome<*mut c_void> {
    if bytes == 0 || flags & !FLAGS_MASK != 0 {
        return Err(Status::InvalidValue);
    }
    // SAFETY: the size is not zero.
    let memory = unsafe { alloc_zeroed(layout(bytes)?) };
    if memory.is_null() {
        return Err(Status::OutOfMemory);
    }
    driver.host_blocks.insert(memory as usize, HostBlock { context, size: bytes, flags });
    Ok(memory.cast())
}

/// Frees a block, if there is one at that address.
pub fn release(driver: &mut Driver, address: usize) -> bool {
    let Some(block) = driver.host_blocks.remove(&address) else { return false };
    if let Ok(layout) = layout(block.size) {
        // SAFETY: the block was allocated with this layout, and only its removal from the map frees it.
        unsafe { dealloc(address as *mut u8, layout) };
    }
    true
}

/// Allocates page-locked host memory.
///
/// # Safety
/// `place` is null or points to a place for a pointer.
pub unsafe extern "C" fn cuMemHostAlloc(place: *mut *mut c_void, bytes: usize, flags: c_uint) -> Status {
    with_context("cuMemHostAlloc", |driver, context| {
        not_null(place)?;
        let memory = allocate(driver, context, bytes, flags)?;
        // SAFETY: the caller's promise.
        unsafe { write(place, memory) }
    })
}

/// Allocates page-locked host memory.
///
/// # Safety
/// `place` is null or points to a place for a pointer.
pub unsafe extern "C" fn cuMemAllocHost_v2(place: *mut *mut c_void, bytes: usize) -> Status {
    with_context("cuMemAllocHost_v2", |driver, context| {
        not_null(place)?;
        let memory = allocate(driver, context, bytes, 0)?;
        // SAFETY: the caller's promise.
        unsafe { write(place, memory) }
    })
}

/// Frees page-locked host memory.
///
/// # Safety
/// Nothing uses the memory any more.
pub unsafe extern "C" fn cuMemFreeHost(memory: *mut c_void) -> Status {
    synchronising("cuMemFreeHost", |driver, _| {
        if release(driver, memory as usize) { Ok(()) } else { Err(Status::InvalidValue) }
    })
}

/// The flags that page-locked memory was allocated with.
///
/// # Safety
/// `place` is null or points to a place for them.
pub unsafe extern "C" fn cuMemHostGetFlags(place: *mut c_uint, memory: *mut c_void) -> Status {
    with_context("cuMemHostGetFlags", |driver, _| {
        let block = driver.host_block(memory as usize).ok_or(Status::InvalidValue)?;
        // SAFETY: the caller's promise.
        unsafe { write(place, block.1.flags) }
    })
}

/// The device's address of host memory: it has none.
///
/// # Safety
/// `place` is null or points to a place for an address; it is not used.
pub unsafe extern "C" fn cuMemHostGetDevicePointer_v2(
    place: *mut CUdeviceptr,
    memory: *mut c_void,
    _flags: c_uint,
) -> Status {
    with_context("cuMemHostGetDevicePointer_v2", |driver, _| {
        not_null(place)?;
        driver.host_block(memory as usize).ok_or(Status::InvalidValue)?;
        let what = "cuMemHostGetDevicePointer: host memory mapped into the device is not supported";
        Err(driver.report.unsupported(what))
    })
}

impl Driver {
    /// The block of page-locked memory that an address lies in, with its first address.
    pub fn host_block(&self, address: usize) -> Option<(usize, HostBlock)> {
        let (first, block) = self.host_blocks.range(..=address).next_back()?;
        (address - first < block.size).then_some((*first, *block))
    }
}
