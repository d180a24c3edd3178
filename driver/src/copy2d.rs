//! Copies of rectangles (CUDA Driver API, `cuMemcpy2D`).

use std::ffi::c_void;

use crate::entry::not_null;
use crate::error::{Outcome, Status};
use crate::state::Driver;
use crate::transfer::{Place, Side, Transfer, submit};
use crate::types::{
    CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_UNIFIED, CUDA_MEMCPY2D, CUstream,
};

/// Puts one side together.
fn side(kind: u32, host: *mut c_void, device: u64, pitch: usize, (x, y): (usize, usize)) -> Outcome<Side> {
    let base = match kind {
        CU_MEMORYTYPE_HOST => Place::Host(host),
        CU_MEMORYTYPE_DEVICE => Place::Device(device),
        CU_MEMORYTYPE_UNIFIED => Place::unified(device),
        3 => return Err(Status::NotSupported),
        _ => return Err(Status::InvalidValue),
    };
    let skipped = y.checked_mul(pitch).and_then(|rows| rows.checked_add(x)).ok_or(Status::InvalidValue)?;
    Ok(Side { start: base.offset(skipped), pitch, slice: 0 })
}

fn describe(copy: &CUDA_MEMCPY2D) -> Outcome<Transfer> {
    let to = side(
        copy.dst_memory_type,
        copy.dst_host,
        copy.dst_device,
        copy.dst_pitch,
        (copy.dst_x_in_bytes, copy.dst_y),
    )?;
    let from = side(
        copy.src_memory_type,
        copy.src_host.cast_mut(),
        copy.src_device,
        copy.src_pitch,
        (copy.src_x_in_bytes, copy.src_y),
    )?;
    let transfer = Transfer { to, from, width: copy.width_in_bytes, height: copy.height, depth: 1 };
    // Behind an offset null is not null any more.
    let null = |kind, host: *const c_void| kind == CU_MEMORYTYPE_HOST && host.is_null();
    let nowhere = null(copy.dst_memory_type, copy.dst_host) || null(copy.src_memory_type, copy.src_host);
    if nowhere && !transfer.is_empty() { Err(Status::InvalidValue) } else { Ok(transfer) }
}

/// Checks the rectangle, and copies it unless nothing runs any more.
///
/// # Safety
/// `copy` is null or points to a description whose host sides hold the rectangle.
unsafe fn copy_rows(name: &str, copy: *const CUDA_MEMCPY2D, stream: CUstream) -> Status {
    let described = |_: &Driver| {
        not_null(copy)?;
        // SAFETY: not null, and the caller vouches for the rest.
        Ok(vec![describe(&unsafe { copy.read_unaligned() })?])
    };
    // SAFETY: the caller's promise.
    unsafe { submit(name, stream, described) }
}

/// Copies a rectangle in a stream.
///
/// # Safety
/// `copy` is null or points to a description whose host sides hold the rectangle.
pub unsafe extern "C" fn cuMemcpy2DAsync_v2(copy: *const CUDA_MEMCPY2D, stream: CUstream) -> Status {
    // SAFETY: the same contract.
    unsafe { copy_rows("cuMemcpy2DAsync_v2", copy, stream) }
}

/// Copies a rectangle.
///
/// # Safety
/// As [`cuMemcpy2DAsync_v2`].
pub unsafe extern "C" fn cuMemcpy2D_v2(copy: *const CUDA_MEMCPY2D) -> Status {
    // SAFETY: the same contract.
    unsafe { copy_rows("cuMemcpy2D_v2", copy, std::ptr::null_mut()) }
}

/// Copies a rectangle of any pitch, as [`cuMemcpy2D_v2`] does here anyway.
///
/// # Safety
/// As [`cuMemcpy2DAsync_v2`].
pub unsafe extern "C" fn cuMemcpy2DUnaligned_v2(copy: *const CUDA_MEMCPY2D) -> Status {
    // SAFETY: the same contract.
    unsafe { copy_rows("cuMemcpy2DUnaligned_v2", copy, std::ptr::null_mut()) }
}
