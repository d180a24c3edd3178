//! Levels of mipmapped arrays.

use std::ffi::c_uint;

use bugaroo_cuda_abi::{CUDA_ARRAY3D_DESCRIPTOR, CUmipmappedArray};

use crate::array;
use crate::error::CallResult;
use crate::objects::array as objects_array;
use crate::objects::array::Array;
use crate::state::Gpu;

/// The shape of a level.
pub fn level(finest: CUDA_ARRAY3D_DESCRIPTOR, number: c_uint) -> CUDA_ARRAY3D_DESCRIPTOR {
    let half = |extent: usize| if extent == 0 { 0 } else { (extent >> number).max(1) };
    let depth = if objects_array::has_layers(&finest) { finest.depth } else { half(finest.depth) };
    CUDA_ARRAY3D_DESCRIPTOR { width: half(finest.width), height: half(finest.height), depth, ..finest }
}

/// Destroys a mipmapped array with its levels.
///
/// # Errors
/// `InvalidHandle`
pub fn destroy(gpu: &mut Gpu, handle: CUmipmappedArray) -> CallResult {
    let found = gpu.held.mipmapped.remove(handle)?;
    found.levels.into_iter().try_for_each(|level| array::destroy(gpu, level))
}

/// The arrays of a mipmapped array.
///
/// # Errors
/// `InvalidHandle`
pub fn levels(gpu: &Gpu, handle: CUmipmappedArray) -> CallResult<Vec<&Array>> {
    gpu.held.mipmapped.get(handle)?.levels.iter().map(|level| gpu.held.arrays.get(*level)).collect()
}
