//! Nodes of graphs, kind by kind (CUDA Runtime API, "Graph Management").
//!
//! The driver's functions take contexts and kernels where this API takes neither or a host function; the
//! rest is the same. Copies stand in [`crate::copy_node`], parameters that describe any kind in
//! [`crate::node_parameters`].

use std::collections::BTreeMap;
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::sync::{Mutex, PoisonError};

use bugaroo_cuda_abi::{
    CUDA_HOST_NODE_PARAMS_v1, CUDA_KERNEL_NODE_PARAMS_v1, CUDA_KERNEL_NODE_PARAMS_v2,
    CUDA_MEMSET_NODE_PARAMS_v1, CUcontext, CUdeviceptr, CUevent, CUfunction,
};

use crate::api::api;
use crate::driver::{cuCtxGetCurrent, driver};
use crate::error::{RuntimeError, RuntimeResult};
use crate::function::cuFuncGetAttribute;
use crate::registration::{function, host_of};
use crate::types::{Handle, not_null, write};

driver! {
    cuGraphAddKernelNode_v2(place: *mut Handle, graph: Handle, after: *const Handle, count: usize, node: *const CUDA_KERNEL_NODE_PARAMS_v2);
    cuGraphKernelNodeGetParams_v2(node: Handle, place: *mut CUDA_KERNEL_NODE_PARAMS_v2);
    cuGraphKernelNodeSetParams_v2(node: Handle, value: *const CUDA_KERNEL_NODE_PARAMS_v2);
    cuGraphExecKernelNodeSetParams_v2(exec: Handle, node: Handle, value: *const CUDA_KERNEL_NODE_PARAMS_v2);
    cuGraphKernelNodeCopyAttributes(to: Handle, from: Handle);
    cuGraphKernelNodeGetAttribute(node: Handle, attribute: c_int, place: *mut c_void);
    cuGraphKernelNodeSetAttribute(node: Handle, attribute: c_int, value: *const c_void);
    cuGraphAddMemsetNode(place: *mut Handle, graph: Handle, after: *const Handle, count: usize, set: *const CUDA_MEMSET_NODE_PARAMS_v1, context: CUcontext);
    cuGraphMemsetNodeGetParams(node: Handle, place: *mut CUDA_MEMSET_NODE_PARAMS_v1);
    cuGraphMemsetNodeSetParams(node: Handle, set: *const CUDA_MEMSET_NODE_PARAMS_v1);
    cuGraphExecMemsetNodeSetParams(exec: Handle, node: Handle, set: *const CUDA_MEMSET_NODE_PARAMS_v1, context: CUcontext);
    cuGraphAddHostNode(place: *mut Handle, graph: Handle, after: *const Handle, count: usize, host: *const CUDA_HOST_NODE_PARAMS_v1);
    cuGraphHostNodeGetParams(node: Handle, place: *mut CUDA_HOST_NODE_PARAMS_v1);
    cuGraphHostNodeSetParams(node: Handle, host: *const CUDA_HOST_NODE_PARAMS_v1);
    cuGraphExecHostNodeSetParams(exec: Handle, node: Handle, host: *const CUDA_HOST_NODE_PARAMS_v1);
    cuGraphAddChildGraphNode(place: *mut Handle, graph: Handle, after: *const Handle, count: usize, child: Handle);
    cuGraphChildGraphNodeGetGraph(node: Handle, place: *mut Handle);
    cuGraphExecChildGraphNodeSetParams(exec: Handle, node: Handle, child: Handle);
    cuGraphAddEmptyNode(place: *mut Handle, graph: Handle, after: *const Handle, count: usize);
    cuGraphAddEventRecordNode(place: *mut Handle, graph: Handle, after: *const Handle, count: usize, event: CUevent);
    cuGraphEventRecordNodeGetEvent(node: Handle, place: *mut CUevent);
    cuGraphEventRecordNodeSetEvent(node: Handle, event: CUevent);
    cuGraphExecEventRecordNodeSetEvent(exec: Handle, node: Handle, event: CUevent);
    cuGraphAddEventWaitNode(place: *mut Handle, graph: Handle, after: *const Handle, count: usize, event: CUevent);
    cuGraphEventWaitNodeGetEvent(node: Handle, place: *mut CUevent);
    cuGraphEventWaitNodeSetEvent(node: Handle, event: CUevent);
    cuGraphExecEventWaitNodeSetEvent(exec: Handle, node: Handle, event: CUevent);
    cuGraphAddMemAllocNode(place: *mut Handle, graph: Handle, after: *const Handle, count: usize, node: *mut c_void);
    cuGraphMemAllocNodeGetParams(node: Handle, place: *mut c_void);
    cuGraphAddMemFreeNode(place: *mut Handle, graph: Handle, after: *const Handle, count: usize, address: CUdeviceptr);
    cuGraphMemFreeNodeGetParams(node: Handle, place: *mut c_void);
}

/// The current context.
///
/// # Errors
/// What the driver says.
pub fn current() -> RuntimeResult<CUcontext> {
    let mut context = null_mut();
    // SAFETY: a place for the answer.
    unsafe { cuCtxGetCurrent(&raw mut context) }?;
    Ok(context)
}

/// Host functions of kernels that nodes were made of, by the driver's functions.
static HOSTS: Mutex<BTreeMap<usize, usize>> = Mutex::new(BTreeMap::new());

/// Whether this is a handle of the driver's, which tells them from other addresses.
fn is_function(function: CUfunction) -> bool {
    let mut ignored = 0;
    // SAFETY: a place for the answer.
    unsafe { cuFuncGetAttribute(&raw mut ignored, 0, function) }.is_ok()
}

/// A kernel node in the driver's form. A kernel may be named by what [`kernel_of`] gave.
///
/// # Errors
/// `cudaErrorInvalidDeviceFunction`
pub fn kernel_for_driver(node: CUDA_KERNEL_NODE_PARAMS_v1) -> RuntimeResult<CUDA_KERNEL_NODE_PARAMS_v2> {
    let found: CUfunction = match function(node.function) {
        Err(RuntimeError::INVALID_DEVICE_FUNCTION) if is_function(node.function) => node.function,
        found => found?,
    };
    if found != node.function {
        let mut hosts = HOSTS.lock().unwrap_or_else(PoisonError::into_inner);
        hosts.insert(found as usize, node.function as usize);
    }
    Ok(CUDA_KERNEL_NODE_PARAMS_v2 {
        first: CUDA_KERNEL_NODE_PARAMS_v1 { function: found, ..node },
        kernel: null_mut(),
        context: null_mut(),
    })
}

/// A kernel node as the program knows it: by its host function, or by the driver's where it has none.
pub fn kernel_of(node: CUDA_KERNEL_NODE_PARAMS_v1) -> CUDA_KERNEL_NODE_PARAMS_v1 {
    let hosts = HOSTS.lock().unwrap_or_else(PoisonError::into_inner);
    let named = hosts.get(&(node.function as usize)).map(|host| *host as *mut c_void);
    drop(hosts);
    // Of a captured launch nobody has named it.
    let host = named.or_else(|| host_of(node.function).map(<*const c_void>::cast_mut));
    CUDA_KERNEL_NODE_PARAMS_v1 { function: host.unwrap_or(node.function), ..node }
}

/// Reads a structure that the program passed.
///
/// # Safety
/// `pointer` is null or points to a value.
unsafe fn read<T: Copy>(pointer: *const T) -> RuntimeResult<T> {
    not_null(pointer)?;
    // SAFETY: not null, and the caller's promise.
    Ok(unsafe { pointer.read() })
}

api! {
    with_device cudaGraphAddKernelNode(
        place: *mut Handle, graph: Handle, after: *const Handle, count: usize, node: *const CUDA_KERNEL_NODE_PARAMS_v1,
    ) {
        let node = kernel_for_driver(read(node)?)?;
        cuGraphAddKernelNode_v2(place, graph, after, count, &raw const node)
    }
    with_device cudaGraphKernelNodeGetParams(node: Handle, place: *mut CUDA_KERNEL_NODE_PARAMS_v1) {
        let empty = CUDA_KERNEL_NODE_PARAMS_v1 {
            function: null_mut(), grid: [0; 3], block: [0; 3], dynamic_shared: 0, each: null_mut(), extra: null_mut(),
        };
        let mut found = CUDA_KERNEL_NODE_PARAMS_v2 { first: empty, kernel: null_mut(), context: null_mut() };
        cuGraphKernelNodeGetParams_v2(node, &raw mut found)?;
        write(place, kernel_of(found.first))
    }
    with_device cudaGraphKernelNodeSetParams(node: Handle, value: *const CUDA_KERNEL_NODE_PARAMS_v1) {
        let value = kernel_for_driver(read(value)?)?;
        cuGraphKernelNodeSetParams_v2(node, &raw const value)
    }
    with_device cudaGraphExecKernelNodeSetParams(exec: Handle, node: Handle, value: *const CUDA_KERNEL_NODE_PARAMS_v1) {
        let value = kernel_for_driver(read(value)?)?;
        cuGraphExecKernelNodeSetParams_v2(exec, node, &raw const value)
    }
    with_device cudaGraphKernelNodeCopyAttributes(to: Handle, from: Handle) {
        cuGraphKernelNodeCopyAttributes(to, from)
    }
    with_device cudaGraphKernelNodeGetAttribute(node: Handle, attribute: c_int, place: *mut c_void) {
        cuGraphKernelNodeGetAttribute(node, attribute, place)
    }
    with_device cudaGraphKernelNodeSetAttribute(node: Handle, attribute: c_int, value: *const c_void) {
        cuGraphKernelNodeSetAttribute(node, attribute, value)
    }
    with_device cudaGraphAddMemsetNode(
        place: *mut Handle, graph: Handle, after: *const Handle, count: usize, set: *const CUDA_MEMSET_NODE_PARAMS_v1,
    ) {
        cuGraphAddMemsetNode(place, graph, after, count, set, current()?)
    }
    with_device cudaGraphMemsetNodeGetParams(node: Handle, place: *mut CUDA_MEMSET_NODE_PARAMS_v1) { cuGraphMemsetNodeGetParams(node, place) }
    with_device cudaGraphMemsetNodeSetParams(node: Handle, set: *const CUDA_MEMSET_NODE_PARAMS_v1) { cuGraphMemsetNodeSetParams(node, set) }
    with_device cudaGraphExecMemsetNodeSetParams(exec: Handle, node: Handle, set: *const CUDA_MEMSET_NODE_PARAMS_v1) {
        cuGraphExecMemsetNodeSetParams(exec, node, set, current()?)
    }
    with_device cudaGraphAddHostNode(
        place: *mut Handle, graph: Handle, after: *const Handle, count: usize, host: *const CUDA_HOST_NODE_PARAMS_v1,
    ) {
        cuGraphAddHostNode(place, graph, after, count, host)
    }
    with_device cudaGraphHostNodeGetParams(node: Handle, place: *mut CUDA_HOST_NODE_PARAMS_v1) { cuGraphHostNodeGetParams(node, place) }
    with_device cudaGraphHostNodeSetParams(node: Handle, host: *const CUDA_HOST_NODE_PARAMS_v1) { cuGraphHostNodeSetParams(node, host) }
    with_device cudaGraphExecHostNodeSetParams(exec: Handle, node: Handle, host: *const CUDA_HOST_NODE_PARAMS_v1) {
        cuGraphExecHostNodeSetParams(exec, node, host)
    }
    with_device cudaGraphAddChildGraphNode(
        place: *mut Handle, graph: Handle, after: *const Handle, count: usize, child: Handle,
    ) {
        cuGraphAddChildGraphNode(place, graph, after, count, child)
    }
    with_device cudaGraphChildGraphNodeGetGraph(node: Handle, place: *mut Handle) {
        cuGraphChildGraphNodeGetGraph(node, place)
    }
    with_device cudaGraphExecChildGraphNodeSetParams(exec: Handle, node: Handle, child: Handle) {
        cuGraphExecChildGraphNodeSetParams(exec, node, child)
    }
    with_device cudaGraphAddEmptyNode(place: *mut Handle, graph: Handle, after: *const Handle, count: usize) {
        cuGraphAddEmptyNode(place, graph, after, count)
    }
    with_device cudaGraphAddEventRecordNode(
        place: *mut Handle, graph: Handle, after: *const Handle, count: usize, event: CUevent,
    ) {
        cuGraphAddEventRecordNode(place, graph, after, count, event)
    }
    with_device cudaGraphEventRecordNodeGetEvent(node: Handle, place: *mut CUevent) {
        cuGraphEventRecordNodeGetEvent(node, place)
    }
    with_device cudaGraphEventRecordNodeSetEvent(node: Handle, event: CUevent) {
        cuGraphEventRecordNodeSetEvent(node, event)
    }
    with_device cudaGraphExecEventRecordNodeSetEvent(exec: Handle, node: Handle, event: CUevent) {
        cuGraphExecEventRecordNodeSetEvent(exec, node, event)
    }
    with_device cudaGraphAddEventWaitNode(
        place: *mut Handle, graph: Handle, after: *const Handle, count: usize, event: CUevent,
    ) {
        cuGraphAddEventWaitNode(place, graph, after, count, event)
    }
    with_device cudaGraphEventWaitNodeGetEvent(node: Handle, place: *mut CUevent) {
        cuGraphEventWaitNodeGetEvent(node, place)
    }
    with_device cudaGraphEventWaitNodeSetEvent(node: Handle, event: CUevent) {
        cuGraphEventWaitNodeSetEvent(node, event)
    }
    with_device cudaGraphExecEventWaitNodeSetEvent(exec: Handle, node: Handle, event: CUevent) {
        cuGraphExecEventWaitNodeSetEvent(exec, node, event)
    }
    with_device cudaGraphAddMemAllocNode(
        place: *mut Handle, graph: Handle, after: *const Handle, count: usize, node: *mut c_void,
    ) {
        cuGraphAddMemAllocNode(place, graph, after, count, node)
    }
    with_device cudaGraphMemAllocNodeGetParams(node: Handle, place: *mut c_void) {
        cuGraphMemAllocNodeGetParams(node, place)
    }
    with_device cudaGraphAddMemFreeNode(
        place: *mut Handle, graph: Handle, after: *const Handle, count: usize, memory: *mut c_void,
    ) {
        cuGraphAddMemFreeNode(place, graph, after, count, memory as CUdeviceptr)
    }
    with_device cudaGraphMemFreeNodeGetParams(node: Handle, place: *mut c_void) {
        cuGraphMemFreeNodeGetParams(node, place)
    }
}
