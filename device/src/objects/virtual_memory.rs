//! Chunks of memory that are mapped to reserved addresses.

use std::collections::BTreeMap;

use bugaroo_cuda_abi::{CUmemAllocationProp, CUmemGenericAllocationHandle};

use crate::error::{CallResult, Status};

/// Chunks that the program made, with what it asked for. A handle is the memory's own number of a chunk,
/// which is not given out twice before all numbers were.
#[derive(Debug, Default)]
pub struct Chunks(BTreeMap<CUmemGenericAllocationHandle, CUmemAllocationProp>);

impl Chunks {
    /// A chunk was made, as it was asked for.
    pub fn add(&mut self, chunk: CUmemGenericAllocationHandle, asked: CUmemAllocationProp) {
        self.0.insert(chunk, asked);
    }

    /// What was asked for.
    ///
    /// # Errors
    /// `InvalidValue` when there never was such a chunk.
    pub fn asked(&self, chunk: CUmemGenericAllocationHandle) -> CallResult<CUmemAllocationProp> {
        self.0.get(&chunk).copied().ok_or(Status::InvalidValue)
    }
}
