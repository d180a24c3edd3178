//! Texture and surface objects: made of arrays and linear memory, and kept for work that still names them.

pub mod resource;
pub mod view;

use std::ffi::c_uint;

use bugaroo_cuda_abi::{CUDA_TEXTURE_DESC, CUcontext, CUtexObject};
use bugaroo_simulator::texture::{AddressMode, LevelOfDetail, Object, Sampling, TexelShape};

use crate::error::{CallResult, Status};
use crate::objects::texture::Described;
use crate::state::Gpu;

use resource::TexelSource;

/// Integers stay integers.
const READ_AS_INTEGER: c_uint = 0x01;
const NORMALIZED_COORDINATES: c_uint = 0x02;
const SRGB: c_uint = 0x10;
/// `SEAMLESS_CUBEMAP`
const SEAMLESS: c_uint = 0x40;
/// These, and `DISABLE_TRILINEAR_OPTIMIZATION`.
const KNOWN_FLAGS: c_uint = READ_AS_INTEGER | NORMALIZED_COORDINATES | SRGB | SEAMLESS | 0x20;

/// Takes an object in.
pub fn insert(gpu: &mut Gpu, described: Described, object: Object) -> CUtexObject {
    let handle = gpu.held.textures.live.insert(described) as CUtexObject;
    gpu.memory.objects_mut().insert(handle, object);
    forget_destroyed(gpu);
    handle
}

/// Takes away what was destroyed, once its context has no work left that may use it.
fn forget_destroyed(gpu: &mut Gpu) {
    let destroyed = std::mem::take(&mut gpu.held.textures.destroyed);
    for (context, handle) in destroyed {
        if gpu.running.queue.of(context).is_empty() {
            gpu.memory.objects_mut().remove(handle);
        } else {
            gpu.held.textures.destroyed.push((context, handle));
        }
    }
}

/// A live object.
///
/// # Errors
/// `InvalidValue` when there is none: the handle is a number, and not of a type of its own.
pub fn find(gpu: &Gpu, handle: CUtexObject, surface: bool) -> CallResult<&Described> {
    let found = gpu.held.textures.live.get(handle as *mut _).ok();
    found.filter(|found| found.texture.is_none() == surface).ok_or(Status::InvalidValue)
}

/// Destroys one. Kernels that were submitted before may still use it.
///
/// # Errors
/// `InvalidValue` when there is none.
pub fn destroy(gpu: &mut Gpu, handle: CUtexObject, surface: bool) -> CallResult {
    find(gpu, handle, surface)?;
    let Described { context, .. } = gpu.held.textures.live.remove(handle as *mut _)?;
    gpu.held.textures.destroyed.push((context, handle));
    forget_destroyed(gpu);
    Ok(())
}

/// Destroys the objects of a context.
pub fn clear(gpu: &mut Gpu, context: CUcontext) {
    for handle in gpu.held.textures.live.find(|object| object.context == context) {
        // Just found, hence there.
        let _ = gpu.held.textures.live.remove(handle);
        gpu.held.textures.destroyed.push((context, handle as CUtexObject));
    }
    forget_destroyed(gpu);
}

/// What a descriptor says of lookups.
pub fn sampling(gpu: &mut Gpu, of: &CUDA_TEXTURE_DESC, resource: &TexelSource) -> CallResult<Sampling> {
    let known =
        of.address_mode.iter().all(|mode| *mode <= 3) && of.filter_mode <= 1 && of.mipmap_filter_mode <= 1;
    if !known || of.flags & !KNOWN_FLAGS != 0 {
        return Err(Status::InvalidValue);
    }
    let channel = resource.format.channel;
    let has = |flag| of.flags & flag != 0;
    let normalized = has(NORMALIZED_COORDINATES);
    let as_float = resource.always_float || channel.is_promoted() && !has(READ_AS_INTEGER);
    let linear = of.filter_mode == 1 && !resource.is_line();
    if linear && !as_float && !channel.is_float() {
        // Only floats can be filtered.
        return Err(Status::InvalidValue);
    }
    let address = of.address_mode.map(|mode| match mode {
        0 if normalized => AddressMode::Wrap,
        2 if normalized => AddressMode::Mirror,
        3 => AddressMode::Border,
        _ => AddressMode::Clamp,
    });
    let mixes = of.mipmap_filter_mode == 1 && resource.levels.len() > 1;
    if mixes && !as_float && !channel.is_float() || resource.levels.len() > 1 && !normalized {
        return Err(Status::InvalidValue);
    }
    if has(SEAMLESS) && linear && matches!(resource.shape, TexelShape::Cube | TexelShape::CubeArray) {
        let what = "cuTexObjectCreate: filtering across the edges of a cube's faces is not supported";
        return Err(gpu.trial.report.unsupported(what));
    }
    let detail = LevelOfDetail {
        linear: of.mipmap_filter_mode == 1,
        bias: of.mipmap_level_bias,
        least: of.min_mipmap_level_clamp,
        most: of.max_mipmap_level_clamp,
    };
    let integers = !as_float && !channel.is_float();
    let bordered = address.contains(&AddressMode::Border) && of.border_color.iter().any(|part| *part != 0.0);
    if integers && bordered && !resource.is_line() {
        let what = "cuTexObjectCreate: a border colour other than 0 of a texture that is read as integers";
        return Err(gpu.trial.report.unsupported(what));
    }
    let border = of.border_color;
    Ok(Sampling { address, linear, normalized, as_float, srgb: has(SRGB), border, detail })
}
