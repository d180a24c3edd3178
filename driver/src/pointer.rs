//! What is known of an address (CUDA Driver API, "Unified Addressing").

use std::ffi::{c_int, c_uint, c_void};

use crate::entry::{not_null, with_context, write};
use crate::error::{Outcome, Status};
use crate::state::Driver;
use crate::types::{CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_HOST, CUcontext, CUdeviceptr};

/// Memory that the driver knows.
struct Known {
    context: CUcontext,
    on_device: bool,
    first: u64,
    size: u64,
}

fn find(driver: &Driver, address: CUdeviceptr, current: CUcontext) -> Option<Known> {
    if let Some((first, size)) = driver.memory.allocation(address) {
        // A module's variables belong to whoever loaded it; the current context stands for that.
        let context = driver.allocations.get(&first).map_or(current, |allocation| allocation.context);
        return Some(Known { context, on_device: true, first, size });
    }
    let (first, block) = driver.host_block(usize::try_from(address).ok()?)?;
    Some(Known { context: block.context, on_device: false, first: first as u64, size: block.size as u64 })
}

/// Writes one attribute of an address.
///
/// # Safety
/// `place` is null or points to a place for a value of the attribute's type.
unsafe fn tell(
    driver: &Driver,
    place: *mut c_void,
    attribute: c_uint,
    address: CUdeviceptr,
    current: CUcontext,
) -> Outcome {
    let known = find(driver, address, current);
    // SAFETY: the caller's promise, with the types that `cuda.h` states for the attributes.
    unsafe {
        // What can be asked of any address.
        match attribute {
            8 | 15 | 21 => return write(place.cast::<u32>(), 0), // managed; remote access; decompression
            13 => return write(place.cast::<u32>(), u32::from(known.is_some())), // mapped
            14 => return write(place.cast::<u64>(), 0),          // shareable handle types
            17 => return write(place.cast::<*mut c_void>(), std::ptr::null_mut()), // pool
            _ => {}
        }
        let known = known.ok_or(Status::InvalidValue)?;
        match attribute {
            1 => write(place.cast::<CUcontext>(), known.context),
            2 => {
                let kind = if known.on_device { CU_MEMORYTYPE_DEVICE } else { CU_MEMORYTYPE_HOST };
                write(place.cast::<c_uint>(), kind)
            }
            3 if known.on_device => write(place.cast::<u64>(), address),
            4 if !known.on_device => write(place.cast::<u64>(), address),
            6 | 10 => write(place.cast::<u32>(), 0), // synchronous copies; interprocess use
            9 => write(place.cast::<c_int>(), 0),    // device
            // The first address also serves as the block's number.
            7 | 11 | 19 | 20 => write(place.cast::<u64>(), known.first),
            12 | 18 => write(place.cast::<u64>(), known.size),
            16 => write(place.cast::<u32>(), 3), // read and write
            _ => Err(Status::InvalidValue),
        }
    }
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
    with_context("cuPointerGetAttribute", |driver, current| {
        // SAFETY: the caller's promise.
        unsafe { tell(driver, place, attribute, address, current) }
    })
}

/// Several attributes of an address; those that it does not have become 0.
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
    with_context("cuPointerGetAttributes", |driver, current| {
        not_null(attributes)?;
        not_null(places)?;
        for index in 0..count as usize {
            // SAFETY: the caller's promise.
            let (attribute, place) = unsafe { (*attributes.add(index), *places.add(index)) };
            // SAFETY: the caller's promise.
            let outcome = unsafe { tell(driver, place, attribute, address, current) };
            if outcome.is_err() {
                not_null(place)?;
                // SAFETY: the smallest of the attributes' types has four bytes.
                unsafe { write(place.cast::<u32>(), 0) }?;
            }
        }
        Ok(())
    })
}
