//! Texture and surface objects, as they were described.

use bugaroo_cuda_abi::{
    CUDA_RESOURCE_DESC, CUDA_RESOURCE_VIEW_DESC, CUDA_TEXTURE_DESC, CUcontext, CUtexObject,
};

use crate::handles::Handles;

/// A texture or surface object, as it was described.
#[derive(Clone, Copy, Debug)]
pub struct Described {
    /// Whose it is.
    pub context: CUcontext,
    /// What it reads or writes.
    pub resource: CUDA_RESOURCE_DESC,
    /// None of a surface.
    pub texture: Option<CUDA_TEXTURE_DESC>,
    /// What of the resource it shows; None: all of it.
    pub view: Option<CUDA_RESOURCE_VIEW_DESC>,
}

/// Objects that were made, and those that kernels may still use although they were destroyed.
#[derive(Debug)]
pub struct Objects {
    pub(crate) live: Handles<Described>,
    /// Work that was submitted before the end of an object may name it: hardware's tables are not cleared at once, and many a
    /// program destroys an object right behind the launch.
    pub(crate) destroyed: Vec<(CUcontext, CUtexObject)>,
}

impl Default for Objects {
    fn default() -> Objects {
        Objects { live: Handles::new(crate::handles::HandleKind::Texture), destroyed: Vec::new() }
    }
}
