//! Nodes of graphs that copy (CUDA Runtime API, "Graph Management").

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

use bugaroo_cuda_abi::{CU_MEMORYTYPE_ARRAY, CUDA_MEMCPY3D, CUcontext, Operand3D};

use crate::api::api;
use crate::array::{descriptor, element_size};
use crate::copy::symbol;
use crate::copy3d::{described, flat};
use crate::driver::driver;
use crate::error::RuntimeResult;
use crate::node::current;
use crate::types::{Extent, Handle, Memcpy3D, PitchedPtr, Pos, write};

driver! {
    cuGraphAddMemcpyNode(place: *mut Handle, graph: Handle, after: *const Handle, count: usize, copy: *const CUDA_MEMCPY3D, context: CUcontext);
    cuGraphMemcpyNodeGetParams(node: Handle, place: *mut CUDA_MEMCPY3D);
    cuGraphMemcpyNodeSetParams(node: Handle, copy: *const CUDA_MEMCPY3D);
    cuGraphExecMemcpyNodeSetParams(exec: Handle, node: Handle, copy: *const CUDA_MEMCPY3D, context: CUcontext);
}

/// A copy node as the program knows it. The direction is told by the addresses, as far as it ever matters.
fn copy_of(copy: &CUDA_MEMCPY3D) -> RuntimeResult<Memcpy3D> {
    let mut element = 1;
    let mut side = |side: &Operand3D| -> RuntimeResult<(Handle, Pos, PitchedPtr)> {
        let pos = Pos { x: side.x_in_bytes, y: side.y, z: side.z };
        if side.memory_type != CU_MEMORYTYPE_ARRAY {
            // `CU_MEMORYTYPE_HOST`
            let ptr = if side.memory_type == 1 { side.host } else { side.device as *mut c_void };
            let ptr = PitchedPtr { ptr, pitch: side.pitch, xsize: copy.width_in_bytes, ysize: side.height };
            return Ok((null_mut(), pos, ptr));
        }
        element = element_size(&descriptor(side.array)?)?.max(1);
        let none = PitchedPtr { ptr: null_mut(), pitch: 0, xsize: 0, ysize: 0 };
        Ok((side.array, Pos { x: pos.x / element, ..pos }, none))
    };
    let (src_array, src_pos, src_ptr) = side(&copy.src)?;
    let (dst_array, dst_pos, dst_ptr) = side(&copy.dst)?;
    let extent = Extent { width: copy.width_in_bytes / element, height: copy.height, depth: copy.depth };
    // `cudaMemcpyDefault`
    Ok(Memcpy3D { src_array, src_pos, src_ptr, dst_array, dst_pos, dst_ptr, extent, kind: 4 })
}

/// Adds a copy.
///
/// # Safety
/// As for `cuGraphAddMemcpyNode`.
unsafe fn add(
    place: *mut Handle,
    graph: Handle,
    (after, count): (*const Handle, usize),
    copy: CUDA_MEMCPY3D,
) -> RuntimeResult {
    // SAFETY: the caller's promise.
    unsafe { cuGraphAddMemcpyNode(place, graph, after, count, &raw const copy, current()?) }
}

/// Changes a copy in a graph, or in an executable one.
///
/// # Safety
/// As for `cuGraphMemcpyNodeSetParams`.
unsafe fn set(exec: Option<Handle>, node: Handle, copy: CUDA_MEMCPY3D) -> RuntimeResult {
    // SAFETY: the caller's promise.
    unsafe {
        match exec {
            Some(exec) => cuGraphExecMemcpyNodeSetParams(exec, node, &raw const copy, current()?),
            None => cuGraphMemcpyNodeSetParams(node, &raw const copy),
        }
    }
}

api! {
    with_device cudaGraphAddMemcpyNode(
        place: *mut Handle, graph: Handle, after: *const Handle, count: usize, copy: *const Memcpy3D,
    ) {
        add(place, graph, (after, count), described(copy)?)
    }
    with_device cudaGraphAddMemcpyNode1D(
        place: *mut Handle, graph: Handle, after: *const Handle, count: usize, to: *mut c_void,
        from: *const c_void, bytes: usize, direction: c_int,
    ) {
        add(place, graph, (after, count), flat(to, from, bytes, direction)?)
    }
    with_device cudaGraphAddMemcpyNodeToSymbol(
        place: *mut Handle, graph: Handle, after: *const Handle, count: usize, variable: *const c_void,
        from: *const c_void, bytes: usize, offset: usize, direction: c_int,
    ) {
        let copy = flat(symbol(variable, bytes, offset)?, from, bytes, direction)?;
        add(place, graph, (after, count), copy)
    }
    with_device cudaGraphAddMemcpyNodeFromSymbol(
        place: *mut Handle, graph: Handle, after: *const Handle, count: usize, to: *mut c_void,
        variable: *const c_void, bytes: usize, offset: usize, direction: c_int,
    ) {
        let copy = flat(to, symbol(variable, bytes, offset)?, bytes, direction)?;
        add(place, graph, (after, count), copy)
    }
    with_device cudaGraphMemcpyNodeGetParams(node: Handle, place: *mut Memcpy3D) {
        // SAFETY: numbers, and pointers that may be null.
        let mut found: CUDA_MEMCPY3D = std::mem::zeroed();
        cuGraphMemcpyNodeGetParams(node, &raw mut found)?;
        write(place, copy_of(&found)?)
    }
    with_device cudaGraphMemcpyNodeSetParams(node: Handle, copy: *const Memcpy3D) {
        set(None, node, described(copy)?)
    }
    with_device cudaGraphMemcpyNodeSetParams1D(
        node: Handle, to: *mut c_void, from: *const c_void, bytes: usize, direction: c_int,
    ) {
        set(None, node, flat(to, from, bytes, direction)?)
    }
    with_device cudaGraphMemcpyNodeSetParamsToSymbol(
        node: Handle, variable: *const c_void, from: *const c_void, bytes: usize, offset: usize, direction: c_int,
    ) {
        set(None, node, flat(symbol(variable, bytes, offset)?, from, bytes, direction)?)
    }
    with_device cudaGraphMemcpyNodeSetParamsFromSymbol(
        node: Handle, to: *mut c_void, variable: *const c_void, bytes: usize, offset: usize, direction: c_int,
    ) {
        set(None, node, flat(to, symbol(variable, bytes, offset)?, bytes, direction)?)
    }
    with_device cudaGraphExecMemcpyNodeSetParams(exec: Handle, node: Handle, copy: *const Memcpy3D) {
        set(Some(exec), node, described(copy)?)
    }
    with_device cudaGraphExecMemcpyNodeSetParams1D(
        exec: Handle, node: Handle, to: *mut c_void, from: *const c_void, bytes: usize, direction: c_int,
    ) {
        set(Some(exec), node, flat(to, from, bytes, direction)?)
    }
    with_device cudaGraphExecMemcpyNodeSetParamsToSymbol(
        exec: Handle, node: Handle, variable: *const c_void, from: *const c_void, bytes: usize, offset: usize,
        direction: c_int,
    ) {
        set(Some(exec), node, flat(symbol(variable, bytes, offset)?, from, bytes, direction)?)
    }
    with_device cudaGraphExecMemcpyNodeSetParamsFromSymbol(
        exec: Handle, node: Handle, to: *mut c_void, variable: *const c_void, bytes: usize, offset: usize,
        direction: c_int,
    ) {
        set(Some(exec), node, flat(to, symbol(variable, bytes, offset)?, bytes, direction)?)
    }
}
