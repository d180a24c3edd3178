//! Tells of a context that ends those who keep something with it ([`bugaroo_device::objects::context::ContextKept`]).

use std::ffi::c_void;
use std::ptr::with_exposed_provenance_mut;

use bugaroo_cuda_abi::CUcontext;

use crate::api::entry::with_gpu;

/// Tells them, without the lock, as they may call the driver. The context is still there, and keeps nothing any more.
pub fn tell_end(name: &str, context: CUcontext) {
    let mut kept = Vec::new();
    // Where there is no such context, nobody keeps anything with it.
    let _ = with_gpu(name, |gpu| {
        kept = std::mem::take(&mut gpu.owners.contexts.get_mut(context)?.kept);
        Ok(())
    });
    for kept in kept {
        let Some(ended) = kept.ended else { continue };
        let (key, value) =
            (with_exposed_provenance_mut::<c_void>(kept.key), with_exposed_provenance_mut(kept.value));
        // SAFETY: whoever keeps something vouches for the function.
        unsafe { ended(context, key, value) };
    }
}
