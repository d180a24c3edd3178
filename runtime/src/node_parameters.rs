//! `cudaGraphNodeParams`, which describes a node of any kind, and the driver's `CUgraphNodeParams`.
//!
//! Both are a kind and room for the largest description. Kernels, copies, fills and conditional nodes
//! are described differently, the others alike.

use std::ffi::{c_int, c_uint, c_void};
use std::ptr::null;

use bugaroo_cuda_abi::{
    AnyNodeParams, CUDA_KERNEL_NODE_PARAMS_v1, CUDA_MEMCPY_NODE_PARAMS, CUDA_MEMSET_NODE_PARAMS_v2,
    CUgraphNodeParams,
};

use crate::api::api;
use crate::copy3d::described;
use crate::driver::driver;
use crate::error::RuntimeResult;
use crate::node::{current, kernel_for_driver};
use crate::types::{Handle, Memcpy3D, not_null};

/// `cudaMemcpyNodeParams`
#[repr(C)]
#[derive(Clone, Copy)]
struct Copy {
    flags: c_int,
    reserved: [c_int; 3],
    copy: Memcpy3D,
}

driver! {
    cuGraphAddNode_v2(place: *mut Handle, graph: Handle, after: *const Handle, data: *const c_void, count: usize, parameters: *mut CUgraphNodeParams);
    cuGraphNodeSetParams(node: Handle, parameters: *mut CUgraphNodeParams);
    cuGraphExecNodeSetParams(exec: Handle, node: Handle, parameters: *mut CUgraphNodeParams);
}

/// Kinds (`cudaGraphNodeType`) whose descriptions differ, and those that give answers.
const KERNEL: c_uint = 0;
const COPY: c_uint = 1;
const MEMSET: c_uint = 2;
const ALLOCATION: c_uint = 10;
const CONDITIONAL: c_uint = 13;

/// Words in which the driver answers: an allocation's address, a conditional node's graphs.
const ALLOCATED: usize = 14;
const GRAPHS: usize = 2;
/// Word of a conditional node's description in which the driver wants the context.
const CONDITIONAL_CONTEXT: usize = 3;

/// A description as a value of its kind's type.
///
/// # Safety
/// The kind is that type's, which any bit patterns of the program's make up.
unsafe fn get<T: std::marker::Copy>(parameters: &CUgraphNodeParams) -> T {
    const { assert!(size_of::<T>() <= size_of::<AnyNodeParams>()) };
    // SAFETY: there is room for the type, as is asserted, in words; the caller's promise.
    unsafe { (&raw const parameters.value).cast::<T>().read() }
}

/// Replaces a description.
fn put<T>(parameters: &mut CUgraphNodeParams, value: T) {
    const { assert!(size_of::<T>() <= size_of::<AnyNodeParams>()) };
    // SAFETY: there is room for the type, as is asserted, in words.
    unsafe { (&raw mut parameters.value).cast::<T>().write(value) };
}

/// What the program described, in the driver's form.
///
/// # Safety
/// `parameters` is null or points to a description that is valid for its kind.
unsafe fn for_driver(parameters: *const CUgraphNodeParams) -> RuntimeResult<CUgraphNodeParams> {
    not_null(parameters)?;
    // SAFETY: not null, and the caller's promise; for the types, the kinds'.
    unsafe {
        let mut converted = *parameters;
        match converted.kind {
            KERNEL => {
                let kernel = kernel_for_driver(get::<CUDA_KERNEL_NODE_PARAMS_v1>(&converted))?;
                put(&mut converted, kernel);
            }
            COPY => {
                let Copy { flags, copy, .. } = get(&converted);
                let copy = described(&raw const copy)?;
                put(
                    &mut converted,
                    CUDA_MEMCPY_NODE_PARAMS { flags, reserved: 0, context: current()?, copy },
                );
            }
            MEMSET => {
                let first = get(&converted);
                put(&mut converted, CUDA_MEMSET_NODE_PARAMS_v2 { first, context: current()? });
            }
            CONDITIONAL => converted.value.words[CONDITIONAL_CONTEXT] = current()? as u64,
            _ => {}
        }
        Ok(converted)
    }
}

/// Adds a node, and tells the program what the driver answers in the parameters.
///
/// # Safety
/// As for `cuGraphAddNode`; the parameters as for [`for_driver`], and they may be written.
unsafe fn add(
    place: *mut Handle,
    graph: Handle,
    (after, data, count): (*const Handle, *const c_void, usize),
    parameters: *mut CUgraphNodeParams,
) -> RuntimeResult {
    // SAFETY: the caller's promise.
    unsafe {
        let mut converted = for_driver(parameters)?;
        cuGraphAddNode_v2(place, graph, after, data, count, &raw mut converted)?;
        match converted.kind {
            ALLOCATION => (*parameters).value.words[ALLOCATED] = converted.value.words[ALLOCATED],
            CONDITIONAL => (*parameters).value.words[GRAPHS] = converted.value.words[GRAPHS],
            _ => {}
        }
    }
    Ok(())
}

api! {
    with_device cudaGraphAddNode(
        place: *mut Handle, graph: Handle, after: *const Handle, data: *const c_void, count: usize,
        parameters: *mut CUgraphNodeParams,
    ) {
        add(place, graph, (after, data, count), parameters)
    }
    /// CUDA 12's form without data of edges.
    with_device cudaGraphAddNode_v12(
        place: *mut Handle, graph: Handle, after: *const Handle, count: usize, parameters: *mut CUgraphNodeParams,
    ) {
        add(place, graph, (after, null(), count), parameters)
    }
    with_device cudaGraphNodeSetParams(node: Handle, parameters: *mut CUgraphNodeParams) {
        let mut converted = for_driver(parameters)?;
        cuGraphNodeSetParams(node, &raw mut converted)
    }
    with_device cudaGraphExecNodeSetParams(exec: Handle, node: Handle, parameters: *mut CUgraphNodeParams) {
        let mut converted = for_driver(parameters)?;
        cuGraphExecNodeSetParams(exec, node, &raw mut converted)
    }
}
