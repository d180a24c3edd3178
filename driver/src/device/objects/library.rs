//! Libraries: modules of no context.

use bugaroo_cuda_abi::CUmodule;

use crate::images::image::Image;

/// A library: a module on each device. The handles of the first one's kernels stand for the library's.
#[derive(Debug)]
pub struct Library {
    /// The modules, by device; none before they are loaded.
    pub modules: Vec<CUmodule>,
    /// What they will be loaded from.
    pub waiting: Option<Image<'static>>,
}
