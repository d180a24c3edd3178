//! Giving an executable graph what another graph of the same form does (CUDA Driver API, `cuGraphExecUpdate`). Nodes
//! correspond by their place in the order in which both are launched.

use std::ffi::c_uint;
use std::rc::Rc;

use bugaroo_cuda_abi::{CUgraph, CUgraphExec, CUgraphExecUpdateResultInfo, CUgraphNode};

use crate::api::entry::with_context;
use bugaroo_device::error::{CallResult, Status};
use bugaroo_device::graph::update::{Differs, differ};
use bugaroo_device::objects::work::{Doing, GraphStep};
use bugaroo_device::places::write_if_wanted;
use bugaroo_device::state::Gpu;

/// Gives steps what others do; which node each was made of stays.
fn update(steps: &mut [GraphStep], from: Vec<GraphStep>) {
    for (step, from) in steps.iter_mut().zip(from) {
        match (&mut step.doing, from.doing) {
            (Doing::All(steps), Doing::All(from)) => update(steps, from),
            (Doing::Branch(choice), Doing::Branch(from)) => {
                let bodies = Rc::make_mut(choice).bodies.iter_mut();
                bodies.zip(&from.bodies).for_each(|(steps, from)| update(steps, from.clone()));
            }
            (doing, from) => *doing = from,
        }
    }
}

/// Gives an executable graph what another graph of the same form does. Answers how they differ otherwise.
fn update_exec(gpu: &mut Gpu, exec: CUgraphExec, graph: CUgraph) -> CallResult<Option<Differs>> {
    let steps = gpu.steps(graph)?;
    let exec = gpu.ordered.graphs.execs.get_mut(exec)?;
    let differs = differ(&exec.steps, &steps);
    if differs.is_none() {
        update(&mut exec.steps, steps);
    }
    Ok(differs)
}

/// Gives an executable graph what another graph of the same form does.
///
/// # Safety
/// `place` is null or points to a place for the result.
pub unsafe extern "C" fn cuGraphExecUpdate_v2(
    exec: CUgraphExec,
    graph: CUgraph,
    place: *mut CUgraphExecUpdateResultInfo,
) -> Status {
    with_context("cuGraphExecUpdate_v2", |gpu, _| {
        let differs = update_exec(gpu, exec, graph)?;
        let null = std::ptr::null_mut();
        let (result, node, from) = match &differs {
            None => (0, null, null),
            // The first node is the one of the graph that was handed over.
            Some(Differs { how, node, from }) => (*how, *from, *node),
        };
        // SAFETY: the caller's promise.
        unsafe { write_if_wanted(place, CUgraphExecUpdateResultInfo { result, node, from }) };
        if differs.is_none() { Ok(()) } else { Err(Status::GraphExecUpdateFailure) }
    })
}

/// Gives an executable graph what another graph of the same form does.
///
/// # Safety
/// `failed` and `place` are null or point to places for their results.
pub unsafe extern "C" fn cuGraphExecUpdate(
    exec: CUgraphExec,
    graph: CUgraph,
    failed: *mut CUgraphNode,
    place: *mut c_uint,
) -> Status {
    with_context("cuGraphExecUpdate", |gpu, _| {
        let differs = update_exec(gpu, exec, graph)?;
        let (result, node) = differs.as_ref().map_or((0, std::ptr::null_mut()), |d| (d.how, d.from));
        // SAFETY: the caller's promise.
        unsafe {
            write_if_wanted(failed, node);
            write_if_wanted(place, result);
        }
        if differs.is_none() { Ok(()) } else { Err(Status::GraphExecUpdateFailure) }
    })
}
