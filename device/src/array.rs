//! Arrays are made in the device's memory, and destroyed.

use std::ffi::c_uint;

use bugaroo_cuda_abi::{CUDA_ARRAY3D_DESCRIPTOR, CUarray, CUcontext};
use bugaroo_simulator::AllocationKind;

use crate::error::{CallResult, Status};
use crate::objects::array::{Array, CUBEMAP, LAYERED};
use crate::state::Gpu;

/// `CUDA_ARRAY3D_SPARSE`, `DEFERRED_MAPPING` and `VIDEO_ENCODE_DECODE`.
const UNSUPPORTED_FLAGS: c_uint = 0x1c0;
/// `LAYERED`, `SURFACE_LDST`, `CUBEMAP`, `TEXTURE_GATHER`, `DEPTH_TEXTURE` and `COLOR_ATTACHMENT`.
const FLAGS_MASK: c_uint = 0x3f;

/// Bytes of an element: of a channel, times the channels. None for formats of blocks and planes.
fn element_bytes(format: c_uint, channels: c_uint) -> Option<usize> {
    let (bytes, needed) = match format {
        0x01 | 0x08 => (1, None),
        0x02 | 0x09 | 0x10 => (2, None),
        0x03 | 0x0a | 0x20 => (4, None),
        // UNORM and SNORM forms of 1, 2 and 4 channels.
        0xc0..=0xc2 => (1, Some(1 << (format - 0xc0))),
        0xc3..=0xc5 => (2, Some(1 << (format - 0xc3))),
        0xc6..=0xc8 => (1, Some(1 << (format - 0xc6))),
        0xc9..=0xcb => (2, Some(1 << (format - 0xc9))),
        _ => return None,
    };
    let known = matches!(channels, 1 | 2 | 4) && needed.is_none_or(|needed| needed == channels);
    known.then_some(bytes * channels as usize)
}

/// Makes an array, perhaps as a level of another.
///
/// # Errors
/// `InvalidValue` for a shape that no array has, `NotSupported`, `OutOfMemory`.
pub fn create(
    gpu: &mut Gpu,
    context: CUcontext,
    descriptor: CUDA_ARRAY3D_DESCRIPTOR,
    is_level: bool,
) -> CallResult<CUarray> {
    let CUDA_ARRAY3D_DESCRIPTOR { width, height, depth, format, channels, flags } = descriptor;
    if flags & UNSUPPORTED_FLAGS != 0 {
        let what = "cuArray3DCreate: sparse, deferred and video arrays are not supported";
        return Err(gpu.trial.report.unsupported(what));
    }
    let cube = flags & CUBEMAP != 0;
    let faces = if flags & LAYERED != 0 { depth.is_multiple_of(6) } else { depth == 6 };
    let layers = flags & LAYERED == 0 || depth > 0;
    if width == 0 || flags & !FLAGS_MASK != 0 || !layers || cube && (width != height || !faces) {
        return Err(Status::InvalidValue);
    }
    let Some(element) = element_bytes(format, channels) else {
        if matches!(format, 0x50 | 0x91..=0xb3) {
            let what = format!("cuArrayCreate: format {format:#x} is not supported");
            return Err(gpu.trial.report.unsupported(&what));
        }
        return Err(Status::InvalidValue);
    };
    let extents = [width, height.max(1), depth.max(1), element];
    let bytes = extents.iter().try_fold(1_usize, |product, extent| product.checked_mul(*extent));
    let bytes = bytes.ok_or(Status::InvalidValue)?;
    let found = gpu.memory.alloc(bytes as u64, 512, AllocationKind::Program);
    let address = found.map_err(|_| Status::OutOfMemory)?;
    gpu.own(address, context);
    gpu.held.origins.allocated(address, bytes as u64);
    gpu.trial.ends.allocated(address);
    gpu.running.queue.tell(|order| order.allocated(address, bytes as u64, false));
    Ok(gpu.held.arrays.insert(Array { context, descriptor, element, address, is_level }))
}

/// Destroys an array.
///
/// # Errors
/// `InvalidHandle`
pub fn destroy(gpu: &mut Gpu, array: CUarray) -> CallResult {
    let array = gpu.held.arrays.remove(array)?;
    gpu.note_end(array.address);
    gpu.held.origins.freed(array.address);
    if let Some((address, bytes)) = gpu.memory.allocation(array.address) {
        gpu.running.queue.tell(|order| order.freed(address, bytes));
    }
    gpu.memory.free(array.address).map_err(|_| Status::InvalidValue)
}
