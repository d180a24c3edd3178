//! Libraries: modules of no context.

use bugaroo_cuda_abi::CUmodule;

/// A library: a module of its own.
#[derive(Clone, Copy, Debug)]
pub struct Library {
    /// The module.
    pub module: CUmodule,
}
