//! Mipmapped arrays (CUDA Driver API, `cuMipmappedArrayCreate` and the like): an array for each level of detail, each half as large
//! as the one before. Layers and faces stay as many.

use std::ffi::c_uint;

use bugaroo_cuda_abi::{CUDA_ARRAY3D_DESCRIPTOR, CUarray, CUmipmappedArray};

use crate::api::entry::with_context;
use crate::api::synchronising::synchronising;
use bugaroo_device::array;
use bugaroo_device::error::Status;
use bugaroo_device::mipmap::{destroy, level};
use bugaroo_device::objects::array as objects_array;
use bugaroo_device::objects::mipmap::Mipmapped;
use bugaroo_device::places::{not_null, write};

/// How many levels there can be: down to a single texel.
fn most_levels(finest: &CUDA_ARRAY3D_DESCRIPTOR) -> c_uint {
    let depth = if objects_array::has_layers(finest) { 0 } else { finest.depth };
    finest.width.max(finest.height).max(depth).max(1).ilog2() + 1
}

/// Makes a mipmapped array. More levels than there can be are as many as there can be.
///
/// # Safety
/// `place` is null or points to a place for a handle, `descriptor` is null or points to a descriptor.
pub unsafe extern "C" fn cuMipmappedArrayCreate(
    place: *mut CUmipmappedArray,
    descriptor: *const CUDA_ARRAY3D_DESCRIPTOR,
    levels: c_uint,
) -> Status {
    with_context("cuMipmappedArrayCreate", |gpu, context| {
        not_null(place)?;
        not_null(descriptor)?;
        // SAFETY: not null, and the caller vouches for the rest.
        let finest = unsafe { descriptor.read_unaligned() };
        let mut made = Vec::new();
        for number in 0..levels.clamp(1, most_levels(&finest)) {
            match array::create(gpu, context, level(finest, number), true) {
                Ok(array) => made.push(array),
                Err(error) => {
                    for array in made {
                        // Just made, hence there.
                        let _ = array::destroy(gpu, array);
                    }
                    return Err(error);
                }
            }
        }
        let handle = gpu.held.mipmapped.insert(Mipmapped { context, levels: made });
        // SAFETY: the caller's promise.
        unsafe { write(place, handle) }
    })
}

/// The array of a level, which lives as long as the whole.
///
/// # Safety
/// `place` is null or points to a place for a handle.
pub unsafe extern "C" fn cuMipmappedArrayGetLevel(
    place: *mut CUarray,
    array: CUmipmappedArray,
    level: c_uint,
) -> Status {
    with_context("cuMipmappedArrayGetLevel", |gpu, _| {
        let levels = &gpu.held.mipmapped.get(array)?.levels;
        let found = *levels.get(level as usize).ok_or(Status::InvalidValue)?;
        // SAFETY: the caller's promise.
        unsafe { write(place, found) }
    })
}

/// Destroys a mipmapped array, once the device's work is done.
pub extern "C" fn cuMipmappedArrayDestroy(array: CUmipmappedArray) -> Status {
    synchronising("cuMipmappedArrayDestroy", |gpu, _| destroy(gpu, array))
}
