//! Graphs in the making: nodes and what comes before what.

use std::ffi::{c_uint, c_void};

use bugaroo_cuda_abi::{
    CUDA_HOST_NODE_PARAMS_v1, CUDA_KERNEL_NODE_PARAMS_v1, CUDA_KERNEL_NODE_PARAMS_v2,
    CUDA_MEM_ALLOC_NODE_PARAMS, CUDA_MEMCPY3D, CUDA_MEMSET_NODE_PARAMS_v1, CUcontext, CUdeviceptr, CUevent,
    CUgraph, CUgraphNode, CUgraphNodeParams,
};

use crate::api::entry::{with_context, with_gpu};
use crate::api::graph::{memory, params};
use bugaroo_device::error::{CallResult, Status};
use bugaroo_device::objects::graph::user_object::Dying;
use bugaroo_device::objects::work::{BlocksTogether, NodeBody, Work};
use bugaroo_device::places::{not_null, write};
use bugaroo_device::state::Gpu;

/// The nodes of a list.
///
/// # Safety
/// `list` is null or holds `count` handles.
pub unsafe fn nodes(list: *const CUgraphNode, count: usize) -> CallResult<Vec<CUgraphNode>> {
    if count == 0 {
        return Ok(Vec::new());
    }
    not_null(list)?;
    // SAFETY: the caller's promise.
    Ok((0..count).map(|at| unsafe { list.add(at).read_unaligned() }).collect())
}

/// A node's place, graph, and what comes before it.
#[derive(Clone, Copy)]
struct Where {
    place: *mut CUgraphNode,
    graph: CUgraph,
    before: *const CUgraphNode,
    count: usize,
}

/// Adds the node that `make` gives.
///
/// # Safety
/// The place is null or one for a handle; the list holds as many nodes as it says.
unsafe fn add(
    name: &str,
    at: Where,
    make: impl FnOnce(&mut Gpu, CUcontext) -> CallResult<NodeBody>,
) -> Status {
    with_context(name, |gpu, context| {
        not_null(at.place)?;
        // SAFETY: the caller's promise.
        let before = unsafe { nodes(at.before, at.count) }?;
        gpu.ordered.graphs.graphs.get(at.graph)?;
        let body = make(gpu, context)?;
        let node = gpu.ordered.graphs.add(at.graph, &before, body)?;
        // SAFETY: the caller's promise.
        unsafe { write(at.place, node) }
    })
}

/// Makes an empty graph.
///
/// # Safety
/// `place` is null or points to a place for a handle.
pub unsafe extern "C" fn cuGraphCreate(place: *mut CUgraph, flags: c_uint) -> Status {
    with_gpu("cuGraphCreate", |gpu| {
        not_null(place)?;
        if flags != 0 {
            return Err(Status::InvalidValue);
        }
        // SAFETY: the caller's promise.
        unsafe { write(place, gpu.ordered.graphs.create()) }
    })
}

/// Destroys a graph with its nodes; executable graphs made of it stay.
pub extern "C" fn cuGraphDestroy(graph: CUgraph) -> Status {
    let mut dying = Dying::default();
    let status = with_gpu("cuGraphDestroy", |gpu| {
        if gpu.ordered.graphs.graphs.get(graph)?.owned {
            return Err(Status::InvalidValue);
        }
        dying = std::mem::take(&mut gpu.ordered.graphs.dying);
        gpu.ordered.graphs.remove(graph, &mut dying);
        gpu.sweep_graph_memory();
        Ok(())
    });
    dying.destroy();
    status
}

/// Copies a graph.
///
/// # Safety
/// `place` is null or points to a place for a handle.
pub unsafe extern "C" fn cuGraphClone(place: *mut CUgraph, graph: CUgraph) -> Status {
    with_gpu("cuGraphClone", |gpu| {
        not_null(place)?;
        let copy = gpu.ordered.graphs.copy(graph, false)?;
        // SAFETY: the caller's promise.
        unsafe { write(place, copy) }
    })
}

macro_rules! adding {
    ($(#[$doc:meta] $name:ident($($argument:ident: $type:ty),*) = |$gpu:ident, $context:ident| $body:expr;)*) => {$(
        #[$doc]
        ///
        /// # Safety
        /// `place` is null or points to a place for a handle, `before` is null or holds `count` nodes;
        /// parameters are null or as `cuda.h` has them.
        pub unsafe extern "C" fn $name(
            place: *mut CUgraphNode,
            graph: CUgraph,
            before: *const CUgraphNode,
            count: usize,
            $($argument: $type),*
        ) -> Status {
            // SAFETY: the caller's promise.
            unsafe { add(stringify!($name), Where { place, graph, before, count }, |$gpu, $context| $body) }
        }
    )*};
}

adding! {
    /// Adds a kernel.
    cuGraphAddKernelNode(kernel: *const CUDA_KERNEL_NODE_PARAMS_v1) = |gpu, _context| params::kernel(gpu, kernel, BlocksTogether::default());
    /// Adds a kernel.
    cuGraphAddKernelNode_v2(kernel: *const CUDA_KERNEL_NODE_PARAMS_v2) = |gpu, _context| params::kernel_v2(gpu, kernel, BlocksTogether::default());
    /// Adds a copy.
    cuGraphAddMemcpyNode(copy: *const CUDA_MEMCPY3D, _of: CUcontext) = |gpu, _context| params::copy(gpu, copy);
    /// Adds a fill.
    cuGraphAddMemsetNode(fill: *const CUDA_MEMSET_NODE_PARAMS_v1, _of: CUcontext) = |gpu, _context| params::fill(gpu, fill);
    /// Adds a call of a function of the program.
    cuGraphAddHostNode(host: *const CUDA_HOST_NODE_PARAMS_v1) = |_driver, _context| params::host(host);
    /// Adds a node that does nothing.
    cuGraphAddEmptyNode() = |_driver, _context| Ok(NodeBody::Work(Work::Nothing));
    /// Adds all of another graph, as it is now.
    cuGraphAddChildGraphNode(child: CUgraph) = |gpu, _context| Ok(NodeBody::Child(gpu.ordered.graphs.copy(child, true)?));
    /// Adds the recording of an event.
    cuGraphAddEventRecordNode(event: CUevent) = |gpu, _context| {
        gpu.ordered.events.get(event)?;
        Ok(NodeBody::Work(Work::Record(event)))
    };
    /// Adds waiting for an event, as it was recorded last when the graph is launched.
    cuGraphAddEventWaitNode(event: CUevent) = |gpu, _context| {
        gpu.ordered.events.get(event)?;
        Ok(NodeBody::Wait(event))
    };
    /// Adds the allocation of memory, which has its address from now on.
    cuGraphAddMemAllocNode(node: *mut CUDA_MEM_ALLOC_NODE_PARAMS) = |gpu, context| memory::allocation(gpu, context, node);
    /// Adds the freeing of memory that a graph allocates.
    cuGraphAddMemFreeNode(address: CUdeviceptr) = |gpu, _context| gpu.ordered.graphs.memory.get(address).map(NodeBody::Free);
    /// Adds a node of any kind.
    cuGraphAddNode(node: *mut CUgraphNodeParams) = |gpu, context| params::any(gpu, context, node);
}

/// Adds a node of any kind. Edges are plain ones.
///
/// # Safety
/// As [`cuGraphAddNode`]; `edges` is null or holds `count` items.
pub unsafe extern "C" fn cuGraphAddNode_v2(
    place: *mut CUgraphNode,
    graph: CUgraph,
    before: *const CUgraphNode,
    _edges: *const c_void,
    count: usize,
    node: *mut CUgraphNodeParams,
) -> Status {
    // An edge that lets a kernel start early allows it, and does not ask for it.
    // SAFETY: the same contract.
    unsafe { cuGraphAddNode(place, graph, before, count, node) }
}

/// Takes a node out of its graph; nothing comes before or after it any more.
pub extern "C" fn cuGraphDestroyNode(node: CUgraphNode) -> Status {
    let mut dying = Dying::default();
    let status = with_gpu("cuGraphDestroyNode", |gpu| {
        let removed = gpu.ordered.graphs.nodes.remove(node)?;
        if let Ok(graph) = gpu.ordered.graphs.graphs.get_mut(removed.graph) {
            graph.nodes.retain(|other| *other != node);
            for other in graph.nodes.clone() {
                gpu.ordered.graphs.nodes.get_mut(other)?.before.retain(|before| *before != node);
            }
        }
        gpu.ordered.graphs.remove_owned(&removed.body, &mut dying);
        drop(removed);
        gpu.sweep_graph_memory();
        Ok(())
    });
    dying.destroy();
    status
}

/// Changes edges of a graph.
///
/// # Safety
/// `from` and `to` are null or hold `count` nodes.
unsafe fn edges(
    name: &str,
    graph: CUgraph,
    (from, to, count): (*const CUgraphNode, *const CUgraphNode, usize),
    change: impl Fn(&mut Vec<CUgraphNode>, CUgraphNode) -> CallResult,
) -> Status {
    with_gpu(name, |gpu| {
        gpu.ordered.graphs.graphs.get(graph)?;
        // SAFETY: the caller's promise.
        let (from, to) = unsafe { (nodes(from, count)?, nodes(to, count)?) };
        let inside =
            |node: &CUgraphNode| gpu.ordered.graphs.nodes.get(*node).is_ok_and(|node| node.graph == graph);
        if !from.iter().chain(&to).all(inside) || from.iter().zip(&to).any(|(from, to)| from == to) {
            return Err(Status::InvalidValue);
        }
        for (from, to) in from.into_iter().zip(to) {
            change(&mut gpu.ordered.graphs.nodes.get_mut(to)?.before, from)?;
        }
        Ok(())
    })
}

/// Adds edges.
///
/// # Safety
/// `from` and `to` are null or hold `count` nodes.
pub unsafe extern "C" fn cuGraphAddDependencies(
    graph: CUgraph,
    from: *const CUgraphNode,
    to: *const CUgraphNode,
    count: usize,
) -> Status {
    let add = |before: &mut Vec<CUgraphNode>, from| {
        if before.contains(&from) {
            return Err(Status::InvalidValue);
        }
        before.push(from);
        Ok(())
    };
    // SAFETY: the caller's promise.
    unsafe { edges("cuGraphAddDependencies", graph, (from, to, count), add) }
}

/// Adds edges; all are plain ones.
///
/// # Safety
/// As [`cuGraphAddDependencies`]; `edges` is null or holds `count` items.
pub unsafe extern "C" fn cuGraphAddDependencies_v2(
    graph: CUgraph,
    from: *const CUgraphNode,
    to: *const CUgraphNode,
    _edges: *const c_void,
    count: usize,
) -> Status {
    // SAFETY: the same contract.
    unsafe { cuGraphAddDependencies(graph, from, to, count) }
}

/// Removes edges.
///
/// # Safety
/// As [`cuGraphAddDependencies`].
pub unsafe extern "C" fn cuGraphRemoveDependencies(
    graph: CUgraph,
    from: *const CUgraphNode,
    to: *const CUgraphNode,
    count: usize,
) -> Status {
    let remove = |before: &mut Vec<CUgraphNode>, from| {
        let at = before.iter().position(|before| *before == from).ok_or(Status::InvalidValue)?;
        before.remove(at);
        Ok(())
    };
    // SAFETY: the caller's promise.
    unsafe { edges("cuGraphRemoveDependencies", graph, (from, to, count), remove) }
}

/// Removes edges.
///
/// # Safety
/// As [`cuGraphAddDependencies_v2`].
pub unsafe extern "C" fn cuGraphRemoveDependencies_v2(
    graph: CUgraph,
    from: *const CUgraphNode,
    to: *const CUgraphNode,
    _edges: *const c_void,
    count: usize,
) -> Status {
    // SAFETY: the same contract.
    unsafe { cuGraphRemoveDependencies(graph, from, to, count) }
}
