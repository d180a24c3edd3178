//! Access of devices to each other's memory (CUDA Driver API, "Peer Context Memory Access"). Here, too: what else a context
//! could be limited to.

use std::ffi::{c_char, c_int, c_uint};

use bugaroo_cuda_abi::{CUcontext, CUdevice};

use crate::api::entry::{with_context, with_gpu};
use bugaroo_device::error::{CallResult, Status};
use bugaroo_device::objects::primary::check_device;
use bugaroo_device::places::{not_null, write};

/// Lets the current context use the memory of a context of another device.
pub extern "C" fn cuCtxEnablePeerAccess(peer: CUcontext, flags: c_uint) -> Status {
    with_context("cuCtxEnablePeerAccess", |gpu, context| {
        if flags != 0 {
            return Err(Status::InvalidValue);
        }
        gpu.enable_peer(context, peer)
    })
}

/// Takes access to a peer's memory back.
pub extern "C" fn cuCtxDisablePeerAccess(peer: CUcontext) -> Status {
    with_context("cuCtxDisablePeerAccess", |gpu, context| gpu.disable_peer(context, peer))
}

/// What the way between two devices is like: all that there is to ask for can be done, and no way is better than another.
///
/// # Safety
/// `place` is null or points to a place for a number.
pub unsafe extern "C" fn cuDeviceGetP2PAttribute(
    place: *mut c_int,
    attribute: c_uint,
    from: CUdevice,
    to: CUdevice,
) -> Status {
    with_gpu("cuDeviceGetP2PAttribute", |_| {
        not_null(place)?;
        // Rank; access, native atomics, arrays; whether it is some native atomics only.
        let value = match attribute {
            1 | 5 => 0,
            2..=4 => 1,
            _ => return Err(Status::InvalidValue),
        };
        check_pair(from, to)?;
        // SAFETY: the caller's promise.
        unsafe { write(place, value) }
    })
}

/// Refuses what are no two devices.
fn check_pair(from: CUdevice, to: CUdevice) -> CallResult {
    check_device(from)?;
    check_device(to)?;
    // The same device twice is none that there is a way to.
    if from == to { Err(Status::InvalidDevice) } else { Ok(()) }
}

/// A number of the device that other operating systems give it.
///
/// # Safety
/// Nothing is written.
pub unsafe extern "C" fn cuDeviceGetLuid(_luid: *mut c_char, _mask: *mut c_uint, device: CUdevice) -> Status {
    with_gpu("cuDeviceGetLuid", |_| {
        check_device(device)?;
        Err(Status::NotSupported)
    })
}

/// How many SMs the current context may use: all.
///
/// # Safety
/// `place` is null or points to a place for a `CUexecAffinityParam`.
pub unsafe extern "C" fn cuCtxGetExecAffinity(place: *mut [c_uint; 2], kind: c_uint) -> Status {
    with_context("cuCtxGetExecAffinity", |gpu, _| {
        if kind != 0 {
            return Err(Status::UnsupportedExecAffinity);
        }
        // SAFETY: the caller's promise.
        unsafe { write(place, [kind, gpu.config.sm_count]) }
    })
}

/// `SIGNED`, `UNSIGNED`, `REDUCTION`, `SCALAR_32`, `SCALAR_64`, `SCALAR_128`, `VECTOR_32x4` of `CUatomicOperationCapability`
const CAPABILITIES: [c_uint; 7] = [1, 2, 4, 8, 16, 32, 64];

/// What the virtual GPU can do to memory in one piece, by `CUatomicOperation`: as PTX has it for its compute capability.
fn atomic_capability(operation: c_uint) -> Option<c_uint> {
    let [signed, unsigned, reduction, word, double, quad, vector] = CAPABILITIES;
    Some(match operation {
        0..=2 => signed | unsigned | reduction | word | double,
        3 | 4 => unsigned | reduction | word,
        5..=7 => signed | unsigned | reduction | word | double,
        8 | 9 => signed | unsigned | word | double | quad,
        10 => reduction | word | double | vector,
        11 | 12 => 0,
        _ => return None,
    })
}

/// Writes what can be done to memory in one piece, operation by operation.
///
/// # Safety
/// `places` and `operations` are null or have room for `count` numbers.
unsafe fn tell_atomics(places: *mut c_uint, operations: *const c_uint, count: c_uint) -> CallResult {
    not_null(places)?;
    not_null(operations)?;
    if count == 0 {
        return Err(Status::InvalidValue);
    }
    for at in 0..count as usize {
        // SAFETY: the caller's promise, for both.
        unsafe {
            let operation = operations.add(at).read_unaligned();
            write(places.add(at), atomic_capability(operation).ok_or(Status::InvalidValue)?)?;
        }
    }
    Ok(())
}

/// Which atomic operations the device can do to memory of the host: to memory that both share, all that it knows.
///
/// # Safety
/// `places` and `operations` are null or have room for `count` numbers.
pub unsafe extern "C" fn cuDeviceGetHostAtomicCapabilities(
    places: *mut c_uint,
    operations: *const c_uint,
    count: c_uint,
    device: CUdevice,
) -> Status {
    with_gpu("cuDeviceGetHostAtomicCapabilities", |_| {
        check_device(device)?;
        // SAFETY: the caller's promise.
        unsafe { tell_atomics(places, operations, count) }
    })
}

/// Which atomic operations a device can do to another's memory: all that it knows.
///
/// # Safety
/// `places` and `operations` are null or have room for `count` numbers.
pub unsafe extern "C" fn cuDeviceGetP2PAtomicCapabilities(
    places: *mut c_uint,
    operations: *const c_uint,
    count: c_uint,
    from: CUdevice,
    to: CUdevice,
) -> Status {
    with_gpu("cuDeviceGetP2PAtomicCapabilities", |_| {
        check_pair(from, to)?;
        // SAFETY: the caller's promise.
        unsafe { tell_atomics(places, operations, count) }
    })
}
