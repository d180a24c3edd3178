//! Libraries: modules of no context.

use bugaroo_cuda_abi::CUmodule;

/// A library: a module on each device. The handles of the first one's kernels stand for the library's.
#[derive(Clone, Debug)]
pub struct Library {
    /// The modules, by device; there is one at least.
    pub modules: Vec<CUmodule>,
}
