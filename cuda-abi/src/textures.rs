//! Textures and surfaces.

#![allow(missing_docs, reason = "the names and meanings are cuda.h's own")]

use std::ffi::c_uint;

use crate::handles::{CUarray, CUdeviceptr};

/// What textures and surfaces are made from: the union's members by their type.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct CUDA_RESOURCE_DESC {
    pub resource_type: c_uint,
    pub resource: AnyResource,
    pub flags: c_uint,
}

impl std::fmt::Debug for CUDA_RESOURCE_DESC {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CUDA_RESOURCE_DESC").field("type", &self.resource_type).finish_non_exhaustive()
    }
}

/// The union in [`CUDA_RESOURCE_DESC`].
#[derive(Clone, Copy)]
#[repr(C)]
pub union AnyResource {
    /// A `CUarray`, or a `CUmipmappedArray`.
    pub array: CUarray,
    pub linear: LinearResource,
    pub pitched: PitchedResource,
    pub reserved: [c_uint; 32],
}

#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct LinearResource {
    pub address: CUdeviceptr,
    pub format: c_uint,
    pub channels: c_uint,
    pub bytes: usize,
}

#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct PitchedResource {
    pub address: CUdeviceptr,
    pub format: c_uint,
    pub channels: c_uint,
    pub width: usize,
    pub height: usize,
    pub pitch: usize,
}

/// How a texture is looked up.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct CUDA_TEXTURE_DESC {
    pub address_mode: [c_uint; 3],
    pub filter_mode: c_uint,
    pub flags: c_uint,
    pub max_anisotropy: c_uint,
    pub mipmap_filter_mode: c_uint,
    pub mipmap_level_bias: f32,
    pub min_mipmap_level_clamp: f32,
    pub max_mipmap_level_clamp: f32,
    pub border_color: [f32; 4],
    pub reserved: [c_uint; 12],
}

/// How the texels of an array are to be understood.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct CUDA_RESOURCE_VIEW_DESC {
    pub format: c_uint,
    pub width: usize,
    pub height: usize,
    pub depth: usize,
    pub first_mipmap_level: c_uint,
    pub last_mipmap_level: c_uint,
    pub first_layer: c_uint,
    pub last_layer: c_uint,
    pub reserved: [c_uint; 16],
}
