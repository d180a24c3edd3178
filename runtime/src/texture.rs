//! Texture objects (CUDA Runtime API, "Texture Object Management"). The descriptors are other ones than the driver's, which knows formats
//! by number and switches as bits.
//!
//! `cudaResourceDesc` of CUDA 12 ends behind its union, which is shorter there: nothing is read or written behind what both have.

use std::ffi::{c_int, c_uint};

use crate::api::api;
use crate::array::{format_number, from_format_number};
use crate::driver::{CUdeviceptr, driver};
use crate::error::{Error, Outcome};
use crate::types::{ChannelFormat, Handle, not_null, write};

driver! {
    cuTexObjectCreate(
        place: *mut u64, resource: *const DriverResource, texture: *const DriverTexture, view: *const ResourceView,
    );
    cuTexObjectDestroy(object: u64);
    cuTexObjectGetResourceDesc(place: *mut DriverResource, object: u64);
    cuTexObjectGetTextureDesc(place: *mut DriverTexture, object: u64);
    cuTexObjectGetResourceViewDesc(place: *mut ResourceView, object: u64);
}

/// `cudaResourceType`, as the driver's
const LINEAR: c_int = 2;
const PITCHED: c_int = 3;

/// `cudaResourceDesc`, as far as CUDA 12 has it: the union's members lie over each other but for their extents.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Resource {
    /// `cudaResourceType`
    pub kind: c_int,
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

/// `CUDA_RESOURCE_DESC`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct DriverResource {
    kind: c_int,
    what: CUdeviceptr,
    format: c_uint,
    channels: c_uint,
    width: usize,
    height: usize,
    pitch: usize,
    rest: [u64; 11],
    flags: c_uint,
}

/// `cudaTextureDesc`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "cudaTextureDesc's own names")]
pub struct Texture {
    pub address_mode: [c_int; 3],
    pub filter_mode: c_int,
    pub read_mode: c_int,
    pub srgb: c_int,
    pub border_color: [f32; 4],
    pub normalized_coords: c_int,
    pub max_anisotropy: c_uint,
    pub mipmap_filter_mode: c_int,
    pub mipmap_level_bias: f32,
    pub min_mipmap_level_clamp: f32,
    pub max_mipmap_level_clamp: f32,
    pub disable_trilinear_optimization: c_int,
    pub seamless_cubemap: c_int,
}

/// `CUDA_TEXTURE_DESC`
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct DriverTexture {
    address_mode: [c_int; 3],
    filter_mode: c_int,
    flags: c_uint,
    max_anisotropy: c_uint,
    mipmap_filter_mode: c_int,
    mipmap_level_bias: f32,
    min_mipmap_level_clamp: f32,
    max_mipmap_level_clamp: f32,
    border_color: [f32; 4],
    reserved: [c_uint; 12],
}

/// `cudaResourceViewDesc`, as the driver's. CUDA 12 lacks the reserved words at the end.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ResourceView {
    said: Said,
    reserved: [c_uint; 16],
}

/// What a view says.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "cudaResourceViewDesc's own names")]
pub struct Said {
    pub format: c_int,
    pub width: usize,
    pub height: usize,
    pub depth: usize,
    pub first_mipmap_level: c_uint,
    pub last_mipmap_level: c_uint,
    pub first_layer: c_uint,
    pub last_layer: c_uint,
}

const _: () = {
    assert!(size_of::<Resource>() == 64);
    assert!(size_of::<DriverResource>() == 144);
    assert!(size_of::<Texture>() == 72);
    assert!(size_of::<DriverTexture>() == 104);
    assert!(size_of::<Said>() == 48);
    assert!(size_of::<ResourceView>() == 112);
};

pub(crate) const EMPTY: DriverResource = DriverResource {
    kind: 0,
    what: 0,
    format: 0,
    channels: 0,
    width: 0,
    height: 0,
    pitch: 0,
    rest: [0; 11],
    flags: 0,
};

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
pub(crate) fn to_driver(from: &Resource) -> Outcome<DriverResource> {
    let mut to = DriverResource { kind: from.kind, what: from.what as CUdeviceptr, ..EMPTY };
    if matches!(from.kind, LINEAR | PITCHED) {
        (to.format, to.channels) = format_number(&from.channels)?;
        to.width = from.width;
    }
    if from.kind == PITCHED {
        (to.height, to.pitch) = (from.height, from.pitch);
    }
    Ok(to)
}

/// The runtime's descriptor of a resource.
pub(crate) fn from_driver(from: &DriverResource) -> Outcome<Resource> {
    let channels = ChannelFormat { bits: [0; 4], kind: 0 };
    let mut to =
        Resource { kind: from.kind, what: from.what as Handle, channels, width: 0, height: 0, pitch: 0 };
    if matches!(from.kind, LINEAR | PITCHED) {
        to.channels = from_format_number(from.format, from.channels)?;
        to.width = from.width;
    }
    if from.kind == PITCHED {
        (to.height, to.pitch) = (from.height, from.pitch);
    }
    Ok(to)
}

fn texture_to_driver(from: &Texture) -> Outcome<DriverTexture> {
    if !matches!(from.read_mode, 0 | 1) {
        return Err(Error::INVALID_VALUE);
    }
    let bit = |set: bool, bit| if set { bit } else { 0 };
    Ok(DriverTexture {
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

fn texture_from_driver(from: &DriverTexture) -> Texture {
    let has = |bit| c_int::from(from.flags & bit != 0);
    Texture {
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
        place: *mut u64, resource: *const Resource, texture: *const Texture, view: *const Said,
    ) {
        not_null(place)?;
        not_null(resource)?;
        not_null(texture)?;
        let (resource, texture) = (to_driver(&*resource)?, texture_to_driver(&*texture)?);
        let view = (!view.is_null()).then(|| ResourceView { said: *view, reserved: [0; 16] });
        let view = view.as_ref().map_or(std::ptr::null(), |view| &raw const *view);
        cuTexObjectCreate(place, &raw const resource, &raw const texture, view)
    }
    with_device cudaDestroyTextureObject(object: u64) {
        if object == 0 { Ok(()) } else { cuTexObjectDestroy(object) }
    }
    with_device cudaGetTextureObjectResourceDesc(place: *mut Resource, object: u64) {
        not_null(place)?;
        let mut found = EMPTY;
        cuTexObjectGetResourceDesc(&raw mut found, object)?;
        write(place, from_driver(&found)?)
    }
    with_device cudaGetTextureObjectTextureDesc(place: *mut Texture, object: u64) {
        not_null(place)?;
        let mut found = DriverTexture::default();
        cuTexObjectGetTextureDesc(&raw mut found, object)?;
        write(place, texture_from_driver(&found))
    }
    with_device cudaGetTextureObjectResourceViewDesc(place: *mut Said, object: u64) {
        not_null(place)?;
        let nothing = Said {
            format: 0,
            width: 0,
            height: 0,
            depth: 0,
            first_mipmap_level: 0,
            last_mipmap_level: 0,
            first_layer: 0,
            last_layer: 0,
        };
        let mut found = ResourceView { said: nothing, reserved: [0; 16] };
        cuTexObjectGetResourceViewDesc(&raw mut found, object)?;
        write(place, found.said)
    }
}
