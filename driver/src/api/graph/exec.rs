//! Executable graphs: instantiated, changed, launched.

use std::ffi::{c_char, c_uint, c_ulonglong};

use bugaroo_cuda_abi::{CUDA_GRAPH_INSTANTIATE_PARAMS, CUgraph, CUgraphExec, CUgraphNode, CUstream};

use crate::api::entry::{with_context, with_gpu};
use crate::api::settle::settle;
use crate::api::submit::{on_stream, twin};
use crate::api::wait;
use bugaroo_device::error::Status;
use bugaroo_device::objects::graph::exec::Exec;
use bugaroo_device::objects::graph::user_object::Dying;
use bugaroo_device::objects::work::{Doing, NodeBody};
use bugaroo_device::places::{not_null, write, write_if_wanted};

/// Flags of an instantiation: free on launch, upload, device launch, priorities.
const FLAGS_MASK: c_ulonglong = 15;
/// `CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH`
const DEVICE_LAUNCH: c_ulonglong = 4;

/// Makes an executable graph.
fn instantiate(name: &str, place: *mut CUgraphExec, graph: CUgraph, flags: c_ulonglong) -> Status {
    with_context(name, |gpu, _| {
        not_null(place)?;
        if flags & !FLAGS_MASK != 0 {
            return Err(Status::InvalidValue);
        }
        if flags & DEVICE_LAUNCH != 0 {
            return Err(gpu
                .trial
                .report
                .unsupported(&format!("{name}: graphs that kernels launch are not supported")));
        }
        let steps = gpu.steps(graph)?;
        let objects = gpu.ordered.graphs.graphs.get(graph)?.objects.clone();
        gpu.ordered.graphs.retain_all(&objects);
        let exec = gpu.ordered.graphs.execs.insert(Exec { steps, flags, last: 0, objects });
        // SAFETY: not null; the exported functions' callers vouch for the rest.
        unsafe { write(place, exec) }
    })
}

/// Makes an executable graph.
///
/// # Safety
/// `place` is null or points to a place for a handle.
pub unsafe extern "C" fn cuGraphInstantiateWithFlags(
    place: *mut CUgraphExec,
    graph: CUgraph,
    flags: c_ulonglong,
) -> Status {
    instantiate("cuGraphInstantiateWithFlags", place, graph, flags)
}

twin! { cuGraphInstantiateWithParams_ptsz =
    /// Makes an executable graph, and uploads it, which is nothing to do.
    ///
    /// # Safety
    /// `place` is null or points to a place for a handle, `params` to the parameters.
    pub unsafe extern "C" fn cuGraphInstantiateWithParams(
        place: *mut CUgraphExec,
        graph: CUgraph,
        params: *mut CUDA_GRAPH_INSTANTIATE_PARAMS,
    ) -> Status {
        let name = "cuGraphInstantiateWithParams";
        if params.is_null() {
            return with_context(name, |_, _| Err(Status::InvalidValue));
        }
        // SAFETY: not null, and the caller vouches for the rest.
        let flags = unsafe { (&raw const (*params).flags).read_unaligned() };
        let status = instantiate(name, place, graph, flags);
        // SAFETY: as above.
        unsafe {
            (&raw mut (*params).failed).write_unaligned(std::ptr::null_mut());
            (&raw mut (*params).result).write_unaligned(c_uint::from(status != Status::Success));
        }
        status
    }
}

/// Makes an executable graph. There is nothing to log.
///
/// # Safety
/// `place` is null or points to a place for a handle, `failed` likewise; `log` is null or has room for `bytes`
/// bytes.
pub unsafe extern "C" fn cuGraphInstantiate_v2(
    place: *mut CUgraphExec,
    graph: CUgraph,
    failed: *mut CUgraphNode,
    log: *mut c_char,
    bytes: usize,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe {
        write_if_wanted(failed, std::ptr::null_mut());
        if bytes > 0 {
            write_if_wanted(log, 0);
        }
    }
    instantiate("cuGraphInstantiate_v2", place, graph, 0)
}

/// Makes an executable graph.
///
/// # Safety
/// As [`cuGraphInstantiate_v2`].
pub unsafe extern "C" fn cuGraphInstantiate(
    place: *mut CUgraphExec,
    graph: CUgraph,
    failed: *mut CUgraphNode,
    log: *mut c_char,
    bytes: usize,
) -> Status {
    // SAFETY: the same contract.
    unsafe { cuGraphInstantiate_v2(place, graph, failed, log, bytes) }
}

/// The flags that an executable graph was made with.
///
/// # Safety
/// `place` is null or points to a place for them.
pub unsafe extern "C" fn cuGraphExecGetFlags(exec: CUgraphExec, place: *mut c_ulonglong) -> Status {
    with_gpu("cuGraphExecGetFlags", |gpu| {
        let flags = gpu.ordered.graphs.execs.get(exec)?.flags;
        // SAFETY: the caller's promise.
        unsafe { write(place, flags) }
    })
}

/// Destroys an executable graph; launches of it go on, but where they need an object of the program that nobody else
/// keeps alive: then they are waited for.
pub extern "C" fn cuGraphExecDestroy(exec: CUgraphExec) -> Status {
    let name = "cuGraphExecDestroy";
    let (mut last, mut dying) = (0, Dying::default());
    let status = with_gpu(name, |gpu| {
        let Exec { last: end, objects, .. } = gpu.ordered.graphs.execs.remove(exec)?;
        (last, dying) = (end, std::mem::take(&mut gpu.ordered.graphs.dying));
        gpu.ordered.graphs.release_all(objects, &mut dying);
        gpu.sweep_graph_memory();
        Ok(())
    });
    if dying.is_empty() {
        return status;
    }
    let waited = wait::finish(name, &[last]);
    wait::waited(name, waited, |_| vec![last]);
    dying.destroy();
    if status == Status::Success { waited } else { status }
}

twin! { cuGraphUpload_ptsz =
    /// Prepares a launch: nothing to do.
    pub extern "C" fn cuGraphUpload(exec: CUgraphExec, stream: CUstream) -> Status {
        on_stream("cuGraphUpload", stream, |gpu, _| gpu.ordered.graphs.execs.get(exec).map(|_| ()))
    }
}

twin! { cuGraphLaunch_ptsz =
    /// Launches an executable graph in a stream. Two launches of one do not overlap.
    pub extern "C" fn cuGraphLaunch(exec: CUgraphExec, stream: CUstream) -> Status {
        let name = "cuGraphLaunch";
        let mut submitted = None;
        let status = on_stream(name, stream, |gpu, stream| {
            submitted = gpu.launch_graph(&stream, exec)?;
            Ok(())
        });
        match submitted {
            Some(submitted) if status == Status::Success => settle(&submitted, name),
            _ => status,
        }
    }
}

/// Gives a node with a graph in it another graph of the same form.
pub extern "C" fn cuGraphExecChildGraphNodeSetParams(
    exec: CUgraphExec,
    node: CUgraphNode,
    child: CUgraph,
) -> Status {
    with_context("cuGraphExecChildGraphNodeSetParams", |gpu, _| {
        let copy = gpu.ordered.graphs.copy(child, true)?;
        gpu.replace_in_exec(exec, node, NodeBody::Child(copy))
    })
}

/// Switches a node of an executable graph on or off; off, it does nothing.
pub extern "C" fn cuGraphNodeSetEnabled(exec: CUgraphExec, node: CUgraphNode, enabled: c_uint) -> Status {
    with_gpu("cuGraphNodeSetEnabled", |gpu| {
        let step = gpu.exec_step(exec, node)?;
        match &step.doing {
            Doing::Body(body) if matches!(body.kind(), 0..=2) => {
                step.enabled = enabled != 0;
                Ok(())
            }
            _ => Err(Status::InvalidValue),
        }
    })
}

/// Whether a node of an executable graph is switched on.
///
/// # Safety
/// `place` is null or points to a place for the answer.
pub unsafe extern "C" fn cuGraphNodeGetEnabled(
    exec: CUgraphExec,
    node: CUgraphNode,
    place: *mut c_uint,
) -> Status {
    with_gpu("cuGraphNodeGetEnabled", |gpu| {
        let enabled = gpu.exec_step(exec, node)?.enabled;
        // SAFETY: the caller's promise.
        unsafe { write(place, c_uint::from(enabled)) }
    })
}
