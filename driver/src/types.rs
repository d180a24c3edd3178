//! The C types of the Driver API that cross the boundary, as far as this crate uses them.
//!
//! Handles are opaque numbers (see [`crate::handles`]), never pointers into this library's memory, so
//! that a stale or made-up one is an error instead of undefined behaviour. Layouts are those of
//! CUDA 13.0's `cuda.h` for 64-bit Linux.

#![allow(missing_docs, reason = "the names and meanings are cuda.h's own")]

use std::ffi::{c_int, c_uint, c_void};

pub type CUdevice = c_int;
pub type CUdeviceptr = u64;
pub type CUcontext = *mut c_void;
pub type CUmodule = *mut c_void;
pub type CUlibrary = *mut c_void;
pub type CUfunction = *mut c_void;
/// A kernel of a library: here the same handle as its function.
pub type CUkernel = *mut c_void;
pub type CUstream = *mut c_void;
pub type CUevent = *mut c_void;
pub type CUgraph = *mut c_void;
pub type CUgraphNode = *mut c_void;
pub type CUgraphExec = *mut c_void;
/// `CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR`: memory that may be shared by a file's descriptor. Some programs ask for it and
/// never share: what is refused is the sharing.
pub const FILE_DESCRIPTOR: c_uint = 1;
pub type CUmemoryPool = *mut c_void;
pub type CUlinkState = *mut c_void;
pub type CUarray = *mut c_void;
pub type CUmipmappedArray = *mut c_void;
/// A handle of a chunk of memory, a number by `cuda.h`.
pub type CUmemGenericAllocationHandle = u64;
/// A function of the program that it wants called in stream order.
pub type CUhostFn = Option<unsafe extern "C" fn(user_data: *mut c_void)>;
/// The older form of [`CUhostFn`], told the stream and its status.
pub type CUstreamCallback =
    Option<unsafe extern "C" fn(stream: CUstream, status: c_uint, user_data: *mut c_void)>;
/// A function of the program that tells a block size's dynamic shared memory.
pub type CUoccupancyB2DSize = Option<unsafe extern "C" fn(block_size: c_int) -> usize>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct CUuuid {
    pub bytes: [u8; 16],
}

/// A copy of a rectangle.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CUDA_MEMCPY2D {
    pub src_x_in_bytes: usize,
    pub src_y: usize,
    pub src_memory_type: c_uint,
    pub src_host: *const c_void,
    pub src_device: CUdeviceptr,
    pub src_array: *mut c_void,
    pub src_pitch: usize,
    pub dst_x_in_bytes: usize,
    pub dst_y: usize,
    pub dst_memory_type: c_uint,
    pub dst_host: *mut c_void,
    pub dst_device: CUdeviceptr,
    pub dst_array: *mut c_void,
    pub dst_pitch: usize,
    pub width_in_bytes: usize,
    pub height: usize,
}

/// One side of a [`CUDA_MEMCPY3D`]; that of a peer copy has its context where the other has nothing.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Operand3D {
    pub x_in_bytes: usize,
    pub y: usize,
    pub z: usize,
    pub lod: usize,
    pub memory_type: c_uint,
    pub host: *mut c_void,
    pub device: CUdeviceptr,
    pub array: CUarray,
    pub context: CUcontext,
    pub pitch: usize,
    pub height: usize,
}

/// A copy of a box, within a context or between two (`CUDA_MEMCPY3D_PEER`).
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CUDA_MEMCPY3D {
    pub src: Operand3D,
    pub dst: Operand3D,
    pub width_in_bytes: usize,
    pub height: usize,
    pub depth: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct CUDA_ARRAY_DESCRIPTOR {
    pub width: usize,
    pub height: usize,
    pub format: c_uint,
    pub channels: c_uint,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct CUDA_ARRAY3D_DESCRIPTOR {
    pub width: usize,
    pub height: usize,
    pub depth: usize,
    pub format: c_uint,
    pub channels: c_uint,
    pub flags: c_uint,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct CUmemLocation {
    pub kind: c_uint,
    pub id: c_int,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct CUmemAccessDesc {
    pub location: CUmemLocation,
    pub flags: c_uint,
}

#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CUmemPoolProps {
    pub allocation_type: c_uint,
    pub handle_types: c_uint,
    pub location: CUmemLocation,
    pub security: *mut c_void,
    pub max_size: usize,
    pub usage: u16,
    pub reserved: [u8; 54],
}

#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CUmemAllocationProp {
    pub allocation_type: c_uint,
    pub handle_types: c_uint,
    pub location: CUmemLocation,
    pub meta_data: *mut c_void,
    pub compression: u8,
    pub rdma: u8,
    pub usage: u16,
    pub reserved: [u8; 4],
}

#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CUmemcpyAttributes {
    pub source_access_order: c_uint,
    pub source: CUmemLocation,
    pub destination: CUmemLocation,
    pub flags: c_uint,
}

/// A pointer (kind 1) or an array (kind 2) as a side of a copy.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct CUmemcpy3DOperand {
    pub kind: c_uint,
    pub place: CUmemcpy3DPlace,
}

#[derive(Clone, Copy)]
#[repr(C)]
pub union CUmemcpy3DPlace {
    pub pointer: CUmemcpy3DPointer,
    pub array: CUmemcpy3DArray,
}

#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CUmemcpy3DPointer {
    pub address: CUdeviceptr,
    /// In elements; bytes, of a pointer.
    pub row_length: usize,
    pub layer_height: usize,
    pub location: CUmemLocation,
}

#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CUmemcpy3DArray {
    pub array: CUarray,
    /// In elements.
    pub offset: [usize; 3],
}

#[derive(Clone, Copy)]
#[repr(C)]
pub struct CUDA_MEMCPY3D_BATCH_OP {
    pub src: CUmemcpy3DOperand,
    pub dst: CUmemcpy3DOperand,
    /// In elements of an array if one takes part, else in bytes.
    pub extent: [usize; 3],
    pub source_access_order: c_uint,
    pub flags: c_uint,
}

/// `CU_MEM_LOCATION_TYPE_DEVICE`
pub const LOCATION_DEVICE: c_uint = 1;
/// `CU_MEM_LOCATION_TYPE_HOST`, the first of three that mean the host.
pub const LOCATION_HOST: c_uint = 2;

pub const CU_MEMORYTYPE_HOST: c_uint = 1;
pub const CU_MEMORYTYPE_DEVICE: c_uint = 2;
pub const CU_MEMORYTYPE_ARRAY: c_uint = 3;
pub const CU_MEMORYTYPE_UNIFIED: c_uint = 4;

#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CUlaunchConfig {
    pub grid: [c_uint; 3],
    pub block: [c_uint; 3],
    pub shared_mem_bytes: c_uint,
    pub stream: CUstream,
    pub attributes: *const CUlaunchAttribute,
    pub attribute_count: c_uint,
}

#[derive(Clone, Copy)]
#[repr(C)]
pub struct CUlaunchAttribute {
    pub id: c_uint,
    pub pad: [u8; 4],
    pub value: CUlaunchAttributeValue,
}

/// A union of 64 bytes, of which this crate reads the forms below.
#[derive(Clone, Copy)]
#[repr(C)]
pub union CUlaunchAttributeValue {
    pub bytes: [u8; 64],
    pub cooperative: c_int,
    pub cluster_dimension: [c_uint; 3],
    /// The union's alignment is a pointer's.
    pub pointer: *mut c_void,
}

/// `CU_STREAM_LEGACY`: the default stream.
pub const STREAM_LEGACY: usize = 1;
/// `CU_STREAM_PER_THREAD`: the calling thread's default stream.
pub const STREAM_PER_THREAD: usize = 2;

const _: () = {
    assert!(size_of::<CUDA_MEMCPY2D>() == 128);
    assert!(size_of::<CUDA_MEMCPY3D>() == 200);
    assert!(size_of::<CUDA_ARRAY3D_DESCRIPTOR>() == 40);
    assert!(size_of::<CUmemPoolProps>() == 88);
    assert!(size_of::<CUmemAllocationProp>() == 32);
    assert!(size_of::<CUmemcpyAttributes>() == 24);
    assert!(size_of::<CUmemcpy3DOperand>() == 40);
    assert!(size_of::<CUDA_MEMCPY3D_BATCH_OP>() == 112);
    assert!(size_of::<CUlaunchConfig>() == 56);
    assert!(size_of::<CUlaunchAttribute>() == 72);
};
