//! A primary context starts afresh.

use bugaroo_cuda_abi::CUdevice;

use crate::error::Outcome;
use crate::objects::context::Context;
use crate::objects::primary::Primary;
use crate::state::Driver;

/// Frees what a device's primary context owns, so that it starts afresh, without its fault.
pub fn start_afresh(driver: &mut Driver, device: CUdevice) -> Outcome {
    let Primary { handle, flags, .. } = *driver.primary(device)?;
    driver.clear(handle);
    *driver.owners.contexts.get_mut(handle)? = Context::new(flags, device);
    Ok(())
}
