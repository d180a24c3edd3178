//! Functions that wait for a context's work first: a pending fault is reported instead.

use bugaroo_cuda_abi::CUcontext;

use crate::api::entry::{with_context, with_gpu};
use crate::api::{current, wait};
use bugaroo_device::error::{CallResult, Status};
use bugaroo_device::state::Gpu;

/// Runs a body once the context's work is done: a pending fault of it is reported instead.
pub fn synchronising(name: &str, body: impl FnOnce(&mut Gpu, CUcontext) -> CallResult) -> Status {
    match wait::finish_current(name) {
        Status::Success => {}
        status => return status,
    }
    with_context(name, |gpu, context| {
        gpu.surface(context)?;
        body(gpu, context)
    })
}

/// Runs a body that takes something away, as [`synchronising`] does. The thing tells whose it is: a thread without a
/// current context may take it away, too, as programs do that clean up late.
pub fn taking_away(
    name: &str,
    owner: impl FnOnce(&Gpu) -> Option<CUcontext>,
    body: impl FnOnce(&mut Gpu) -> CallResult,
) -> Status {
    if current::top().is_some() {
        return synchronising(name, |gpu, _| body(gpu));
    }
    let mut context = None;
    let looked = with_gpu(name, |gpu| {
        context = owner(gpu);
        context.map(|_| ()).ok_or(Status::InvalidContext)
    });
    let Some(context) = context else { return looked };
    match wait::finish_context(name, context) {
        Status::Success => {}
        status => return status,
    }
    with_gpu(name, |gpu| {
        gpu.surface(context)?;
        body(gpu)
    })
}
