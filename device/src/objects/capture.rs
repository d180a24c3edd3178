//! Captures in progress, and events that stand for places in one.

use std::collections::BTreeMap;
use std::ffi::c_uint;

use bugaroo_cuda_abi::{CUgraph, CUgraphNode};

use crate::lane::Lane;

/// A capture that is not ended.
#[derive(Debug)]
pub struct StreamCapture {
    /// The graph that is captured to.
    pub graph: CUgraph,
    /// The graph was there before.
    pub given: bool,
    /// `CUstreamCaptureMode`
    pub mode: c_uint,
    /// The stream that it began in.
    pub origin: Lane,
    /// The thread that it began in.
    pub thread: std::thread::ThreadId,
    /// Whose it is.
    pub context: bugaroo_cuda_abi::CUcontext,
    /// Something forbidden was done: only ending it is left.
    pub invalid: bool,
    /// What the next work of each stream comes after.
    pub streams: BTreeMap<Lane, Vec<CUgraphNode>>,
}

/// An event that was last recorded in a capture: which, and what it stands for.
#[derive(Clone, Debug)]
pub struct Mark {
    pub(crate) capture: u64,
    pub(crate) after: Vec<CUgraphNode>,
}
