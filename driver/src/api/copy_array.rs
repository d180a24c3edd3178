//! Copies of consecutive bytes from and to arrays (CUDA Driver API, `cuMemcpyHtoA` and the like). Bytes are
//! counted row after row.

use std::ffi::c_void;

use bugaroo_cuda_abi::{CUarray, CUdeviceptr, CUstream};

use crate::api::submit::twin;
use crate::api::transfer::submit;
use bugaroo_device::error::Status;
use bugaroo_device::objects::transfer::{CopyPlace, Transfer};
use bugaroo_device::state::Gpu;

/// The default stream.
const DEFAULT: CUstream = std::ptr::null_mut();

/// Bytes of an array from an offset on, or a place.
enum Line {
    Array(CUarray, usize),
    Place(CopyPlace),
}

/// # Safety
/// Host places point to `bytes` bytes.
unsafe fn copy(name: &str, to: Line, from: Line, bytes: usize, stream: CUstream) -> Status {
    let described = |gpu: &Gpu| {
        let place = |line| match line {
            Line::Array(array, offset) => gpu.held.arrays.get(array)?.line(offset, bytes),
            Line::Place(place) => Ok(place),
        };
        Ok(vec![Transfer::line(place(to)?, place(from)?, bytes)])
    };
    // SAFETY: the caller's promise.
    unsafe { submit(name, stream, described) }
}

twin! { cuMemcpyHtoA_v2_ptds =
    /// Copies from the host to an array.
    ///
    /// # Safety
    /// `from` points to `bytes` bytes.
    pub unsafe extern "C" fn cuMemcpyHtoA_v2(
        to: CUarray,
        offset: usize,
        from: *const c_void,
        bytes: usize,
    ) -> Status {
        let from = Line::Place(CopyPlace::Host(from.cast_mut()));
        // SAFETY: the caller's promise.
        unsafe { copy("cuMemcpyHtoA_v2", Line::Array(to, offset), from, bytes, DEFAULT) }
    }
}

twin! { cuMemcpyHtoAAsync_v2_ptsz =
    /// Copies from the host to an array, in a stream.
    ///
    /// # Safety
    /// As [`cuMemcpyHtoA_v2`].
    pub unsafe extern "C" fn cuMemcpyHtoAAsync_v2(
        to: CUarray,
        offset: usize,
        from: *const c_void,
        bytes: usize,
        stream: CUstream,
    ) -> Status {
        let from = Line::Place(CopyPlace::Host(from.cast_mut()));
        // SAFETY: the caller's promise.
        unsafe { copy("cuMemcpyHtoAAsync_v2", Line::Array(to, offset), from, bytes, stream) }
    }
}

twin! { cuMemcpyAtoH_v2_ptds =
    /// Copies from an array to the host.
    ///
    /// # Safety
    /// `to` points to `bytes` bytes.
    pub unsafe extern "C" fn cuMemcpyAtoH_v2(
        to: *mut c_void,
        from: CUarray,
        offset: usize,
        bytes: usize,
    ) -> Status {
        let to = Line::Place(CopyPlace::Host(to));
        // SAFETY: the caller's promise.
        unsafe { copy("cuMemcpyAtoH_v2", to, Line::Array(from, offset), bytes, DEFAULT) }
    }
}

twin! { cuMemcpyAtoHAsync_v2_ptsz =
    /// Copies from an array to the host, in a stream.
    ///
    /// # Safety
    /// As [`cuMemcpyAtoH_v2`].
    pub unsafe extern "C" fn cuMemcpyAtoHAsync_v2(
        to: *mut c_void,
        from: CUarray,
        offset: usize,
        bytes: usize,
        stream: CUstream,
    ) -> Status {
        let to = Line::Place(CopyPlace::Host(to));
        // SAFETY: the caller's promise.
        unsafe { copy("cuMemcpyAtoHAsync_v2", to, Line::Array(from, offset), bytes, stream) }
    }
}

twin! { cuMemcpyDtoA_v2_ptds =
    /// Copies from device memory to an array.
    pub extern "C" fn cuMemcpyDtoA_v2(to: CUarray, offset: usize, from: CUdeviceptr, bytes: usize) -> Status {
        let from = Line::Place(CopyPlace::Device(from));
        // SAFETY: no host places.
        unsafe { copy("cuMemcpyDtoA_v2", Line::Array(to, offset), from, bytes, DEFAULT) }
    }
}

twin! { cuMemcpyAtoD_v2_ptds =
    /// Copies from an array to device memory.
    pub extern "C" fn cuMemcpyAtoD_v2(to: CUdeviceptr, from: CUarray, offset: usize, bytes: usize) -> Status {
        let to = Line::Place(CopyPlace::Device(to));
        // SAFETY: no host places.
        unsafe { copy("cuMemcpyAtoD_v2", to, Line::Array(from, offset), bytes, DEFAULT) }
    }
}

twin! { cuMemcpyAtoA_v2_ptds =
    /// Copies from an array to an array.
    pub extern "C" fn cuMemcpyAtoA_v2(
        to: CUarray,
        to_offset: usize,
        from: CUarray,
        from_offset: usize,
        bytes: usize,
    ) -> Status {
        let (to, from) = (Line::Array(to, to_offset), Line::Array(from, from_offset));
        // SAFETY: no host places.
        unsafe { copy("cuMemcpyAtoA_v2", to, from, bytes, DEFAULT) }
    }
}
