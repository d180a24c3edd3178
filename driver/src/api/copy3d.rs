//! Copies of boxes (CUDA Driver API, `cuMemcpy3D`), of which rectangles ([`crate::api::copy2d`]) are a case.

use bugaroo_cuda_abi::{
    CU_MEMORYTYPE_ARRAY, CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_UNIFIED, CUDA_MEMCPY3D,
    CUstream, Operand3D,
};

use crate::api::submit::twin;
use crate::api::transfer::submit;
use bugaroo_device::error::{CallResult, Status};
use bugaroo_device::objects::array::BoxPart;
use bugaroo_device::objects::transfer::{CopyPlace, CopySide, Transfer};
use bugaroo_device::places::not_null;
use bugaroo_device::state::Gpu;

/// Puts one side of a copy of such an extent together.
fn side(gpu: &Gpu, operand: &Operand3D, extent: [usize; 3]) -> CallResult<CopySide> {
    let &Operand3D { x_in_bytes, y, z, pitch, .. } = operand;
    if operand.lod != 0 {
        return Err(Status::InvalidValue);
    }
    let base = match operand.memory_type {
        CU_MEMORYTYPE_HOST => CopyPlace::Host(operand.host),
        CU_MEMORYTYPE_DEVICE => CopyPlace::Device(operand.device),
        CU_MEMORYTYPE_UNIFIED => gpu.place(operand.device),
        CU_MEMORYTYPE_ARRAY => {
            let array = gpu.held.arrays.get(operand.array)?;
            return array.side(&BoxPart { start: [x_in_bytes, y, z], extent });
        }
        _ => return Err(Status::InvalidValue),
    };
    // Behind an offset null is not null any more.
    let empty = extent.contains(&0);
    if let CopyPlace::Host(host) = base
        && !empty
    {
        not_null(host)?;
    }
    let end = |start: usize, count: usize| start.checked_add(count).ok_or(Status::InvalidValue);
    // A height of 0 stands for slices without gaps where there is but one.
    let apart = extent[2] > 1 || z > 0;
    if !empty
        && ((extent[1] > 1 && end(x_in_bytes, extent[0])? > pitch)
            || (apart && end(y, extent[1])? > operand.height))
    {
        return Err(Status::InvalidValue);
    }
    let slice = if apart { pitch.checked_mul(operand.height).ok_or(Status::InvalidValue)? } else { 0 };
    let skipped = z.checked_mul(slice).zip(y.checked_mul(pitch));
    let skipped = skipped.and_then(|(slices, rows)| slices.checked_add(rows)?.checked_add(x_in_bytes));
    Ok(CopySide { start: base.offset(skipped.ok_or(Status::InvalidValue)?), pitch, slice })
}

/// What a description asks for.
///
/// # Errors
/// `InvalidValue` for what is no description or does not fit an array; `InvalidHandle` for no array.
pub fn describe(gpu: &Gpu, copy: &CUDA_MEMCPY3D) -> CallResult<Transfer> {
    let CUDA_MEMCPY3D { width_in_bytes: width, height, depth, .. } = *copy;
    let extent = [width, height, depth];
    let (to, from) = (side(gpu, &copy.dst, extent)?, side(gpu, &copy.src, extent)?);
    Ok(Transfer { to, from, width, height, depth })
}

/// # Safety
/// `copy` is null or points to a description whose host sides hold the box.
unsafe fn copy_box(name: &str, copy: *const CUDA_MEMCPY3D, peers: bool, stream: CUstream) -> Status {
    let described = |gpu: &Gpu| {
        not_null(copy)?;
        // SAFETY: not null, and the caller vouches for the rest.
        let copy = unsafe { copy.read_unaligned() };
        if peers {
            gpu.context(copy.src.context)?;
            gpu.context(copy.dst.context)?;
        }
        Ok(vec![describe(gpu, &copy)?])
    };
    // SAFETY: the caller's promise.
    unsafe { submit(name, stream, described) }
}

twin! { cuMemcpy3D_v2_ptds =
    /// Copies a box.
    ///
    /// # Safety
    /// `copy` is null or points to a description whose host sides hold the box.
    pub unsafe extern "C" fn cuMemcpy3D_v2(copy: *const CUDA_MEMCPY3D) -> Status {
        // SAFETY: the same contract.
        unsafe { copy_box("cuMemcpy3D_v2", copy, false, std::ptr::null_mut()) }
    }
}

twin! { cuMemcpy3DAsync_v2_ptsz =
    /// Copies a box in a stream.
    ///
    /// # Safety
    /// As [`cuMemcpy3D_v2`].
    pub unsafe extern "C" fn cuMemcpy3DAsync_v2(copy: *const CUDA_MEMCPY3D, stream: CUstream) -> Status {
        // SAFETY: the same contract.
        unsafe { copy_box("cuMemcpy3DAsync_v2", copy, false, stream) }
    }
}

twin! { cuMemcpy3DPeer_ptds =
    /// Copies a box between two contexts, which share the device's memory here.
    ///
    /// # Safety
    /// As [`cuMemcpy3D_v2`].
    pub unsafe extern "C" fn cuMemcpy3DPeer(copy: *const CUDA_MEMCPY3D) -> Status {
        // SAFETY: the same contract.
        unsafe { copy_box("cuMemcpy3DPeer", copy, true, std::ptr::null_mut()) }
    }
}

twin! { cuMemcpy3DPeerAsync_ptsz =
    /// Copies a box between two contexts, which share the device's memory here, in a stream.
    ///
    /// # Safety
    /// As [`cuMemcpy3D_v2`].
    pub unsafe extern "C" fn cuMemcpy3DPeerAsync(copy: *const CUDA_MEMCPY3D, stream: CUstream) -> Status {
        // SAFETY: the same contract.
        unsafe { copy_box("cuMemcpy3DPeerAsync", copy, true, stream) }
    }
}
