//! Copies of ranges and rectangles (CUDA Runtime API, `cudaMemcpy`, `cudaMemcpy2D`, `cudaMemcpyToSymbol`).
//!
//! The direction that a program states is checked against the pointers ([`pointer::check_direction`](crate::pointer::check_direction)),
//! and the driver's copies then tell by the addresses what lies where. A copy in a stream may wait all
//! the same, as the documentation allows.

use std::ffi::{c_int, c_ulonglong, c_void};

use bugaroo_cuda_abi::{CU_MEMORYTYPE_UNIFIED, CUDA_MEMCPY2D, CUcontext, CUdeviceptr, CUstream};

use crate::api::{LEGACY, api};
use crate::context;
use crate::device::handle;
use crate::driver::driver;
use crate::error::{RuntimeError, RuntimeResult};
use crate::pointer::check_direction;
use crate::registration::variable;
use crate::stream::cuStreamSynchronize;

driver! {
    cuMemcpy(to: CUdeviceptr, from: CUdeviceptr, bytes: usize);
    cuMemcpyAsync(to: CUdeviceptr, from: CUdeviceptr, bytes: usize, stream: CUstream);
    cuMemcpyPeer(to: CUdeviceptr, to_context: CUcontext, from: CUdeviceptr, from_context: CUcontext, bytes: usize);
    cuMemcpyPeerAsync(to: CUdeviceptr, to_context: CUcontext, from: CUdeviceptr, from_context: CUcontext, bytes: usize, stream: CUstream);
    cuMemcpy2DUnaligned_v2(copy: *const CUDA_MEMCPY2D);
    cuMemcpy2DAsync_v2(copy: *const CUDA_MEMCPY2D, stream: CUstream);
    cuMemcpyBatchAsync_v2(to: *const *mut c_void, from: *const *const c_void, sizes: *const usize, count: usize, attributes: *mut c_void, indices: *mut usize, number: usize, stream: CUstream);
    cuMemcpy3DBatchAsync_v2(count: usize, operations: *mut c_void, flags: c_ulonglong, stream: CUstream);
}

/// Whether a call returns before the work is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// When the work is done.
    Done,
    /// At once, as far as can be.
    Queued,
}

/// Ends a call whose work was put into a stream: waits for it, unless the call does not wait.
///
/// # Errors
/// What the work met.
pub(crate) fn settle(when: When, stream: CUstream) -> RuntimeResult {
    match when {
        // SAFETY: no pointers but the stream, which the caller has used.
        When::Done => unsafe { cuStreamSynchronize(stream) },
        When::Queued => Ok(()),
    }
}

/// Copies a range.
///
/// # Safety
/// Host pointers point to `bytes` bytes.
unsafe fn range(
    to: *mut c_void,
    from: *const c_void,
    bytes: usize,
    direction: c_int,
    stream: CUstream,
    when: When,
) -> RuntimeResult {
    if bytes == 0 {
        return if (0..=4).contains(&direction) {
            Ok(())
        } else {
            Err(RuntimeError::INVALID_MEMCPY_DIRECTION)
        };
    }
    check_direction(Some(to), Some(from), direction)?;
    let (to, from) = (to as CUdeviceptr, from as CUdeviceptr);
    // SAFETY: the caller's promise.
    unsafe {
        if when == When::Done && stream == LEGACY {
            return cuMemcpy(to, from, bytes);
        }
        cuMemcpyAsync(to, from, bytes, stream)?;
    }
    settle(when, stream)
}

/// A rectangle: where, and the distance from row to row.
type Rows = (*mut c_void, usize);

/// Copies a rectangle.
///
/// # Safety
/// Host pointers point to `height` rows.
unsafe fn rows(
    (to, to_pitch): Rows,
    (from, from_pitch): Rows,
    (width, height): (usize, usize),
    direction: c_int,
    stream: CUstream,
    when: When,
) -> RuntimeResult {
    if !(0..=4).contains(&direction) {
        return Err(RuntimeError::INVALID_MEMCPY_DIRECTION);
    }
    if width == 0 || height == 0 {
        return Ok(());
    }
    if to_pitch < width || from_pitch < width {
        return Err(RuntimeError::INVALID_PITCH_VALUE);
    }
    check_direction(Some(to), Some(from), direction)?;
    let copy = CUDA_MEMCPY2D {
        src_x_in_bytes: 0,
        src_y: 0,
        src_memory_type: CU_MEMORYTYPE_UNIFIED,
        src_host: std::ptr::null(),
        src_device: from as CUdeviceptr,
        src_array: std::ptr::null_mut(),
        src_pitch: from_pitch,
        dst_x_in_bytes: 0,
        dst_y: 0,
        dst_memory_type: CU_MEMORYTYPE_UNIFIED,
        dst_host: std::ptr::null_mut(),
        dst_device: to as CUdeviceptr,
        dst_array: std::ptr::null_mut(),
        dst_pitch: to_pitch,
        width_in_bytes: width,
        height,
    };
    // SAFETY: the caller's promise.
    unsafe {
        if when == When::Done && stream == LEGACY {
            return cuMemcpy2DUnaligned_v2(&raw const copy);
        }
        cuMemcpy2DAsync_v2(&raw const copy, stream)?;
    }
    settle(when, stream)
}

/// Where in a variable of the device's some bytes lie.
///
/// # Errors
/// `cudaErrorInvalidSymbol` for what is no variable, `cudaErrorInvalidValue` for bytes beyond its end.
pub fn symbol(symbol: *const c_void, bytes: usize, offset: usize) -> RuntimeResult<*mut c_void> {
    let (address, size) = variable(symbol)?;
    let end = offset.checked_add(bytes).ok_or(RuntimeError::INVALID_VALUE)?;
    if end > size {
        return Err(RuntimeError::INVALID_VALUE);
    }
    Ok((address + offset as u64) as *mut c_void)
}

/// Refuses a direction in which no variable can be written; the other side is then known to fit.
fn to_symbol(direction: c_int) -> RuntimeResult {
    if matches!(direction, 1 | 3 | 4) { Ok(()) } else { Err(RuntimeError::INVALID_MEMCPY_DIRECTION) }
}

/// Refuses a direction in which no variable can be read.
fn from_symbol(direction: c_int) -> RuntimeResult {
    if matches!(direction, 2..=4) { Ok(()) } else { Err(RuntimeError::INVALID_MEMCPY_DIRECTION) }
}

/// The primary context of a device that a peer copy names.
///
/// # Errors
/// `cudaErrorInvalidDevice`
pub fn context_of(device: c_int) -> RuntimeResult<CUcontext> {
    handle(device)?;
    context::primary(device)
}

api! {
    with_device cudaMemcpy(to: *mut c_void, from: *const c_void, bytes: usize, direction: c_int)
        implied stream as cudaMemcpy_ptds { range(to, from, bytes, direction, stream, When::Done) }
    with_device cudaMemcpyAsync(to: *mut c_void, from: *const c_void, bytes: usize, direction: c_int, stream: CUstream)
        on stream as cudaMemcpyAsync_ptsz { range(to, from, bytes, direction, stream, When::Queued) }
    with_device cudaMemcpy2D(
        to: *mut c_void, to_pitch: usize, from: *const c_void, from_pitch: usize, width: usize, height: usize,
        direction: c_int,
    ) implied stream as cudaMemcpy2D_ptds {
        rows((to, to_pitch), (from.cast_mut(), from_pitch), (width, height), direction, stream, When::Done)
    }
    with_device cudaMemcpy2DAsync(
        to: *mut c_void, to_pitch: usize, from: *const c_void, from_pitch: usize, width: usize, height: usize,
        direction: c_int, stream: CUstream,
    ) on stream as cudaMemcpy2DAsync_ptsz {
        rows((to, to_pitch), (from.cast_mut(), from_pitch), (width, height), direction, stream, When::Queued)
    }
    with_device cudaMemcpyToSymbol(
        variable: *const c_void, from: *const c_void, bytes: usize, offset: usize, direction: c_int,
    ) implied stream as cudaMemcpyToSymbol_ptds {
        to_symbol(direction)?;
        range(symbol(variable, bytes, offset)?, from, bytes, direction, stream, When::Done)
    }
    with_device cudaMemcpyToSymbolAsync(
        variable: *const c_void, from: *const c_void, bytes: usize, offset: usize, direction: c_int, stream: CUstream,
    ) on stream as cudaMemcpyToSymbolAsync_ptsz {
        to_symbol(direction)?;
        range(symbol(variable, bytes, offset)?, from, bytes, direction, stream, When::Queued)
    }
    with_device cudaMemcpyFromSymbol(
        to: *mut c_void, variable: *const c_void, bytes: usize, offset: usize, direction: c_int,
    ) implied stream as cudaMemcpyFromSymbol_ptds {
        from_symbol(direction)?;
        range(to, symbol(variable, bytes, offset)?, bytes, direction, stream, When::Done)
    }
    with_device cudaMemcpyFromSymbolAsync(
        to: *mut c_void, variable: *const c_void, bytes: usize, offset: usize, direction: c_int, stream: CUstream,
    ) on stream as cudaMemcpyFromSymbolAsync_ptsz {
        from_symbol(direction)?;
        range(to, symbol(variable, bytes, offset)?, bytes, direction, stream, When::Queued)
    }
    with_device cudaMemcpyPeer(to: *mut c_void, to_device: c_int, from: *const c_void, from_device: c_int, bytes: usize) {
        let (to_context, from_context) = (context_of(to_device)?, context_of(from_device)?);
        cuMemcpyPeer(to as CUdeviceptr, to_context, from as CUdeviceptr, from_context, bytes)
    }
    /// It has no second name; programs with default streams of their own pass those.
    with_device cudaMemcpyPeerAsync(
        to: *mut c_void, to_device: c_int, from: *const c_void, from_device: c_int, bytes: usize, stream: CUstream,
    ) {
        let (to_context, from_context) = (context_of(to_device)?, context_of(from_device)?);
        cuMemcpyPeerAsync(to as CUdeviceptr, to_context, from as CUdeviceptr, from_context, bytes, stream)
    }
    with_device cudaMemcpyBatchAsync(
        to: *const *mut c_void, from: *const *const c_void, sizes: *const usize, count: usize,
        attributes: *mut c_void, indices: *mut usize, number: usize, stream: CUstream,
    ) on stream as cudaMemcpyBatchAsync_ptsz {
        cuMemcpyBatchAsync_v2(to, from, sizes, count, attributes, indices, number, stream)
    }
    /// CUDA 12's form, with a place for the number of the copy that fails; no single one is told.
    with_device cudaMemcpyBatchAsync_v12(
        to: *const *mut c_void, from: *const *const c_void, sizes: *const usize, count: usize,
        attributes: *mut c_void, indices: *mut usize, number: usize, failed: *mut usize, stream: CUstream,
    ) on stream as cudaMemcpyBatchAsync_ptsz_v12 {
        let outcome = cuMemcpyBatchAsync_v2(to, from, sizes, count, attributes, indices, number, stream);
        none_in_particular(outcome, failed)
    }
    with_device cudaMemcpy3DBatchAsync(
        count: usize, operations: *mut c_void, flags: c_ulonglong, stream: CUstream,
    ) on stream as cudaMemcpy3DBatchAsync_ptsz {
        cuMemcpy3DBatchAsync_v2(count, operations, flags, stream)
    }
    /// CUDA 12's form, as for ranges.
    with_device cudaMemcpy3DBatchAsync_v12(
        count: usize, operations: *mut c_void, failed: *mut usize, flags: c_ulonglong, stream: CUstream,
    ) on stream as cudaMemcpy3DBatchAsync_ptsz_v12 {
        none_in_particular(cuMemcpy3DBatchAsync_v2(count, operations, flags, stream), failed)
    }
}

/// Says of a batch that failed that no single copy is known to be at fault.
///
/// # Safety
/// `failed` is null or points to a place for a number.
unsafe fn none_in_particular(outcome: RuntimeResult, failed: *mut usize) -> RuntimeResult {
    if outcome.is_err() && !failed.is_null() {
        // SAFETY: not null, and the caller's promise.
        unsafe { failed.write(usize::MAX) };
    }
    outcome
}
