//! Sharing memory and events with other processes of the program (CUDA Driver API, "Memory Management", `cuIpc…`).
//!
//! Memory is exported as a whole allocation, and opened at an address of the opening process's own. Work with an event that is shared goes on at the
//! call that records it, as far as it can, as others may wait for it without a call of this process.

use std::ffi::c_uint;

use bugaroo_cuda_abi::{CUdeviceptr, CUevent, CUipcHandle};
use bugaroo_device::error::Status;
use bugaroo_device::objects::event::EventObject;
use bugaroo_device::objects::interprocess::{SharedEvent, SharedHandle};
use bugaroo_device::places::{not_null, write};

use crate::api::entry::{with_context, with_gpu};
use crate::api::event::{DISABLE_TIMING, INTERPROCESS};
use crate::api::synchronising::taking_away;

/// `CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS`, which is all that can be asked for; nothing has to be enabled here.
const LAZY_ENABLE_PEER_ACCESS: c_uint = 1;

/// Names the allocation that an address lies in for other processes.
///
/// # Safety
/// `place` is null or points to a place for a handle.
pub unsafe extern "C" fn cuIpcGetMemHandle(place: *mut CUipcHandle, address: CUdeviceptr) -> Status {
    with_context("cuIpcGetMemHandle", |gpu, _| {
        not_null(place)?;
        let handle = gpu.export_memory(address)?;
        // SAFETY: the caller's promise.
        unsafe { write(place, handle.to_abi()) }
    })
}

/// Opens memory of another process.
///
/// # Safety
/// `place` is null or points to a place for an address.
pub unsafe extern "C" fn cuIpcOpenMemHandle_v2(
    place: *mut CUdeviceptr,
    handle: CUipcHandle,
    flags: c_uint,
) -> Status {
    with_context("cuIpcOpenMemHandle_v2", |gpu, context| {
        not_null(place)?;
        if flags & !LAZY_ENABLE_PEER_ACCESS != 0 {
            return Err(Status::InvalidValue);
        }
        let address = gpu.open_memory(context, SharedHandle::from_abi(&handle)?)?;
        // SAFETY: the caller's promise.
        unsafe { write(place, address) }
    })
}

/// Closes memory of another process, once the device's work is done.
pub extern "C" fn cuIpcCloseMemHandle(address: CUdeviceptr) -> Status {
    let owner = |gpu: &bugaroo_device::state::Gpu| {
        gpu.held.allocations.get(&address).map(|allocation| allocation.context)
    };
    taking_away("cuIpcCloseMemHandle", owner, |gpu| gpu.close_memory(address))
}

/// Names an event for other processes.
///
/// # Safety
/// `place` is null or points to a place for a handle.
pub unsafe extern "C" fn cuIpcGetEventHandle(place: *mut CUipcHandle, event: CUevent) -> Status {
    with_gpu("cuIpcGetEventHandle", |gpu| {
        not_null(place)?;
        let event = gpu.ordered.events.get(event)?;
        // Only one that was made for it.
        let shared = event.shared.as_ref().ok_or(Status::InvalidHandle)?;
        let handle = shared.handle()?;
        // SAFETY: the caller's promise.
        unsafe { write(place, handle.to_abi()) }
    })
}

/// Opens an event of another process.
///
/// # Safety
/// `place` is null or points to a place for a handle.
pub unsafe extern "C" fn cuIpcOpenEventHandle(place: *mut CUevent, handle: CUipcHandle) -> Status {
    with_context("cuIpcOpenEventHandle", |gpu, context| {
        not_null(place)?;
        let handle = SharedHandle::from_abi(&handle)?;
        if handle.process == std::process::id() {
            return Err(Status::InvalidContext);
        }
        gpu.begin_sharing()?;
        let shared = SharedEvent::open(&handle)?;
        let flags = DISABLE_TIMING | INTERPROCESS;
        let event = gpu.ordered.events.insert(EventObject::new(context, flags, Some(shared)));
        // SAFETY: the caller's promise.
        unsafe { write(place, event) }
    })
}
