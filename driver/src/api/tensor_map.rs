//! Tensor maps (CUDA Driver API, "Tensor Map Object Management"), of tiles. Maps for im2col, interleaved layouts and
//! packed types are not supported.

use std::ffi::{c_uint, c_void};

use bugaroo_simulator::{TENSOR_MAP_WORDS, TENSOR_RANKS, TensorMap};

use crate::api::entry::with_gpu;
use bugaroo_device::error::{CallResult, Status};
use bugaroo_device::places::{not_null, write};

/// `CUtensorMap`
type Words = [u64; TENSOR_MAP_WORDS];

/// The first items of a list.
///
/// # Safety
/// `list` is null or holds `count` items.
unsafe fn items<T: Copy>(list: *const T, count: usize) -> CallResult<Vec<T>> {
    not_null(list)?;
    // SAFETY: the caller's promise.
    Ok((0..count).map(|at| unsafe { list.add(at).read_unaligned() }).collect())
}

fn sure(holds: bool) -> CallResult {
    if holds { Ok(()) } else { Err(Status::InvalidValue) }
}

/// Describes tiles of a tensor.
///
/// # Safety
/// `place` is null or a place for a map; the lists are null or have an item for each dimension, that of strides one less.
#[allow(clippy::too_many_arguments, reason = "the API's own signature")]
pub unsafe extern "C" fn cuTensorMapEncodeTiled(
    place: *mut Words,
    data_type: c_uint,
    rank: c_uint,
    address: *mut c_void,
    extents: *const u64,
    strides: *const u64,
    extent_of_box: *const c_uint,
    steps: *const c_uint,
    interleave: c_uint,
    swizzle: c_uint,
    promotion: c_uint,
    fill: c_uint,
) -> Status {
    with_gpu("cuTensorMapEncodeTiled", |gpu| {
        not_null(place)?;
        sure(data_type <= 15 && interleave <= 2 && swizzle <= 6 && promotion <= 3 && fill <= 1)?;
        if data_type > 12 || interleave != 0 || swizzle > 3 || fill != 0 {
            let what = "cuTensorMapEncodeTiled: packed types, interleaved layouts, swizzling of larger atoms and filling with NaN are not supported";
            return Err(gpu.trial.report.unsupported(what));
        }
        let ranks = rank as usize;
        sure((1..=TENSOR_RANKS).contains(&ranks))?;
        let element = TensorMap::element_bytes(data_type as u8).ok_or(Status::InvalidValue)?;
        let mut map = TensorMap {
            data_type: data_type as u8,
            rank: rank as u8,
            swizzle: swizzle as u8,
            nan: false,
            address: address as u64,
            ..TensorMap::default()
        };
        sure(!address.is_null() && map.address.is_multiple_of(16))?;
        // SAFETY: the caller's promise, for all of them.
        let (extents, boxes, steps) =
            unsafe { (items(extents, ranks)?, items(extent_of_box, ranks)?, items(steps, ranks)?) };
        let strides = match ranks {
            1 => Vec::new(),
            // SAFETY: the caller's promise.
            _ => unsafe { items(strides, ranks - 1) }?,
        };
        for at in 0..ranks {
            sure((1..=1 << 32).contains(&extents[at]))?;
            sure((1..=256).contains(&boxes[at]) && (1..=8).contains(&steps[at]))?;
            map.extents[at] = extents[at];
            (map.extent_of_box[at], map.steps[at]) = (boxes[at] as u16, steps[at] as u8);
        }
        for (at, stride) in strides.into_iter().enumerate() {
            sure(stride.is_multiple_of(16) && stride < 1 << 40)?;
            map.strides[at] = stride;
        }
        let row = u64::from(boxes[0]) * element;
        let widest = [u64::MAX, 32, 64, 128][swizzle as usize];
        sure(row.is_multiple_of(16) && row <= widest)?;
        // SAFETY: the caller's promise.
        unsafe { write(place, map.encode()) }
    })
}

/// Gives a map another address.
///
/// # Safety
/// `place` is null or points to a map.
pub unsafe extern "C" fn cuTensorMapReplaceAddress(place: *mut Words, address: *mut c_void) -> Status {
    with_gpu("cuTensorMapReplaceAddress", |_| {
        not_null(place)?;
        // SAFETY: not null, and the caller's promise.
        let words = unsafe { place.read_unaligned() };
        let mut map = TensorMap::decode(&words).ok_or(Status::InvalidValue)?;
        map.address = address as u64;
        sure(!address.is_null() && map.address.is_multiple_of(16))?;
        // SAFETY: as above.
        unsafe { write(place, map.encode()) }
    })
}
