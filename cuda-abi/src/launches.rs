//! Launches.

#![allow(missing_docs, reason = "the names and meanings are cuda.h's own")]

use std::ffi::{c_int, c_uint, c_void};

use crate::handles::CUstream;

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

/// A union of 64 bytes, of which Bugaroo reads the forms below.
#[derive(Clone, Copy)]
#[repr(C)]
pub union CUlaunchAttributeValue {
    pub bytes: [u8; 64],
    pub cooperative: c_int,
    pub cluster_dimension: [c_uint; 3],
    /// The union's alignment is a pointer's.
    pub pointer: *mut c_void,
}
