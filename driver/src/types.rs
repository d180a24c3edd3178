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
pub type CUmemoryPool = *mut c_void;
pub type CUlinkState = *mut c_void;
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

/// A copy of a rectangle. An array as source or destination is not supported.
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

pub const CU_MEMORYTYPE_HOST: c_uint = 1;
pub const CU_MEMORYTYPE_DEVICE: c_uint = 2;
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
    assert!(size_of::<CUlaunchConfig>() == 56);
    assert!(size_of::<CUlaunchAttribute>() == 72);
};
