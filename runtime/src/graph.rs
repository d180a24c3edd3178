//! Graphs as wholes (CUDA Runtime API, "Graph Management"). Handles and flags are the driver's; nodes are
//! added in [`crate::node`].

use std::ffi::{c_char, c_int, c_uint, c_ulonglong, c_void};
use std::ptr::{null, null_mut};

use bugaroo_cuda_abi::{CUcontext, CUdevice, CUhostFn, CUstream};

use crate::api::api;
use crate::device::handle;
use crate::driver::driver;
use crate::types::Handle;

driver! {
    cuGraphCreate(place: *mut Handle, flags: c_uint);
    cuGraphDestroy(graph: Handle);
    cuGraphClone(place: *mut Handle, graph: Handle);
    cuGraphNodeFindInClone(place: *mut Handle, node: Handle, clone: Handle);
    cuGraphNodeGetType(node: Handle, place: *mut c_int);
    cuGraphGetNodes(graph: Handle, nodes: *mut Handle, count: *mut usize);
    cuGraphGetRootNodes(graph: Handle, nodes: *mut Handle, count: *mut usize);
    cuGraphGetEdges_v2(graph: Handle, from: *mut Handle, to: *mut Handle, data: *mut c_void, count: *mut usize);
    cuGraphNodeGetDependencies_v2(node: Handle, nodes: *mut Handle, data: *mut c_void, count: *mut usize);
    cuGraphNodeGetDependentNodes_v2(node: Handle, nodes: *mut Handle, data: *mut c_void, count: *mut usize);
    cuGraphAddDependencies_v2(graph: Handle, from: *const Handle, to: *const Handle, data: *const c_void, count: usize);
    cuGraphRemoveDependencies_v2(graph: Handle, from: *const Handle, to: *const Handle, data: *const c_void, count: usize);
    cuGraphDestroyNode(node: Handle);
    cuGraphInstantiateWithFlags(place: *mut Handle, graph: Handle, flags: c_ulonglong);
    cuGraphInstantiateWithParams(place: *mut Handle, graph: Handle, parameters: *mut c_void);
    cuGraphExecGetFlags(exec: Handle, place: *mut c_ulonglong);
    cuGraphExecUpdate_v2(exec: Handle, graph: Handle, result: *mut c_void);
    cuGraphExecDestroy(exec: Handle);
    cuGraphNodeSetEnabled(exec: Handle, node: Handle, enabled: c_uint);
    cuGraphNodeGetEnabled(exec: Handle, node: Handle, place: *mut c_uint);
    cuGraphUpload(exec: Handle, stream: CUstream);
    cuGraphLaunch(exec: Handle, stream: CUstream);
    cuGraphDebugDotPrint(graph: Handle, path: *const c_char, flags: c_uint);
    cuGraphConditionalHandleCreate(place: *mut c_ulonglong, graph: Handle, context: CUcontext, value: c_uint, flags: c_uint);
    cuGraphRetainUserObject(graph: Handle, object: Handle, count: c_uint, flags: c_uint);
    cuGraphReleaseUserObject(graph: Handle, object: Handle, count: c_uint);
    cuUserObjectCreate(place: *mut Handle, data: *mut c_void, destroy: CUhostFn, count: c_uint, flags: c_uint);
    cuUserObjectRetain(object: Handle, count: c_uint);
    cuUserObjectRelease(object: Handle, count: c_uint);
    cuDeviceGraphMemTrim(device: CUdevice);
    cuDeviceGetGraphMemAttribute(device: CUdevice, attribute: c_int, place: *mut c_void);
    cuDeviceSetGraphMemAttribute(device: CUdevice, attribute: c_int, value: *mut c_void);
}

api! {
    with_device cudaGraphCreate(place: *mut Handle, flags: c_uint) { cuGraphCreate(place, flags) }
    with_device cudaGraphDestroy(graph: Handle) { cuGraphDestroy(graph) }
    with_device cudaGraphClone(place: *mut Handle, graph: Handle) { cuGraphClone(place, graph) }
    with_device cudaGraphNodeFindInClone(place: *mut Handle, node: Handle, clone: Handle) {
        cuGraphNodeFindInClone(place, node, clone)
    }
    with_device cudaGraphNodeGetType(node: Handle, place: *mut c_int) { cuGraphNodeGetType(node, place) }
    with_device cudaGraphGetNodes(graph: Handle, nodes: *mut Handle, count: *mut usize) {
        cuGraphGetNodes(graph, nodes, count)
    }
    with_device cudaGraphGetRootNodes(graph: Handle, nodes: *mut Handle, count: *mut usize) {
        cuGraphGetRootNodes(graph, nodes, count)
    }
    with_device cudaGraphGetEdges(
        graph: Handle, from: *mut Handle, to: *mut Handle, data: *mut c_void, count: *mut usize,
    ) {
        cuGraphGetEdges_v2(graph, from, to, data, count)
    }
    with_device cudaGraphGetEdges_v12(graph: Handle, from: *mut Handle, to: *mut Handle, count: *mut usize) {
        cuGraphGetEdges_v2(graph, from, to, null_mut(), count)
    }
    with_device cudaGraphNodeGetDependencies(node: Handle, nodes: *mut Handle, data: *mut c_void, count: *mut usize) {
        cuGraphNodeGetDependencies_v2(node, nodes, data, count)
    }
    with_device cudaGraphNodeGetDependencies_v12(node: Handle, nodes: *mut Handle, count: *mut usize) {
        cuGraphNodeGetDependencies_v2(node, nodes, null_mut(), count)
    }
    with_device cudaGraphNodeGetDependentNodes(node: Handle, nodes: *mut Handle, data: *mut c_void, count: *mut usize) {
        cuGraphNodeGetDependentNodes_v2(node, nodes, data, count)
    }
    with_device cudaGraphNodeGetDependentNodes_v12(node: Handle, nodes: *mut Handle, count: *mut usize) {
        cuGraphNodeGetDependentNodes_v2(node, nodes, null_mut(), count)
    }
    with_device cudaGraphAddDependencies(
        graph: Handle, from: *const Handle, to: *const Handle, data: *const c_void, count: usize,
    ) {
        cuGraphAddDependencies_v2(graph, from, to, data, count)
    }
    with_device cudaGraphAddDependencies_v12(graph: Handle, from: *const Handle, to: *const Handle, count: usize) {
        cuGraphAddDependencies_v2(graph, from, to, null(), count)
    }
    with_device cudaGraphRemoveDependencies(
        graph: Handle, from: *const Handle, to: *const Handle, data: *const c_void, count: usize,
    ) {
        cuGraphRemoveDependencies_v2(graph, from, to, data, count)
    }
    with_device cudaGraphRemoveDependencies_v12(graph: Handle, from: *const Handle, to: *const Handle, count: usize) {
        cuGraphRemoveDependencies_v2(graph, from, to, null(), count)
    }
    with_device cudaGraphDestroyNode(node: Handle) { cuGraphDestroyNode(node) }
    with_device cudaGraphInstantiate(place: *mut Handle, graph: Handle, flags: c_ulonglong) {
        cuGraphInstantiateWithFlags(place, graph, flags)
    }
    with_device cudaGraphInstantiateWithFlags(place: *mut Handle, graph: Handle, flags: c_ulonglong) {
        cuGraphInstantiateWithFlags(place, graph, flags)
    }
    with_device cudaGraphInstantiateWithParams(place: *mut Handle, graph: Handle, parameters: *mut c_void) {
        cuGraphInstantiateWithParams(place, graph, parameters)
    }
    /// The stream of an upload is among the parameters, and is the program's to choose.
    with_device cudaGraphInstantiateWithParams_ptsz(place: *mut Handle, graph: Handle, parameters: *mut c_void) {
        cuGraphInstantiateWithParams(place, graph, parameters)
    }
    with_device cudaGraphExecGetFlags(exec: Handle, place: *mut c_ulonglong) { cuGraphExecGetFlags(exec, place) }
    with_device cudaGraphExecUpdate(exec: Handle, graph: Handle, result: *mut c_void) {
        cuGraphExecUpdate_v2(exec, graph, result)
    }
    with_device cudaGraphExecDestroy(exec: Handle) { cuGraphExecDestroy(exec) }
    with_device cudaGraphNodeSetEnabled(exec: Handle, node: Handle, enabled: c_uint) {
        cuGraphNodeSetEnabled(exec, node, enabled)
    }
    with_device cudaGraphNodeGetEnabled(exec: Handle, node: Handle, place: *mut c_uint) {
        cuGraphNodeGetEnabled(exec, node, place)
    }
    with_device cudaGraphUpload(exec: Handle, stream: CUstream)
        on stream as cudaGraphUpload_ptsz { cuGraphUpload(exec, stream) }
    with_device cudaGraphLaunch(exec: Handle, stream: CUstream)
        on stream as cudaGraphLaunch_ptsz { cuGraphLaunch(exec, stream) }
    with_device cudaGraphDebugDotPrint(graph: Handle, path: *const c_char, flags: c_uint) {
        cuGraphDebugDotPrint(graph, path, flags)
    }
    with_device cudaGraphConditionalHandleCreate(
        place: *mut c_ulonglong, graph: Handle, value: c_uint, flags: c_uint,
    ) {
        cuGraphConditionalHandleCreate(place, graph, crate::node::current()?, value, flags)
    }
    with_device cudaGraphRetainUserObject(graph: Handle, object: Handle, count: c_uint, flags: c_uint) {
        cuGraphRetainUserObject(graph, object, count, flags)
    }
    with_device cudaGraphReleaseUserObject(graph: Handle, object: Handle, count: c_uint) {
        cuGraphReleaseUserObject(graph, object, count)
    }
    with_device cudaUserObjectCreate(
        place: *mut Handle, data: *mut c_void, destroy: CUhostFn, count: c_uint, flags: c_uint,
    ) {
        cuUserObjectCreate(place, data, destroy, count, flags)
    }
    with_device cudaUserObjectRetain(object: Handle, count: c_uint) { cuUserObjectRetain(object, count) }
    with_device cudaUserObjectRelease(object: Handle, count: c_uint) { cuUserObjectRelease(object, count) }
    with_device cudaDeviceGraphMemTrim(ordinal: c_int) { cuDeviceGraphMemTrim(handle(ordinal)?) }
    with_device cudaDeviceGetGraphMemAttribute(ordinal: c_int, attribute: c_int, place: *mut c_void) {
        cuDeviceGetGraphMemAttribute(handle(ordinal)?, attribute, place)
    }
    with_device cudaDeviceSetGraphMemAttribute(ordinal: c_int, attribute: c_int, value: *mut c_void) {
        cuDeviceSetGraphMemAttribute(handle(ordinal)?, attribute, value)
    }
}
