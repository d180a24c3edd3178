//! Texture objects (CUDA Driver API, "Texture Object Management"): what a kernel looks texels up through. What of it a lookup needs
//! goes to the simulator ([`bugaroo_simulator::texture`]); the descriptors stay here, for those who ask for them.
//!
//! Anisotropic filtering and the switch against trilinear optimisations change nothing here: a lookup is as exact as one without
//! them.

pub mod surface;

use bugaroo_cuda_abi::{CUDA_RESOURCE_DESC, CUDA_RESOURCE_VIEW_DESC, CUDA_TEXTURE_DESC, CUtexObject};
use bugaroo_simulator::texture::Object;

use crate::api::entry::with_context;
use bugaroo_device::error::Status;
use bugaroo_device::objects::texture::Described;
use bugaroo_device::places::{not_null, write};
use bugaroo_device::texture::{destroy, find, insert, resource, sampling, view as views};

/// Makes a texture object.
///
/// # Safety
/// `place` is null or points to a place for a handle; the descriptors are null or point to such.
pub unsafe extern "C" fn cuTexObjectCreate(
    place: *mut CUtexObject,
    resource: *const CUDA_RESOURCE_DESC,
    texture: *const CUDA_TEXTURE_DESC,
    view: *const CUDA_RESOURCE_VIEW_DESC,
) -> Status {
    with_context("cuTexObjectCreate", |gpu, context| {
        not_null(place)?;
        not_null(resource)?;
        not_null(texture)?;
        // SAFETY: not null, and the caller vouches for the rest.
        let (resource, texture) = unsafe { (resource.read_unaligned(), texture.read_unaligned()) };
        // SAFETY: null, or the caller's promise.
        let view = (!view.is_null()).then(|| unsafe { view.read_unaligned() });
        let mut found = resource::read(gpu, &resource)?;
        if let Some(view) = &view {
            views::apply(gpu, view, &mut found)?;
        }
        let sampling = Some(sampling(gpu, &texture, &found)?);
        let object = Object { shape: found.shape, format: found.format, levels: found.levels, sampling };
        let described = Described { context, resource, texture: Some(texture), view };
        let handle = insert(gpu, described, object);
        // SAFETY: the caller's promise.
        unsafe { write(place, handle) }
    })
}

/// Destroys a texture object. Work that was submitted before may still use it.
pub extern "C" fn cuTexObjectDestroy(object: CUtexObject) -> Status {
    with_context("cuTexObjectDestroy", |gpu, _| destroy(gpu, object, false))
}

/// What a texture object was made from.
///
/// # Safety
/// `place` is null or points to a place for a descriptor.
pub unsafe extern "C" fn cuTexObjectGetResourceDesc(
    place: *mut CUDA_RESOURCE_DESC,
    object: CUtexObject,
) -> Status {
    with_context("cuTexObjectGetResourceDesc", |gpu, _| {
        let found = find(gpu, object, false)?.resource;
        // SAFETY: the caller's promise.
        unsafe { write(place, found) }
    })
}

/// How a texture object is looked up.
///
/// # Safety
/// `place` is null or points to a place for a descriptor.
pub unsafe extern "C" fn cuTexObjectGetTextureDesc(
    place: *mut CUDA_TEXTURE_DESC,
    object: CUtexObject,
) -> Status {
    with_context("cuTexObjectGetTextureDesc", |gpu, _| {
        let found = find(gpu, object, false)?.texture.ok_or(Status::InvalidValue)?;
        // SAFETY: the caller's promise.
        unsafe { write(place, found) }
    })
}

/// The view that a texture object was made with; an error where there was none.
///
/// # Safety
/// `place` is null or points to a place for a descriptor.
pub unsafe extern "C" fn cuTexObjectGetResourceViewDesc(
    place: *mut CUDA_RESOURCE_VIEW_DESC,
    object: CUtexObject,
) -> Status {
    with_context("cuTexObjectGetResourceViewDesc", |gpu, _| {
        let found = find(gpu, object, false)?.view.ok_or(Status::InvalidValue)?;
        // SAFETY: the caller's promise.
        unsafe { write(place, found) }
    })
}
