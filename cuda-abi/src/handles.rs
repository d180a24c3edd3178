//! Handles, and functions of the program.
//!
//! A handle is a number to whoever gets it, whatever its type: nobody but the driver may take it for an address.

#![allow(missing_docs, reason = "the names and meanings are cuda.h's own")]

use std::ffi::{c_int, c_uint, c_void};

pub type CUdevice = c_int;
pub type CUdeviceptr = u64;
pub type CUcontext = *mut c_void;
pub type CUmodule = *mut c_void;
pub type CUlibrary = *mut c_void;
pub type CUfunction = *mut c_void;
/// A kernel of a library: in Bugaroo's driver the same handle as its function.
pub type CUkernel = *mut c_void;
pub type CUstream = *mut c_void;
pub type CUevent = *mut c_void;
pub type CUgraph = *mut c_void;
pub type CUgraphNode = *mut c_void;
pub type CUgraphExec = *mut c_void;
pub type CUmemoryPool = *mut c_void;
pub type CUlinkState = *mut c_void;
pub type CUarray = *mut c_void;
pub type CUmipmappedArray = *mut c_void;
pub type CUtexObject = u64;
pub type CUsurfObject = u64;
/// A chunk of memory, a number by `cuda.h`.
pub type CUmemGenericAllocationHandle = u64;

/// A function of the program that it wants called in stream order.
pub type CUhostFn = Option<unsafe extern "C" fn(user_data: *mut c_void)>;
/// The older form of [`CUhostFn`], told the stream and its status.
pub type CUstreamCallback =
    Option<unsafe extern "C" fn(stream: CUstream, status: c_uint, user_data: *mut c_void)>;
/// A function of the program that tells a block size's dynamic shared memory.
pub type CUoccupancyB2DSize = Option<unsafe extern "C" fn(block_size: c_int) -> usize>;
