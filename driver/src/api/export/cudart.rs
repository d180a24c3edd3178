//! `CUDART_INTERFACE`: made for the runtime.
//!
//! Runtimes from before CUDA 12 have their modules loaded here (slots 1, 6 and 8); later ones use `cuLibraryLoadData`.

use bugaroo_cuda_abi::{CUcontext, CUdevice};

use crate::api::entry::with_gpu;
use crate::api::export::table::{Word, words};
use bugaroo_device::error::Status;
use bugaroo_device::places::write;

/// The table.
pub static TABLE: [Word; 13] = words! { 0: (size 13) 1 primary_context 3 4 5 6 7 8 9 10 11 12 };

/// Slot 2: the handle of a device's primary context. Nothing is retained by that: the runtime makes the context current
/// and retains it afterwards, at the program's first call that needs one.
///
/// # Safety
/// `place` is null or points to a place for a handle.
unsafe extern "C" fn primary_context(place: *mut CUcontext, device: CUdevice) -> Status {
    with_gpu("CUDART_INTERFACE", |gpu| {
        let handle = gpu.primary(device)?.handle;
        // SAFETY: the caller's promise.
        unsafe { write(place, handle) }
    })
}
