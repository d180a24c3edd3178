//! Page-locked host memory (CUDA Driver API, `cuMemHostAlloc`, `cuMemHostRegister` and the like).
//!
//! Host and device reach it by the same addresses (unified addressing), whatever its flags: what is
//! allocated lies in a range of its own ([`bugaroo_simulator::Memory`]), what is registered stays where the program
//! has it. The program must not unmap a range before it unregisters it.

use std::ffi::{c_uint, c_void};

use bugaroo_cuda_abi::{CUcontext, CUdeviceptr};
use bugaroo_simulator::AllocationKind;

use crate::api::entry::{with_context, with_gpu};
use crate::api::synchronising::taking_away;
use bugaroo_device::error::{CallResult, Status};
use bugaroo_device::host::release;
use bugaroo_device::objects::memory::HostBlock;
use bugaroo_device::places::{not_null, write};
use bugaroo_device::state::Gpu;
use bugaroo_device::trial::host_pages::Protection;

/// Host pages, as the alignment that programs expect.
const ALIGNMENT: u64 = 4096;
/// `PORTABLE`, `DEVICEMAP`, `WRITECOMBINED`
const FLAGS_MASK: c_uint = 7;
/// `PORTABLE`, `DEVICEMAP`, `IOMEMORY`, `READ_ONLY`
const REGISTER_MASK: c_uint = 15;
/// `CU_MEMHOSTREGISTER_IOMEMORY`
const IO_MEMORY: c_uint = 4;
/// `CU_MEMHOSTREGISTER_READ_ONLY`
const READ_ONLY: c_uint = 8;
/// What memory that needs no flags is told to have: it is mapped in any case.
const DEVICE_MAP: c_uint = 2;

fn allocate(gpu: &mut Gpu, context: CUcontext, bytes: usize, flags: c_uint) -> CallResult<*mut c_void> {
    if bytes == 0 || flags & !FLAGS_MASK != 0 {
        return Err(Status::InvalidValue);
    }
    let found = gpu.memory.alloc(bytes as u64, ALIGNMENT, AllocationKind::Pinned);
    let address = found.map_err(|_| Status::OutOfMemory)?;
    gpu.held
        .host_blocks
        .insert(address as usize, HostBlock { context, size: bytes, flags, registered: false });
    gpu.held.origins.allocated(address, bytes as u64);
    gpu.running.queue.tell(|order| order.allocated(address, bytes as u64, true));
    Ok(address as *mut c_void)
}

/// Allocates page-locked host memory.
///
/// # Safety
/// `place` is null or points to a place for a pointer.
pub unsafe extern "C" fn cuMemHostAlloc(place: *mut *mut c_void, bytes: usize, flags: c_uint) -> Status {
    with_context("cuMemHostAlloc", |gpu, context| {
        not_null(place)?;
        let memory = allocate(gpu, context, bytes, flags)?;
        // SAFETY: the caller's promise.
        unsafe { write(place, memory) }
    })
}

/// Allocates page-locked host memory.
///
/// # Safety
/// `place` is null or points to a place for a pointer.
pub unsafe extern "C" fn cuMemAllocHost_v2(place: *mut *mut c_void, bytes: usize) -> Status {
    with_context("cuMemAllocHost_v2", |gpu, context| {
        not_null(place)?;
        let memory = allocate(gpu, context, bytes, DEVICE_MAP)?;
        // SAFETY: the caller's promise.
        unsafe { write(place, memory) }
    })
}

/// Finds the context of a block of host memory.
fn owner_of(memory: *mut c_void) -> impl FnOnce(&Gpu) -> Option<CUcontext> {
    move |gpu| gpu.held.host_blocks.get(&(memory as usize)).map(|block| block.context)
}

/// Frees page-locked host memory, once the device's work is done. Null is nothing to free.
///
/// # Safety
/// Nothing uses the memory any more.
pub unsafe extern "C" fn cuMemFreeHost(memory: *mut c_void) -> Status {
    if memory.is_null() {
        return with_gpu("cuMemFreeHost", |_| Ok(()));
    }
    taking_away("cuMemFreeHost", owner_of(memory), |gpu| {
        let block = gpu.held.host_blocks.get(&(memory as usize)).ok_or(Status::InvalidValue)?;
        let released = !block.registered && release(gpu, memory as usize);
        if released { Ok(()) } else { Err(Status::InvalidValue) }
    })
}

/// Lets the device reach memory of the program.
///
/// `CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED` when a part of it can be reached already; `CUDA_ERROR_INVALID_VALUE` for
/// memory that is not there, or that may not be written to (but for `CU_MEMHOSTREGISTER_READ_ONLY`);
/// `CUDA_ERROR_NOT_SUPPORTED` for memory of devices, and for addresses that mean something else to device
/// code.
///
/// # Safety
/// The range stays mapped until it is unregistered.
pub unsafe extern "C" fn cuMemHostRegister_v2(memory: *mut c_void, bytes: usize, flags: c_uint) -> Status {
    with_context("cuMemHostRegister_v2", |gpu, context| {
        not_null(memory)?;
        if bytes == 0 || flags & !REGISTER_MASK != 0 {
            return Err(Status::InvalidValue);
        }
        if flags & IO_MEMORY != 0 {
            let what =
                "cuMemHostRegister: memory of other devices (CU_MEMHOSTREGISTER_IOMEMORY) is not supported";
            return Err(gpu.trial.report.unsupported(what));
        }
        let address = memory as usize;
        let end = address.checked_add(bytes).ok_or(Status::InvalidValue)?;
        let before = gpu.held.host_blocks.range(..end).next_back();
        let overlapped = before.is_some_and(|(first, block)| first + block.size > address);
        if overlapped || gpu.memory.covers_host_visible(address as u64) {
            return Err(Status::HostMemoryAlreadyRegistered);
        }
        let writable = flags & READ_ONLY == 0;
        bugaroo_device::trial::host_watch::lift();
        let wanted = if writable { Protection::ReadWrite } else { Protection::Read };
        if bugaroo_device::trial::host_pages::protection(address, end) < wanted {
            return Err(Status::InvalidValue);
        }
        // SAFETY: it is mapped so, and the caller's promise.
        let registered = unsafe { gpu.memory.register(address as u64, bytes as u64, writable) };
        if let Err(error) = registered {
            return Err(gpu.trial.report.unsupported(&format!("cuMemHostRegister: {error}")));
        }
        let block = HostBlock { context, size: bytes, flags: flags | DEVICE_MAP, registered: true };
        gpu.held.host_blocks.insert(address, block);
        gpu.running.queue.tell(|order| order.allocated(address as u64, bytes as u64, true));
        Ok(())
    })
}

/// Takes memory of the program out of the device's reach, once the device's work is done.
///
/// `CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED` when no registered range starts there.
///
/// # Safety
/// None beyond the device's: it does not touch the memory any more.
pub unsafe extern "C" fn cuMemHostUnregister(memory: *mut c_void) -> Status {
    taking_away("cuMemHostUnregister", owner_of(memory), |gpu| {
        not_null(memory)?;
        let block = gpu.held.host_blocks.get(&(memory as usize)).ok_or(Status::HostMemoryNotRegistered)?;
        let released = block.registered && release(gpu, memory as usize);
        if released { Ok(()) } else { Err(Status::HostMemoryNotRegistered) }
    })
}

/// The flags that page-locked memory was allocated or registered with.
///
/// # Safety
/// `place` is null or points to a place for them.
pub unsafe extern "C" fn cuMemHostGetFlags(place: *mut c_uint, memory: *mut c_void) -> Status {
    with_context("cuMemHostGetFlags", |gpu, _| {
        let block = gpu.host_block(memory as usize).ok_or(Status::InvalidValue)?;
        // SAFETY: the caller's promise.
        unsafe { write(place, block.1.flags) }
    })
}

/// The device's address of page-locked memory: the same.
///
/// # Safety
/// `place` is null or points to a place for an address.
pub unsafe extern "C" fn cuMemHostGetDevicePointer_v2(
    place: *mut CUdeviceptr,
    memory: *mut c_void,
    flags: c_uint,
) -> Status {
    with_context("cuMemHostGetDevicePointer_v2", |gpu, _| {
        not_null(place)?;
        if flags != 0 {
            return Err(Status::InvalidValue);
        }
        gpu.host_block(memory as usize).ok_or(Status::InvalidValue)?;
        // SAFETY: the caller's promise.
        unsafe { write(place, memory as CUdeviceptr) }
    })
}
