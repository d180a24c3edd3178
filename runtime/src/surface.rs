//! Surface objects (CUDA Runtime API, "Surface Object Management").

use bugaroo_cuda_abi::CUDA_RESOURCE_DESC;

use crate::api::api;
use crate::driver::driver;
use crate::texture::{EMPTY, ResourceDesc, from_driver, to_driver};
use crate::types::{not_null, write};

driver! {
    cuSurfObjectCreate(place: *mut u64, resource: *const CUDA_RESOURCE_DESC);
    cuSurfObjectDestroy(object: u64);
    cuSurfObjectGetResourceDesc(place: *mut CUDA_RESOURCE_DESC, object: u64);
}

api! {
    with_device cudaCreateSurfaceObject(place: *mut u64, resource: *const ResourceDesc) {
        not_null(place)?;
        not_null(resource)?;
        let resource = to_driver(&*resource)?;
        cuSurfObjectCreate(place, &raw const resource)
    }
    with_device cudaDestroySurfaceObject(object: u64) {
        if object == 0 { Ok(()) } else { cuSurfObjectDestroy(object) }
    }
    with_device cudaGetSurfaceObjectResourceDesc(place: *mut ResourceDesc, object: u64) {
        not_null(place)?;
        let mut found = EMPTY;
        cuSurfObjectGetResourceDesc(&raw mut found, object)?;
        write(place, from_driver(&found)?)
    }
}
