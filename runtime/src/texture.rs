//! Texture objects (CUDA Runtime API, "Texture Object Management"). The descriptors are other ones than the driver's, which knows formats
//! by number and switches as bits.
//!
//! `cudaResourceDesc` of CUDA 12 ends behind its union, which is shorter there: nothing is read or written behind what both have.

use std::ffi::{c_int, c_uint};

use bugaroo_cuda_abi::{
    AnyResource, CUDA_RESOURCE_DESC, CUDA_RESOURCE_VIEW_DESC, CUDA_TEXTURE_DESC, CUdeviceptr, PitchedResource,
};

use crate::api::api;
use crate::array::{format_number, from_format_number};
use crate::driver::driver;
use crate::error::{RuntimeError, RuntimeResult};
use crate::types::{ChannelFormat, Handle, not_null, write};

driver! {
    cuTexObjectCreate(
        place: *mut u64, resource: *const CUDA_RESOURCE_DESC, texture: *const CUDA_TEXTURE_DESC, view: *const CUDA_RESOURCE_VIEW_DESC,
    );
    cuTexObjectDestroy(object: u64);
    cuTexObjectGetResourceDesc(place: *mut CUDA_RESOURCE_DESC, object: u64);
    cuTexObjectGetTextureDesc(place: *mut CUDA_TEXTURE_DESC, object: u64);
    cuTexObjectGetResourceViewDesc(place: *mut CUDA_RESOURCE_VIEW_DESC, object: u64);
}

/// `cudaResourceType`, as the driver's
const LINEAR: c_uint = 2;
const PITCHED: c_uint = 3;

/// `cudaResourceDesc`, as far as CUDA 12 has it: the union's members lie over each other but for their extents.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ResourceDesc {
    /// `cudaResourceType`
    pub kind: c_uint,
    /// An array, or the address of linear memory.
    pub what: Handle,
    /// Of linear memory.
    pub channels: ChannelFormat,
    /// Bytes of linear memory; elements of a row of pitched memory.
    pub width: usize,
    /// Rows of pitched memory.
    pub height: usize,
    /// Bytes from row to row of pitched memory.
    pub pitch: usize,
}

/// `cudaTextureDesc`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "cudaTextureDesc's own names")]
pub struct TextureDesc {
    pub address_mode: [c_uint; 3],
    pub filter_mode: c_uint,
    pub read_mode: c_int,
    pub srgb: c_int,
    pub border_color: [f32; 4],
    pub normalized_coords: c_int,
    pub max_anisotropy: c_uint,
    pub mipmap_filter_mode: c_uint,
    pub mipmap_level_bias: f32,
    pub min_mipmap_level_clamp: f32,
    pub max_mipmap_level_clamp: f32,
    pub disable_trilinear_optimization: c_int,
    pub seamless_cubemap: c_int,
}

/// What a view says.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "cudaResourceViewDesc's own names")]
pub struct ViewDesc {
    pub format: c_uint,
    pub width: usize,
    pub height: usize,
    pub depth: usize,
    pub first_mipmap_level: c_uint,
    pub last_mipmap_level: c_uint,
    pub first_layer: c_uint,
    pub last_layer: c_uint,
}

const _: () = {
    assert!(size_of::<ResourceDesc>() == 64);
    assert!(size_of::<CUDA_RESOURCE_DESC>() == 144);
    assert!(size_of::<TextureDesc>() == 72);
    assert!(size_of::<CUDA_TEXTURE_DESC>() == 104);
    assert!(size_of::<ViewDesc>() == 48);
    assert!(size_of::<CUDA_RESOURCE_VIEW_DESC>() == 112);
};

impl From<ViewDesc> for CUDA_RESOURCE_VIEW_DESC {
    fn from(said: ViewDesc) -> CUDA_RESOURCE_VIEW_DESC {
        CUDA_RESOURCE_VIEW_DESC {
            format: said.format,
            width: said.width,
            height: said.height,
            depth: said.depth,
            first_mipmap_level: said.first_mipmap_level,
            last_mipmap_level: said.last_mipmap_level,
            first_layer: said.first_layer,
            last_layer: said.last_layer,
            reserved: [0; 16],
        }
    }
}

impl From<CUDA_RESOURCE_VIEW_DESC> for ViewDesc {
    fn from(view: CUDA_RESOURCE_VIEW_DESC) -> ViewDesc {
        ViewDesc {
            format: view.format,
            width: view.width,
            height: view.height,
            depth: view.depth,
            first_mipmap_level: view.first_mipmap_level,
            last_mipmap_level: view.last_mipmap_level,
            first_layer: view.first_layer,
            last_layer: view.last_layer,
        }
    }
}

/// A description of nothing, to be filled in.
pub(crate) const EMPTY: CUDA_RESOURCE_DESC =
    CUDA_RESOURCE_DESC { resource_type: 0, resource: AnyResource { reserved: [0; 32] }, flags: 0 };

/// The switches of a texture by their bits.
const READ_AS_INTEGER: c_uint = 0x01;
const NORMALIZED_COORDINATES: c_uint = 0x02;
const SRGB: c_uint = 0x10;
const NO_TRILINEAR: c_uint = 0x20;
const SEAMLESS: c_uint = 0x40;

/// The driver's descriptor of a resource.
///
/// # Errors
/// `cudaErrorInvalidChannelDescriptor` for linear memory of elements that there are not.
pub(crate) fn to_driver(from: &ResourceDesc) -> RuntimeResult<CUDA_RESOURCE_DESC> {
    // Linear memory begins as pitched memory does, and an array stands where the address does.
    let mut pitched = PitchedResource {
        address: from.what as CUdeviceptr,
        format: 0,
        channels: 0,
        width: 0,
        height: 0,
        pitch: 0,
    };
    if matches!(from.kind, LINEAR | PITCHED) {
        (pitched.format, pitched.channels) = format_number(&from.channels)?;
        pitched.width = from.width;
    }
    if from.kind == PITCHED {
        (pitched.height, pitched.pitch) = (from.height, from.pitch);
    }
    let mut to = CUDA_RESOURCE_DESC { resource_type: from.kind, ..EMPTY };
    to.resource.pitched = pitched;
    Ok(to)
}

/// The runtime's descriptor of a resource.
pub(crate) fn from_driver(from: &CUDA_RESOURCE_DESC) -> RuntimeResult<ResourceDesc> {
    // SAFETY: plain numbers, all of which have been written: those of a shorter member, and zeros behind it.
    let pitched = unsafe { from.resource.pitched };
    let channels = ChannelFormat { bits: [0; 4], kind: 0 };
    let (kind, what) = (from.resource_type, pitched.address as Handle);
    let mut to = ResourceDesc { kind, what, channels, width: 0, height: 0, pitch: 0 };
    if matches!(from.resource_type, LINEAR | PITCHED) {
        to.channels = from_format_number(pitched.format, pitched.channels)?;
        to.width = pitched.width;
    }
    if from.resource_type == PITCHED {
        (to.height, to.pitch) = (pitched.height, pitched.pitch);
    }
    Ok(to)
}

fn texture_to_driver(from: &TextureDesc) -> RuntimeResult<CUDA_TEXTURE_DESC> {
    if !matches!(from.read_mode, 0 | 1) {
        return Err(RuntimeError::INVALID_VALUE);
    }
    let bit = |set: bool, bit| if set { bit } else { 0 };
    Ok(CUDA_TEXTURE_DESC {
        address_mode: from.address_mode,
        filter_mode: from.filter_mode,
        flags: bit(from.read_mode == 0, READ_AS_INTEGER)
            | bit(from.normalized_coords != 0, NORMALIZED_COORDINATES)
            | bit(from.srgb != 0, SRGB)
            | bit(from.disable_trilinear_optimization != 0, NO_TRILINEAR)
            | bit(from.seamless_cubemap != 0, SEAMLESS),
        max_anisotropy: from.max_anisotropy,
        mipmap_filter_mode: from.mipmap_filter_mode,
        mipmap_level_bias: from.mipmap_level_bias,
        min_mipmap_level_clamp: from.min_mipmap_level_clamp,
        max_mipmap_level_clamp: from.max_mipmap_level_clamp,
        border_color: from.border_color,
        reserved: [0; 12],
    })
}

fn texture_from_driver(from: &CUDA_TEXTURE_DESC) -> TextureDesc {
    let has = |bit| c_int::from(from.flags & bit != 0);
    TextureDesc {
        address_mode: from.address_mode,
        filter_mode: from.filter_mode,
        read_mode: 1 - has(READ_AS_INTEGER),
        srgb: has(SRGB),
        border_color: from.border_color,
        normalized_coords: has(NORMALIZED_COORDINATES),
        max_anisotropy: from.max_anisotropy,
        mipmap_filter_mode: from.mipmap_filter_mode,
        mipmap_level_bias: from.mipmap_level_bias,
        min_mipmap_level_clamp: from.min_mipmap_level_clamp,
        max_mipmap_level_clamp: from.max_mipmap_level_clamp,
        disable_trilinear_optimization: has(NO_TRILINEAR),
        seamless_cubemap: has(SEAMLESS),
    }
}

api! {
    with_device cudaCreateTextureObject(
        place: *mut u64, resource: *const ResourceDesc, texture: *const TextureDesc, view: *const ViewDesc,
    ) {
        not_null(place)?;
        not_null(resource)?;
        not_null(texture)?;
        let (resource, texture) = (to_driver(&*resource)?, texture_to_driver(&*texture)?);
        let view = (!view.is_null()).then(|| CUDA_RESOURCE_VIEW_DESC::from(*view));
        let view = view.as_ref().map_or(std::ptr::null(), |view| &raw const *view);
        cuTexObjectCreate(place, &raw const resource, &raw const texture, view)
    }
    with_device cudaDestroyTextureObject(object: u64) {
        if object == 0 { Ok(()) } else { cuTexObjectDestroy(object) }
    }
    with_device cudaGetTextureObjectResourceDesc(place: *mut ResourceDesc, object: u64) {
        not_null(place)?;
        let mut found = EMPTY;
        cuTexObjectGetResourceDesc(&raw mut found, object)?;
        write(place, from_driver(&found)?)
    }
    with_device cudaGetTextureObjectTextureDesc(place: *mut TextureDesc, object: u64) {
        not_null(place)?;
        let mut found = CUDA_TEXTURE_DESC::default();
        cuTexObjectGetTextureDesc(&raw mut found, object)?;
        write(place, texture_from_driver(&found))
    }
    with_device cudaGetTextureObjectResourceViewDesc(place: *mut ViewDesc, object: u64) {
        not_null(place)?;
        let mut found = CUDA_RESOURCE_VIEW_DESC::default();
        cuTexObjectGetResourceViewDesc(&raw mut found, object)?;
        write(place, found.into())
    }
}
