//! Asking nodes what they do, and giving them something else to do of the same kind.

use std::ffi::{c_uint, c_void};
use std::rc::Rc;

use bugaroo_cuda_abi::{
    CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_HOST, CUDA_HOST_NODE_PARAMS_v1, CUDA_KERNEL_NODE_PARAMS_v1,
    CUDA_KERNEL_NODE_PARAMS_v2, CUDA_MEMCPY3D, CUDA_MEMSET_NODE_PARAMS_v1, CUcontext, CUevent, CUgraphNode,
    CUgraphNodeParams, CUlaunchAttributeValue, Operand3D,
};

use crate::api::entry::{with_context, with_gpu};
use crate::api::graph::params::{any, copy, fill, host, kernel, kernel_v2};
use bugaroo_device::error::{CallResult, Status};
use bugaroo_device::objects::fill::Fill;
use bugaroo_device::objects::transfer::{CopyPlace, CopySide};
use bugaroo_device::objects::work::{BlocksTogether, LaunchRequest, NodeBody, Work};
use bugaroo_device::places::{read, write};
use bugaroo_device::state::Gpu;

/// How the blocks of a node's kernel belong together; a node that is no kernel has nothing set.
fn together(body: &NodeBody) -> BlocksTogether {
    match body {
        NodeBody::Work(Work::Kernel(request, _)) => request.together,
        _ => BlocksTogether::default(),
    }
}

/// Gives a node something else to do, of the same kind.
pub fn replace(gpu: &mut Gpu, node: CUgraphNode, body: NodeBody) -> CallResult {
    let node = gpu.ordered.graphs.nodes.get_mut(node)?;
    // Memory and conditions stay what they were made as.
    if node.body.kind() != body.kind() || matches!(body.kind(), 10 | 11 | 13) {
        return Err(Status::InvalidValue);
    }
    let old = std::mem::replace(&mut node.body, body);
    node.pointers.clear();
    let mut dying = std::mem::take(&mut gpu.ordered.graphs.dying);
    gpu.ordered.graphs.remove_owned(&old, &mut dying);
    gpu.ordered.graphs.dying = dying;
    Ok(())
}

/// How the blocks of a node's kernel belong together.
fn node_together(gpu: &Gpu, node: CUgraphNode) -> CallResult<BlocksTogether> {
    Ok(together(&gpu.ordered.graphs.nodes.get(node)?.body))
}

/// What a kernel node does, with pointers to its parameters' values that stay while the node does.
fn kernel_params(gpu: &mut Gpu, handle: CUgraphNode) -> CallResult<CUDA_KERNEL_NODE_PARAMS_v1> {
    let NodeBody::Work(Work::Kernel(request, _)) = gpu.ordered.graphs.nodes.get(handle)?.body.clone() else {
        return Err(Status::InvalidValue);
    };
    let values = request.parameters.as_ptr();
    let (_, info) = gpu.kernel(request.function)?;
    let pointer = |offset: u32| values.wrapping_add(offset as usize).cast_mut().cast::<c_void>();
    let pointers = info.params.iter().map(|parameter| pointer(parameter.offset)).collect();
    let node = gpu.ordered.graphs.nodes.get_mut(handle)?;
    node.pointers = pointers;
    let each = node.pointers.as_ptr().cast::<*const c_void>();
    let LaunchRequest { function, grid, block, dynamic_shared, .. } = *request;
    Ok(CUDA_KERNEL_NODE_PARAMS_v1 { function, grid, block, dynamic_shared, each, extra: std::ptr::null() })
}

/// What a kernel node does. The parameters' values stay while the node does the same.
///
/// # Safety
/// `place` is null or points to a place for it.
pub unsafe extern "C" fn cuGraphKernelNodeGetParams(
    node: CUgraphNode,
    place: *mut CUDA_KERNEL_NODE_PARAMS_v1,
) -> Status {
    with_gpu("cuGraphKernelNodeGetParams", |gpu| {
        let params = kernel_params(gpu, node)?;
        // SAFETY: the caller's promise.
        unsafe { write(place, params) }
    })
}

/// As [`cuGraphKernelNodeGetParams`].
///
/// # Safety
/// As there.
pub unsafe extern "C" fn cuGraphKernelNodeGetParams_v2(
    node: CUgraphNode,
    place: *mut CUDA_KERNEL_NODE_PARAMS_v2,
) -> Status {
    with_gpu("cuGraphKernelNodeGetParams_v2", |gpu| {
        let first = kernel_params(gpu, node)?;
        let (function, null) = (first.function, std::ptr::null_mut());
        let (_, module) = gpu.function(function)?;
        // The kernel of a library is told as such, too: NVIDIA's runtime knows it by that alone.
        let kernel = if module.context.is_none() { function } else { null };
        // SAFETY: the caller's promise.
        unsafe { write(place, CUDA_KERNEL_NODE_PARAMS_v2 { first, kernel, context: null }) }
    })
}

/// What a copy node does.
///
/// # Safety
/// `place` is null or points to a place for it.
pub unsafe extern "C" fn cuGraphMemcpyNodeGetParams(node: CUgraphNode, place: *mut CUDA_MEMCPY3D) -> Status {
    with_gpu("cuGraphMemcpyNodeGetParams", |gpu| {
        let NodeBody::Work(Work::Copy(copy)) = &gpu.ordered.graphs.nodes.get(node)?.body else {
            return Err(Status::InvalidValue);
        };
        let side = |side: &CopySide| {
            let (memory_type, host, device) = match side.start {
                CopyPlace::Host(host) => (CU_MEMORYTYPE_HOST, host, 0),
                CopyPlace::Device(device) => (CU_MEMORYTYPE_DEVICE, std::ptr::null_mut(), device),
            };
            let height = side.slice.checked_div(side.pitch).unwrap_or(0);
            Operand3D {
                x_in_bytes: 0,
                y: 0,
                z: 0,
                lod: 0,
                memory_type,
                host,
                device,
                array: std::ptr::null_mut(),
                context: std::ptr::null_mut(),
                pitch: side.pitch,
                height,
            }
        };
        let (width, height, depth) = (copy.width, copy.height, copy.depth);
        let (src, dst) = (side(&copy.from), side(&copy.to));
        // SAFETY: the caller's promise.
        unsafe { write(place, CUDA_MEMCPY3D { src, dst, width_in_bytes: width, height, depth }) }
    })
}

/// What a fill node does.
///
/// # Safety
/// `place` is null or points to a place for it.
pub unsafe extern "C" fn cuGraphMemsetNodeGetParams(
    node: CUgraphNode,
    place: *mut CUDA_MEMSET_NODE_PARAMS_v1,
) -> Status {
    with_gpu("cuGraphMemsetNodeGetParams", |gpu| {
        let NodeBody::Work(Work::Fill(fill)) = &gpu.ordered.graphs.nodes.get(node)?.body else {
            return Err(Status::InvalidValue);
        };
        let Fill { to, pattern, item, width, height, pitch } = *fill;
        let value = c_uint::from_le_bytes(pattern);
        let params = CUDA_MEMSET_NODE_PARAMS_v1 { to, pitch, value, item: item as c_uint, width, height };
        // SAFETY: the caller's promise.
        unsafe { write(place, params) }
    })
}

/// What a host node does.
///
/// # Safety
/// `place` is null or points to a place for it.
pub unsafe extern "C" fn cuGraphHostNodeGetParams(
    node: CUgraphNode,
    place: *mut CUDA_HOST_NODE_PARAMS_v1,
) -> Status {
    with_gpu("cuGraphHostNodeGetParams", |gpu| {
        let NodeBody::Work(Work::Call(function, data)) = gpu.ordered.graphs.nodes.get(node)?.body else {
            return Err(Status::InvalidValue);
        };
        // SAFETY: the caller's promise.
        unsafe { write(place, CUDA_HOST_NODE_PARAMS_v1 { function, data }) }
    })
}

/// The event that a node records.
///
/// # Safety
/// `place` is null or points to a place for a handle.
pub unsafe extern "C" fn cuGraphEventRecordNodeGetEvent(node: CUgraphNode, place: *mut CUevent) -> Status {
    with_gpu("cuGraphEventRecordNodeGetEvent", |gpu| {
        let NodeBody::Work(Work::Record(event)) = gpu.ordered.graphs.nodes.get(node)?.body else {
            return Err(Status::InvalidValue);
        };
        // SAFETY: the caller's promise.
        unsafe { write(place, event) }
    })
}

/// The event that a node waits for.
///
/// # Safety
/// `place` is null or points to a place for a handle.
pub unsafe extern "C" fn cuGraphEventWaitNodeGetEvent(node: CUgraphNode, place: *mut CUevent) -> Status {
    with_gpu("cuGraphEventWaitNodeGetEvent", |gpu| {
        let NodeBody::Wait(event) = gpu.ordered.graphs.nodes.get(node)?.body else {
            return Err(Status::InvalidValue);
        };
        // SAFETY: the caller's promise.
        unsafe { write(place, event) }
    })
}

/// What a node is to do, made from parameters of some kind.
macro_rules! setting {
    ($(#[$doc:meta] $set:ident $set_exec:ident($argument:ident: $type:ty)
        = |$gpu:ident, $node:ident, $context:ident| $body:expr;)*) => {$(
        #[$doc]
        ///
        /// # Safety
        /// The parameters are null or as `cuda.h` has them.
        #[allow(unused_unsafe, reason = "some forms are safe")]
        pub unsafe extern "C" fn $set($node: CUgraphNode, $argument: $type) -> Status {
            with_context(stringify!($set), |$gpu, $context| {
                // SAFETY: the caller's promise.
                let body = unsafe { $body }?;
                replace($gpu, $node, body)
            })
        }

        #[$doc]
        /// This for an executable graph alone.
        ///
        /// # Safety
        /// The parameters are null or as `cuda.h` has them.
        #[allow(unused_unsafe, reason = "some forms are safe")]
        pub unsafe extern "C" fn $set_exec(
            exec: *mut c_void,
            $node: CUgraphNode,
            $argument: $type,
        ) -> Status {
            with_context(stringify!($set_exec), |$gpu, $context| {
                // SAFETY: the caller's promise.
                let body = unsafe { $body }?;
                $gpu.replace_in_exec(exec, $node, body)
            })
        }
    )*};
}

setting! {
    /// Sets what a kernel node does.
    cuGraphKernelNodeSetParams cuGraphExecKernelNodeSetParams(params: *const CUDA_KERNEL_NODE_PARAMS_v1)
        = |gpu, node, _context| kernel(gpu, params, node_together(gpu, node)?);
    /// Sets what a kernel node does.
    cuGraphKernelNodeSetParams_v2 cuGraphExecKernelNodeSetParams_v2(params: *const CUDA_KERNEL_NODE_PARAMS_v2)
        = |gpu, node, _context| kernel_v2(gpu, params, node_together(gpu, node)?);
    /// Sets what a host node does.
    cuGraphHostNodeSetParams cuGraphExecHostNodeSetParams(params: *const CUDA_HOST_NODE_PARAMS_v1)
        = |gpu, node, _context| host(params);
    /// Sets the event that a node records.
    cuGraphEventRecordNodeSetEvent cuGraphExecEventRecordNodeSetEvent(event: CUevent)
        = |gpu, node, _context| gpu.ordered.events.get(event).map(|_| NodeBody::Work(Work::Record(event)));
    /// Sets the event that a node waits for.
    cuGraphEventWaitNodeSetEvent cuGraphExecEventWaitNodeSetEvent(event: CUevent)
        = |gpu, node, _context| gpu.ordered.events.get(event).map(|_| NodeBody::Wait(event));
    /// Sets what a node does.
    cuGraphNodeSetParams cuGraphExecNodeSetParams(params: *mut CUgraphNodeParams)
        = |gpu, node, context| any(gpu, context, params);
}

/// Sets what a copy node does.
///
/// # Safety
/// `params` is null or as `cuda.h` has it.
pub unsafe extern "C" fn cuGraphMemcpyNodeSetParams(
    node: CUgraphNode,
    params: *const CUDA_MEMCPY3D,
) -> Status {
    with_context("cuGraphMemcpyNodeSetParams", |gpu, _| {
        // SAFETY: the caller's promise.
        let body = unsafe { copy(gpu, params) }?;
        replace(gpu, node, body)
    })
}

/// Sets what a copy node of an executable graph does.
///
/// # Safety
/// `params` is null or as `cuda.h` has it.
pub unsafe extern "C" fn cuGraphExecMemcpyNodeSetParams(
    exec: *mut c_void,
    node: CUgraphNode,
    params: *const CUDA_MEMCPY3D,
    _context: CUcontext,
) -> Status {
    with_context("cuGraphExecMemcpyNodeSetParams", |gpu, _| {
        // SAFETY: the caller's promise.
        let body = unsafe { copy(gpu, params) }?;
        gpu.replace_in_exec(exec, node, body)
    })
}

/// Sets what a fill node does.
///
/// # Safety
/// `params` is null or as `cuda.h` has it.
pub unsafe extern "C" fn cuGraphMemsetNodeSetParams(
    node: CUgraphNode,
    params: *const CUDA_MEMSET_NODE_PARAMS_v1,
) -> Status {
    with_context("cuGraphMemsetNodeSetParams", |gpu, _| {
        // SAFETY: the caller's promise.
        let body = unsafe { fill(gpu, params) }?;
        replace(gpu, node, body)
    })
}

/// Sets what a fill node of an executable graph does.
///
/// # Safety
/// `params` is null or as `cuda.h` has it.
pub unsafe extern "C" fn cuGraphExecMemsetNodeSetParams(
    exec: *mut c_void,
    node: CUgraphNode,
    params: *const CUDA_MEMSET_NODE_PARAMS_v1,
    _context: CUcontext,
) -> Status {
    with_context("cuGraphExecMemsetNodeSetParams", |gpu, _| {
        // SAFETY: the caller's promise.
        let body = unsafe { fill(gpu, params) }?;
        gpu.replace_in_exec(exec, node, body)
    })
}

/// An attribute of a kernel node: whether it is cooperative, and its clusters; the others advise, and are nothing.
///
/// # Safety
/// `place` is null or points to a place for a value.
pub unsafe extern "C" fn cuGraphKernelNodeGetAttribute(
    node: CUgraphNode,
    attribute: c_uint,
    place: *mut CUlaunchAttributeValue,
) -> Status {
    with_gpu("cuGraphKernelNodeGetAttribute", |gpu| {
        let mut bytes = [0; 64];
        let together = node_together(gpu, node)?;
        match attribute {
            2 => bytes[0] = u8::from(together.cooperative),
            4 => {
                let extents = together.cluster.unwrap_or_default();
                for (place, extent) in bytes.chunks_exact_mut(4).zip(extents) {
                    place.copy_from_slice(&extent.to_ne_bytes());
                }
            }
            _ => {}
        }
        if attribute > 16 {
            return Err(Status::InvalidValue);
        }
        // SAFETY: the caller's promise.
        unsafe { write(place, CUlaunchAttributeValue { bytes }) }
    })
}

/// Says how the blocks of a node's kernel belong together.
fn set_together(gpu: &mut Gpu, node: CUgraphNode, together: BlocksTogether) -> CallResult {
    let NodeBody::Work(Work::Kernel(request, _)) = gpu.ordered.graphs.nodes.get(node)?.body.clone() else {
        return Err(Status::InvalidValue);
    };
    let LaunchRequest { function, grid, block, dynamic_shared, ref parameters, watched, depth, .. } =
        *request;
    let parameters = parameters.clone();
    let together = gpu.with_cluster(function, together)?;
    let request =
        LaunchRequest { function, grid, block, dynamic_shared, parameters, together, watched, depth };
    gpu.check_launch(&request)?;
    replace(gpu, node, NodeBody::Work(Work::Kernel(Rc::new(request), 0)))
}

/// Sets an attribute of a kernel node: whether it is cooperative, and its clusters; the others advise, and change
/// nothing.
///
/// # Safety
/// `value` is null or points to a value.
pub unsafe extern "C" fn cuGraphKernelNodeSetAttribute(
    node: CUgraphNode,
    attribute: c_uint,
    value: *const CUlaunchAttributeValue,
) -> Status {
    with_context("cuGraphKernelNodeSetAttribute", |gpu, _| {
        // SAFETY: the caller's promise; any bits are numbers.
        let (cooperative, cluster) = unsafe {
            let value = read(value)?;
            (value.cooperative, value.cluster_dimension)
        };
        match attribute {
            2 => {
                let together = BlocksTogether { cooperative: cooperative != 0, ..node_together(gpu, node)? };
                set_together(gpu, node, together)
            }
            4 => {
                let together = BlocksTogether { cluster: Some(cluster), ..node_together(gpu, node)? };
                set_together(gpu, node, together)
            }
            0..=16 => node_together(gpu, node).map(|_| ()),
            _ => Err(Status::InvalidValue),
        }
    })
}

/// Gives a kernel node the attributes of another.
pub extern "C" fn cuGraphKernelNodeCopyAttributes(to: CUgraphNode, from: CUgraphNode) -> Status {
    with_context("cuGraphKernelNodeCopyAttributes", |gpu, _| {
        let together = node_together(gpu, from)?;
        set_together(gpu, to, together)
    })
}
