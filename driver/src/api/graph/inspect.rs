//! What graphs consist of.

use std::ffi::{c_uint, c_void};

use bugaroo_cuda_abi::{CUgraph, CUgraphNode};

use crate::api::entry::with_gpu;
use bugaroo_device::error::{CallResult, Status};
use bugaroo_device::objects::work::NodeBody;
use bugaroo_device::places::{not_null, write, write_if_wanted};

/// Bytes of a `CUgraphEdgeData`: all zero for a plain edge.
const EDGE_BYTES: usize = 8;

/// Answers with a list: its length when there is no place for it, otherwise as much as there is place for, the rest
/// of which is set to null.
///
/// # Safety
/// `count` is null or points to a number; each of `places` is null or has room for as many items.
unsafe fn answer<const N: usize>(
    found: &[[CUgraphNode; N]],
    places: [*mut CUgraphNode; N],
    edges: *mut c_void,
    count: *mut usize,
) -> CallResult {
    not_null(count)?;
    // SAFETY: not null; the caller vouches for the rest.
    unsafe {
        if places.iter().any(|place| place.is_null()) {
            return write(count, found.len());
        }
        let room = count.read_unaligned();
        for at in 0..room {
            for (dimension, place) in places.iter().enumerate() {
                let item = found.get(at).map_or(std::ptr::null_mut(), |found| found[dimension]);
                place.add(at).write_unaligned(item);
            }
        }
        let told = room.min(found.len());
        if !edges.is_null() {
            edges.cast::<u8>().write_bytes(0, told * EDGE_BYTES);
        }
        write(count, told)
    }
}

/// The nodes of a graph.
///
/// # Safety
/// `count` is null or points to a number; `places` is null or has room for so many handles.
pub unsafe extern "C" fn cuGraphGetNodes(
    graph: CUgraph,
    places: *mut CUgraphNode,
    count: *mut usize,
) -> Status {
    with_gpu("cuGraphGetNodes", |gpu| {
        let found: Vec<_> = gpu.ordered.graphs.graphs.get(graph)?.nodes.iter().map(|node| [*node]).collect();
        // SAFETY: the caller's promise.
        unsafe { answer(&found, [places], std::ptr::null_mut(), count) }
    })
}

/// The nodes of a graph that nothing comes before.
///
/// # Safety
/// As [`cuGraphGetNodes`].
pub unsafe extern "C" fn cuGraphGetRootNodes(
    graph: CUgraph,
    places: *mut CUgraphNode,
    count: *mut usize,
) -> Status {
    with_gpu("cuGraphGetRootNodes", |gpu| {
        let graphs = &gpu.ordered.graphs;
        let root = |node: &&CUgraphNode| graphs.nodes.get(**node).is_ok_and(|node| node.before.is_empty());
        let found: Vec<_> = graphs.graphs.get(graph)?.nodes.iter().filter(root).map(|node| [*node]).collect();
        // SAFETY: the caller's promise.
        unsafe { answer(&found, [places], std::ptr::null_mut(), count) }
    })
}

/// The edges of a graph.
///
/// # Safety
/// `count` is null or points to a number; `from`, `to` and `edges` are null or have room for so many items.
pub unsafe extern "C" fn cuGraphGetEdges_v2(
    graph: CUgraph,
    from: *mut CUgraphNode,
    to: *mut CUgraphNode,
    edges: *mut c_void,
    count: *mut usize,
) -> Status {
    with_gpu("cuGraphGetEdges_v2", |gpu| {
        let mut found = Vec::new();
        for node in &gpu.ordered.graphs.graphs.get(graph)?.nodes {
            found.extend(gpu.ordered.graphs.nodes.get(*node)?.before.iter().map(|before| [*before, *node]));
        }
        // SAFETY: the caller's promise.
        unsafe { answer(&found, [from, to], edges, count) }
    })
}

/// The edges of a graph.
///
/// # Safety
/// As [`cuGraphGetEdges_v2`].
pub unsafe extern "C" fn cuGraphGetEdges(
    graph: CUgraph,
    from: *mut CUgraphNode,
    to: *mut CUgraphNode,
    count: *mut usize,
) -> Status {
    // SAFETY: the same contract.
    unsafe { cuGraphGetEdges_v2(graph, from, to, std::ptr::null_mut(), count) }
}

/// What comes before a node.
///
/// # Safety
/// `count` is null or points to a number; `places` and `edges` are null or have room for so many items.
pub unsafe extern "C" fn cuGraphNodeGetDependencies_v2(
    node: CUgraphNode,
    places: *mut CUgraphNode,
    edges: *mut c_void,
    count: *mut usize,
) -> Status {
    with_gpu("cuGraphNodeGetDependencies_v2", |gpu| {
        let found: Vec<_> = gpu.ordered.graphs.nodes.get(node)?.before.iter().map(|node| [*node]).collect();
        // SAFETY: the caller's promise.
        unsafe { answer(&found, [places], edges, count) }
    })
}

/// What comes before a node.
///
/// # Safety
/// As [`cuGraphNodeGetDependencies_v2`].
pub unsafe extern "C" fn cuGraphNodeGetDependencies(
    node: CUgraphNode,
    places: *mut CUgraphNode,
    count: *mut usize,
) -> Status {
    // SAFETY: the same contract.
    unsafe { cuGraphNodeGetDependencies_v2(node, places, std::ptr::null_mut(), count) }
}

/// What comes after a node.
///
/// # Safety
/// As [`cuGraphNodeGetDependencies_v2`].
pub unsafe extern "C" fn cuGraphNodeGetDependentNodes_v2(
    node: CUgraphNode,
    places: *mut CUgraphNode,
    edges: *mut c_void,
    count: *mut usize,
) -> Status {
    with_gpu("cuGraphNodeGetDependentNodes_v2", |gpu| {
        let graphs = &gpu.ordered.graphs;
        let after =
            |other: &&CUgraphNode| graphs.nodes.get(**other).is_ok_and(|other| other.before.contains(&node));
        let all = &graphs.graphs.get(graphs.nodes.get(node)?.graph)?.nodes;
        let found: Vec<_> = all.iter().filter(after).map(|node| [*node]).collect();
        // SAFETY: the caller's promise.
        unsafe { answer(&found, [places], edges, count) }
    })
}

/// What comes after a node.
///
/// # Safety
/// As [`cuGraphNodeGetDependencies_v2`].
pub unsafe extern "C" fn cuGraphNodeGetDependentNodes(
    node: CUgraphNode,
    places: *mut CUgraphNode,
    count: *mut usize,
) -> Status {
    // SAFETY: the same contract.
    unsafe { cuGraphNodeGetDependentNodes_v2(node, places, std::ptr::null_mut(), count) }
}

/// What kind of node a node is.
///
/// # Safety
/// `place` is null or points to a place for a `CUgraphNodeType`.
pub unsafe extern "C" fn cuGraphNodeGetType(node: CUgraphNode, place: *mut c_uint) -> Status {
    with_gpu("cuGraphNodeGetType", |gpu| {
        let kind = gpu.ordered.graphs.nodes.get(node)?.body.kind();
        // SAFETY: the caller's promise.
        unsafe { write(place, kind) }
    })
}

/// The graph that a node holds, which stays the node's.
///
/// # Safety
/// `place` is null or points to a place for a handle.
pub unsafe extern "C" fn cuGraphChildGraphNodeGetGraph(node: CUgraphNode, place: *mut CUgraph) -> Status {
    with_gpu("cuGraphChildGraphNodeGetGraph", |gpu| {
        let NodeBody::Child(child) = gpu.ordered.graphs.nodes.get(node)?.body else {
            return Err(Status::InvalidValue);
        };
        // SAFETY: the caller's promise.
        unsafe { write(place, child) }
    })
}

/// The node of a cloned graph that was made of a node of the original.
///
/// # Safety
/// `place` is null or points to a place for a handle.
pub unsafe extern "C" fn cuGraphNodeFindInClone(
    place: *mut CUgraphNode,
    original: CUgraphNode,
    clone: CUgraph,
) -> Status {
    with_gpu("cuGraphNodeFindInClone", |gpu| {
        let graphs = &gpu.ordered.graphs;
        let made = |node: &&CUgraphNode| graphs.nodes.get(**node).is_ok_and(|node| node.origin == original);
        let found = graphs.graphs.get(clone)?.nodes.iter().find(made).copied();
        // SAFETY: the caller's promise.
        unsafe {
            write_if_wanted(place, found.unwrap_or(std::ptr::null_mut()));
        }
        found.map(|_| ()).ok_or(Status::InvalidValue)
    })
}
