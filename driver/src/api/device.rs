//! The devices (CUDA Driver API, "Device Management"): virtual GPUs, all alike.

use std::ffi::{c_char, c_int, c_uint};

use bugaroo_cuda_abi::{CUdevice, CUdevprop, CUuuid};

use crate::api::entry::with_gpu;
use bugaroo_device::attributes::{MAX_PITCH, NAME, attribute};
use bugaroo_device::devices;
use bugaroo_device::error::{CallResult, Status};
use bugaroo_device::objects::primary::check_device;
use bugaroo_device::places::{not_null, text, write};

/// A device's identity is its number.
pub(crate) fn uuid(device: CUdevice) -> CUuuid {
    let mut uuid = CUuuid { bytes: *b"bugaroo-virtual\0" };
    uuid.bytes[15] = device as u8;
    uuid
}

/// Where a device claims to sit.
fn pci_bus_id(device: CUdevice) -> String {
    format!("0000:{:02x}:00.0", device + 1)
}

/// The device of an ordinal.
///
/// # Safety
/// `place` is null or points to a place for it.
pub unsafe extern "C" fn cuDeviceGet(place: *mut CUdevice, ordinal: c_int) -> Status {
    with_gpu("cuDeviceGet", |_| {
        not_null(place)?;
        check_device(ordinal)?;
        // SAFETY: the caller's promise.
        unsafe { write(place, ordinal) }
    })
}

/// How many devices there are.
///
/// # Safety
/// `place` is null or points to a place for the number.
pub unsafe extern "C" fn cuDeviceGetCount(place: *mut c_int) -> Status {
    // SAFETY: the caller's promise.
    with_gpu("cuDeviceGetCount", |_| unsafe { write(place, devices::count()) })
}

/// Copies a text with its NUL into a buffer, cut where that is too short.
///
/// # Safety
/// `place` is null or points to `length` bytes.
unsafe fn write_text(place: *mut c_char, length: c_int, text: &str) -> CallResult {
    not_null(place)?;
    let length = usize::try_from(length).map_err(|_| Status::InvalidValue)?;
    let taken = text.len().min(length.checked_sub(1).ok_or(Status::InvalidValue)?);
    // SAFETY: `taken + 1` is at most `length`, which the caller vouches for.
    unsafe {
        place.cast::<u8>().copy_from_nonoverlapping(text.as_ptr(), taken);
        place.add(taken).write(0);
    }
    Ok(())
}

/// The device's name.
///
/// # Safety
/// `place` is null or points to `length` bytes.
pub unsafe extern "C" fn cuDeviceGetName(place: *mut c_char, length: c_int, device: CUdevice) -> Status {
    with_gpu("cuDeviceGetName", |_| {
        check_device(device)?;
        // SAFETY: the caller's promise.
        unsafe { write_text(place, length, NAME) }
    })
}

/// The device's UUID.
///
/// # Safety
/// `place` is null or points to a place for it.
pub unsafe extern "C" fn cuDeviceGetUuid_v2(place: *mut CUuuid, device: CUdevice) -> Status {
    with_gpu("cuDeviceGetUuid_v2", |_| {
        check_device(device)?;
        // SAFETY: the caller's promise.
        unsafe { write(place, uuid(device)) }
    })
}

/// The device's UUID.
///
/// # Safety
/// As [`cuDeviceGetUuid_v2`].
pub unsafe extern "C" fn cuDeviceGetUuid(place: *mut CUuuid, device: CUdevice) -> Status {
    // SAFETY: the same contract.
    unsafe { cuDeviceGetUuid_v2(place, device) }
}

/// The device's memory in bytes.
///
/// # Safety
/// `place` is null or points to a place for the number.
pub unsafe extern "C" fn cuDeviceTotalMem_v2(place: *mut usize, device: CUdevice) -> Status {
    with_gpu("cuDeviceTotalMem_v2", |gpu| {
        check_device(device)?;
        // SAFETY: the caller's promise.
        unsafe { write(place, gpu.memory.capacity() as usize) }
    })
}

/// An attribute of the device.
///
/// # Safety
/// `place` is null or points to a place for the number.
pub unsafe extern "C" fn cuDeviceGetAttribute(place: *mut c_int, number: c_uint, device: CUdevice) -> Status {
    with_gpu("cuDeviceGetAttribute", |gpu| {
        not_null(place)?;
        check_device(device)?;
        // SAFETY: the caller's promise.
        unsafe { write(place, attribute(number, &gpu.config)?) }
    })
}

/// The device's compute capability.
///
/// # Safety
/// Each is null, which is refused, or points to a place for a number.
pub unsafe extern "C" fn cuDeviceComputeCapability(
    major: *mut c_int,
    minor: *mut c_int,
    device: CUdevice,
) -> Status {
    with_gpu("cuDeviceComputeCapability", |gpu| {
        check_device(device)?;
        not_null(minor)?;
        // SAFETY: the caller's promise, for both.
        unsafe {
            write(major, attribute(75, &gpu.config)?)?;
            write(minor, attribute(76, &gpu.config)?)
        }
    })
}

/// The device's PCI address, as a text.
///
/// # Safety
/// `place` is null or points to `length` bytes.
pub unsafe extern "C" fn cuDeviceGetPCIBusId(place: *mut c_char, length: c_int, device: CUdevice) -> Status {
    with_gpu("cuDeviceGetPCIBusId", |_| {
        check_device(device)?;
        // SAFETY: the caller's promise.
        unsafe { write_text(place, length, &pci_bus_id(device)) }
    })
}

/// The device of a PCI address.
///
/// # Safety
/// `place` is null or points to a place for it; `address` is null or a C string.
pub unsafe extern "C" fn cuDeviceGetByPCIBusId(place: *mut CUdevice, address: *const c_char) -> Status {
    with_gpu("cuDeviceGetByPCIBusId", |_| {
        not_null(place)?;
        // SAFETY: the caller's promise.
        let address = unsafe { text(address) }?;
        // The domain and the function may be left out.
        let is_at = |device: &CUdevice| {
            let own = pci_bus_id(*device);
            address.contains(&own[5..10]) && own.contains(address)
        };
        let found = (0..devices::count()).find(is_at).ok_or(Status::InvalidDevice)?;
        // SAFETY: the caller's promise.
        unsafe { write(place, found) }
    })
}

/// The properties that the first versions of CUDA knew.
///
/// # Safety
/// `place` is null or points to a place for them.
pub unsafe extern "C" fn cuDeviceGetProperties(place: *mut CUdevprop, device: CUdevice) -> Status {
    with_gpu("cuDeviceGetProperties", |gpu| {
        check_device(device)?;
        let get = |number| attribute(number, &gpu.config);
        let properties = CUdevprop {
            max_threads_per_block: get(1)?,
            max_threads_dim: [get(2)?, get(3)?, get(4)?],
            max_grid_size: [get(5)?, get(6)?, get(7)?],
            shared_mem_per_block: get(8)?,
            total_constant_memory: get(9)?,
            simd_width: get(10)?,
            mem_pitch: c_int::try_from(MAX_PITCH).unwrap_or(c_int::MAX),
            regs_per_block: get(12)?,
            clock_rate: get(13)?,
            texture_align: get(14)?,
        };
        // SAFETY: the caller's promise.
        unsafe { write(place, properties) }
    })
}

/// Whether a device can access another's memory: each can.
///
/// # Safety
/// `place` is null or points to a place for the number.
pub unsafe extern "C" fn cuDeviceCanAccessPeer(
    place: *mut c_int,
    device: CUdevice,
    peer: CUdevice,
) -> Status {
    with_gpu("cuDeviceCanAccessPeer", |_| {
        check_device(device)?;
        check_device(peer)?;
        // SAFETY: the caller's promise.
        unsafe { write(place, c_int::from(device != peer)) }
    })
}

/// Whether execution affinity of some kind is supported: none is.
///
/// # Safety
/// `place` is null or points to a place for the number.
pub unsafe extern "C" fn cuDeviceGetExecAffinitySupport(
    place: *mut c_int,
    _kind: c_uint,
    device: CUdevice,
) -> Status {
    with_gpu("cuDeviceGetExecAffinitySupport", |_| {
        check_device(device)?;
        // SAFETY: the caller's promise.
        unsafe { write(place, 0) }
    })
}
