//! The API's types (`driver_types.h`), and the driver's where they differ (`cuda.h`).
//!
//! Enumerations are plain integers. Where both APIs lay a structure out alike it stands here once.

use std::ffi::{c_int, c_uint, c_void};

use crate::error::{Error, Outcome};

pub use crate::driver::{CUcontext, CUdevice, CUdeviceptr};

/// A stream; the runtime's handles are the driver's.
pub type CUstream = *mut c_void;
/// An event.
pub type CUevent = *mut c_void;
/// A kernel of a loaded module.
pub type CUfunction = *mut c_void;
/// A handle of any other kind.
pub type Handle = *mut c_void;
/// A function of the host's that a stream calls.
pub type HostFunction = Option<unsafe extern "C" fn(*mut c_void)>;
/// A function of the host's that a stream calls, with its error so far.
pub type StreamCallback = Option<unsafe extern "C" fn(CUstream, c_int, *mut c_void)>;

/// Writes an answer.
///
/// # Errors
/// `cudaErrorInvalidValue` when there is no place for it.
///
/// # Safety
/// `place` is null or points to a place for a value.
pub unsafe fn write<T>(place: *mut T, value: T) -> Outcome {
    if place.is_null() {
        return Err(Error::INVALID_VALUE);
    }
    // SAFETY: not null, and the caller's promise.
    unsafe { place.write(value) };
    Ok(())
}

/// Refuses a null pointer.
///
/// # Errors
/// `cudaErrorInvalidValue`
pub fn not_null<T>(pointer: *const T) -> Outcome {
    if pointer.is_null() { Err(Error::INVALID_VALUE) } else { Ok(()) }
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

/// One side of the driver's `CUDA_MEMCPY3D`; the peer copy has a context where `reserved` stands.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "CUDA_MEMCPY3D's own names")]
pub struct CopySide {
    pub x_in_bytes: usize,
    pub y: usize,
    pub z: usize,
    pub lod: usize,
    pub memory_type: c_uint,
    pub host: *mut c_void,
    pub device: CUdeviceptr,
    pub array: Handle,
    pub context: CUcontext,
    pub pitch: usize,
    pub height: usize,
}

/// The driver's `CUDA_MEMCPY3D` and `CUDA_MEMCPY3D_PEER`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "CUDA_MEMCPY3D's own names")]
pub struct DriverCopy3D {
    pub src: CopySide,
    pub dst: CopySide,
    pub width_in_bytes: usize,
    pub height: usize,
    pub depth: usize,
}

/// The driver's `CUDA_MEMCPY2D`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "CUDA_MEMCPY2D's own names")]
pub struct DriverCopy2D {
    pub src_x_in_bytes: usize,
    pub src_y: usize,
    pub src_memory_type: c_uint,
    pub src_host: *const c_void,
    pub src_device: CUdeviceptr,
    pub src_array: Handle,
    pub src_pitch: usize,
    pub dst_x_in_bytes: usize,
    pub dst_y: usize,
    pub dst_memory_type: c_uint,
    pub dst_host: *mut c_void,
    pub dst_device: CUdeviceptr,
    pub dst_array: Handle,
    pub dst_pitch: usize,
    pub width_in_bytes: usize,
    pub height: usize,
}

/// `CU_MEMORYTYPE_DEVICE`
pub const MEMORY_DEVICE: c_uint = 2;
/// `CU_MEMORYTYPE_ARRAY`
pub const MEMORY_ARRAY: c_uint = 3;
/// `CU_MEMORYTYPE_UNIFIED`
pub const MEMORY_UNIFIED: c_uint = 4;

/// `cudaMemLocation`, which is `CUmemLocation`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemLocation {
    /// `cudaMemLocationType`
    pub kind: c_int,
    /// The device's or the NUMA node's number.
    pub id: c_int,
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

/// The driver's `CUDA_ARRAY3D_DESCRIPTOR`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs, reason = "CUDA_ARRAY3D_DESCRIPTOR's own names")]
pub struct ArrayDescriptor {
    pub width: usize,
    pub height: usize,
    pub depth: usize,
    pub format: c_uint,
    pub channels: c_uint,
    pub flags: c_uint,
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

/// The driver's `CUlaunchConfig`; its attributes are laid out as the runtime's.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "CUlaunchConfig's own names")]
pub struct DriverLaunchConfig {
    pub grid: Dim3,
    pub block: Dim3,
    pub dynamic_shared: c_uint,
    pub stream: CUstream,
    pub attributes: *mut c_void,
    pub attribute_count: c_uint,
}

impl LaunchConfig {
    /// What the driver calls the same.
    pub fn for_driver(&self) -> DriverLaunchConfig {
        DriverLaunchConfig {
            grid: self.grid,
            block: self.block,
            // More than 4 GiB of shared memory is refused as much as 4 GiB are.
            dynamic_shared: c_uint::try_from(self.dynamic_shared).unwrap_or(c_uint::MAX),
            stream: self.stream,
            attributes: self.attributes,
            attribute_count: self.attribute_count,
        }
    }
}
