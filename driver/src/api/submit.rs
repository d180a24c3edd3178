//! How work gets into streams: every function of the API that names a stream comes through here.
//!
//! [`submit`] hands work over, to be done in stream order. A function that does its work by itself, at the
//! call, uses [`with_stream`]: what it has to come after is done by then. One that kernels cannot tell from doing nothing uses
//! [`beside_stream`]. One that only looks a stream up
//! uses [`on_stream`].

use bugaroo_cuda_abi::CUstream;

use crate::api::entry::with_context;
use crate::api::settle::settle;
use crate::api::wait;
use bugaroo_device::capture;
use bugaroo_device::error::{CallResult, Status};
use bugaroo_device::objects::stream::Stream;
use bugaroo_device::objects::work::Work;
use bugaroo_device::state::Gpu;

/// Defines a function of the API, and its second name for programs whose default stream is each thread's own.
macro_rules! twin {
    ($second:ident = $($function:tt)*) => {
        bugaroo_cuda_abi::twin! { bugaroo_device::submit::per_thread; $second = $($function)* }
    };
}
pub(crate) use twin;

/// Runs a body that needs a stream, but neither hands work over nor waits for any.
pub fn on_stream(name: &str, stream: CUstream, body: impl FnOnce(&mut Gpu, Stream) -> CallResult) -> Status {
    with_context(name, |gpu, context| {
        let stream = gpu.stream(stream, context)?;
        match gpu.context(stream.context)?.fault {
            Some(fault) if fault.reported => Err(fault.status),
            _ => body(gpu, stream),
        }
    })
}

/// Lets go on what a stream's next work has to come after.
fn catch_up(name: &str, stream: CUstream) -> Status {
    let mut before = Vec::new();
    let status = on_stream(name, stream, |gpu, stream| {
        capture::refuse(gpu, &stream)?;
        before = gpu.running.queue.before(&stream);
        Ok(())
    });
    if status == Status::Success { wait::finish(name, &before) } else { status }
}

/// Runs a body that does a stream's work at once, when what comes before is done.
pub fn with_stream(
    name: &str,
    stream: CUstream,
    body: impl FnOnce(&mut Gpu, Stream) -> CallResult,
) -> Status {
    match catch_up(name, stream) {
        Status::Success => on_stream(name, stream, body),
        status => status,
    }
}

/// Runs a body at once that changes nothing of what kernels see, so that nobody can tell when its turn in the stream would have come.
pub fn beside_stream(
    name: &str,
    stream: CUstream,
    body: impl FnOnce(&mut Gpu, Stream) -> CallResult,
) -> Status {
    on_stream(name, stream, |gpu, stream| {
        capture::refuse(gpu, &stream)?;
        body(gpu, stream)
    })
}

/// Runs a body when a stream's work is done: a pending fault of its context is reported instead.
pub fn waiting_for_stream(
    name: &str,
    stream: CUstream,
    body: impl FnOnce(&mut Gpu, Stream) -> CallResult,
) -> Status {
    with_stream(name, stream, |gpu, stream| {
        gpu.surface(stream.context)?;
        let waited = gpu.running.queue.before(&stream);
        gpu.running.queue.tell(|order| order.waited(&waited));
        body(gpu, stream)
    })
}

/// Hands over to a stream the work that `body` makes, if it makes any, after its checks.
pub fn submit(
    name: &str,
    stream: CUstream,
    body: impl FnOnce(&mut Gpu, &Stream) -> CallResult<Option<Work>>,
) -> Status {
    let mut submitted = None;
    let status = on_stream(name, stream, |gpu, stream| {
        if let Some(work) = body(gpu, &stream)? {
            submitted = gpu.submit(&stream, work)?;
        }
        Ok(())
    });
    match submitted {
        Some(submitted) if status == Status::Success => settle(&submitted, name),
        _ => status,
    }
}
