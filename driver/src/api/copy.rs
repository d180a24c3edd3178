//! Copies of consecutive bytes (CUDA Driver API, "Memory Management"). A device range that is not inside
//! one allocation is `CUDA_ERROR_INVALID_VALUE`.

use std::ffi::c_void;

use bugaroo_cuda_abi::{CUcontext, CUdeviceptr, CUstream};

use crate::api::submit::twin;
use crate::api::transfer::{submit, submit_one};
use bugaroo_device::error::Status;
use bugaroo_device::objects::transfer::{CopyPlace, Transfer};
use bugaroo_device::state::Gpu;

/// The default stream.
const DEFAULT: CUstream = std::ptr::null_mut();

/// One copy of consecutive bytes in a stream.
///
/// # Safety
/// Host places point to `bytes` bytes.
unsafe fn copy(name: &str, to: CopyPlace, from: CopyPlace, bytes: usize, stream: CUstream) -> Status {
    // SAFETY: the caller's promise.
    unsafe { submit_one(name, stream, Transfer::line(to, from, bytes)) }
}

/// [`copy`] between addresses that tell whose they are.
///
/// # Safety
/// Those that are the host's point to `bytes` bytes.
unsafe fn copy_unified(name: &str, to: u64, from: u64, bytes: usize, stream: CUstream) -> Status {
    let described = |gpu: &Gpu| Ok(vec![Transfer::line(gpu.place(to), gpu.place(from), bytes)]);
    // SAFETY: the caller's promise.
    unsafe { submit(name, stream, described) }
}

/// [`copy`] with both places on the device.
fn copy_on_device(name: &str, to: CUdeviceptr, from: CUdeviceptr, bytes: usize, stream: CUstream) -> Status {
    // SAFETY: no host places.
    unsafe { copy(name, CopyPlace::Device(to), CopyPlace::Device(from), bytes, stream) }
}

twin! { cuMemcpyHtoD_v2_ptds =
    /// Copies from the host to the device.
    ///
    /// # Safety
    /// `from` points to `bytes` bytes.
    pub unsafe extern "C" fn cuMemcpyHtoD_v2(to: CUdeviceptr, from: *const c_void, bytes: usize) -> Status {
        // SAFETY: the caller's promise.
        unsafe { copy("cuMemcpyHtoD_v2", CopyPlace::Device(to), CopyPlace::Host(from.cast_mut()), bytes, DEFAULT) }
    }
}

twin! { cuMemcpyHtoDAsync_v2_ptsz =
    /// Copies from the host to the device, in a stream.
    ///
    /// # Safety
    /// As [`cuMemcpyHtoD_v2`].
    pub unsafe extern "C" fn cuMemcpyHtoDAsync_v2(
        to: CUdeviceptr,
        from: *const c_void,
        bytes: usize,
        stream: CUstream,
    ) -> Status {
        // SAFETY: the caller's promise.
        unsafe { copy("cuMemcpyHtoDAsync_v2", CopyPlace::Device(to), CopyPlace::Host(from.cast_mut()), bytes, stream) }
    }
}

twin! { cuMemcpyDtoH_v2_ptds =
    /// Copies from the device to the host.
    ///
    /// # Safety
    /// `to` points to `bytes` bytes.
    pub unsafe extern "C" fn cuMemcpyDtoH_v2(to: *mut c_void, from: CUdeviceptr, bytes: usize) -> Status {
        // SAFETY: the caller's promise.
        unsafe { copy("cuMemcpyDtoH_v2", CopyPlace::Host(to), CopyPlace::Device(from), bytes, DEFAULT) }
    }
}

twin! { cuMemcpyDtoHAsync_v2_ptsz =
    /// Copies from the device to the host, in a stream.
    ///
    /// # Safety
    /// As [`cuMemcpyDtoH_v2`].
    pub unsafe extern "C" fn cuMemcpyDtoHAsync_v2(
        to: *mut c_void,
        from: CUdeviceptr,
        bytes: usize,
        stream: CUstream,
    ) -> Status {
        // SAFETY: the caller's promise.
        unsafe { copy("cuMemcpyDtoHAsync_v2", CopyPlace::Host(to), CopyPlace::Device(from), bytes, stream) }
    }
}

twin! { cuMemcpyDtoD_v2_ptds =
    /// Copies within the device.
    pub extern "C" fn cuMemcpyDtoD_v2(to: CUdeviceptr, from: CUdeviceptr, bytes: usize) -> Status {
        copy_on_device("cuMemcpyDtoD_v2", to, from, bytes, DEFAULT)
    }
}

twin! { cuMemcpyDtoDAsync_v2_ptsz =
    /// Copies within the device, in a stream.
    pub extern "C" fn cuMemcpyDtoDAsync_v2(
        to: CUdeviceptr,
        from: CUdeviceptr,
        bytes: usize,
        stream: CUstream,
    ) -> Status {
        copy_on_device("cuMemcpyDtoDAsync_v2", to, from, bytes, stream)
    }
}

twin! { cuMemcpy_ptds =
    /// Copies between any two addresses.
    ///
    /// # Safety
    /// Those that are the host's point to `bytes` bytes.
    pub unsafe extern "C" fn cuMemcpy(to: CUdeviceptr, from: CUdeviceptr, bytes: usize) -> Status {
        // SAFETY: the caller's promise.
        unsafe { copy_unified("cuMemcpy", to, from, bytes, DEFAULT) }
    }
}

twin! { cuMemcpyAsync_ptsz =
    /// Copies between any two addresses, in a stream.
    ///
    /// # Safety
    /// As [`cuMemcpy`].
    pub unsafe extern "C" fn cuMemcpyAsync(
        to: CUdeviceptr,
        from: CUdeviceptr,
        bytes: usize,
        stream: CUstream,
    ) -> Status {
        // SAFETY: the caller's promise.
        unsafe { copy_unified("cuMemcpyAsync", to, from, bytes, stream) }
    }
}

twin! { cuMemcpyPeer_ptds =
    /// Copies between two contexts, which share the device's memory here.
    pub extern "C" fn cuMemcpyPeer(
        to: CUdeviceptr,
        to_context: CUcontext,
        from: CUdeviceptr,
        from_context: CUcontext,
        bytes: usize,
    ) -> Status {
        cuMemcpyPeerAsync(to, to_context, from, from_context, bytes, DEFAULT)
    }
}

twin! { cuMemcpyPeerAsync_ptsz =
    /// Copies between two contexts, which share the device's memory here, in a stream.
    #[allow(clippy::not_unsafe_ptr_arg_deref, reason = "handles are numbers, which are never followed")]
    pub extern "C" fn cuMemcpyPeerAsync(
        to: CUdeviceptr,
        to_context: CUcontext,
        from: CUdeviceptr,
        from_context: CUcontext,
        bytes: usize,
        stream: CUstream,
    ) -> Status {
        // SAFETY: no host places.
        unsafe {
            submit("cuMemcpyPeerAsync", stream, |gpu| {
                gpu.context(to_context)?;
                gpu.context(from_context)?;
                Ok(vec![Transfer::line(CopyPlace::Device(to), CopyPlace::Device(from), bytes)])
            })
        }
    }
}
