//! Devices and contexts.

#![allow(missing_docs, reason = "the names and meanings are cuda.h's own")]

use std::ffi::{c_int, c_uint, c_void};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct CUuuid {
    pub bytes: [u8; 16],
}

/// The properties of a device that the first versions of CUDA knew.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CUdevprop {
    pub max_threads_per_block: c_int,
    pub max_threads_dim: [c_int; 3],
    pub max_grid_size: [c_int; 3],
    pub shared_mem_per_block: c_int,
    pub total_constant_memory: c_int,
    pub simd_width: c_int,
    pub mem_pitch: c_int,
    pub regs_per_block: c_int,
    pub clock_rate: c_int,
    pub texture_align: c_int,
}

/// What a context is made with. Programs pass it zeroed where they want nothing of it.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CUctxCreateParams {
    /// `execAffinityParams`
    pub affinity: *const c_void,
    /// How many of them.
    pub affinity_count: c_int,
    /// `cigParams`
    pub graphics: *const c_void,
}

/// A part of a device: of its kinds, the SMs.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CUdevResource {
    pub kind: c_uint,
    pub padding: [u8; 92],
    pub sms: c_uint,
    pub least: c_uint,
    pub aligned: c_uint,
    pub rest: [u8; 36],
}
