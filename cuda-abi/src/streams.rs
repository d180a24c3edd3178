//! Streams, and operations on words of memory in their order.

#![allow(missing_docs, reason = "the names and meanings are cuda.h's own")]

use std::ffi::c_uint;

use crate::handles::CUdeviceptr;

/// `CU_STREAM_LEGACY`: the default stream.
pub const STREAM_LEGACY: usize = 1;
/// `CU_STREAM_PER_THREAD`: the calling thread's default stream.
pub const STREAM_PER_THREAD: usize = 2;

/// An operation, as far as it has a form: all begin with what they are.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CUstreamBatchMemOpParams {
    pub operation: c_uint,
    pub address: CUdeviceptr,
    pub value: u64,
    pub flags: c_uint,
    pub rest: [u64; 2],
}
