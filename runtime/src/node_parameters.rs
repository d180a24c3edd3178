//! `cudaGraphNodeParams`, which describes a node of any kind, and the driver's `CUgraphNodeParams`.
//!
//! Both are a kind and room for the largest description. Kernels, copies, fills and conditional nodes
//! are described differently, the others alike.

use std::ffi::{c_int, c_void};
use std::ptr::null;

use crate::api::api;
use crate::copy3d::described;
use crate::driver::{CUcontext, driver};
use crate::error::Outcome;
use crate::node::{Kernel, Memset, current, kernel_for_driver};
use crate::types::{DriverCopy3D, Handle, Memcpy3D, not_null};

/// `cudaGraphNodeParams` and `CUgraphNodeParams`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Parameters {
    kind: c_int,
    reserved: [c_int; 3],
    description: [u64; 29],
    reserved_too: u64,
}

/// `cudaMemcpyNodeParams`
#[repr(C)]
#[derive(Clone, Copy)]
struct Copy {
    flags: c_int,
    reserved: [c_int; 3],
    copy: Memcpy3D,
}

/// The driver's `CUDA_MEMCPY_NODE_PARAMS`.
#[repr(C)]
struct DriverCopy {
    flags: c_int,
    reserved: c_int,
    context: CUcontext,
    copy: DriverCopy3D,
}

/// The driver's `CUDA_MEMSET_NODE_PARAMS_v2`.
#[repr(C)]
struct DriverMemset {
    set: Memset,
    context: CUcontext,
}

driver! {
    cuGraphAddNode_v2(place: *mut Handle, graph: Handle, after: *const Handle, data: *const c_void, count: usize, parameters: *mut Parameters);
    cuGraphNodeSetParams(node: Handle, parameters: *mut Parameters);
    cuGraphExecNodeSetParams(exec: Handle, node: Handle, parameters: *mut Parameters);
}

/// Kinds (`cudaGraphNodeType`) whose descriptions differ, and those that give answers.
const KERNEL: c_int = 0;
const COPY: c_int = 1;
const MEMSET: c_int = 2;
const ALLOCATION: c_int = 10;
const CONDITIONAL: c_int = 13;

/// Words in which the driver answers: an allocation's address, a conditional node's graphs.
const ALLOCATED: usize = 14;
const GRAPHS: usize = 2;
/// Word of a conditional node's description in which the driver wants the context.
const CONDITIONAL_CONTEXT: usize = 3;

impl Parameters {
    /// The description as a value of its kind's type.
    ///
    /// # Safety
    /// The kind is that type's, which any bit patterns of the program's make up.
    unsafe fn get<T: std::marker::Copy>(&self) -> T {
        const { assert!(size_of::<T>() <= 29 * 8) };
        // SAFETY: there is room for the type, as is asserted, in words; the caller's promise.
        unsafe { self.description.as_ptr().cast::<T>().read() }
    }

    /// Replaces the description.
    fn put<T>(&mut self, value: T) {
        const { assert!(size_of::<T>() <= 29 * 8) };
        // SAFETY: there is room for the type, as is asserted, in words.
        unsafe { self.description.as_mut_ptr().cast::<T>().write(value) };
    }
}

/// What the program described, in the driver's form.
///
/// # Safety
/// `parameters` is null or points to a description that is valid for its kind.
unsafe fn for_driver(parameters: *const Parameters) -> Outcome<Parameters> {
    not_null(parameters)?;
    // SAFETY: not null, and the caller's promise; for the types, the kinds'.
    unsafe {
        let mut converted = *parameters;
        match converted.kind {
            KERNEL => converted.put(kernel_for_driver(converted.get::<Kernel>())?),
            COPY => {
                let Copy { flags, copy, .. } = converted.get();
                let copy = described(&raw const copy)?;
                converted.put(DriverCopy { flags, reserved: 0, context: current()?, copy });
            }
            MEMSET => {
                let set = converted.get();
                converted.put(DriverMemset { set, context: current()? });
            }
            CONDITIONAL => converted.description[CONDITIONAL_CONTEXT] = current()? as u64,
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
    parameters: *mut Parameters,
) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe {
        let mut converted = for_driver(parameters)?;
        cuGraphAddNode_v2(place, graph, after, data, count, &raw mut converted)?;
        match converted.kind {
            ALLOCATION => (*parameters).description[ALLOCATED] = converted.description[ALLOCATED],
            CONDITIONAL => (*parameters).description[GRAPHS] = converted.description[GRAPHS],
            _ => {}
        }
    }
    Ok(())
}

api! {
    with_device cudaGraphAddNode(
        place: *mut Handle, graph: Handle, after: *const Handle, data: *const c_void, count: usize,
        parameters: *mut Parameters,
    ) {
        add(place, graph, (after, data, count), parameters)
    }
    /// CUDA 12's form without data of edges.
    with_device cudaGraphAddNode_v12(
        place: *mut Handle, graph: Handle, after: *const Handle, count: usize, parameters: *mut Parameters,
    ) {
        add(place, graph, (after, null(), count), parameters)
    }
    with_device cudaGraphNodeSetParams(node: Handle, parameters: *mut Parameters) {
        let mut converted = for_driver(parameters)?;
        cuGraphNodeSetParams(node, &raw mut converted)
    }
    with_device cudaGraphExecNodeSetParams(exec: Handle, node: Handle, parameters: *mut Parameters) {
        let mut converted = for_driver(parameters)?;
        cuGraphExecNodeSetParams(exec, node, &raw mut converted)
    }
}
