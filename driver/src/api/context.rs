//! Contexts (CUDA Driver API, "Context Management"): creation, the calling thread's stack of them,
//! limits and preferences.
//!
//! A context owns modules, memory, streams and events; all contexts share one address space, also
//! those of different devices. Limits and cache preferences are kept and told again, and change nothing.

use std::ffi::{c_int, c_uint, c_ulonglong, c_void};

use bugaroo_cuda_abi::{CUcontext, CUctxCreateParams, CUdevice, CUevent};

use crate::api::entry::{current_context, with_context, with_gpu};
use crate::api::synchronising::synchronising;
use crate::api::{current, kept, wait};
use bugaroo_device::error::{CallResult, Status};
use bugaroo_device::objects::context::{Context, check_cache_config, check_flags};
use bugaroo_device::objects::primary;
use bugaroo_device::places::{write, write_if_wanted};
use bugaroo_device::state::Gpu;

/// What `cuCtxGetApiVersion` tells, as the real driver does.
const API_VERSION: c_uint = 3020;

/// Makes a context and puts it on top of the calling thread's stack.
fn create(gpu: &mut Gpu, place: *mut CUcontext, flags: c_uint, device: CUdevice) -> CallResult {
    check_flags(flags)?;
    primary::check_device(device)?;
    // SAFETY: the program passes a place for a handle, or null, which is refused.
    unsafe { write(place, std::ptr::null_mut()) }?;
    let context = gpu.owners.contexts.insert(Context::new(flags, device));
    current::push(context);
    // SAFETY: as above.
    unsafe { write(place, context) }
}

/// Makes a context, current from now on. Execution affinity and sharing with graphics are not supported.
///
/// # Safety
/// `place` is null or points to a place for a handle, `parameters` is null or points to parameters.
pub unsafe extern "C" fn cuCtxCreate_v4(
    place: *mut CUcontext,
    parameters: *const CUctxCreateParams,
    flags: c_uint,
    device: CUdevice,
) -> Status {
    with_gpu("cuCtxCreate_v4", |gpu| {
        // SAFETY: the program's promise.
        if let Some(parameters) = unsafe { parameters.as_ref() } {
            if !parameters.graphics.is_null() {
                eprintln!("bugaroo: cuCtxCreate_v4 for sharing with graphics (cigParams) is not supported");
                return Err(Status::NotSupported);
            }
            if parameters.affinity_count != 0 {
                return Err(Status::UnsupportedExecAffinity);
            }
        }
        create(gpu, place, flags, device)
    })
}

/// Makes a context, current from now on.
///
/// # Safety
/// As [`cuCtxCreate_v4`].
pub unsafe extern "C" fn cuCtxCreate_v2(place: *mut CUcontext, flags: c_uint, device: CUdevice) -> Status {
    with_gpu("cuCtxCreate_v2", |gpu| create(gpu, place, flags, device))
}

/// Makes a context, current from now on. Execution affinity is not supported.
///
/// # Safety
/// As [`cuCtxCreate_v4`].
pub unsafe extern "C" fn cuCtxCreate_v3(
    place: *mut CUcontext,
    _affinity: *const c_void,
    affinity_count: c_int,
    flags: c_uint,
    device: CUdevice,
) -> Status {
    with_gpu("cuCtxCreate_v3", |gpu| match affinity_count {
        0 => create(gpu, place, flags, device),
        _ => Err(Status::UnsupportedExecAffinity),
    })
}

/// Destroys a context with all that it owns; takes it off the calling thread's stack if it is on top.
pub extern "C" fn cuCtxDestroy_v2(context: CUcontext) -> Status {
    // What went wrong goes with the context.
    let _ = wait::finish_context("cuCtxDestroy_v2", context);
    let status = with_gpu("cuCtxDestroy_v2", |gpu| {
        gpu.context(context)?;
        let is_primary = gpu.owners.primaries.iter().any(|primary| primary.handle == context);
        if is_primary { Err(Status::InvalidContext) } else { Ok(()) }
    });
    if status != Status::Success {
        return status;
    }
    kept::tell_end("cuCtxDestroy_v2", context);
    with_gpu("cuCtxDestroy_v2", |gpu| {
        gpu.clear(context);
        gpu.owners.contexts.remove(context)?;
        if current::top() == Some(context) {
            current::pop();
        }
        Ok(())
    })
}

/// Puts a context on top of the calling thread's stack.
pub extern "C" fn cuCtxPushCurrent_v2(context: CUcontext) -> Status {
    with_gpu("cuCtxPushCurrent_v2", |gpu| {
        gpu.context(context)?;
        current::push(context);
        Ok(())
    })
}

/// Takes the current context off the calling thread's stack.
///
/// # Safety
/// `place` is null or points to a place for a handle.
pub unsafe extern "C" fn cuCtxPopCurrent_v2(place: *mut CUcontext) -> Status {
    with_gpu("cuCtxPopCurrent_v2", |_| {
        let context = current::pop().ok_or(Status::InvalidContext)?;
        // SAFETY: the caller's promise.
        unsafe { write_if_wanted(place, context) };
        Ok(())
    })
}

/// Makes a context current in place of the one that is, or none (null). A primary context need not be retained yet: NVIDIA's runtime
/// does that afterwards. Until then it cannot be used (`CUDA_ERROR_CONTEXT_IS_DESTROYED`).
pub extern "C" fn cuCtxSetCurrent(context: CUcontext) -> Status {
    with_gpu("cuCtxSetCurrent", |gpu| {
        if context.is_null() {
            current::set(None);
            return Ok(());
        }
        gpu.owners.contexts.get(context).map_err(|_| Status::InvalidContext)?;
        current::set(Some(context));
        Ok(())
    })
}

/// The current context, or null.
///
/// # Safety
/// `place` is null or points to a place for a handle.
pub unsafe extern "C" fn cuCtxGetCurrent(place: *mut CUcontext) -> Status {
    with_gpu("cuCtxGetCurrent", |_| {
        // SAFETY: the caller's promise.
        unsafe { write(place, current::top().unwrap_or(std::ptr::null_mut())) }
    })
}

/// The current context's device.
///
/// # Safety
/// `place` is null or points to a place for a device.
pub unsafe extern "C" fn cuCtxGetDevice(place: *mut CUdevice) -> Status {
    with_gpu("cuCtxGetDevice", |gpu| {
        let context = current_context(gpu)?;
        // SAFETY: the caller's promise.
        unsafe { write(place, gpu.device_of(context)) }
    })
}

/// A context's device; the current one's for null.
///
/// # Safety
/// `place` is null or points to a place for a device.
pub unsafe extern "C" fn cuCtxGetDevice_v2(place: *mut CUdevice, context: CUcontext) -> Status {
    with_gpu("cuCtxGetDevice_v2", |gpu| {
        let context = given_or_current(gpu, context)?;
        // SAFETY: the caller's promise.
        unsafe { write(place, gpu.device_of(context)) }
    })
}

/// `context` if it is one, the current one for null.
pub(crate) fn given_or_current(gpu: &Gpu, context: CUcontext) -> CallResult<CUcontext> {
    if context.is_null() { current_context(gpu) } else { gpu.context(context).map(|_| context) }
}

/// Waits for all work of the current context, and reports what went wrong with it.
pub extern "C" fn cuCtxSynchronize() -> Status {
    synchronising("cuCtxSynchronize", |_, _| Ok(()))
}

/// Waits for all work of a context, and reports what went wrong with it.
pub extern "C" fn cuCtxSynchronize_v2(context: CUcontext) -> Status {
    let waited = if context.is_null() {
        wait::finish_current("cuCtxSynchronize_v2")
    } else {
        wait::finish_context("cuCtxSynchronize_v2", context)
    };
    if waited != Status::Success {
        return waited;
    }
    with_gpu("cuCtxSynchronize_v2", |gpu| {
        let context = given_or_current(gpu, context)?;
        gpu.surface(context)
    })
}

/// The version of the API that a context was made for.
///
/// # Safety
/// `place` is null or points to a place for the number.
pub unsafe extern "C" fn cuCtxGetApiVersion(context: CUcontext, place: *mut c_uint) -> Status {
    with_gpu("cuCtxGetApiVersion", |gpu| {
        given_or_current(gpu, context)?;
        // SAFETY: the caller's promise.
        unsafe { write(place, API_VERSION) }
    })
}

/// A number that no other context of the process has.
///
/// # Safety
/// `place` is null or points to a place for the number.
pub unsafe extern "C" fn cuCtxGetId(context: CUcontext, place: *mut c_ulonglong) -> Status {
    with_gpu("cuCtxGetId", |gpu| {
        let context = given_or_current(gpu, context)?;
        // SAFETY: the caller's promise.
        unsafe { write(place, context as c_ulonglong) }
    })
}

/// The current context's flags.
///
/// # Safety
/// `place` is null or points to a place for them.
pub unsafe extern "C" fn cuCtxGetFlags(place: *mut c_uint) -> Status {
    with_gpu("cuCtxGetFlags", |gpu| {
        let context = current_context(gpu)?;
        // SAFETY: the caller's promise.
        unsafe { write(place, gpu.context(context)?.flags) }
    })
}

/// Changes the current context's flags.
pub extern "C" fn cuCtxSetFlags(flags: c_uint) -> Status {
    with_context("cuCtxSetFlags", |gpu, context| {
        check_flags(flags)?;
        gpu.context_mut(context)?.flags = flags;
        Ok(())
    })
}

/// A limit of the current context.
///
/// # Safety
/// `place` is null or points to a place for it.
pub unsafe extern "C" fn cuCtxGetLimit(place: *mut usize, limit: c_uint) -> Status {
    with_context("cuCtxGetLimit", |gpu, context| {
        let value = gpu.context(context)?.limit(limit)?;
        // SAFETY: the caller's promise.
        unsafe { write(place, value) }
    })
}

/// Sets a limit of the current context. Those of device code's `printf` and `malloc` hold for the device, the
/// others are kept and told, and change nothing.
pub extern "C" fn cuCtxSetLimit(limit: c_uint, value: usize) -> Status {
    with_context("cuCtxSetLimit", |gpu, context| {
        let context = gpu.context_mut(context)?;
        context.limit(limit)?;
        context.limits.insert(limit, value);
        match limit {
            1 => gpu.memory.console().set_limit(value),
            2 => gpu.memory.set_heap_limit(value as u64),
            _ => {}
        }
        Ok(())
    })
}

/// The current context's preference between L1 cache and shared memory.
///
/// # Safety
/// `place` is null or points to a place for it.
pub unsafe extern "C" fn cuCtxGetCacheConfig(place: *mut c_uint) -> Status {
    with_context("cuCtxGetCacheConfig", |gpu, context| {
        // SAFETY: the caller's promise.
        unsafe { write(place, gpu.context(context)?.cache_config) }
    })
}

/// Sets the current context's preference between L1 cache and shared memory.
pub extern "C" fn cuCtxSetCacheConfig(config: c_uint) -> Status {
    with_context("cuCtxSetCacheConfig", |gpu, context| {
        check_cache_config(config)?;
        gpu.context_mut(context)?.cache_config = config;
        Ok(())
    })
}

/// The range of stream priorities: 0 to -5, lower is more urgent. They change nothing.
///
/// # Safety
/// Each is null (not wanted) or points to a place for a number.
pub unsafe extern "C" fn cuCtxGetStreamPriorityRange(least: *mut c_int, greatest: *mut c_int) -> Status {
    with_context("cuCtxGetStreamPriorityRange", |_, _| {
        // SAFETY: the caller's promise, for both.
        unsafe {
            write_if_wanted(least, bugaroo_device::objects::stream::LEAST_PRIORITY);
            write_if_wanted(greatest, bugaroo_device::objects::stream::GREATEST_PRIORITY);
        }
        Ok(())
    })
}

/// The width of shared memory's banks, which is fixed: 4 bytes.
///
/// # Safety
/// `place` is null or points to a place for it.
pub unsafe extern "C" fn cuCtxGetSharedMemConfig(place: *mut c_uint) -> Status {
    with_context("cuCtxGetSharedMemConfig", |_, _| {
        // SAFETY: the caller's promise.
        unsafe { write(place, 1) }
    })
}

/// Asks for a width of shared memory's banks; no effect, as on any device since 2014.
pub extern "C" fn cuCtxSetSharedMemConfig(config: c_uint) -> Status {
    with_context(
        "cuCtxSetSharedMemConfig",
        |_, _| {
            if config <= 2 { Ok(()) } else { Err(Status::InvalidValue) }
        },
    )
}

/// Gives up cache lines that persist; there are none.
pub extern "C" fn cuCtxResetPersistingL2Cache() -> Status {
    with_context("cuCtxResetPersistingL2Cache", |_, _| Ok(()))
}

/// Records all work of a context so far in an event.
pub extern "C" fn cuCtxRecordEvent(context: CUcontext, event: CUevent) -> Status {
    with_gpu("cuCtxRecordEvent", |gpu| {
        gpu.context(context)?;
        let ends = gpu.running.queue.ends(context);
        bugaroo_device::event::record(gpu, context, event, &ends)
    })
}

/// Lets later work of a context wait for an event: the call itself waits.
pub extern "C" fn cuCtxWaitEvent(context: CUcontext, event: CUevent) -> Status {
    let _ = crate::api::event::finish("cuCtxWaitEvent", event);
    with_gpu("cuCtxWaitEvent", |gpu| {
        gpu.context(context)?;
        gpu.ordered.events.get(event).map(|_| ())
    })
}
