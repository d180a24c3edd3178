//! The API's types (`driver_types.h`), where they are not the driver's ([`bugaroo_cuda_abi`]). Enumerations are plain integers.

use std::ffi::{c_int, c_uint, c_void};

use bugaroo_cuda_abi::{CUlaunchConfig, CUstream};

use crate::error::{RuntimeError, RuntimeResult};

pub use bugaroo_cuda_abi::{CUcontext, CUdevice, CUdeviceptr};

/// A handle of any other kind.
pub type Handle = *mut c_void;

/// Writes an answer.
///
/// # Errors
/// `cudaErrorInvalidValue` when there is no place for it.
///
/// # Safety
/// `place` is null or points to a place for a value.
pub unsafe fn write<T>(place: *mut T, value: T) -> RuntimeResult {
    if place.is_null() {
        return Err(RuntimeError::INVALID_VALUE);
    }
    // SAFETY: not null, and the caller's promise.
    unsafe { place.write(value) };
    Ok(())
}

/// Refuses a null pointer.
///
/// # Errors
/// `cudaErrorInvalidValue`
pub fn not_null<T>(pointer: *const T) -> RuntimeResult {
    if pointer.is_null() { Err(RuntimeError::INVALID_VALUE) } else { Ok(()) }
}

/// `cudaPitchedPtr`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct PitchedPtr {
    /// The first byte.
    pub ptr: *mut c_void,
    /// Bytes from row to row.
    pub pitch: usize,
    /// Elements in a row.
    pub xsize: usize,
    /// Rows in a slice.
    pub ysize: usize,
}

/// `cudaExtent`
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "its names say all")]
pub struct Extent {
    pub width: usize,
    pub height: usize,
    pub depth: usize,
}

/// `cudaPos`
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "its names say all")]
pub struct Pos {
    pub x: usize,
    pub y: usize,
    pub z: usize,
}

/// `cudaMemcpy3DParms`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "cudaMemcpy3DParms's own names")]
pub struct Memcpy3D {
    pub src_array: Handle,
    pub src_pos: Pos,
    pub src_ptr: PitchedPtr,
    pub dst_array: Handle,
    pub dst_pos: Pos,
    pub dst_ptr: PitchedPtr,
    pub extent: Extent,
    pub kind: c_int,
}

/// `cudaMemcpy3DPeerParms`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "cudaMemcpy3DPeerParms's own names")]
pub struct Memcpy3DPeer {
    pub src_array: Handle,
    pub src_pos: Pos,
    pub src_ptr: PitchedPtr,
    pub src_device: c_int,
    pub dst_array: Handle,
    pub dst_pos: Pos,
    pub dst_ptr: PitchedPtr,
    pub dst_device: c_int,
    pub extent: Extent,
}

/// `cudaPointerAttributes`, as far as CUDA 12 and 13 agree; 13 has room behind it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "cudaPointerAttributes's own names")]
pub struct PointerAttributes {
    pub kind: c_int,
    pub device: c_int,
    pub device_pointer: *mut c_void,
    pub host_pointer: *mut c_void,
}

/// `cudaFuncAttributes`
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs, reason = "cudaFuncAttributes's own names")]
pub struct FuncAttributes {
    pub shared_size_bytes: usize,
    pub const_size_bytes: usize,
    pub local_size_bytes: usize,
    /// From `maxThreadsPerBlock` on, in its order.
    pub others: [c_int; 13],
    pub reserved: [c_int; 16],
}

/// `cudaChannelFormatDesc`
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "cudaChannelFormatDesc's own names")]
pub struct ChannelFormat {
    pub bits: [c_int; 4],
    pub kind: c_int,
}

/// `dim3`
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "its names say all")]
pub struct Dim3 {
    pub x: c_uint,
    pub y: c_uint,
    pub z: c_uint,
}

impl From<Dim3> for [c_uint; 3] {
    fn from(Dim3 { x, y, z }: Dim3) -> [c_uint; 3] {
        [x, y, z]
    }
}

/// `cudaLaunchConfig_t`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "cudaLaunchConfig_t's own names")]
pub struct LaunchConfig {
    pub grid: Dim3,
    pub block: Dim3,
    pub dynamic_shared: usize,
    pub stream: CUstream,
    pub attributes: *mut c_void,
    pub attribute_count: c_uint,
}

impl LaunchConfig {
    /// What the driver calls the same.
    pub fn for_driver(&self) -> CUlaunchConfig {
        CUlaunchConfig {
            grid: self.grid.into(),
            block: self.block.into(),
            // More than 4 GiB of shared memory is refused as much as 4 GiB are.
            shared_mem_bytes: c_uint::try_from(self.dynamic_shared).unwrap_or(c_uint::MAX),
            stream: self.stream,
            // Attributes are laid out alike.
            attributes: self.attributes.cast(),
            attribute_count: self.attribute_count,
        }
    }
}
