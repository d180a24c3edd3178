//! What is known of an address (`cudaPointerGetAttributes`), and whether a copy may take it.
//!
//! An address that the driver does not know is the host's pageable memory.

use std::ffi::{c_int, c_uint, c_void};
use std::ptr::null_mut;

use bugaroo_cuda_abi::{CU_MEMORYTYPE_DEVICE, CUdeviceptr};

use crate::api::api;
use crate::driver::driver;
use crate::error::{RuntimeError, RuntimeResult};
use crate::types::{PointerAttributes, write};

driver! {
    cuPointerGetAttribute(place: *mut c_void, attribute: c_uint, address: CUdeviceptr);
}

/// `CU_POINTER_ATTRIBUTE_MEMORY_TYPE` and others.
const MEMORY_TYPE: c_uint = 2;
const DEVICE_POINTER: c_uint = 3;
const HOST_POINTER: c_uint = 4;
const IS_MANAGED: c_uint = 8;
const DEVICE_ORDINAL: c_uint = 9;

/// `cudaInvalidDeviceId`
const NO_DEVICE: c_int = -2;

/// Whose memory lies at an address; the numbers are `cudaMemoryType`'s.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "cudaMemoryType's own names")]
pub enum MemoryKind {
    Unregistered = 0,
    Host = 1,
    Device = 2,
    Managed = 3,
}

/// One attribute, of a type that is filled with zeros at first.
fn attribute<T: Default>(which: c_uint, address: CUdeviceptr) -> RuntimeResult<T> {
    let mut value = T::default();
    // SAFETY: a place for the answer, of the attribute's type, as the callers here see to.
    unsafe { cuPointerGetAttribute((&raw mut value).cast(), which, address) }?;
    Ok(value)
}

/// Whose memory lies at an address.
///
/// # Errors
/// Those of the device that an earlier kernel broke.
pub fn kind(address: *const c_void) -> RuntimeResult<MemoryKind> {
    let address = address as CUdeviceptr;
    match attribute::<c_uint>(MEMORY_TYPE, address) {
        Err(RuntimeError::INVALID_VALUE) => Ok(MemoryKind::Unregistered),
        Err(error) => Err(error),
        // A Boolean of four bytes, or of one.
        Ok(_) if attribute::<c_uint>(IS_MANAGED, address)? & 0xff != 0 => Ok(MemoryKind::Managed),
        Ok(CU_MEMORYTYPE_DEVICE) => Ok(MemoryKind::Device),
        Ok(_) => Ok(MemoryKind::Host),
    }
}

/// Refuses pointers that do not fit a copy's direction (`cudaMemcpyKind`). The host's page-locked and
/// managed memory can be reached from both sides.
///
/// # Errors
/// `cudaErrorInvalidMemcpyDirection` for what is no direction, `cudaErrorInvalidValue` for a pointer
/// that is null or on the other side.
pub fn check_direction(
    to: Option<*const c_void>,
    from: Option<*const c_void>,
    direction: c_int,
) -> RuntimeResult {
    let (to_device, from_device) = match direction {
        0 => (false, false),
        1 => (true, false),
        2 => (false, true),
        3 => (true, true),
        4 => return [to, from].into_iter().flatten().try_for_each(crate::types::not_null),
        _ => return Err(RuntimeError::INVALID_MEMCPY_DIRECTION),
    };
    for (pointer, on_device) in [(to, to_device), (from, from_device)] {
        let Some(pointer) = pointer else { continue };
        crate::types::not_null(pointer)?;
        let wrong = if on_device { MemoryKind::Unregistered } else { MemoryKind::Device };
        if kind(pointer)? == wrong {
            return Err(RuntimeError::INVALID_VALUE);
        }
    }
    Ok(())
}

/// All that the runtime tells of an address.
fn attributes(pointer: *const c_void) -> RuntimeResult<PointerAttributes> {
    let kind = kind(pointer)?;
    let address = pointer as CUdeviceptr;
    if kind == MemoryKind::Unregistered {
        let host_pointer = pointer.cast_mut();
        return Ok(PointerAttributes {
            kind: 0,
            device: NO_DEVICE,
            device_pointer: null_mut(),
            host_pointer,
        });
    }
    // An address that one side cannot reach has no pointer there.
    let on_side =
        |which| attribute::<u64>(which, address).map_or(null_mut(), |address| address as *mut c_void);
    Ok(PointerAttributes {
        kind: kind as c_int,
        device: attribute::<c_int>(DEVICE_ORDINAL, address)?,
        device_pointer: on_side(DEVICE_POINTER),
        host_pointer: if kind == MemoryKind::Device { null_mut() } else { on_side(HOST_POINTER) },
    })
}

api! {
    with_device cudaPointerGetAttributes(place: *mut PointerAttributes, pointer: *const c_void) {
        write(place, attributes(pointer)?)
    }
}
