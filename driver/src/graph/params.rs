//! What nodes are told to do, in the API's words: `CUDA_…_NODE_PARAMS` (CUDA 13.0's `cuda.h`).

use std::ffi::{c_int, c_uint, c_void};
use std::rc::Rc;

use crate::entry::not_null;
use crate::error::{Outcome, Status};
use crate::execute::Together;
use crate::fill::Fill;
use crate::graph::Body;
use crate::graph::condition::{self, ConditionalNodeParams};
use crate::graph::memory::{self, AllocationNodeParams};
use crate::launch::Parameters;
use crate::state::Driver;
use crate::types::{CUDA_MEMCPY3D, CUcontext, CUdeviceptr, CUevent, CUfunction, CUgraph, CUhostFn};
use crate::work::Work;

/// `CUDA_KERNEL_NODE_PARAMS_v1`
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct KernelNodeParams {
    pub(super) function: CUfunction,
    pub(super) grid: [c_uint; 3],
    pub(super) block: [c_uint; 3],
    pub(super) dynamic_shared: c_uint,
    pub(super) each: *const *const c_void,
    pub(super) extra: *const *mut c_void,
}

/// `CUDA_KERNEL_NODE_PARAMS_v2`
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct KernelNodeParamsV2 {
    pub(super) first: KernelNodeParams,
    pub(super) kernel: CUfunction,
    pub(super) context: CUcontext,
}

/// `CUDA_MEMSET_NODE_PARAMS`
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct MemsetNodeParams {
    pub(super) to: CUdeviceptr,
    pub(super) pitch: usize,
    pub(super) value: c_uint,
    pub(super) item: c_uint,
    pub(super) width: usize,
    pub(super) height: usize,
}

/// `CUDA_HOST_NODE_PARAMS`
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct HostNodeParams {
    pub(super) function: CUhostFn,
    pub(super) data: *mut c_void,
}

/// `CUDA_MEMCPY_NODE_PARAMS`
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct MemcpyNodeParams {
    flags: c_int,
    reserved: c_int,
    context: CUcontext,
    copy: CUDA_MEMCPY3D,
}

/// The union in [`GraphNodeParams`].
#[derive(Clone, Copy)]
#[repr(C)]
union AnyParams {
    kernel: KernelNodeParamsV2,
    copy: MemcpyNodeParams,
    fill: MemsetNodeParams,
    host: HostNodeParams,
    graph: CUgraph,
    event: CUevent,
    allocation: AllocationNodeParams,
    address: CUdeviceptr,
    branch: ConditionalNodeParams,
    reserved: [i64; 29],
}

/// `CUgraphNodeParams`
#[derive(Clone, Copy)]
#[repr(C)]
pub struct GraphNodeParams {
    kind: c_uint,
    reserved: [c_int; 3],
    value: AnyParams,
    rest: i64,
}

const _: () = {
    assert!(size_of::<KernelNodeParams>() == 56);
    assert!(size_of::<KernelNodeParamsV2>() == 72);
    assert!(size_of::<MemsetNodeParams>() == 40);
    assert!(size_of::<GraphNodeParams>() == 256);
};

/// What a pointer of the program points to.
///
/// # Safety
/// It is null or points to a `T`.
pub(crate) unsafe fn read<T: Copy>(from: *const T) -> Outcome<T> {
    not_null(from)?;
    // SAFETY: not null, and the caller vouches for the rest.
    Ok(unsafe { from.read_unaligned() })
}

/// A kernel.
///
/// # Safety
/// `kernel` is null or as the API has it.
pub unsafe fn kernel(driver: &Driver, kernel: *const KernelNodeParams, together: Together) -> Outcome<Body> {
    // SAFETY: the caller's promise, for both.
    unsafe {
        let KernelNodeParams { function, grid, block, dynamic_shared, each, extra } = read(kernel)?;
        let shape = (grid, block, dynamic_shared);
        let request = driver.request(function, shape, together, Parameters { each, extra })?;
        Ok(Body::Work(Work::Kernel(Rc::new(request), 0)))
    }
}

/// A kernel.
///
/// # Safety
/// As [`kernel`].
pub unsafe fn kernel_v2(
    driver: &Driver,
    params: *const KernelNodeParamsV2,
    together: Together,
) -> Outcome<Body> {
    // SAFETY: the caller's promise, for both.
    unsafe {
        let KernelNodeParamsV2 { mut first, kernel: other, .. } = read(params)?;
        if first.function.is_null() {
            first.function = other;
        }
        kernel(driver, &first, together)
    }
}

/// A copy.
///
/// # Safety
/// `copy` is null or points to a description whose host sides hold what is copied, whenever that is.
pub unsafe fn copy(driver: &Driver, copy: *const CUDA_MEMCPY3D) -> Outcome<Body> {
    // SAFETY: the caller's promise.
    let copy = unsafe { read(copy) }?;
    let transfer = crate::copy3d::describe(driver, &copy)?;
    transfer.check(driver)?;
    Ok(Body::Work(Work::Copy(transfer)))
}

/// A fill.
///
/// # Safety
/// `fill` is null or as the API has it.
pub unsafe fn fill(driver: &Driver, fill: *const MemsetNodeParams) -> Outcome<Body> {
    // SAFETY: the caller's promise.
    let MemsetNodeParams { to, pitch, value, item, width, height } = unsafe { read(fill) }?;
    if !matches!(item, 1 | 2 | 4) {
        return Err(Status::InvalidValue);
    }
    let fill = Fill { to, pattern: value.to_le_bytes(), item: item as usize, width, height, pitch };
    fill.check(driver)?;
    Ok(Body::Work(Work::Fill(fill)))
}

/// A call of a function of the program.
///
/// # Safety
/// `host` is null or as the API has it; the function may be called with its argument.
pub unsafe fn host(host: *const HostNodeParams) -> Outcome<Body> {
    // SAFETY: the caller's promise.
    let HostNodeParams { function, data } = unsafe { read(host) }?;
    function.ok_or(Status::InvalidValue)?;
    Ok(Body::Work(Work::Call(function, data)))
}

/// A node of any kind.
///
/// # Safety
/// `node` is null or as the API has it.
pub unsafe fn any(driver: &mut Driver, context: CUcontext, node: *mut GraphNodeParams) -> Outcome<Body> {
    not_null(node)?;
    // SAFETY: not null; the kind says which form the union has, and the caller vouches for the rest.
    unsafe {
        let value = &raw mut (*node).value;
        match (&raw const (*node).kind).read_unaligned() {
            0 => kernel_v2(driver, value.cast(), Together::default()),
            1 => copy(driver, &raw const (*value.cast::<MemcpyNodeParams>()).copy),
            2 => fill(driver, value.cast()),
            3 => host(value.cast()),
            4 => {
                let child = driver.graphs.copy(value.cast::<CUgraph>().read_unaligned(), true)?;
                value.cast::<CUgraph>().write_unaligned(child);
                Ok(Body::Child(child))
            }
            5 => Ok(Body::Work(Work::Nothing)),
            6 => {
                let event = value.cast::<CUevent>().read_unaligned();
                driver.events.get(event).map(|_| Body::Wait(event))
            }
            7 => {
                let event = value.cast::<CUevent>().read_unaligned();
                driver.events.get(event).map(|_| Body::Work(Work::Record(event)))
            }
            10 => memory::allocation(driver, context, value.cast()),
            11 => driver.graphs.memory.get(value.cast::<CUdeviceptr>().read_unaligned()).map(Body::Free),
            13 => condition::branch(driver, value.cast()),
            8 | 9 | 12 => {
                let what = "cuGraphAddNode: nodes for semaphores and batches are not supported";
                Err(driver.report.unsupported(what))
            }
            _ => Err(Status::InvalidValue),
        }
    }
}
