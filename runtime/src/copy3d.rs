//! Copies of boxes, and all copies from and to arrays (CUDA Runtime API, `cudaMemcpy3D`,
//! `cudaMemcpy2DToArray`, and the deprecated `cudaMemcpyToArray`).
//!
//! Positions and extents count elements where an array takes part, bytes otherwise; a pointer's position
//! always counts bytes.

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

use bugaroo_cuda_abi::{
    CU_MEMORYTYPE_ARRAY, CU_MEMORYTYPE_UNIFIED, CUDA_MEMCPY3D, CUdeviceptr, CUstream, Operand3D,
};

use crate::api::{LEGACY, api};
use crate::array::{descriptor, element_size};
use crate::copy::{When, context_of, settle};
use crate::driver::driver;
use crate::error::{RuntimeError, RuntimeResult};
use crate::pointer::check_direction;
use crate::types::{Extent, Handle, Memcpy3D, Memcpy3DPeer, PitchedPtr, Pos, not_null};

driver! {
    cuMemcpy3D_v2(copy: *const CUDA_MEMCPY3D);
    cuMemcpy3DAsync_v2(copy: *const CUDA_MEMCPY3D, stream: CUstream);
    cuMemcpy3DPeer(copy: *const CUDA_MEMCPY3D);
    cuMemcpy3DPeerAsync(copy: *const CUDA_MEMCPY3D, stream: CUstream);
}

/// A side in an array, at a byte of a row.
fn in_array(array: Handle, (x_in_bytes, y, z): (usize, usize, usize)) -> Operand3D {
    Operand3D { memory_type: CU_MEMORYTYPE_ARRAY, array, x_in_bytes, y, z, ..at_pointer(null_mut(), 0, 0) }
}

/// A side at an address, with the distance from row to row and the rows of a slice.
fn at_pointer(pointer: *mut c_void, pitch: usize, height: usize) -> Operand3D {
    Operand3D {
        x_in_bytes: 0,
        y: 0,
        z: 0,
        lod: 0,
        memory_type: CU_MEMORYTYPE_UNIFIED,
        host: null_mut(),
        device: pointer as CUdeviceptr,
        array: null_mut(),
        context: null_mut(),
        pitch,
        height,
    }
}

/// One side as the program describes it: an array or a pointer, and not both.
fn side(array: Handle, pointer: PitchedPtr, pos: Pos) -> RuntimeResult<Operand3D> {
    match (array.is_null(), pointer.ptr.is_null()) {
        (false, true) => {
            let element = element_size(&descriptor(array)?)?;
            let x = pos.x.checked_mul(element).ok_or(RuntimeError::INVALID_VALUE)?;
            Ok(in_array(array, (x, pos.y, pos.z)))
        }
        (true, false) => Ok(Operand3D {
            x_in_bytes: pos.x,
            y: pos.y,
            z: pos.z,
            ..at_pointer(pointer.ptr, pointer.pitch, pointer.ysize)
        }),
        _ => Err(RuntimeError::INVALID_VALUE),
    }
}

/// The box in the driver's form. An extent of elements becomes one of bytes.
fn driver_form(src: Operand3D, dst: Operand3D, extent: Extent) -> RuntimeResult<CUDA_MEMCPY3D> {
    let element = |side: &Operand3D| -> RuntimeResult<Option<usize>> {
        if side.array.is_null() { Ok(None) } else { element_size(&descriptor(side.array)?).map(Some) }
    };
    let element = match (element(&src)?, element(&dst)?) {
        (Some(one), Some(other)) if one != other => return Err(RuntimeError::INVALID_VALUE),
        (Some(element), _) | (None, Some(element)) => element,
        (None, None) => 1,
    };
    let width_in_bytes = extent.width.checked_mul(element).ok_or(RuntimeError::INVALID_VALUE)?;
    Ok(CUDA_MEMCPY3D { src, dst, width_in_bytes, height: extent.height, depth: extent.depth })
}

/// Refuses pointers on the wrong side; arrays are the device's.
fn check(copy: &CUDA_MEMCPY3D, direction: c_int) -> RuntimeResult {
    let pointer =
        |side: &Operand3D| (side.memory_type != CU_MEMORYTYPE_ARRAY).then_some(side.device as *const c_void);
    for (array, host) in [(copy.dst.array, [0, 2]), (copy.src.array, [0, 1])] {
        if !array.is_null() && host.contains(&direction) {
            return Err(RuntimeError::INVALID_VALUE);
        }
    }
    check_direction(pointer(&copy.dst), pointer(&copy.src), direction)
}

/// What `cudaMemcpy3DParms` describes, in the driver's form.
///
/// # Errors
/// `cudaErrorInvalidValue`, `cudaErrorInvalidMemcpyDirection`
///
/// # Safety
/// `copy` is null or points to a description.
pub unsafe fn described(copy: *const Memcpy3D) -> RuntimeResult<CUDA_MEMCPY3D> {
    not_null(copy)?;
    // SAFETY: not null, and the caller's promise.
    let copy = unsafe { &*copy };
    let src = side(copy.src_array, copy.src_ptr, copy.src_pos)?;
    let dst = side(copy.dst_array, copy.dst_ptr, copy.dst_pos)?;
    let converted = driver_form(src, dst, copy.extent)?;
    check(&converted, copy.kind)?;
    Ok(converted)
}

/// A range as a box of one row, for graphs.
///
/// # Errors
/// As [`described`].
pub fn flat(
    to: *mut c_void,
    from: *const c_void,
    bytes: usize,
    direction: c_int,
) -> RuntimeResult<CUDA_MEMCPY3D> {
    check_direction(Some(to), Some(from), direction)?;
    let (src, dst) = (at_pointer(from.cast_mut(), bytes, 1), at_pointer(to, bytes, 1));
    Ok(CUDA_MEMCPY3D { src, dst, width_in_bytes: bytes, height: 1, depth: 1 })
}

/// Copies a box.
///
/// # Safety
/// Host pointers point to what is copied.
unsafe fn run(copy: &CUDA_MEMCPY3D, stream: CUstream, when: When) -> RuntimeResult {
    if copy.width_in_bytes == 0 || copy.height == 0 || copy.depth == 0 {
        return Ok(());
    }
    // SAFETY: the caller's promise.
    unsafe {
        if when == When::Done && stream == LEGACY {
            return cuMemcpy3D_v2(copy);
        }
        cuMemcpy3DAsync_v2(copy, stream)?;
    }
    settle(when, stream)
}

/// Copies a rectangle whose width is in bytes on both sides.
///
/// # Safety
/// As [`run`].
unsafe fn rectangle(
    (dst, src): (Operand3D, Operand3D),
    (width_in_bytes, height): (usize, usize),
    direction: c_int,
    stream: CUstream,
    when: When,
) -> RuntimeResult {
    let copy = CUDA_MEMCPY3D { src, dst, width_in_bytes, height, depth: 1 };
    if !(0..=4).contains(&direction) {
        return Err(RuntimeError::INVALID_MEMCPY_DIRECTION);
    }
    if width_in_bytes == 0 || height == 0 {
        return Ok(());
    }
    let narrow = |side: &Operand3D| side.memory_type != CU_MEMORYTYPE_ARRAY && side.pitch < width_in_bytes;
    if narrow(&dst) || narrow(&src) {
        return Err(RuntimeError::INVALID_PITCH_VALUE);
    }
    check(&copy, direction)?;
    // SAFETY: the caller's promise.
    unsafe { run(&copy, stream, when) }
}

/// A place in a run of bytes that may go on from row to row of an array.
struct Cursor {
    side: Operand3D,
    /// Bytes in a row; a pointer's run has no rows.
    row: usize,
}

impl Cursor {
    fn in_array(array: Handle, x: usize, y: usize) -> RuntimeResult<Cursor> {
        not_null(array)?;
        let shape = descriptor(array)?;
        let row = shape.width * element_size(&shape)?;
        if x >= row {
            return Err(RuntimeError::INVALID_VALUE);
        }
        Ok(Cursor { side: in_array(array, (x, y, 0)), row })
    }

    fn at(pointer: *const c_void) -> Cursor {
        Cursor { side: at_pointer(pointer.cast_mut(), 0, 1), row: usize::MAX }
    }

    fn left_in_row(&self) -> usize {
        // `x_in_bytes` stays within the row.
        self.row - self.side.x_in_bytes
    }

    fn advance(&mut self, bytes: usize) {
        if self.row == usize::MAX {
            self.side.device += bytes as u64;
            return;
        }
        self.side.x_in_bytes += bytes;
        if self.side.x_in_bytes == self.row {
            self.side.x_in_bytes = 0;
            self.side.y += 1;
        }
    }
}

/// Copies a run of bytes, row by row.
///
/// # Safety
/// As [`run`].
unsafe fn bytes(
    (mut dst, mut src): (Cursor, Cursor),
    mut count: usize,
    direction: c_int,
    stream: CUstream,
    when: When,
) -> RuntimeResult {
    while count > 0 {
        let now = count.min(dst.left_in_row()).min(src.left_in_row());
        let row = |side| Operand3D { pitch: now, ..side };
        // SAFETY: the caller's promise.
        unsafe { rectangle((row(dst.side), row(src.side)), (now, 1), direction, stream, when) }?;
        dst.advance(now);
        src.advance(now);
        count -= now;
    }
    Ok(())
}

/// What `cudaMemcpy3DPeerParms` describes.
///
/// # Safety
/// `copy` is null or points to a description.
unsafe fn described_peer(copy: *const Memcpy3DPeer) -> RuntimeResult<CUDA_MEMCPY3D> {
    not_null(copy)?;
    // SAFETY: not null, and the caller's promise.
    let copy = unsafe { &*copy };
    let mut src = side(copy.src_array, copy.src_ptr, copy.src_pos)?;
    let mut dst = side(copy.dst_array, copy.dst_ptr, copy.dst_pos)?;
    src.context = context_of(copy.src_device)?;
    dst.context = context_of(copy.dst_device)?;
    driver_form(src, dst, copy.extent)
}

api! {
    with_device cudaMemcpy3D(copy: *const Memcpy3D) implied stream as cudaMemcpy3D_ptds {
        run(&described(copy)?, stream, When::Done)
    }
    with_device cudaMemcpy3DAsync(copy: *const Memcpy3D, stream: CUstream) on stream as cudaMemcpy3DAsync_ptsz {
        run(&described(copy)?, stream, When::Queued)
    }
    with_device cudaMemcpy3DPeer(copy: *const Memcpy3DPeer) implied stream as cudaMemcpy3DPeer_ptds {
        let copy = described_peer(copy)?;
        if stream == LEGACY {
            return cuMemcpy3DPeer(&raw const copy);
        }
        cuMemcpy3DPeerAsync(&raw const copy, stream)?;
        settle(When::Done, stream)
    }
    with_device cudaMemcpy3DPeerAsync(copy: *const Memcpy3DPeer, stream: CUstream)
        on stream as cudaMemcpy3DPeerAsync_ptsz {
        let copy = described_peer(copy)?;
        cuMemcpy3DPeerAsync(&raw const copy, stream)
    }
    with_device cudaMemcpy2DToArray(
        to: Handle, x: usize, y: usize, from: *const c_void, pitch: usize, width: usize, height: usize,
        direction: c_int,
    ) implied stream as cudaMemcpy2DToArray_ptds {
        let sides = (in_array(to, (x, y, 0)), at_pointer(from.cast_mut(), pitch, height));
        rectangle(sides, (width, height), direction, stream, When::Done)
    }
    with_device cudaMemcpy2DToArrayAsync(
        to: Handle, x: usize, y: usize, from: *const c_void, pitch: usize, width: usize, height: usize,
        direction: c_int, stream: CUstream,
    ) on stream as cudaMemcpy2DToArrayAsync_ptsz {
        let sides = (in_array(to, (x, y, 0)), at_pointer(from.cast_mut(), pitch, height));
        rectangle(sides, (width, height), direction, stream, When::Queued)
    }
    with_device cudaMemcpy2DFromArray(
        to: *mut c_void, pitch: usize, from: Handle, x: usize, y: usize, width: usize, height: usize,
        direction: c_int,
    ) implied stream as cudaMemcpy2DFromArray_ptds {
        let sides = (at_pointer(to, pitch, height), in_array(from, (x, y, 0)));
        rectangle(sides, (width, height), direction, stream, When::Done)
    }
    with_device cudaMemcpy2DFromArrayAsync(
        to: *mut c_void, pitch: usize, from: Handle, x: usize, y: usize, width: usize, height: usize,
        direction: c_int, stream: CUstream,
    ) on stream as cudaMemcpy2DFromArrayAsync_ptsz {
        let sides = (at_pointer(to, pitch, height), in_array(from, (x, y, 0)));
        rectangle(sides, (width, height), direction, stream, When::Queued)
    }
    with_device cudaMemcpy2DArrayToArray(
        to: Handle, to_x: usize, to_y: usize, from: Handle, x: usize, y: usize, width: usize, height: usize,
        direction: c_int,
    ) implied stream as cudaMemcpy2DArrayToArray_ptds {
        let sides = (in_array(to, (to_x, to_y, 0)), in_array(from, (x, y, 0)));
        rectangle(sides, (width, height), direction, stream, When::Done)
    }
    with_device cudaMemcpyToArray(
        to: Handle, x: usize, y: usize, from: *const c_void, count: usize, direction: c_int,
    ) implied stream as cudaMemcpyToArray_ptds {
        bytes((Cursor::in_array(to, x, y)?, Cursor::at(from)), count, direction, stream, When::Done)
    }
    with_device cudaMemcpyToArrayAsync(
        to: Handle, x: usize, y: usize, from: *const c_void, count: usize, direction: c_int, stream: CUstream,
    ) on stream as cudaMemcpyToArrayAsync_ptsz {
        bytes((Cursor::in_array(to, x, y)?, Cursor::at(from)), count, direction, stream, When::Queued)
    }
    with_device cudaMemcpyFromArray(
        to: *mut c_void, from: Handle, x: usize, y: usize, count: usize, direction: c_int,
    ) implied stream as cudaMemcpyFromArray_ptds {
        bytes((Cursor::at(to), Cursor::in_array(from, x, y)?), count, direction, stream, When::Done)
    }
    with_device cudaMemcpyFromArrayAsync(
        to: *mut c_void, from: Handle, x: usize, y: usize, count: usize, direction: c_int, stream: CUstream,
    ) on stream as cudaMemcpyFromArrayAsync_ptsz {
        bytes((Cursor::at(to), Cursor::in_array(from, x, y)?), count, direction, stream, When::Queued)
    }
    with_device cudaMemcpyArrayToArray(
        to: Handle, to_x: usize, to_y: usize, from: Handle, x: usize, y: usize, count: usize, direction: c_int,
    ) implied stream as cudaMemcpyArrayToArray_ptds {
        let cursors = (Cursor::in_array(to, to_x, to_y)?, Cursor::in_array(from, x, y)?);
        bytes(cursors, count, direction, stream, When::Done)
    }
}
