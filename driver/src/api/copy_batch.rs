//! Many copies in one call (CUDA Driver API, `cuMemcpyBatchAsync`, `cuMemcpy3DBatchAsync`). They are made in order,
//! one of the orders that they may be made in; what the attributes allow is not made use of.

use std::ffi::c_ulonglong;

use bugaroo_cuda_abi::{
    CUDA_MEMCPY3D_BATCH_OP, CUdeviceptr, CUmemcpy3DOperand, CUmemcpyAttributes, CUstream,
};

use crate::api::submit::twin;
use crate::api::transfer::submit;
use bugaroo_device::error::{CallResult, Status};
use bugaroo_device::objects::array::BoxPart;
use bugaroo_device::objects::transfer::{CopySide, Transfer};
use bugaroo_device::places::{not_null, write_if_wanted};
use bugaroo_device::state::Gpu;

/// `STREAM`, `DURING_API_CALL`, `ANY`
const ORDERS: std::ops::RangeInclusive<u32> = 1..=3;
/// `PREFER_OVERLAP_WITH_COMPUTE`
const FLAGS_MASK: u32 = 1;
const ARRAY: u32 = 2;

/// Refuses attributes that do not say in order where each of them begins to hold.
///
/// # Safety
/// Both arrays are null or have `attributes_count` items.
unsafe fn check_attributes(
    attributes: *const CUmemcpyAttributes,
    starts: *const usize,
    attributes_count: usize,
    count: usize,
) -> CallResult {
    if attributes_count == 0 || attributes_count > count {
        return Err(Status::InvalidValue);
    }
    not_null(attributes)?;
    not_null(starts)?;
    let mut before = None;
    for index in 0..attributes_count {
        // SAFETY: the caller's promise.
        let (attribute, start) =
            unsafe { (attributes.add(index).read_unaligned(), starts.add(index).read_unaligned()) };
        let in_order = before.map_or(start == 0, |before| start > before) && start < count;
        let known = ORDERS.contains(&attribute.source_access_order) && attribute.flags & !FLAGS_MASK == 0;
        if !in_order || !known {
            return Err(Status::InvalidValue);
        }
        before = Some(start);
    }
    Ok(())
}

twin! { cuMemcpyBatchAsync_v2_ptsz =
    /// Copies `count` ranges, each between any two addresses.
    ///
    /// # Safety
    /// The arrays have as many items as their counts say, and host addresses point to as many bytes.
    #[allow(clippy::too_many_arguments, reason = "the API's own signature")]
    pub unsafe extern "C" fn cuMemcpyBatchAsync_v2(
        to: *const CUdeviceptr,
        from: *const CUdeviceptr,
        sizes: *const usize,
        count: usize,
        attributes: *const CUmemcpyAttributes,
        starts: *const usize,
        attributes_count: usize,
        stream: CUstream,
    ) -> Status {
        let described = |gpu: &Gpu| {
            not_null(to)?;
            not_null(from)?;
            not_null(sizes)?;
            // SAFETY: the caller's promise.
            unsafe { check_attributes(attributes, starts, attributes_count, count) }?;
            let transfer = |index: usize| {
                // SAFETY: the caller's promise.
                let (to, from, bytes) = unsafe {
                    let (to, from) = (to.add(index).read_unaligned(), from.add(index).read_unaligned());
                    (gpu.place(to), gpu.place(from), sizes.add(index).read_unaligned())
                };
                if bytes == 0 { Err(Status::InvalidValue) } else { Ok(Transfer::line(to, from, bytes)) }
            };
            (0..count).map(transfer).collect()
        };
        // SAFETY: the caller's promise.
        unsafe { submit("cuMemcpyBatchAsync_v2", stream, described) }
    }
}

twin! { cuMemcpyBatchAsync_ptsz =
    /// [`cuMemcpyBatchAsync_v2`] as it was at first, with a place for the number of what failed: the batch as a
    /// whole, which is told by the largest number.
    ///
    /// # Safety
    /// As that one; `failed` is null or points to a place for a number.
    #[allow(clippy::too_many_arguments, reason = "the API's own signature")]
    pub unsafe extern "C" fn cuMemcpyBatchAsync(
        to: *const CUdeviceptr,
        from: *const CUdeviceptr,
        sizes: *const usize,
        count: usize,
        attributes: *const CUmemcpyAttributes,
        starts: *const usize,
        attributes_count: usize,
        failed: *mut usize,
        stream: CUstream,
    ) -> Status {
        // SAFETY: the same contract.
        let status = unsafe {
            cuMemcpyBatchAsync_v2(to, from, sizes, count, attributes, starts, attributes_count, stream)
        };
        if status != Status::Success {
            // SAFETY: the caller's promise.
            unsafe { write_if_wanted(failed, usize::MAX) };
        }
        status
    }
}

/// Bytes of an element of an array; 1 for a pointer.
fn element(gpu: &Gpu, operand: &CUmemcpy3DOperand) -> CallResult<Option<usize>> {
    if operand.kind != ARRAY {
        return Ok(None);
    }
    // SAFETY: all forms of the union are plain data of its size.
    let array = unsafe { operand.place.array }.array;
    gpu.held.arrays.get(array).map(|array| Some(array.element))
}

fn side(gpu: &Gpu, operand: &CUmemcpy3DOperand, extent: [usize; 3], element: usize) -> CallResult<CopySide> {
    let bytes = |items: usize| items.checked_mul(element).ok_or(Status::InvalidValue);
    match operand.kind {
        1 => {
            // SAFETY: all forms of the union are plain data of its size.
            let pointer = unsafe { operand.place.pointer };
            let or = |given: usize, least: usize| match given {
                0 => Ok(least),
                _ if given < least => Err(Status::InvalidValue),
                _ => Ok(given),
            };
            let pitch = bytes(or(pointer.row_length, extent[0])?)?;
            let rows = or(pointer.layer_height, extent[1])?;
            let slice = pitch.checked_mul(rows).ok_or(Status::InvalidValue)?;
            Ok(CopySide { start: gpu.place(pointer.address), pitch, slice })
        }
        ARRAY => {
            // SAFETY: as above.
            let array = unsafe { operand.place.array };
            let [x, y, z] = array.offset;
            let part =
                BoxPart { start: [bytes(x)?, y, z], extent: [bytes(extent[0])?, extent[1], extent[2]] };
            gpu.held.arrays.get(array.array)?.side(&part)
        }
        _ => Err(Status::InvalidValue),
    }
}

fn describe(gpu: &Gpu, operation: &CUDA_MEMCPY3D_BATCH_OP) -> CallResult<Transfer> {
    let elements = (element(gpu, &operation.src)?, element(gpu, &operation.dst)?);
    let element = match elements {
        (Some(one), Some(other)) if one != other => return Err(Status::InvalidValue),
        (one, other) => one.or(other).unwrap_or(1),
    };
    let [width, height, depth] = operation.extent;
    let known = ORDERS.contains(&operation.source_access_order) && operation.flags & !FLAGS_MASK == 0;
    if !known || operation.extent.contains(&0) {
        return Err(Status::InvalidValue);
    }
    let from = side(gpu, &operation.src, operation.extent, element)?;
    let to = side(gpu, &operation.dst, operation.extent, element)?;
    let width = width.checked_mul(element).ok_or(Status::InvalidValue)?;
    Ok(Transfer { to, from, width, height, depth })
}

twin! { cuMemcpy3DBatchAsync_v2_ptsz =
    /// Copies `count` boxes.
    ///
    /// # Safety
    /// `operations` has as many items, whose host sides hold the boxes.
    pub unsafe extern "C" fn cuMemcpy3DBatchAsync_v2(
        count: usize,
        operations: *const CUDA_MEMCPY3D_BATCH_OP,
        flags: c_ulonglong,
        stream: CUstream,
    ) -> Status {
        let described = |gpu: &Gpu| {
            not_null(operations)?;
            if flags != 0 || count == 0 {
                return Err(Status::InvalidValue);
            }
            // SAFETY: the caller's promise.
            let operation = |index: usize| unsafe { operations.add(index).read_unaligned() };
            (0..count).map(|index| describe(gpu, &operation(index))).collect()
        };
        // SAFETY: the caller's promise.
        unsafe { submit("cuMemcpy3DBatchAsync_v2", stream, described) }
    }
}

twin! { cuMemcpy3DBatchAsync_ptsz =
    /// [`cuMemcpy3DBatchAsync_v2`] as it was at first, with a place for the number of what failed: the batch as a
    /// whole, which is told by the largest number.
    ///
    /// # Safety
    /// As that one; `failed` is null or points to a place for a number.
    pub unsafe extern "C" fn cuMemcpy3DBatchAsync(
        count: usize,
        operations: *const CUDA_MEMCPY3D_BATCH_OP,
        failed: *mut usize,
        flags: c_ulonglong,
        stream: CUstream,
    ) -> Status {
        // SAFETY: the same contract.
        let status = unsafe { cuMemcpy3DBatchAsync_v2(count, operations, flags, stream) };
        if status != Status::Success {
            // SAFETY: the caller's promise.
            unsafe { write_if_wanted(failed, usize::MAX) };
        }
        status
    }
}
