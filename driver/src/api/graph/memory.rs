//! Memory that belongs to graphs (CUDA Driver API, "Graph Management", memory allocation and free nodes).
//!
//! Its address is known when the node is made; what lies there does so from then on, until no node and no executable
//! graph has the address any more. What changes with launches is whether it is allocated: told when one allocates
//! twice or frees what is not, and counted. A program that uses what a graph has freed is not found out.

use std::ffi::{c_int, c_uint};

use bugaroo_cuda_abi::{
    CUDA_MEM_ALLOC_NODE_PARAMS, CUcontext, CUdeviceptr, CUgraphNode, CUmemPoolProps, LOCATION_DEVICE,
};

use crate::api::entry::with_gpu;
use bugaroo_device::error::{CallResult, Status};
use bugaroo_device::objects::work::NodeBody;
use bugaroo_device::places::{not_null, read, write};
use bugaroo_device::state::Gpu;

/// A node that allocates; the address goes into the parameters.
///
/// # Safety
/// `params` is null or as `cuda.h` has it, and may be written.
pub unsafe fn allocation(
    gpu: &mut Gpu,
    context: CUcontext,
    params: *mut CUDA_MEM_ALLOC_NODE_PARAMS,
) -> CallResult<NodeBody> {
    // SAFETY: the caller's promise.
    let CUDA_MEM_ALLOC_NODE_PARAMS { pool, bytes, .. } = unsafe { read(params) }?;
    if pool.allocation_type != 1 || pool.handle_types != 0 {
        return Err(Status::InvalidValue);
    }
    if pool.location.kind != LOCATION_DEVICE {
        let what = "cuGraphAddMemAllocNode: memory of the host is not supported";
        return Err(gpu.trial.report.unsupported(what));
    }
    bugaroo_device::objects::primary::check_device(pool.location.id)?;
    let memory = gpu.graph_memory(context, bytes)?;
    // SAFETY: it was read, and the caller vouches that it may be written.
    unsafe { (&raw mut (*params).address).write_unaligned(memory.address) };
    Ok(NodeBody::Allocate(memory))
}

/// What a node allocates.
///
/// # Safety
/// `place` is null or points to a place for it.
pub unsafe extern "C" fn cuGraphMemAllocNodeGetParams(
    node: CUgraphNode,
    place: *mut CUDA_MEM_ALLOC_NODE_PARAMS,
) -> Status {
    with_gpu("cuGraphMemAllocNodeGetParams", |gpu| {
        let NodeBody::Allocate(memory) = &gpu.ordered.graphs.nodes.get(node)?.body else {
            return Err(Status::InvalidValue);
        };
        let pool = CUmemPoolProps {
            allocation_type: 1,
            handle_types: 0,
            location: bugaroo_cuda_abi::CUmemLocation { kind: LOCATION_DEVICE, id: 0 },
            security: std::ptr::null_mut(),
            max_size: 0,
            usage: 0,
            reserved: [0; 54],
        };
        let (bytes, address) = (memory.bytes as usize, memory.address);
        // SAFETY: the caller's promise.
        unsafe {
            write(
                place,
                CUDA_MEM_ALLOC_NODE_PARAMS { pool, access: std::ptr::null(), count: 0, bytes, address },
            )
        }
    })
}

/// What a node frees.
///
/// # Safety
/// `place` is null or points to a place for an address.
pub unsafe extern "C" fn cuGraphMemFreeNodeGetParams(node: CUgraphNode, place: *mut CUdeviceptr) -> Status {
    with_gpu("cuGraphMemFreeNodeGetParams", |gpu| {
        let NodeBody::Free(memory) = &gpu.ordered.graphs.nodes.get(node)?.body else {
            return Err(Status::InvalidValue);
        };
        // SAFETY: the caller's promise.
        unsafe { write(place, memory.address) }
    })
}

/// Device memory that graphs hold for themselves.
///
/// # Safety
/// `place` is null or points to a place for a number.
pub unsafe extern "C" fn cuDeviceGetGraphMemAttribute(
    device: c_int,
    attribute: c_uint,
    place: *mut u64,
) -> Status {
    with_gpu("cuDeviceGetGraphMemAttribute", |gpu| {
        bugaroo_device::objects::primary::check_device(device)?;
        let memory = &gpu.ordered.graphs.memory;
        let numbers = [memory.used, memory.most_used, memory.reserved, memory.most_reserved];
        let number = numbers.get(attribute as usize).ok_or(Status::InvalidValue)?;
        // SAFETY: the caller's promise.
        unsafe { write(place, *number) }
    })
}

/// Sets the most that was in use, or reserved, back to what is now.
///
/// # Safety
/// `value` is null or points to a number.
pub unsafe extern "C" fn cuDeviceSetGraphMemAttribute(
    device: c_int,
    attribute: c_uint,
    value: *const u64,
) -> Status {
    with_gpu("cuDeviceSetGraphMemAttribute", |gpu| {
        bugaroo_device::objects::primary::check_device(device)?;
        not_null(value)?;
        // SAFETY: not null, and the caller's promise.
        let value = unsafe { value.read_unaligned() };
        let memory = &mut gpu.ordered.graphs.memory;
        match (attribute, value) {
            (1, 0) => memory.most_used = memory.used,
            (3, 0) => memory.most_reserved = memory.reserved,
            _ => return Err(Status::InvalidValue),
        }
        Ok(())
    })
}

/// Gives memory that no graph uses now back to the device.
pub extern "C" fn cuDeviceGraphMemTrim(device: c_int) -> Status {
    with_gpu("cuDeviceGraphMemTrim", |gpu| {
        bugaroo_device::objects::primary::check_device(device)?;
        gpu.sweep_graph_memory();
        gpu.ordered.graphs.memory.reserved = gpu.ordered.graphs.memory.used;
        Ok(())
    })
}
