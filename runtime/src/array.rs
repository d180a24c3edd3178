//! Arrays (CUDA Runtime API, `cudaMallocArray` and the like). Flags are the driver's.

use std::ffi::{c_int, c_uint, c_void};
use std::ptr::null_mut;

use bugaroo_cuda_abi::{CUDA_ARRAY3D_DESCRIPTOR, CUdevice, FunctionAddress};

use crate::api::api;
use crate::device::handle;
use crate::driver::driver;
use crate::error::{RuntimeError, RuntimeResult};
use crate::types::{ChannelFormat, Extent, Handle, not_null, write};

driver! {
    cuArray3DCreate_v2(place: *mut Handle, descriptor: *const CUDA_ARRAY3D_DESCRIPTOR);
    cuArray3DGetDescriptor_v2(place: *mut CUDA_ARRAY3D_DESCRIPTOR, array: Handle);
    cuArrayDestroy(array: Handle);
    cuArrayGetPlane(place: *mut Handle, array: Handle, index: c_uint);
    cuArrayGetMemoryRequirements(place: *mut c_void, array: Handle, device: CUdevice);
    cuArrayGetSparseProperties(place: *mut c_void, array: Handle);
    cuMipmappedArrayCreate(place: *mut Handle, descriptor: *const CUDA_ARRAY3D_DESCRIPTOR, levels: c_uint);
    cuMipmappedArrayDestroy(array: Handle);
    cuMipmappedArrayGetLevel(place: *mut Handle, array: Handle, level: c_uint);
    cuMipmappedArrayGetMemoryRequirements(place: *mut c_void, array: Handle, device: CUdevice);
    cuMipmappedArrayGetSparseProperties(place: *mut c_void, array: Handle);
}

/// The driver's formats: number, bits of a channel, `cudaChannelFormatKind`.
const FORMATS: [(c_uint, c_int, c_int); 8] = [
    (0x01, 8, 1),
    (0x02, 16, 1),
    (0x03, 32, 1),
    (0x08, 8, 0),
    (0x09, 16, 0),
    (0x0a, 32, 0),
    (0x10, 16, 2),
    (0x20, 32, 2),
];

/// An array's shape.
///
/// # Errors
/// What the driver says of the handle.
pub(crate) fn descriptor(array: Handle) -> RuntimeResult<CUDA_ARRAY3D_DESCRIPTOR> {
    let mut descriptor = CUDA_ARRAY3D_DESCRIPTOR::default();
    // SAFETY: a place for the answer.
    unsafe { cuArray3DGetDescriptor_v2(&raw mut descriptor, array) }?;
    Ok(descriptor)
}

/// The format that a descriptor names.
fn format(descriptor: &CUDA_ARRAY3D_DESCRIPTOR) -> RuntimeResult<(c_int, c_int)> {
    let found = FORMATS.iter().find(|(number, ..)| *number == descriptor.format);
    found.map(|(_, bits, kind)| (*bits, *kind)).ok_or(RuntimeError::INVALID_CHANNEL_DESCRIPTOR)
}

/// Bytes of an element: all its channels.
///
/// # Errors
/// `cudaErrorInvalidChannelDescriptor` for a format that this API has no name for.
pub fn element_size(descriptor: &CUDA_ARRAY3D_DESCRIPTOR) -> RuntimeResult<usize> {
    let (bits, _) = format(descriptor)?;
    // Bits are 8, 16 or 32.
    Ok(bits.unsigned_abs() as usize / 8 * descriptor.channels as usize)
}

/// The driver's number of the format of such channels, and how many they are: 1, 2 or 4, all of the same size.
///
/// # Errors
/// `cudaErrorInvalidChannelDescriptor` for any others.
pub(crate) fn format_number(channels: &ChannelFormat) -> RuntimeResult<(c_uint, c_uint)> {
    let ChannelFormat { bits, kind } = *channels;
    let count = bits.iter().take_while(|bits| **bits != 0).count();
    let uniform = bits.iter().enumerate().all(|(index, of)| *of == if index < count { bits[0] } else { 0 });
    let found = FORMATS.iter().find(|(_, of, which)| (*of, *which) == (bits[0], kind));
    match found {
        // 1, 2 or 4
        Some((format, ..)) if uniform && matches!(count, 1 | 2 | 4) => Ok((*format, count as c_uint)),
        _ => Err(RuntimeError::INVALID_CHANNEL_DESCRIPTOR),
    }
}

/// The channels that the driver has by this number, and so many of them.
///
/// # Errors
/// `cudaErrorInvalidChannelDescriptor` for a format that this API has no name for.
pub(crate) fn from_format_number(number: c_uint, count: c_uint) -> RuntimeResult<ChannelFormat> {
    let found = FORMATS.iter().find(|(of, ..)| *of == number);
    let (_, bits, kind) = found.ok_or(RuntimeError::INVALID_CHANNEL_DESCRIPTOR)?;
    let count = count as usize;
    Ok(ChannelFormat {
        bits: std::array::from_fn(|index| if index < count { *bits } else { 0 }),
        kind: *kind,
    })
}

/// The driver's descriptor of an array with such channels.
///
/// # Safety
/// `channels` is null or points to a description.
unsafe fn wanted(
    channels: *const ChannelFormat,
    extent: Extent,
    flags: c_uint,
) -> RuntimeResult<CUDA_ARRAY3D_DESCRIPTOR> {
    not_null(channels)?;
    // SAFETY: not null, and the caller's promise.
    let (format, channels) = format_number(unsafe { &*channels })?;
    let Extent { width, height, depth } = extent;
    Ok(CUDA_ARRAY3D_DESCRIPTOR { width, height, depth, format, channels, flags })
}

/// Makes an array.
///
/// # Safety
/// `place` is null or points to a place for a handle, `channels` is null or points to a description.
unsafe fn create(
    place: *mut Handle,
    channels: *const ChannelFormat,
    extent: Extent,
    flags: c_uint,
) -> RuntimeResult {
    not_null(place)?;
    // SAFETY: the caller's promise.
    unsafe {
        let descriptor = wanted(channels, extent, flags)?;
        let mut array = null_mut();
        cuArray3DCreate_v2(&raw mut array, &raw const descriptor)?;
        write(place, array)
    }
}

/// The description of an array's channels.
fn channels(descriptor: &CUDA_ARRAY3D_DESCRIPTOR) -> RuntimeResult<ChannelFormat> {
    from_format_number(descriptor.format, descriptor.channels)
}

/// `cudaCreateChannelDesc` of the Runtime API.
pub extern "C" fn cudaCreateChannelDesc(
    x: c_int,
    y: c_int,
    z: c_int,
    w: c_int,
    kind: c_int,
) -> ChannelFormat {
    ChannelFormat { bits: [x, y, z, w], kind }
}

/// What is no [`api!`] item, since it gives no error.
pub static PLAIN: &[(&str, FunctionAddress)] =
    &[("cudaCreateChannelDesc", FunctionAddress(cudaCreateChannelDesc as *const c_void))];

api! {
    with_device cudaMallocArray(
        place: *mut Handle, channels: *const ChannelFormat, width: usize, height: usize, flags: c_uint,
    ) {
        create(place, channels, Extent { width, height, depth: 0 }, flags)
    }
    with_device cudaMalloc3DArray(place: *mut Handle, channels: *const ChannelFormat, extent: Extent, flags: c_uint) {
        create(place, channels, extent, flags)
    }
    with_device cudaMallocMipmappedArray(
        place: *mut Handle, channels: *const ChannelFormat, extent: Extent, levels: c_uint, flags: c_uint,
    ) {
        let descriptor = wanted(channels, extent, flags)?;
        cuMipmappedArrayCreate(place, &raw const descriptor, levels)
    }
    with_device cudaFreeArray(array: Handle) {
        if array.is_null() { Ok(()) } else { cuArrayDestroy(array) }
    }
    with_device cudaFreeMipmappedArray(array: Handle) {
        if array.is_null() { Ok(()) } else { cuMipmappedArrayDestroy(array) }
    }
    with_device cudaGetMipmappedArrayLevel(place: *mut Handle, array: Handle, level: c_uint) {
        cuMipmappedArrayGetLevel(place, array, level)
    }
    /// Each of the answers may be left out.
    with_device cudaArrayGetInfo(
        format: *mut ChannelFormat, extent: *mut Extent, flags: *mut c_uint, array: Handle,
    ) {
        let found = descriptor(array)?;
        if !format.is_null() {
            write(format, channels(&found)?)?;
        }
        if !extent.is_null() {
            write(extent, Extent { width: found.width, height: found.height, depth: found.depth })?;
        }
        if flags.is_null() { Ok(()) } else { write(flags, found.flags) }
    }
    with_device cudaGetChannelDesc(place: *mut ChannelFormat, array: Handle) {
        write(place, channels(&descriptor(array)?)?)
    }
    with_device cudaArrayGetPlane(place: *mut Handle, array: Handle, index: c_uint) {
        cuArrayGetPlane(place, array, index)
    }
    with_device cudaArrayGetMemoryRequirements(place: *mut c_void, array: Handle, ordinal: c_int) {
        cuArrayGetMemoryRequirements(place, array, handle(ordinal)?)
    }
    with_device cudaMipmappedArrayGetMemoryRequirements(place: *mut c_void, array: Handle, ordinal: c_int) {
        cuMipmappedArrayGetMemoryRequirements(place, array, handle(ordinal)?)
    }
    with_device cudaArrayGetSparseProperties(place: *mut c_void, array: Handle) {
        cuArrayGetSparseProperties(place, array)
    }
    with_device cudaMipmappedArrayGetSparseProperties(place: *mut c_void, array: Handle) {
        cuMipmappedArrayGetSparseProperties(place, array)
    }
}
