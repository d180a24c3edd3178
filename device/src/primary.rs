//! A primary context starts afresh.

use bugaroo_cuda_abi::CUdevice;

use crate::error::CallResult;
use crate::objects::context::Context;
use crate::objects::primary::Primary;
use crate::state::Gpu;

/// Frees what a device's primary context owns, so that it starts afresh, without its fault.
pub fn start_afresh(gpu: &mut Gpu, device: CUdevice) -> CallResult {
    let Primary { handle, flags, .. } = *gpu.primary(device)?;
    gpu.clear(handle);
    *gpu.owners.contexts.get_mut(handle)? = Context::new(flags, device);
    Ok(())
}
