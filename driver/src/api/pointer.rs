//! What is known of an address (CUDA Driver API, "Unified Addressing").

use std::ffi::{c_int, c_uint, c_void};

use bugaroo_cuda_abi::{CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_HOST, CUcontext, CUdeviceptr, CUmemoryPool};
use bugaroo_simulator::{AllocationKind, MappingAccess};

use crate::api::current;
use crate::api::entry::{with_context, with_gpu};
use bugaroo_device::error::{CallResult, Status};
use bugaroo_device::places::{not_null, write};
use bugaroo_device::state::Gpu;

/// `CU_DEVICE_INVALID`
const NO_DEVICE: c_int = -2;

/// Memory that the driver knows.
struct Known {
    context: CUcontext,
    kind: AllocationKind,
    first: u64,
    size: u64,
    pool: Option<CUmemoryPool>,
    synchronous: bool,
    /// What the device may do: 1 read, 3 read and write.
    access: u32,
}

fn find(gpu: &Gpu, address: CUdeviceptr, current: CUcontext) -> Option<Known> {
    if let Some((first, block)) = gpu.host_block(usize::try_from(address).ok()?) {
        let (context, kind) = (block.context, AllocationKind::Pinned);
        let access = if block.registered && block.flags & 8 != 0 { 1 } else { 3 };
        let (first, size) = (first as u64, block.size as u64);
        return Some(Known { context, kind, first, size, pool: None, synchronous: false, access });
    }
    let (first, size) = gpu.memory.allocation(address)?;
    let device = u32::try_from(gpu.device_of(current)).unwrap_or(0);
    let access = match gpu.memory.mapping(address, device) {
        Some((MappingAccess::None, _)) => 0,
        Some((MappingAccess::Read, _)) => 1,
        _ => 3,
    };
    let allocation = gpu.program_allocation(address).map(|(_, allocation)| *allocation);
    let managed = bugaroo_device::advice::is_managed(gpu, address);
    let device = if managed { AllocationKind::Managed } else { AllocationKind::Program };
    Some(Known {
        // A module's variables belong to whoever loaded it; the current context stands for that.
        context: allocation.map_or(current, |allocation| allocation.context),
        kind: device,
        first,
        size,
        pool: allocation.and_then(|allocation| allocation.pool),
        synchronous: allocation.is_some_and(|allocation| allocation.synchronous),
        access,
    })
}

/// Writes one attribute of an address.
///
/// # Safety
/// `place` is null or points to a place for a value of the attribute's type.
unsafe fn tell(
    gpu: &Gpu,
    place: *mut c_void,
    attribute: c_uint,
    address: CUdeviceptr,
    current: CUcontext,
) -> CallResult {
    let known = find(gpu, address, current);
    // SAFETY: the caller's promise, with the types that `cuda.h` states for the attributes.
    unsafe {
        // What can be asked of any address.
        match attribute {
            8 => {
                let managed = known.is_some_and(|known| known.kind == AllocationKind::Managed);
                return write(place.cast::<u32>(), u32::from(managed));
            }
            15 | 21 => return write(place.cast::<u32>(), 0), // remote access; decompression
            13 => return write(place.cast::<u32>(), u32::from(known.is_some())), // mapped
            14 => return write(place.cast::<u64>(), 0),      // shareable handle types
            17 => {
                let pool = known.and_then(|known| known.pool).unwrap_or(std::ptr::null_mut());
                return write(place.cast::<*mut c_void>(), pool);
            }
            _ => {}
        }
        let known = known.ok_or(Status::InvalidValue)?;
        match attribute {
            1 => write(place.cast::<CUcontext>(), known.context),
            2 => {
                let host = known.kind == AllocationKind::Pinned;
                write(place.cast::<c_uint>(), if host { CU_MEMORYTYPE_HOST } else { CU_MEMORYTYPE_DEVICE })
            }
            // One address for both sides.
            3 => write(place.cast::<u64>(), address),
            4 if known.kind.host_visible() => write(place.cast::<u64>(), address),
            6 => write(place.cast::<u32>(), u32::from(known.synchronous)),
            10 => write(place.cast::<u32>(), 0), // interprocess use
            9 => {
                let pool = known.pool.and_then(|pool| gpu.held.pools.all.get(pool).ok());
                let pool = pool.filter(|pool| !pool.managed).map(|pool| pool.device);
                write(place.cast::<c_int>(), pool.unwrap_or(gpu.device_of(known.context)))
            }
            // The first address also serves as the block's number.
            7 | 11 | 19 | 20 => write(place.cast::<u64>(), known.first),
            12 | 18 => write(place.cast::<u64>(), known.size),
            16 => write(place.cast::<u32>(), known.access),
            _ => Err(Status::InvalidValue),
        }
    }
}

/// Writes what an attribute is of an address that does not have it.
///
/// # Safety
/// As [`tell`].
unsafe fn tell_nothing(place: *mut c_void, attribute: c_uint) -> CallResult {
    // SAFETY: the caller's promise, with the types that `cuda.h` states for the attributes.
    unsafe {
        match attribute {
            1 | 3 | 4 | 7 | 11 | 12 | 18 | 19 | 20 => write(place.cast::<u64>(), 0),
            9 => write(place.cast::<c_int>(), NO_DEVICE),
            // The smallest of the types has four bytes.
            _ => write(place.cast::<u32>(), 0),
        }
    }
}

/// Runs a body under the lock, with the current context where there is one: addresses may be asked about before there is any.
fn with_or_without_context(name: &str, body: impl FnOnce(&mut Gpu, CUcontext) -> CallResult) -> Status {
    if current::top().is_some() {
        with_context(name, body)
    } else {
        with_gpu(name, |gpu| body(gpu, std::ptr::null_mut()))
    }
}

/// Sets the one attribute that can be set: that operations on the memory wait for their end, as they do.
///
/// # Safety
/// `value` is null or points to a number.
pub unsafe extern "C" fn cuPointerSetAttribute(
    value: *const c_void,
    attribute: c_uint,
    address: CUdeviceptr,
) -> Status {
    with_context("cuPointerSetAttribute", |gpu, _| {
        not_null(value)?;
        if attribute != 6 {
            return Err(Status::InvalidValue);
        }
        // SAFETY: not null, and the caller vouches for the rest.
        let synchronous = unsafe { value.cast::<c_uint>().read_unaligned() } != 0;
        let (first, _) = gpu.program_allocation(address).ok_or(Status::InvalidValue)?;
        if let Some(allocation) = gpu.held.allocations.get_mut(&first) {
            allocation.synchronous = synchronous;
        }
        Ok(())
    })
}

/// One attribute of an address.
///
/// `CUDA_ERROR_INVALID_VALUE` for an address that is neither the device's nor page-locked.
///
/// # Safety
/// `place` is null or points to a place for a value of the attribute's type.
pub unsafe extern "C" fn cuPointerGetAttribute(
    place: *mut c_void,
    attribute: c_uint,
    address: CUdeviceptr,
) -> Status {
    with_or_without_context("cuPointerGetAttribute", |gpu, current| {
        // SAFETY: the caller's promise.
        unsafe { tell(gpu, place, attribute, address, current) }
    })
}

/// Several attributes of an address; those that it does not have become 0, and its device `CU_DEVICE_INVALID`.
///
/// # Safety
/// `attributes` and `places` point to `count` items each, and the places are as for
/// [`cuPointerGetAttribute`].
pub unsafe extern "C" fn cuPointerGetAttributes(
    count: c_uint,
    attributes: *const c_uint,
    places: *const *mut c_void,
    address: CUdeviceptr,
) -> Status {
    with_or_without_context("cuPointerGetAttributes", |gpu, current| {
        not_null(attributes)?;
        not_null(places)?;
        for index in 0..count as usize {
            // SAFETY: the caller's promise.
            let (attribute, place) = unsafe { (*attributes.add(index), *places.add(index)) };
            // SAFETY: the caller's promise.
            let outcome = unsafe { tell(gpu, place, attribute, address, current) };
            if outcome.is_err() {
                // SAFETY: the caller's promise.
                unsafe { tell_nothing(place, attribute) }?;
            }
        }
        Ok(())
    })
}
