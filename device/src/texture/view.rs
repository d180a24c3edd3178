//! Views of arrays (CUDA Driver API, `CUDA_RESOURCE_VIEW_DESC`): another format of the same size, some of the levels and layers.
//! Compressed blocks, which change the extents, are not supported.

use bugaroo_cuda_abi::CUDA_RESOURCE_VIEW_DESC;
use bugaroo_simulator::texture::{Channel, TexelFormat, TexelShape};

use super::resource::TexelSource;
use crate::error::{CallResult, Status};
use crate::state::Gpu;

/// Types of channels in the order of the formats of views, each with 1, 2 and 4 channels.
const CHANNELS: [Channel; 8] = [
    Channel::U8,
    Channel::S8,
    Channel::U16,
    Channel::S16,
    Channel::U32,
    Channel::S32,
    Channel::F16,
    Channel::F32,
];

/// The resource as the view has it.
///
/// # Errors
/// `InvalidValue` for a view that cannot be of this resource; `NotSupported` for what is not supported.
pub fn apply(gpu: &mut Gpu, view: &CUDA_RESOURCE_VIEW_DESC, resource: &mut TexelSource) -> CallResult {
    match view.format {
        0 => {}
        1..=0x18 => {
            let at = view.format as usize - 1;
            let format = TexelFormat { channel: CHANNELS[at / 3], count: 1 << (at % 3) };
            if format.bytes() != resource.format.bytes() {
                return Err(Status::InvalidValue);
            }
            (resource.format, resource.always_float) = (format, false);
        }
        0x19..=0x22 => {
            let what = "cuTexObjectCreate: views of compressed blocks are not supported";
            return Err(gpu.trial.report.unsupported(what));
        }
        _ => return Err(Status::InvalidValue),
    }
    let [width, height, depth] = resource.levels[0].extent;
    let same = |asked: usize, has: u64| asked as u64 == has || asked == 0 && has == 1;
    if resource.is_line() || !same(view.width, width) || !same(view.height, height) {
        return Err(Status::InvalidValue);
    }
    let levels = view.first_mipmap_level as usize..=view.last_mipmap_level as usize;
    resource.levels =
        resource.levels.get(levels).filter(|levels| !levels.is_empty()).ok_or(Status::InvalidValue)?.to_vec();
    let (first, last) = (u64::from(view.first_layer), u64::from(view.last_layer));
    match resource.shape {
        TexelShape::A1 | TexelShape::A2 => {
            if first > last || last >= depth {
                return Err(Status::InvalidValue);
            }
            for level in &mut resource.levels {
                level.address += first * level.slice;
                level.extent[2] = last - first + 1;
            }
        }
        // Whether cubes are counted by layers or by faces is not documented.
        TexelShape::CubeArray if (first, last) != (0, depth - 1) => {
            let what = "cuTexObjectCreate: views of some cubes are not supported";
            return Err(gpu.trial.report.unsupported(what));
        }
        TexelShape::Line | TexelShape::D1 | TexelShape::D2 | TexelShape::D3 if (first, last) != (0, 0) => {
            return Err(Status::InvalidValue);
        }
        _ => {}
    }
    Ok(())
}
