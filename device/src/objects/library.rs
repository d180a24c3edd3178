//! Libraries: modules of no context.

use std::collections::BTreeSet;

use bugaroo_cuda_abi::{CUdevice, CUmodule};

use crate::images::image::Image;

/// A library: a module on each device. The handles of the first one's kernels stand for the library's.
#[derive(Debug)]
pub struct Library {
    /// The modules, by device; none before they are loaded.
    pub modules: Vec<CUmodule>,
    /// What they are loaded from at their first use; none where they were loaded at once.
    pub image: Option<Image<'static>>,
    /// Devices whose module belongs to a context that has ended: it is loaded anew at its next use, with its variables as they were
    /// at first.
    pub stale: BTreeSet<CUdevice>,
}
