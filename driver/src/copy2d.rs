//! Copies of rectangles (CUDA Driver API, `cuMemcpy2D`), row by row. Arrays are not supported.

use crate::copy::Place;
use crate::entry::not_null;
use crate::error::{Outcome, Status};
use crate::state::Driver;
use crate::stream::{waiting_for_stream, with_stream};
use crate::types::{
    CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_UNIFIED, CUDA_MEMCPY2D, CUstream,
};

/// The first row of one side, and the distance from row to row.
#[derive(Clone, Copy)]
struct Side {
    start: Place,
    pitch: usize,
}

/// Puts one side together.
fn side(
    kind: u32,
    host: *mut std::ffi::c_void,
    device: u64,
    pitch: usize,
    (x, y): (usize, usize),
) -> Outcome<Side> {
    let base = match kind {
        CU_MEMORYTYPE_HOST => Place::Host(host),
        CU_MEMORYTYPE_DEVICE => Place::Device(device),
        CU_MEMORYTYPE_UNIFIED => Place::unified(device),
        3 => return Err(Status::NotSupported),
        _ => return Err(Status::InvalidValue),
    };
    let skipped = y.checked_mul(pitch).and_then(|rows| rows.checked_add(x)).ok_or(Status::InvalidValue)?;
    Ok(Side { start: base.offset(skipped), pitch })
}

/// Checks the rectangle, and copies it unless nothing runs any more.
///
/// # Safety
/// Host sides hold the rectangle.
unsafe fn copy_rows(name: &str, copy: &CUDA_MEMCPY2D, stream: CUstream) -> Status {
    let CUDA_MEMCPY2D { width_in_bytes: width, height, .. } = *copy;
    let sides = || -> Outcome<(Side, Side)> {
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
        // A pitch of 0 stands for rows without gaps where there is but one.
        let narrow = |side: Side| height > 1 && side.pitch < width;
        if narrow(to) || narrow(from) { Err(Status::InvalidValue) } else { Ok((to, from)) }
    };
    let rows = |driver: &mut Driver, to: Side, from: Side| -> Outcome {
        for side in [to, from] {
            // Refused as a whole, before a row is copied.
            if let (Place::Device(start), 1..) = (side.start, height.min(width)) {
                let gaps = (height - 1).checked_mul(side.pitch).ok_or(Status::InvalidValue)?;
                driver.check_range(start, gaps.checked_add(width).ok_or(Status::InvalidValue)?)?;
            }
        }
        for row in 0..height {
            let to = to.start.offset(row.wrapping_mul(to.pitch));
            let from = from.start.offset(row.wrapping_mul(from.pitch));
            // SAFETY: the caller's promise.
            unsafe { driver.copy(to, from, width) }?;
        }
        Ok(())
    };
    let on_device =
        matches!(sides(), Ok((Side { start: Place::Device(_), .. }, Side { start: Place::Device(_), .. })));
    if on_device {
        with_stream(name, stream, |driver, stream| {
            let (to, from) = sides()?;
            if driver.is_broken(stream.context) { Ok(()) } else { rows(driver, to, from) }
        })
    } else {
        waiting_for_stream(name, stream, |driver, _| {
            let (to, from) = sides()?;
            rows(driver, to, from)
        })
    }
}

/// Copies a rectangle in a stream.
///
/// # Safety
/// `copy` is null or points to a description whose host sides hold the rectangle.
pub unsafe extern "C" fn cuMemcpy2DAsync_v2(copy: *const CUDA_MEMCPY2D, stream: CUstream) -> Status {
    if not_null(copy).is_err() {
        return waiting_for_stream("cuMemcpy2DAsync_v2", stream, |_, _| Err(Status::InvalidValue));
    }
    // SAFETY: not null, and the caller vouches for the rest.
    unsafe { copy_rows("cuMemcpy2DAsync_v2", &copy.read_unaligned(), stream) }
}

/// Copies a rectangle.
///
/// # Safety
/// As [`cuMemcpy2DAsync_v2`].
pub unsafe extern "C" fn cuMemcpy2D_v2(copy: *const CUDA_MEMCPY2D) -> Status {
    // SAFETY: the same contract.
    unsafe { cuMemcpy2DAsync_v2(copy, std::ptr::null_mut()) }
}

/// Copies a rectangle of any pitch, as [`cuMemcpy2D_v2`] does here anyway.
///
/// # Safety
/// As [`cuMemcpy2DAsync_v2`].
pub unsafe extern "C" fn cuMemcpy2DUnaligned_v2(copy: *const CUDA_MEMCPY2D) -> Status {
    // SAFETY: the same contract.
    unsafe { cuMemcpy2DAsync_v2(copy, std::ptr::null_mut()) }
}
