//! A primary context starts afresh.

use bugaroo_cuda_abi::CUdevice;

use crate::device::objects::context::Context;
use crate::device::objects::primary::Primary;
use crate::device::state::Driver;
use crate::error::Outcome;

/// Frees what a device's primary context owns, so that it starts afresh, without its fault.
pub(crate) fn start_afresh(driver: &mut Driver, device: CUdevice) -> Outcome {
    let Primary { handle, flags, .. } = *driver.primary(device)?;
    driver.clear(handle);
    *driver.owners.contexts.get_mut(handle)? = Context::new(flags, device);
    Ok(())
}
