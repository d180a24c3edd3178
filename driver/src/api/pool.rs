//! Memory pools, and allocation in stream order (CUDA Driver API, "Stream Ordered Memory Allocator").
//!
//! All pools draw on the one device memory and hold nothing back, as everything is freed at once: what a
//! pool reserves is what is in use of it. A pool is a name, with what it counts, and who may use its memory. None can be shared
//! with other processes.

use std::ffi::{c_int, c_uint, c_void};

use bugaroo_cuda_abi::{
    CUdevice, CUdeviceptr, CUmemAccessDesc, CUmemLocation, CUmemPoolProps, CUmemoryPool, CUstream,
    FILE_DESCRIPTOR, LOCATION_DEVICE, LOCATION_HOST,
};

use bugaroo_simulator::MappingAccess;

use crate::api::entry::with_gpu;
use crate::api::submit::{on_stream, twin};
use bugaroo_device::error::{CallResult, Status};
use bugaroo_device::objects::pool::{DevicePools, Pool, Pools, REUSE, shared};
use bugaroo_device::objects::primary::check_device;
use bugaroo_device::places::{not_null, write};

/// `CU_MEMPOOL_ATTR_RELEASE_THRESHOLD`
const RELEASE_THRESHOLD: c_uint = 4;

pub(crate) fn tell(
    name: &str,
    place: *mut CUmemoryPool,
    device: CUdevice,
    which: fn(&DevicePools) -> CUmemoryPool,
) -> Status {
    with_gpu(name, |gpu| {
        let pool = which(gpu.held.pools.of(device)?);
        // SAFETY: the exported functions' callers vouch for the place.
        unsafe { write(place, pool) }
    })
}

/// The device's default pool.
///
/// # Safety
/// `place` is null or points to a place for a handle.
pub unsafe extern "C" fn cuDeviceGetDefaultMemPool(place: *mut CUmemoryPool, device: CUdevice) -> Status {
    tell("cuDeviceGetDefaultMemPool", place, device, |pools| pools.default)
}

/// The device's current pool.
///
/// # Safety
/// `place` is null or points to a place for a handle.
pub unsafe extern "C" fn cuDeviceGetMemPool(place: *mut CUmemoryPool, device: CUdevice) -> Status {
    tell("cuDeviceGetMemPool", place, device, |pools| pools.current)
}

/// Makes a pool the device's current one.
pub extern "C" fn cuDeviceSetMemPool(device: CUdevice, pool: CUmemoryPool) -> Status {
    with_gpu("cuDeviceSetMemPool", |gpu| {
        check_device(device)?;
        let found = gpu.held.pools.all.get(pool)?;
        // Memory of another device is no device's own.
        if !found.managed && found.device != device {
            return Err(Status::InvalidValue);
        }
        gpu.held.pools.of(device)?.current = pool;
        Ok(())
    })
}

/// Makes a pool of device memory, or of memory that host and device share: managed memory, or the host's.
///
/// `CUDA_ERROR_NOT_SUPPORTED` for handles that other processes could use, but for those of files.
///
/// # Safety
/// `place` is null or points to a place for a handle; `properties` is null or points to properties.
pub unsafe extern "C" fn cuMemPoolCreate(
    place: *mut CUmemoryPool,
    properties: *const CUmemPoolProps,
) -> Status {
    with_gpu("cuMemPoolCreate", |gpu| {
        not_null(place)?;
        not_null(properties)?;
        // SAFETY: not null, and the caller vouches for the rest.
        let properties = unsafe { properties.read_unaligned() };
        if !matches!(properties.allocation_type, 1 | 2) {
            return Err(Status::InvalidValue);
        }
        if properties.handle_types & !FILE_DESCRIPTOR != 0 {
            let what = "cuMemPoolCreate: pools that are shared with other processes are not supported";
            return Err(gpu.trial.report.unsupported(what));
        }
        let managed = properties.allocation_type == 2 || properties.location.kind != LOCATION_DEVICE;
        match properties.location.kind {
            LOCATION_DEVICE => check_device(properties.location.id)?,
            _ if properties.allocation_type == 2 => {}
            LOCATION_HOST..=4 => {}
            _ => return Err(Status::InvalidValue),
        }
        let limit = properties.max_size as u64;
        let device = if managed { 0 } else { properties.location.id };
        let pool = Pool { reuse: REUSE, limit, managed, device, ..Pool::default() };
        let pool = gpu.held.pools.all.insert(pool);
        gpu.tell_pool(pool);
        // SAFETY: the caller's promise.
        unsafe { write(place, pool) }
    })
}

/// Destroys a pool; what was allocated from it stays. The default pool cannot be destroyed.
pub extern "C" fn cuMemPoolDestroy(pool: CUmemoryPool) -> Status {
    with_gpu("cuMemPoolDestroy", |gpu| {
        if gpu.held.pools.is_default(pool) {
            return Err(Status::InvalidValue);
        }
        gpu.held.pools.all.remove(pool)?;
        gpu.held.pools.forget(pool);
        Ok(())
    })
}

/// Gives memory that a pool holds back to the device; it holds none.
pub extern "C" fn cuMemPoolTrimTo(pool: CUmemoryPool, _bytes_to_keep: usize) -> Status {
    with_gpu("cuMemPoolTrimTo", |gpu| gpu.held.pools.all.get(pool).map(|_| ()))
}

/// One of a pool's attributes.
///
/// # Safety
/// `place` is null or points to a place for a value of the attribute's type.
pub unsafe extern "C" fn cuMemPoolGetAttribute(
    pool: CUmemoryPool,
    attribute: c_uint,
    place: *mut c_void,
) -> Status {
    with_gpu("cuMemPoolGetAttribute", |gpu| {
        let pool = *gpu.held.pools.all.get(pool)?;
        // SAFETY: the caller's promise, with the types that `cuda.h` states.
        unsafe {
            match attribute {
                1..=3 => write(place.cast::<u32>(), pool.reuse >> attribute & 1),
                RELEASE_THRESHOLD => write(place.cast::<u64>(), pool.release_threshold),
                5 | 7 => write(place.cast::<u64>(), pool.used),
                6 => write(place.cast::<u64>(), pool.most_reserved),
                8 => write(place.cast::<u64>(), pool.most_used),
                _ => Err(Status::InvalidValue),
            }
        }
    })
}

/// Sets one of a pool's attributes: a switch or the threshold, which are kept and told and change nothing,
/// or the most that was in use, which can be set back.
///
/// # Safety
/// `value` is null or points to a value of the attribute's type.
pub unsafe extern "C" fn cuMemPoolSetAttribute(
    pool: CUmemoryPool,
    attribute: c_uint,
    value: *const c_void,
) -> Status {
    with_gpu("cuMemPoolSetAttribute", |gpu| {
        let pool = gpu.held.pools.all.get_mut(pool)?;
        not_null(value)?;
        let (switch, number) = match attribute {
            // SAFETY: the caller's promise, with the types that `cuda.h` states.
            1..=3 => (unsafe { value.cast::<u32>().read_unaligned() }, 0),
            // SAFETY: as above.
            RELEASE_THRESHOLD | 6 | 8 => (0, unsafe { value.cast::<u64>().read_unaligned() }),
            _ => return Err(Status::InvalidValue),
        };
        match attribute {
            1..=3 => pool.reuse = pool.reuse & !(1 << attribute) | u32::from(switch != 0) << attribute,
            RELEASE_THRESHOLD => pool.release_threshold = number,
            _ if number != 0 => return Err(Status::InvalidValue),
            6 => pool.most_reserved = pool.used,
            _ => pool.most_used = pool.used,
        }
        Ok(())
    })
}

/// Lets devices use a pool's memory. Its own device may always.
///
/// # Safety
/// `descriptions` is null or points to `count` descriptions.
pub unsafe extern "C" fn cuMemPoolSetAccess(
    pool: CUmemoryPool,
    descriptions: *const CUmemAccessDesc,
    count: usize,
) -> Status {
    with_gpu("cuMemPoolSetAccess", |gpu| {
        gpu.held.pools.all.get(pool)?;
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
            if description.location.kind == LOCATION_DEVICE {
                check_device(description.location.id)?;
                gpu.set_pool_access(pool, description.location.id, access)?;
            }
        }
        Ok(())
    })
}

/// What a location may do with a pool's memory: its device everything, others what they were given, the host nothing, unless it
/// is managed.
///
/// # Safety
/// `place` is null or points to a place for the flags, `location` is null or points to a location.
pub unsafe extern "C" fn cuMemPoolGetAccess(
    place: *mut c_uint,
    pool: CUmemoryPool,
    location: *const CUmemLocation,
) -> Status {
    with_gpu("cuMemPoolGetAccess", |gpu| {
        let managed = gpu.held.pools.all.get(pool)?.managed;
        not_null(location)?;
        // SAFETY: not null, and the caller vouches for the rest.
        let location = unsafe { location.read_unaligned() };
        let flags = match location.kind {
            LOCATION_DEVICE => {
                check_device(location.id)?;
                match gpu.pool_access(pool, location.id)? {
                    MappingAccess::None => 0,
                    MappingAccess::Read => 1,
                    MappingAccess::ReadWrite => 3,
                }
            }
            _ if managed => 3,
            _ => 0,
        };
        // SAFETY: the caller's promise.
        unsafe { write(place, flags) }
    })
}

/// A pool cannot be shared with other processes.
///
/// # Safety
/// `place` is not used.
pub unsafe extern "C" fn cuMemPoolExportToShareableHandle(
    _place: *mut c_void,
    pool: CUmemoryPool,
    _kind: c_uint,
    _flags: u64,
) -> Status {
    with_gpu("cuMemPoolExportToShareableHandle", |gpu| {
        gpu.held.pools.all.get(pool)?;
        let what = "cuMemPoolExportToShareableHandle: sharing memory with other processes is not supported";
        Err(gpu.trial.report.unsupported(what))
    })
}

twin! { cuMemAllocFromPoolAsync_ptsz =
    /// Allocates device memory from a pool, in stream order, which is now.
    ///
    /// # Safety
    /// `place` is null or points to a place for an address.
    pub unsafe extern "C" fn cuMemAllocFromPoolAsync(
        place: *mut CUdeviceptr,
        bytes: usize,
        pool: CUmemoryPool,
        stream: CUstream,
    ) -> Status {
        on_stream("cuMemAllocFromPoolAsync", stream, |gpu, stream| -> CallResult {
            not_null(place)?;
            let address = match gpu.is_capturing(&stream) {
                true => {
                    gpu.held.pools.all.get(pool)?;
                    gpu.capture_allocation(&stream, bytes)?
                }
                false => gpu.allocate_in(&stream, pool, bytes)?,
            };
            // SAFETY: the caller's promise.
            unsafe { write(place, address) }
        })
    }
}

/// The pools of a location of device memory, or of memory that host and device share.
///
/// # Safety
/// `location` is null or points to a location.
unsafe fn pools_of(
    pools: &mut Pools,
    location: *const CUmemLocation,
    kind: c_int,
) -> CallResult<&mut DevicePools> {
    // SAFETY: the caller's promise.
    if unsafe { shared(location, kind) }? {
        return Ok(&mut pools.shared);
    }
    // SAFETY: it was found to be one.
    let location = unsafe { location.read_unaligned() };
    pools.of(location.id)
}

/// The default pool of a location.
///
/// # Safety
/// `place` is null or points to a place for a handle, `location` is null or points to a location.
pub unsafe extern "C" fn cuMemGetDefaultMemPool(
    place: *mut CUmemoryPool,
    location: *const CUmemLocation,
    kind: c_int,
) -> Status {
    with_gpu("cuMemGetDefaultMemPool", |gpu| {
        // SAFETY: the caller's promise.
        let pool = unsafe { pools_of(&mut gpu.held.pools, location, kind) }?.default;
        // SAFETY: the caller's promise.
        unsafe { write(place, pool) }
    })
}

/// The current pool of a location.
///
/// # Safety
/// As [`cuMemGetDefaultMemPool`].
pub unsafe extern "C" fn cuMemGetMemPool(
    place: *mut CUmemoryPool,
    location: *const CUmemLocation,
    kind: c_int,
) -> Status {
    with_gpu("cuMemGetMemPool", |gpu| {
        // SAFETY: the caller's promise.
        let pool = unsafe { pools_of(&mut gpu.held.pools, location, kind) }?.current;
        // SAFETY: the caller's promise.
        unsafe { write(place, pool) }
    })
}

/// Makes a pool the current one of a location.
///
/// # Safety
/// `location` is null or points to a location.
pub unsafe extern "C" fn cuMemSetMemPool(
    location: *const CUmemLocation,
    kind: c_int,
    pool: CUmemoryPool,
) -> Status {
    with_gpu("cuMemSetMemPool", |gpu| {
        let found = *gpu.held.pools.all.get(pool)?;
        // SAFETY: the caller's promise.
        let current = unsafe { pools_of(&mut gpu.held.pools, location, kind) }?;
        let of = current.of;
        if found.managed != of.is_none() || of.is_some_and(|device| device != found.device) {
            return Err(Status::InvalidValue);
        }
        current.current = pool;
        Ok(())
    })
}
