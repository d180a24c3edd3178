//! Arrays (CUDA Driver API, `cuArrayCreate` and the like): memory that copies, textures and surfaces reach. Rows and
//! slices stand one behind the other without gaps.

use bugaroo_cuda_abi::{CUDA_ARRAY_DESCRIPTOR, CUDA_ARRAY3D_DESCRIPTOR, CUarray};

use crate::api::entry::with_context;
use crate::api::synchronising::synchronising;
use bugaroo_device::array::{create, destroy};
use bugaroo_device::error::Status;
use bugaroo_device::places::{not_null, write};

/// Makes an array of one or two dimensions.
///
/// # Safety
/// `place` is null or points to a place for a handle, `descriptor` is null or points to a descriptor.
pub unsafe extern "C" fn cuArrayCreate_v2(
    place: *mut CUarray,
    descriptor: *const CUDA_ARRAY_DESCRIPTOR,
) -> Status {
    with_context("cuArrayCreate_v2", |gpu, context| {
        not_null(place)?;
        not_null(descriptor)?;
        // SAFETY: not null, and the caller vouches for the rest.
        let CUDA_ARRAY_DESCRIPTOR { width, height, format, channels } =
            unsafe { descriptor.read_unaligned() };
        let descriptor = CUDA_ARRAY3D_DESCRIPTOR { width, height, depth: 0, format, channels, flags: 0 };
        let array = create(gpu, context, descriptor, false)?;
        // SAFETY: the caller's promise.
        unsafe { write(place, array) }
    })
}

/// Makes an array of up to three dimensions.
///
/// # Safety
/// As [`cuArrayCreate_v2`].
pub unsafe extern "C" fn cuArray3DCreate_v2(
    place: *mut CUarray,
    descriptor: *const CUDA_ARRAY3D_DESCRIPTOR,
) -> Status {
    with_context("cuArray3DCreate_v2", |gpu, context| {
        not_null(place)?;
        not_null(descriptor)?;
        // SAFETY: not null, and the caller vouches for the rest.
        let array = create(gpu, context, unsafe { descriptor.read_unaligned() }, false)?;
        // SAFETY: the caller's promise.
        unsafe { write(place, array) }
    })
}

/// Destroys an array, once the device's work is done.
pub extern "C" fn cuArrayDestroy(array: CUarray) -> Status {
    synchronising("cuArrayDestroy", |gpu, _| {
        if gpu.held.arrays.get(array)?.is_level {
            return Err(Status::InvalidHandle);
        }
        destroy(gpu, array)
    })
}

/// What an array was made from.
///
/// # Safety
/// `place` is null or points to a place for a descriptor.
pub unsafe extern "C" fn cuArrayGetDescriptor_v2(
    place: *mut CUDA_ARRAY_DESCRIPTOR,
    array: CUarray,
) -> Status {
    with_context("cuArrayGetDescriptor_v2", |gpu, _| {
        let CUDA_ARRAY3D_DESCRIPTOR { width, height, format, channels, .. } =
            gpu.held.arrays.get(array)?.descriptor;
        // SAFETY: the caller's promise.
        unsafe { write(place, CUDA_ARRAY_DESCRIPTOR { width, height, format, channels }) }
    })
}

/// What an array was made from.
///
/// # Safety
/// `place` is null or points to a place for a descriptor.
pub unsafe extern "C" fn cuArray3DGetDescriptor_v2(
    place: *mut CUDA_ARRAY3D_DESCRIPTOR,
    array: CUarray,
) -> Status {
    with_context("cuArray3DGetDescriptor_v2", |gpu, _| {
        let descriptor = gpu.held.arrays.get(array)?.descriptor;
        // SAFETY: the caller's promise.
        unsafe { write(place, descriptor) }
    })
}
