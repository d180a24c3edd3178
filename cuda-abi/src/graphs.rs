//! What nodes of graphs are told to do, and executable graphs.

#![allow(missing_docs, reason = "the names and meanings are cuda.h's own")]

use std::ffi::{c_int, c_uint, c_ulonglong, c_void};

use crate::copies::CUDA_MEMCPY3D;
use crate::handles::{
    CUcontext, CUdeviceptr, CUevent, CUfunction, CUgraph, CUgraphNode, CUhostFn, CUkernel, CUstream,
};
use crate::memory::{CUmemAccessDesc, CUmemPoolProps};

/// `CUDA_KERNEL_NODE_PARAMS_v1`, and the runtime's `cudaKernelNodeParams`, which names a kernel by its host function.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CUDA_KERNEL_NODE_PARAMS_v1 {
    pub function: CUfunction,
    pub grid: [c_uint; 3],
    pub block: [c_uint; 3],
    pub dynamic_shared: c_uint,
    pub each: *const *const c_void,
    pub extra: *const *mut c_void,
}

#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CUDA_KERNEL_NODE_PARAMS_v2 {
    pub first: CUDA_KERNEL_NODE_PARAMS_v1,
    pub kernel: CUkernel,
    pub context: CUcontext,
}

/// `CUDA_MEMSET_NODE_PARAMS_v1`, and the runtime's `cudaMemsetParams`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CUDA_MEMSET_NODE_PARAMS_v1 {
    pub to: CUdeviceptr,
    pub pitch: usize,
    pub value: c_uint,
    pub item: c_uint,
    pub width: usize,
    pub height: usize,
}

#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CUDA_MEMSET_NODE_PARAMS_v2 {
    pub first: CUDA_MEMSET_NODE_PARAMS_v1,
    pub context: CUcontext,
}

/// `CUDA_HOST_NODE_PARAMS_v1`, and the runtime's `cudaHostNodeParams`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CUDA_HOST_NODE_PARAMS_v1 {
    pub function: CUhostFn,
    pub data: *mut c_void,
}

#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CUDA_MEMCPY_NODE_PARAMS {
    pub flags: c_int,
    pub reserved: c_int,
    pub context: CUcontext,
    pub copy: CUDA_MEMCPY3D,
}

#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CUDA_MEM_ALLOC_NODE_PARAMS {
    pub pool: CUmemPoolProps,
    pub access: *const CUmemAccessDesc,
    pub count: usize,
    pub bytes: usize,
    pub address: CUdeviceptr,
}

#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CUDA_CONDITIONAL_NODE_PARAMS {
    pub handle: c_ulonglong,
    pub kind: c_uint,
    pub size: c_uint,
    pub graphs: *const CUgraph,
    pub context: CUcontext,
}

/// The union in [`CUgraphNodeParams`].
#[derive(Clone, Copy)]
#[repr(C)]
pub union AnyNodeParams {
    pub kernel: CUDA_KERNEL_NODE_PARAMS_v2,
    pub copy: CUDA_MEMCPY_NODE_PARAMS,
    pub fill: CUDA_MEMSET_NODE_PARAMS_v2,
    pub host: CUDA_HOST_NODE_PARAMS_v1,
    pub graph: CUgraph,
    pub event: CUevent,
    pub allocation: CUDA_MEM_ALLOC_NODE_PARAMS,
    pub address: CUdeviceptr,
    pub branch: CUDA_CONDITIONAL_NODE_PARAMS,
    /// All of it.
    pub words: [u64; 29],
}

/// A node of any kind; the runtime's `cudaGraphNodeParams` is laid out alike, but for some of the descriptions.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct CUgraphNodeParams {
    pub kind: c_uint,
    pub reserved: [c_int; 3],
    pub value: AnyNodeParams,
    pub rest: i64,
}

#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CUDA_GRAPH_INSTANTIATE_PARAMS {
    pub flags: c_ulonglong,
    pub stream: CUstream,
    pub failed: CUgraphNode,
    pub result: c_uint,
}

#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CUgraphExecUpdateResultInfo {
    pub result: c_uint,
    pub node: CUgraphNode,
    pub from: CUgraphNode,
}
