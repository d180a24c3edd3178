//! What nodes are told to do, in the API's words: `CUDA_…_NODE_PARAMS` (CUDA 13.0's `cuda.h`).

use std::ffi::c_int;
use std::rc::Rc;

use bugaroo_cuda_abi::{
    CUDA_HOST_NODE_PARAMS_v1, CUDA_KERNEL_NODE_PARAMS_v1, CUDA_KERNEL_NODE_PARAMS_v2,
    CUDA_MEMCPY_NODE_PARAMS, CUDA_MEMCPY3D, CUDA_MEMSET_NODE_PARAMS_v1, CUcontext, CUdeviceptr, CUevent,
    CUgraph, CUgraphNodeParams,
};

use crate::api::graph::{condition, memory};
use bugaroo_device::error::{CallResult, Status};
use bugaroo_device::launch::Parameters;
use bugaroo_device::objects::fill::Fill;
use bugaroo_device::objects::work::{BlocksTogether, NodeBody, Work};
use bugaroo_device::places::{not_null, read};
use bugaroo_device::state::Gpu;

/// A kernel.
///
/// # Safety
/// `kernel` is null or as the API has it.
pub unsafe fn kernel(
    gpu: &Gpu,
    kernel: *const CUDA_KERNEL_NODE_PARAMS_v1,
    together: BlocksTogether,
) -> CallResult<NodeBody> {
    // SAFETY: the caller's promise, for both.
    unsafe {
        let CUDA_KERNEL_NODE_PARAMS_v1 { function, grid, block, dynamic_shared, each, extra } = read(kernel)?;
        let shape = (grid, block, dynamic_shared);
        let request = gpu.request(function, shape, together, Parameters { each, extra })?;
        Ok(NodeBody::Work(Work::Kernel(Rc::new(request), 0)))
    }
}

/// A kernel.
///
/// # Safety
/// As [`kernel`].
pub unsafe fn kernel_v2(
    gpu: &Gpu,
    params: *const CUDA_KERNEL_NODE_PARAMS_v2,
    together: BlocksTogether,
) -> CallResult<NodeBody> {
    // SAFETY: the caller's promise, for both.
    unsafe {
        let CUDA_KERNEL_NODE_PARAMS_v2 { mut first, kernel: other, .. } = read(params)?;
        if first.function.is_null() {
            first.function = other;
        }
        kernel(gpu, &first, together)
    }
}

/// A copy.
///
/// # Safety
/// `copy` is null or points to a description whose host sides hold what is copied, whenever that is.
pub unsafe fn copy(gpu: &Gpu, copy: *const CUDA_MEMCPY3D) -> CallResult<NodeBody> {
    // SAFETY: the caller's promise.
    let copy = unsafe { read(copy) }?;
    let transfer = crate::api::copy3d::describe(gpu, &copy)?;
    transfer.check(gpu)?;
    Ok(NodeBody::Work(Work::Copy(transfer)))
}

/// A fill.
///
/// # Safety
/// `fill` is null or as the API has it.
pub unsafe fn fill(gpu: &Gpu, fill: *const CUDA_MEMSET_NODE_PARAMS_v1) -> CallResult<NodeBody> {
    // SAFETY: the caller's promise.
    let CUDA_MEMSET_NODE_PARAMS_v1 { to, pitch, value, item, width, height } = unsafe { read(fill) }?;
    if !matches!(item, 1 | 2 | 4) {
        return Err(Status::InvalidValue);
    }
    let fill = Fill { to, pattern: value.to_le_bytes(), item: item as usize, width, height, pitch };
    fill.check(gpu)?;
    Ok(NodeBody::Work(Work::Fill(fill)))
}

/// A call of a function of the program.
///
/// # Safety
/// `host` is null or as the API has it; the function may be called with its argument.
pub unsafe fn host(host: *const CUDA_HOST_NODE_PARAMS_v1) -> CallResult<NodeBody> {
    // SAFETY: the caller's promise.
    let CUDA_HOST_NODE_PARAMS_v1 { function, data } = unsafe { read(host) }?;
    function.ok_or(Status::InvalidValue)?;
    Ok(NodeBody::Work(Work::Call(function, data)))
}

/// `CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE`
const GRAPH_IS_MOVED: c_int = 1;

/// A node of any kind.
///
/// # Safety
/// `node` is null or as the API has it.
pub unsafe fn any(gpu: &mut Gpu, context: CUcontext, node: *mut CUgraphNodeParams) -> CallResult<NodeBody> {
    not_null(node)?;
    // SAFETY: not null; the kind says which form the union has, and the caller vouches for the rest.
    unsafe {
        let value = &raw mut (*node).value;
        match (&raw const (*node).kind).read_unaligned() {
            0 => kernel_v2(gpu, value.cast(), BlocksTogether::default()),
            1 => copy(gpu, &raw const (*value.cast::<CUDA_MEMCPY_NODE_PARAMS>()).copy),
            2 => fill(gpu, value.cast()),
            3 => host(value.cast()),
            4 => {
                let graphs = &mut gpu.ordered.graphs;
                let child = value.cast::<CUgraph>().read_unaligned();
                let child = match value.byte_add(size_of::<CUgraph>()).cast::<c_int>().read_unaligned() {
                    GRAPH_IS_MOVED => graphs.take_over(child)?,
                    _ => graphs.copy(child, true)?,
                };
                value.cast::<CUgraph>().write_unaligned(child);
                Ok(NodeBody::Child(child))
            }
            5 => Ok(NodeBody::Work(Work::Nothing)),
            6 => {
                let event = value.cast::<CUevent>().read_unaligned();
                gpu.ordered.events.get(event).map(|_| NodeBody::Wait(event))
            }
            7 => {
                let event = value.cast::<CUevent>().read_unaligned();
                gpu.ordered.events.get(event).map(|_| NodeBody::Work(Work::Record(event)))
            }
            10 => memory::allocation(gpu, context, value.cast()),
            11 => gpu
                .ordered
                .graphs
                .memory
                .get(value.cast::<CUdeviceptr>().read_unaligned())
                .map(NodeBody::Free),
            13 => condition::branch(gpu, value.cast()),
            8 | 9 | 12 => {
                let what = "cuGraphAddNode: nodes for semaphores and batches are not supported";
                Err(gpu.trial.report.unsupported(what))
            }
            _ => Err(Status::InvalidValue),
        }
    }
}
