//! The primary context starts afresh.

use crate::device::objects::context::Context;
use crate::device::state::Driver;
use crate::error::Outcome;

/// Frees what the primary context owns, so that it starts afresh, without its fault.
pub(crate) fn start_afresh(driver: &mut Driver) -> Outcome {
    let handle = driver.owners.primary.handle;
    driver.clear(handle);
    *driver.owners.contexts.get_mut(handle)? = Context::new(driver.owners.primary.flags);
    Ok(())
}
