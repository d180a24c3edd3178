//! Virtual memory management (CUDA Driver API, `cuMemAddressReserve`, `cuMemCreate`, `cuMemMap` and the like): addresses
//! reserved apart from the memory behind them. Memory lives on the device alone, and no other process can
//! share it.

use std::ffi::{c_uint, c_ulonglong, c_void};

use bugaroo_cuda_abi::{
    CUdeviceptr, CUmemAccessDesc, CUmemAllocationProp, CUmemGenericAllocationHandle, CUmemLocation,
    FILE_DESCRIPTOR, LOCATION_DEVICE,
};
use bugaroo_simulator::{GRANULARITY, MappingAccess};

use crate::api::entry::{with_context, with_gpu};
use crate::api::synchronising::synchronising;
use bugaroo_device::error::{CallResult, Status};
use bugaroo_device::objects::primary::check_device;
use bugaroo_device::places::{not_null, write};
use bugaroo_device::state::Gpu;

/// Refuses what is not made of whole chunks of the least size.
fn whole(bytes: usize) -> CallResult<u64> {
    let bytes = bytes as u64;
    if bytes > 0 && bytes.is_multiple_of(GRANULARITY) { Ok(bytes) } else { Err(Status::InvalidValue) }
}

/// Refuses memory that this device cannot give.
fn check_properties(gpu: &Gpu, properties: *const CUmemAllocationProp) -> CallResult<CUmemAllocationProp> {
    not_null(properties)?;
    // SAFETY: not null; the exported functions' callers vouch for the rest.
    let properties = unsafe { properties.read_unaligned() };
    if properties.allocation_type != 1 {
        return Err(Status::InvalidValue);
    }
    if properties.handle_types & !FILE_DESCRIPTOR != 0 {
        let what = "cuMemCreate: memory that is shared with other processes is not supported";
        return Err(gpu.trial.report.unsupported(what));
    }
    match properties.location.kind {
        LOCATION_DEVICE => check_device(properties.location.id)?,
        2..=4 => {
            return Err(gpu.trial.report.unsupported("cuMemCreate: memory of the host is not supported"));
        }
        _ => return Err(Status::InvalidValue),
    }
    Ok(properties)
}

/// The least size of memory and of its mappings.
///
/// # Safety
/// `place` is null or points to a place for it, `properties` is null or points to properties.
pub unsafe extern "C" fn cuMemGetAllocationGranularity(
    place: *mut usize,
    properties: *const CUmemAllocationProp,
    option: c_uint,
) -> Status {
    with_gpu("cuMemGetAllocationGranularity", |_| {
        not_null(properties)?;
        if option > 1 {
            return Err(Status::InvalidValue);
        }
        // SAFETY: the caller's promise.
        unsafe { write(place, GRANULARITY as usize) }
    })
}

/// Reserves addresses, at those wished for where they are free.
///
/// # Safety
/// `place` is null or points to a place for an address.
pub unsafe extern "C" fn cuMemAddressReserve(
    place: *mut CUdeviceptr,
    bytes: usize,
    alignment: usize,
    wish: CUdeviceptr,
    flags: c_ulonglong,
) -> Status {
    with_context("cuMemAddressReserve", |gpu, _| {
        not_null(place)?;
        if flags != 0 || !(alignment == 0 || alignment.is_power_of_two()) {
            return Err(Status::InvalidValue);
        }
        let found = gpu.memory.reserve_addresses(whole(bytes)?, alignment as u64, wish);
        // SAFETY: the caller's promise.
        unsafe { write(place, found.map_err(|_| Status::OutOfMemory)?) }
    })
}

/// Gives addresses back, all that were reserved at once, and nothing mapped there.
pub extern "C" fn cuMemAddressFree(address: CUdeviceptr, bytes: usize) -> Status {
    with_context("cuMemAddressFree", |gpu, _| {
        gpu.memory.release_addresses(address, bytes as u64).map_err(|_| Status::InvalidValue)
    })
}

/// Makes a chunk of memory without addresses.
///
/// # Safety
/// `place` is null or points to a place for a handle, `properties` is null or points to properties.
pub unsafe extern "C" fn cuMemCreate(
    place: *mut CUmemGenericAllocationHandle,
    bytes: usize,
    properties: *const CUmemAllocationProp,
    flags: c_ulonglong,
) -> Status {
    with_context("cuMemCreate", |gpu, _| {
        not_null(place)?;
        if flags != 0 {
            return Err(Status::InvalidValue);
        }
        let properties = check_properties(gpu, properties)?;
        let chunk = gpu.memory.make_chunk(whole(bytes)?).map_err(|_| Status::OutOfMemory)?;
        gpu.held.chunks.add(chunk, properties);
        // SAFETY: the caller's promise.
        unsafe { write(place, chunk) }
    })
}

/// Gives a handle back; the memory goes with its last handle and mapping.
pub extern "C" fn cuMemRelease(handle: CUmemGenericAllocationHandle) -> Status {
    with_context("cuMemRelease", |gpu, _| gpu.memory.release_chunk(handle).map_err(|_| Status::InvalidValue))
}

/// Maps memory to reserved addresses, where nothing may be done with it yet.
pub extern "C" fn cuMemMap(
    address: CUdeviceptr,
    bytes: usize,
    offset: usize,
    handle: CUmemGenericAllocationHandle,
    flags: c_ulonglong,
) -> Status {
    with_context("cuMemMap", |gpu, _| {
        let aligned = address.is_multiple_of(GRANULARITY) && (offset as u64).is_multiple_of(GRANULARITY);
        if flags != 0 || !aligned {
            return Err(Status::InvalidValue);
        }
        let mapped = gpu.memory.map(address, whole(bytes)?, handle, offset as u64);
        mapped.map_err(|_| Status::InvalidValue)?;
        gpu.running.queue.tell(|order| order.allocated(address, bytes as u64, false));
        Ok(())
    })
}

/// Unmaps what was mapped, once the device's work is done.
pub extern "C" fn cuMemUnmap(address: CUdeviceptr, bytes: usize) -> Status {
    synchronising("cuMemUnmap", |gpu, _| {
        gpu.memory.unmap(address, whole(bytes)?).map_err(|_| Status::InvalidValue)?;
        gpu.running.queue.tell(|order| order.freed(address, bytes as u64));
        Ok(())
    })
}

/// Says what devices may do with mapped memory.
///
/// # Safety
/// `descriptions` is null or points to `count` descriptions.
pub unsafe extern "C" fn cuMemSetAccess(
    address: CUdeviceptr,
    bytes: usize,
    descriptions: *const CUmemAccessDesc,
    count: usize,
) -> Status {
    with_context("cuMemSetAccess", |gpu, _| {
        let bytes = whole(bytes)?;
        for index in 0..count {
            not_null(descriptions)?;
            // SAFETY: the caller's promise.
            let description = unsafe { descriptions.add(index).read_unaligned() };
            let access = match description.flags {
                0 => MappingAccess::None,
                1 => MappingAccess::Read,
                3 => MappingAccess::ReadWrite,
                _ => return Err(Status::InvalidValue),
            };
            if description.location.kind != LOCATION_DEVICE {
                let what = "cuMemSetAccess: access of the host to device memory is not supported";
                return Err(gpu.trial.report.unsupported(what));
            }
            check_device(description.location.id)?;
            let device = u32::try_from(description.location.id).unwrap_or(0);
            let set = gpu.memory.set_access((address, bytes), device, access);
            set.map_err(|_| Status::InvalidValue)?;
        }
        Ok(())
    })
}

/// What a location may do with mapped memory.
///
/// # Safety
/// `place` is null or points to a place for the flags, `location` is null or points to a location.
pub unsafe extern "C" fn cuMemGetAccess(
    place: *mut c_ulonglong,
    location: *const CUmemLocation,
    address: CUdeviceptr,
) -> Status {
    with_context("cuMemGetAccess", |gpu, _| {
        not_null(location)?;
        // SAFETY: not null, and the caller vouches for the rest.
        let location = unsafe { location.read_unaligned() };
        let device = u32::try_from(location.id).unwrap_or(0);
        let (access, _) = gpu.memory.mapping(address, device).ok_or(Status::InvalidValue)?;
        let flags = match (location.kind, access) {
            (LOCATION_DEVICE, MappingAccess::Read) => 1,
            (LOCATION_DEVICE, MappingAccess::ReadWrite) => 3,
            _ => 0,
        };
        // SAFETY: the caller's promise.
        unsafe { write(place, flags) }
    })
}

/// Another handle of the memory that is mapped at an address.
///
/// # Safety
/// `place` is null or points to a place for a handle.
pub unsafe extern "C" fn cuMemRetainAllocationHandle(
    place: *mut CUmemGenericAllocationHandle,
    address: *mut c_void,
) -> Status {
    with_context("cuMemRetainAllocationHandle", |gpu, _| {
        not_null(place)?;
        let (_, chunk) = gpu.memory.mapping(address as u64, 0).ok_or(Status::InvalidValue)?;
        gpu.memory.retain_chunk(chunk).map_err(|_| Status::InvalidValue)?;
        // SAFETY: the caller's promise.
        unsafe { write(place, chunk) }
    })
}

/// What memory was made from.
///
/// # Safety
/// `place` is null or points to a place for properties.
pub unsafe extern "C" fn cuMemGetAllocationPropertiesFromHandle(
    place: *mut CUmemAllocationProp,
    handle: CUmemGenericAllocationHandle,
) -> Status {
    with_context("cuMemGetAllocationPropertiesFromHandle", |gpu, _| {
        let properties = gpu.held.chunks.asked(handle)?;
        // SAFETY: the caller's promise.
        unsafe { write(place, properties) }
    })
}
