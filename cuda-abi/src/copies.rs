//! Copies.

#![allow(missing_docs, reason = "the names and meanings are cuda.h's own")]

use std::ffi::{c_uint, c_void};

use crate::handles::{CUarray, CUcontext, CUdeviceptr};
use crate::memory::CUmemLocation;

/// A copy of a rectangle.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CUDA_MEMCPY2D {
    pub src_x_in_bytes: usize,
    pub src_y: usize,
    pub src_memory_type: c_uint,
    pub src_host: *const c_void,
    pub src_device: CUdeviceptr,
    pub src_array: CUarray,
    pub src_pitch: usize,
    pub dst_x_in_bytes: usize,
    pub dst_y: usize,
    pub dst_memory_type: c_uint,
    pub dst_host: *mut c_void,
    pub dst_device: CUdeviceptr,
    pub dst_array: CUarray,
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
