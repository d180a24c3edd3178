//! Conditional nodes (CUDA Driver API, "Graph Management", `CU_GRAPH_NODE_TYPE_CONDITIONAL`): graphs that run, or run
//! again and again, as a word says that kernels set.
//!
//! A condition's handle is the address of its word in memory of the tester's own: that is where the virtual GPU's
//! `cudaGraphSetConditional` writes. When a conditional node's turn comes, the word is read, and the steps of the body
//! that it picks go into the queue; the node is done when they are, or, for a loop, is looked at again. Words
//! stay until the process ends, as executable graphs may outlive the graph that a condition was made for.

use std::ffi::{c_uint, c_ulonglong};

use bugaroo_cuda_abi::{CUDA_CONDITIONAL_NODE_PARAMS, CUcontext, CUgraph};
use bugaroo_simulator::AllocationKind;

use crate::api::entry::with_context;
use bugaroo_device::error::{CallResult, Status};
use bugaroo_device::objects::graph::condition::GraphCondition;
use bugaroo_device::objects::work::{Branch, NodeBody, Pick};
use bugaroo_device::places::{not_null, read, write};
use bugaroo_device::state::Gpu;

/// `CU_GRAPH_COND_ASSIGN_DEFAULT`
const ASSIGN_DEFAULT: c_uint = 1;
/// Most bodies of a node: there is no such limit in the API, but nobody switches among more.
const MOST_BODIES: c_uint = 1 << 16;

/// A conditional node with empty graphs in it; where these are listed goes into the parameters.
///
/// # Safety
/// `params` is null or as `cuda.h` has it, and may be written.
pub unsafe fn branch(gpu: &mut Gpu, params: *mut CUDA_CONDITIONAL_NODE_PARAMS) -> CallResult<NodeBody> {
    // SAFETY: the caller's promise.
    let CUDA_CONDITIONAL_NODE_PARAMS { handle, kind, size, .. } = unsafe { read(params) }?;
    if !gpu.ordered.graphs.conditions.contains_key(&handle) {
        return Err(Status::InvalidValue);
    }
    let pick = match (kind, size) {
        (0, 1 | 2) => Pick::If,
        (1, 1) => Pick::While,
        (2, 1..=MOST_BODIES) => Pick::Switch,
        _ => return Err(Status::InvalidValue),
    };
    let bodies: Box<[CUgraph]> = (0..size).map(|_| gpu.ordered.graphs.create_owned()).collect();
    // SAFETY: it was read, and the caller vouches that it may be written.
    unsafe { (&raw mut (*params).graphs).write_unaligned(bodies.as_ptr()) };
    Ok(NodeBody::Branch(Branch { handle, pick, bodies }))
}

/// Makes a condition for a graph.
///
/// # Safety
/// `place` is null or points to a place for a handle.
pub unsafe extern "C" fn cuGraphConditionalHandleCreate(
    place: *mut c_ulonglong,
    graph: CUgraph,
    context: CUcontext,
    default: c_uint,
    flags: c_uint,
) -> Status {
    with_context("cuGraphConditionalHandleCreate", |gpu, _| {
        not_null(place)?;
        gpu.ordered.graphs.graphs.get(graph)?;
        if !context.is_null() {
            gpu.context(context)?;
        }
        if flags & !ASSIGN_DEFAULT != 0 {
            return Err(Status::InvalidValue);
        }
        let word = gpu.memory.alloc(4, 256, AllocationKind::Tool).map_err(|_| Status::OutOfMemory)?;
        let default = (flags & ASSIGN_DEFAULT != 0).then_some(default);
        gpu.ordered.graphs.conditions.insert(word, GraphCondition { default });
        // SAFETY: the caller's promise.
        unsafe { write(place, word) }
    })
}
