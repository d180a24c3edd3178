//! Filling memory (CUDA Runtime API, `cudaMemset` and the like). All forms may return before the work is
//! done.

use std::ffi::{c_int, c_uchar, c_void};

use bugaroo_cuda_abi::{CUdeviceptr, CUstream};

use crate::api::{LEGACY, api};
use crate::driver::driver;
use crate::error::{RuntimeError, RuntimeResult};
use crate::types::{Extent, PitchedPtr};

driver! {
    cuMemsetD8_v2(address: CUdeviceptr, value: c_uchar, count: usize);
    cuMemsetD8Async(address: CUdeviceptr, value: c_uchar, count: usize, stream: CUstream);
    cuMemsetD2D8_v2(address: CUdeviceptr, pitch: usize, value: c_uchar, width: usize, height: usize);
    cuMemsetD2D8Async(address: CUdeviceptr, pitch: usize, value: c_uchar, width: usize, height: usize, stream: CUstream);
}

/// Fills rows. The function without a stream also waits where the memory is the host's.
fn rows(
    address: CUdeviceptr,
    pitch: usize,
    value: c_int,
    (width, height): (usize, usize),
    stream: Option<CUstream>,
) -> RuntimeResult {
    if width == 0 || height == 0 {
        return Ok(());
    }
    // The value is "constant to set each byte to": its low byte.
    let value = value as c_uchar;
    // SAFETY: no pointers of the host's.
    unsafe {
        match (stream, height) {
            (Some(stream), 1) => cuMemsetD8Async(address, value, width, stream),
            (None, 1) => cuMemsetD8_v2(address, value, width),
            _ if pitch < width => Err(RuntimeError::INVALID_VALUE),
            (Some(stream), _) => cuMemsetD2D8Async(address, pitch, value, width, height, stream),
            (None, _) => cuMemsetD2D8_v2(address, pitch, value, width, height),
        }
    }
}

/// Fills boxes, slice by slice unless the slices follow each other without a gap.
fn slices(to: PitchedPtr, value: c_int, extent: Extent, stream: Option<CUstream>) -> RuntimeResult {
    let Extent { width, height, depth } = extent;
    if height > to.ysize && depth > 1 || width > to.pitch && height > 1 {
        return Err(RuntimeError::INVALID_VALUE);
    }
    let address = to.ptr as CUdeviceptr;
    if height == to.ysize {
        return rows(address, to.pitch, value, (width, height.saturating_mul(depth)), stream);
    }
    let slice = to.pitch.checked_mul(to.ysize).ok_or(RuntimeError::INVALID_VALUE)?;
    (0..depth).try_for_each(|z| rows(address + (z * slice) as u64, to.pitch, value, (width, height), stream))
}

/// How the forms without a stream argument say which default stream is meant.
fn implied(stream: CUstream) -> Option<CUstream> {
    (stream != LEGACY).then_some(stream)
}

api! {
    with_device cudaMemset(to: *mut c_void, value: c_int, bytes: usize) implied stream as cudaMemset_ptds {
        rows(to as CUdeviceptr, bytes, value, (bytes, 1), implied(stream))
    }
    with_device cudaMemsetAsync(to: *mut c_void, value: c_int, bytes: usize, stream: CUstream)
        on stream as cudaMemsetAsync_ptsz {
        rows(to as CUdeviceptr, bytes, value, (bytes, 1), Some(stream))
    }
    with_device cudaMemset2D(to: *mut c_void, pitch: usize, value: c_int, width: usize, height: usize)
        implied stream as cudaMemset2D_ptds {
        rows(to as CUdeviceptr, pitch, value, (width, height), implied(stream))
    }
    with_device cudaMemset2DAsync(
        to: *mut c_void, pitch: usize, value: c_int, width: usize, height: usize, stream: CUstream,
    ) on stream as cudaMemset2DAsync_ptsz {
        rows(to as CUdeviceptr, pitch, value, (width, height), Some(stream))
    }
    with_device cudaMemset3D(to: PitchedPtr, value: c_int, extent: Extent) implied stream as cudaMemset3D_ptds {
        slices(to, value, extent, implied(stream))
    }
    with_device cudaMemset3DAsync(to: PitchedPtr, value: c_int, extent: Extent, stream: CUstream)
        on stream as cudaMemset3DAsync_ptsz {
        slices(to, value, extent, Some(stream))
    }
}
