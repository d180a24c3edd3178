//! Captures in progress, and events that stand for places in one.

use std::collections::BTreeMap;
use std::ffi::c_uint;

use bugaroo_cuda_abi::{CUgraph, CUgraphNode};

use crate::lane::Lane;

/// A capture that is not ended.
#[derive(Debug)]
pub struct Capture {
    pub(crate) graph: CUgraph,
    /// The graph was there before.
    pub(crate) given: bool,
    pub(crate) mode: c_uint,
    /// The stream that it began in, and the thread.
    pub(crate) origin: Lane,
    pub(crate) thread: std::thread::ThreadId,
    pub(crate) context: bugaroo_cuda_abi::CUcontext,
    /// Something forbidden was done: only ending it is left.
    pub(crate) invalid: bool,
    /// What the next work of each stream comes after.
    pub(crate) streams: BTreeMap<Lane, Vec<CUgraphNode>>,
}

/// An event that was last recorded in a capture: which, and what it stands for.
#[derive(Clone, Debug)]
pub struct Mark {
    pub(crate) capture: u64,
    pub(crate) after: Vec<CUgraphNode>,
}
