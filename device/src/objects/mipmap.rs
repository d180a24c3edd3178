//! Mipmapped arrays: an array for each level.

use bugaroo_cuda_abi::{CUarray, CUcontext};

/// A mipmapped array.
#[derive(Clone, Debug)]
pub struct Mipmapped {
    /// Whose it is.
    pub context: CUcontext,
    /// The finest first; at least one.
    pub levels: Vec<CUarray>,
}
