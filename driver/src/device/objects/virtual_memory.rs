//! Chunks of memory that are mapped to reserved addresses.

use std::collections::BTreeMap;

use bugaroo_cuda_abi::{CUmemAllocationProp, CUmemGenericAllocationHandle};

/// Chunks that the program made, with what it asked for. A handle is the memory's own number of a chunk,
/// which is not given out twice before all numbers were.
#[derive(Debug, Default)]
pub struct Chunks(pub(crate) BTreeMap<CUmemGenericAllocationHandle, CUmemAllocationProp>);
