//! Surface objects (CUDA Driver API, "Surface Object Management"): arrays that kernels read and write. An array has to be
//! made for it.

use std::ffi::c_uint;

use bugaroo_cuda_abi::{CUDA_RESOURCE_DESC, CUsurfObject};
use bugaroo_simulator::texture::Object;

use crate::api::entry::with_context;
use bugaroo_device::error::Status;
use bugaroo_device::objects::texture::Described;
use bugaroo_device::places::{not_null, write};
use bugaroo_device::texture::resource::{ARRAY, of_array};
use bugaroo_device::texture::{destroy, find, insert};

/// `CUDA_ARRAY3D_SURFACE_LDST`
const SURFACE_LDST: c_uint = 0x02;

/// Makes a surface object.
///
/// # Safety
/// `place` is null or points to a place for a handle, `resource` is null or points to a descriptor.
pub unsafe extern "C" fn cuSurfObjectCreate(
    place: *mut CUsurfObject,
    resource: *const CUDA_RESOURCE_DESC,
) -> Status {
    with_context("cuSurfObjectCreate", |gpu, context| {
        not_null(place)?;
        not_null(resource)?;
        // SAFETY: not null, and the caller vouches for the rest.
        let resource = unsafe { resource.read_unaligned() };
        if resource.resource_type != ARRAY || resource.flags != 0 {
            return Err(Status::InvalidValue);
        }
        // SAFETY: the type says that it is an array; all are numbers.
        let array = gpu.held.arrays.get(unsafe { resource.resource.array })?;
        if array.descriptor().flags & SURFACE_LDST == 0 {
            return Err(Status::InvalidValue);
        }
        let found = of_array(array)?;
        let object =
            Object { shape: found.shape, format: found.format, levels: found.levels, sampling: None };
        let handle = insert(gpu, Described { context, resource, texture: None, view: None }, object);
        // SAFETY: the caller's promise.
        unsafe { write(place, handle) }
    })
}

/// Destroys a surface object. Work that was submitted before may still use it.
pub extern "C" fn cuSurfObjectDestroy(object: CUsurfObject) -> Status {
    with_context("cuSurfObjectDestroy", |gpu, _| destroy(gpu, object, true))
}

/// What a surface object was made from.
///
/// # Safety
/// `place` is null or points to a place for a descriptor.
pub unsafe extern "C" fn cuSurfObjectGetResourceDesc(
    place: *mut CUDA_RESOURCE_DESC,
    object: CUsurfObject,
) -> Status {
    with_context("cuSurfObjectGetResourceDesc", |gpu, _| {
        let found = find(gpu, object, true)?.resource;
        // SAFETY: the caller's promise.
        unsafe { write(place, found) }
    })
}
