//! Copies of rectangles (CUDA Driver API, `cuMemcpy2D`).

use std::ptr::null_mut;

use bugaroo_cuda_abi::{CUDA_MEMCPY2D, CUDA_MEMCPY3D, CUstream, Operand3D};

use crate::api::copy3d::describe;
use crate::api::submit::twin;
use crate::api::transfer::submit;
use bugaroo_device::error::Status;
use bugaroo_device::places::not_null;
use bugaroo_device::state::Gpu;

/// The rectangle as a box of one slice.
fn as_box(copy: &CUDA_MEMCPY2D) -> CUDA_MEMCPY3D {
    let src = Operand3D {
        x_in_bytes: copy.src_x_in_bytes,
        y: copy.src_y,
        z: 0,
        lod: 0,
        memory_type: copy.src_memory_type,
        host: copy.src_host.cast_mut(),
        device: copy.src_device,
        array: copy.src_array,
        context: null_mut(),
        pitch: copy.src_pitch,
        height: 0,
    };
    let dst = Operand3D {
        x_in_bytes: copy.dst_x_in_bytes,
        y: copy.dst_y,
        memory_type: copy.dst_memory_type,
        host: copy.dst_host,
        device: copy.dst_device,
        array: copy.dst_array,
        pitch: copy.dst_pitch,
        ..src
    };
    CUDA_MEMCPY3D { src, dst, width_in_bytes: copy.width_in_bytes, height: copy.height, depth: 1 }
}

/// # Safety
/// `copy` is null or points to a description whose host sides hold the rectangle.
unsafe fn copy_rows(name: &str, copy: *const CUDA_MEMCPY2D, stream: CUstream) -> Status {
    let described = |gpu: &Gpu| {
        not_null(copy)?;
        // SAFETY: not null, and the caller vouches for the rest.
        Ok(vec![describe(gpu, &as_box(&unsafe { copy.read_unaligned() }))?])
    };
    // SAFETY: the caller's promise.
    unsafe { submit(name, stream, described) }
}

twin! { cuMemcpy2DAsync_v2_ptsz =
    /// Copies a rectangle in a stream.
    ///
    /// # Safety
    /// `copy` is null or points to a description whose host sides hold the rectangle.
    pub unsafe extern "C" fn cuMemcpy2DAsync_v2(copy: *const CUDA_MEMCPY2D, stream: CUstream) -> Status {
        // SAFETY: the same contract.
        unsafe { copy_rows("cuMemcpy2DAsync_v2", copy, stream) }
    }
}

twin! { cuMemcpy2D_v2_ptds =
    /// Copies a rectangle.
    ///
    /// # Safety
    /// As [`cuMemcpy2DAsync_v2`].
    pub unsafe extern "C" fn cuMemcpy2D_v2(copy: *const CUDA_MEMCPY2D) -> Status {
        // SAFETY: the same contract.
        unsafe { copy_rows("cuMemcpy2D_v2", copy, null_mut()) }
    }
}

twin! { cuMemcpy2DUnaligned_v2_ptds =
    /// Copies a rectangle of any pitch, as [`cuMemcpy2D_v2`] does here anyway.
    ///
    /// # Safety
    /// As [`cuMemcpy2DAsync_v2`].
    pub unsafe extern "C" fn cuMemcpy2DUnaligned_v2(copy: *const CUDA_MEMCPY2D) -> Status {
        // SAFETY: the same contract.
        unsafe { copy_rows("cuMemcpy2DUnaligned_v2", copy, null_mut()) }
    }
}
