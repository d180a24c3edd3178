//! `CONTEXT_LOCAL_STORAGE`: what others keep with a context, each by a key of its own, and are told of when the context
//! ends. The runtime keeps its own state of a context there.
//!
//! This table does not begin with its size.

use std::ffi::c_void;

use bugaroo_cuda_abi::CUcontext;

use crate::api::context::given_or_current;
use crate::api::entry::with_gpu;
use crate::api::export::table::{Word, words};
use bugaroo_device::error::Status;
use bugaroo_device::objects::context::{ContextEnded, ContextKept};
use bugaroo_device::places::write;

/// The table.
pub static TABLE: [Word; 4] = words! { 3: keep forget find 3 };

/// Slot 0: keeps a value with a context, the current one for null.
extern "C" fn keep(
    context: CUcontext,
    key: *mut c_void,
    value: *mut c_void,
    ended: Option<ContextEnded>,
) -> Status {
    with_gpu("CONTEXT_LOCAL_STORAGE", |gpu| {
        let context = given_or_current(gpu, context)?;
        let kept = &mut gpu.context_mut(context)?.kept;
        kept.retain(|kept| kept.key != key.addr());
        kept.push(ContextKept { key: key.expose_provenance(), value: value.expose_provenance(), ended });
        Ok(())
    })
}

/// Slot 1: keeps it no longer; nobody is told.
extern "C" fn forget(context: CUcontext, key: *mut c_void) -> Status {
    with_gpu("CONTEXT_LOCAL_STORAGE", |gpu| {
        let context = given_or_current(gpu, context)?;
        gpu.context_mut(context)?.kept.retain(|kept| kept.key != key.addr());
        Ok(())
    })
}

/// Slot 2: what is kept with a context, the current one for null. `CUDA_ERROR_INVALID_HANDLE` when there is nothing.
///
/// # Safety
/// `place` is null or points to a place for a pointer.
unsafe extern "C" fn find(place: *mut *mut c_void, context: CUcontext, key: *mut c_void) -> Status {
    with_gpu("CONTEXT_LOCAL_STORAGE", |gpu| {
        let context = given_or_current(gpu, context)?;
        let kept = gpu.context(context)?.kept.iter().find(|kept| kept.key == key.addr());
        let value = kept.ok_or(Status::InvalidHandle)?.value;
        // SAFETY: the caller's promise.
        unsafe { write(place, std::ptr::with_exposed_provenance_mut(value)) }
    })
}
