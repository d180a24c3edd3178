//! Green contexts (CUDA Driver API, "Green Contexts"): a part of the device's SMs, and streams whose kernels use these alone.
//!
//! Where blocks run makes no difference to what they may do, so that a green context here is a name with a number of SMs: its
//! work runs in the primary context, on any of them.

use std::ffi::{c_int, c_uint, c_ulonglong};

use bugaroo_cuda_abi::{CUcontext, CUdevResource, CUevent, CUstream};

use crate::api::context::{cuCtxRecordEvent, cuCtxWaitEvent};
use crate::api::current;
use crate::api::entry::with_gpu;
use crate::api::primary::{cuDevicePrimaryCtxRelease_v2, cuDevicePrimaryCtxRetain};
use bugaroo_device::error::{CallResult, Status};
use bugaroo_device::objects::primary::check_device;
use bugaroo_device::places::{not_null, write};
use bugaroo_device::state::Gpu;

/// `CUgreenCtx`, `CUdevResourceDesc`
type Handle = *mut std::ffi::c_void;

/// The device whose green contexts these are.
const FIRST: c_int = 0;
/// `CU_DEV_RESOURCE_TYPE_SM`
const SMS: c_uint = 1;
/// SMs come in groups of so many.
const GROUP: c_uint = 2;
/// `CU_GREEN_CTX_DEFAULT_STREAM`, which has to be set.
const DEFAULT_STREAM: c_uint = 1;

/// So many SMs.
fn resource(sms: u32) -> CUdevResource {
    CUdevResource { kind: SMS, padding: [0; 92], sms, least: GROUP, aligned: GROUP, rest: [0; 36] }
}

/// Tells about SMs.
fn tell(
    name: &str,
    place: *mut CUdevResource,
    kind: c_uint,
    sms: impl FnOnce(&mut Gpu) -> CallResult<u32>,
) -> Status {
    with_gpu(name, |gpu| {
        not_null(place)?;
        if kind != SMS {
            return Err(Status::InvalidValue);
        }
        let sms = sms(gpu)?;
        // SAFETY: not null; the exported functions' callers vouch for the rest.
        unsafe { write(place, resource(sms)) }
    })
}

/// The device's SMs.
///
/// # Safety
/// `place` is null or points to a place for a resource.
pub unsafe extern "C" fn cuDeviceGetDevResource(
    device: c_int,
    place: *mut CUdevResource,
    kind: c_uint,
) -> Status {
    tell("cuDeviceGetDevResource", place, kind, |gpu| {
        check_device(device)?;
        Ok(gpu.config.sm_count)
    })
}

/// A context's SMs: all of them.
///
/// # Safety
/// As [`cuDeviceGetDevResource`].
pub unsafe extern "C" fn cuCtxGetDevResource(
    context: CUcontext,
    place: *mut CUdevResource,
    kind: c_uint,
) -> Status {
    tell("cuCtxGetDevResource", place, kind, |gpu| {
        gpu.context(context)?;
        Ok(gpu.config.sm_count)
    })
}

/// A green context's SMs.
///
/// # Safety
/// As [`cuDeviceGetDevResource`].
pub unsafe extern "C" fn cuGreenCtxGetDevResource(
    green: Handle,
    place: *mut CUdevResource,
    kind: c_uint,
) -> Status {
    tell("cuGreenCtxGetDevResource", place, kind, |gpu| gpu.owners.green.contexts.get(green).copied())
}

/// Splits SMs into groups of at least so many, and a rest; without a place for them tells how many groups there can be.
///
/// # Safety
/// `places` is null or has room for `*count` resources; `count` is null or points to a number; `from` is null or points to a
/// resource; `rest` is null or points to a place for one.
pub unsafe extern "C" fn cuDevSmResourceSplitByCount(
    places: *mut CUdevResource,
    count: *mut c_uint,
    from: *const CUdevResource,
    rest: *mut CUdevResource,
    _flags: c_uint,
    least: c_uint,
) -> Status {
    with_gpu("cuDevSmResourceSplitByCount", |_| {
        not_null(count)?;
        not_null(from)?;
        // SAFETY: not null, and the caller's promise, for both.
        let (wanted, from) = unsafe { (count.read_unaligned(), from.read_unaligned()) };
        let size = least.max(GROUP).checked_next_multiple_of(GROUP).ok_or(Status::InvalidValue)?;
        if from.kind != SMS || size > from.sms {
            return Err(Status::InvalidValue);
        }
        let most = from.sms / size;
        let groups = if places.is_null() { most } else { most.min(wanted) };
        // SAFETY: the caller's promise, for all of them.
        unsafe {
            if !places.is_null() {
                for at in 0..groups as usize {
                    places.add(at).write_unaligned(resource(size));
                }
                if !rest.is_null() {
                    rest.write_unaligned(resource(from.sms - groups * size));
                }
            }
            write(count, groups)
        }
    })
}

/// Describes what a green context shall have.
///
/// # Safety
/// `place` is null or points to a place for a handle; `list` is null or holds `count` resources.
pub unsafe extern "C" fn cuDevResourceGenerateDesc(
    place: *mut Handle,
    list: *const CUdevResource,
    count: c_uint,
) -> Status {
    with_gpu("cuDevResourceGenerateDesc", |gpu| {
        not_null(place)?;
        not_null(list)?;
        let mut sms = 0_u32;
        for at in 0..count as usize {
            // SAFETY: the caller's promise.
            let resource = unsafe { list.add(at).read_unaligned() };
            if resource.kind != SMS {
                return Err(Status::InvalidValue);
            }
            sms = sms.saturating_add(resource.sms);
        }
        if sms == 0 || sms > gpu.config.sm_count {
            return Err(Status::InvalidValue);
        }
        // SAFETY: the caller's promise.
        unsafe { write(place, gpu.owners.green.descriptions.insert(sms)) }
    })
}

/// Makes a green context, which keeps the primary one alive.
///
/// # Safety
/// `place` is null or points to a place for a handle.
pub unsafe extern "C" fn cuGreenCtxCreate(
    place: *mut Handle,
    description: Handle,
    device: c_int,
    flags: c_uint,
) -> Status {
    let name = "cuGreenCtxCreate";
    let mut sms = 0;
    let checked = with_gpu(name, |gpu| {
        not_null(place)?;
        check_device(device)?;
        if device != FIRST {
            return Err(gpu.trial.report.unsupported("green contexts of another device than the first"));
        }
        if flags != DEFAULT_STREAM {
            return Err(Status::InvalidValue);
        }
        sms = *gpu.owners.green.descriptions.get(description)?;
        Ok(())
    });
    if checked != Status::Success {
        return checked;
    }
    let mut primary = std::ptr::null_mut();
    // SAFETY: there is a place for the handle.
    match unsafe { cuDevicePrimaryCtxRetain(&raw mut primary, device) } {
        Status::Success => with_gpu(name, |gpu| {
            let green = gpu.owners.green.contexts.insert(sms);
            // SAFETY: the caller's promise.
            unsafe { write(place, green) }
        }),
        status => status,
    }
}

/// Destroys a green context.
pub extern "C" fn cuGreenCtxDestroy(green: Handle) -> Status {
    let status = with_gpu("cuGreenCtxDestroy", |gpu| {
        gpu.owners.green.contexts.remove(green)?;
        gpu.owners.green.streams.retain(|_, of| *of != green as usize);
        Ok(())
    });
    if status == Status::Success { cuDevicePrimaryCtxRelease_v2(FIRST) } else { status }
}

/// The context that stands for a green one: the primary.
///
/// # Safety
/// `place` is null or points to a place for a handle.
pub unsafe extern "C" fn cuCtxFromGreenCtx(place: *mut CUcontext, green: Handle) -> Status {
    with_gpu("cuCtxFromGreenCtx", |gpu| {
        gpu.owners.green.contexts.get(green)?;
        // SAFETY: the caller's promise.
        unsafe { write(place, gpu.primary(FIRST)?.handle) }
    })
}

/// Makes a stream of a green context, which must be one that does not block.
///
/// # Safety
/// `place` is null or points to a place for a handle.
pub unsafe extern "C" fn cuGreenCtxStreamCreate(
    place: *mut CUstream,
    green: Handle,
    flags: c_uint,
    priority: c_int,
) -> Status {
    let name = "cuGreenCtxStreamCreate";
    let mut primary = std::ptr::null_mut();
    let checked = with_gpu(name, |gpu| {
        not_null(place)?;
        gpu.owners.green.contexts.get(green)?;
        primary = gpu.primary(FIRST)?.handle;
        if flags == 1 { Ok(()) } else { Err(Status::InvalidValue) }
    });
    if checked != Status::Success {
        return checked;
    }
    current::push(primary);
    // SAFETY: the caller's promise.
    let made = unsafe { crate::api::stream::cuStreamCreateWithPriority(place, flags, priority) };
    current::pop();
    if made != Status::Success {
        return made;
    }
    with_gpu(name, |gpu| {
        // SAFETY: it was just written.
        let stream = unsafe { place.read_unaligned() };
        gpu.owners.green.streams.insert(stream as usize, green as usize);
        Ok(())
    })
}

/// The green context of a stream; null for a stream of none.
///
/// # Safety
/// `place` is null or points to a place for a handle.
pub unsafe extern "C" fn cuStreamGetGreenCtx(stream: CUstream, place: *mut Handle) -> Status {
    with_gpu("cuStreamGetGreenCtx", |gpu| {
        let of = gpu.owners.green.streams.get(&(stream as usize)).copied().unwrap_or(0);
        // SAFETY: the caller's promise.
        unsafe { write(place, std::ptr::without_provenance_mut(of)) }
    })
}

/// Number of a green context, which no other has.
///
/// # Safety
/// `place` is null or points to a place for it.
pub unsafe extern "C" fn cuGreenCtxGetId(green: Handle, place: *mut c_ulonglong) -> Status {
    with_gpu("cuGreenCtxGetId", |gpu| {
        gpu.owners.green.contexts.get(green)?;
        // SAFETY: the caller's promise.
        unsafe { write(place, green as c_ulonglong) }
    })
}

/// The context that a green one's work runs in.
fn primary_of(name: &str, green: Handle) -> Result<CUcontext, Status> {
    let mut primary = std::ptr::null_mut();
    match with_gpu(name, |gpu| {
        gpu.owners.green.contexts.get(green)?;
        primary = gpu.primary(FIRST)?.handle;
        Ok(())
    }) {
        Status::Success => Ok(primary),
        status => Err(status),
    }
}

/// Records an event behind a green context's work: behind all of the primary's.
pub extern "C" fn cuGreenCtxRecordEvent(green: Handle, event: CUevent) -> Status {
    match primary_of("cuGreenCtxRecordEvent", green) {
        Ok(primary) => cuCtxRecordEvent(primary, event),
        Err(status) => status,
    }
}

/// Lets later work of a green context wait for an event.
pub extern "C" fn cuGreenCtxWaitEvent(green: Handle, event: CUevent) -> Status {
    match primary_of("cuGreenCtxWaitEvent", green) {
        Ok(primary) => cuCtxWaitEvent(primary, event),
        Err(status) => status,
    }
}
