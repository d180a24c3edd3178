//! Graphs: made by hand or captured, launched again and again.

use std::ffi::{c_uint, c_void};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicU32, Ordering};

use bugaroo_cuda_abi::{CUevent, CUfunction, CUgraph, CUgraphExec, CUgraphNode, CUstream};
use cuda::Status;
use cuda::api::capture::*;
use cuda::api::context::cuCtxSynchronize;
use cuda::api::event::*;
use cuda::api::fill::cuMemsetD32Async;
use cuda::api::graph::edit::*;
use cuda::api::graph::exec::*;
use cuda::api::graph::inspect::*;
use cuda::api::graph::node_params::*;
use cuda::api::graph::update::*;
use cuda::api::launch::cuLaunchKernel;
use cuda::api::memop::*;
use cuda::api::stream::*;

use crate::support::{Device, download, number, parameter, upload};

const ROUNDS: usize = 100;

fn stream() -> CUstream {
    let mut stream = null_mut();
    // SAFETY: the place is one for a handle.
    assert_eq!(unsafe { cuStreamCreate(&mut stream, 1) }, Status::Success);
    stream
}

fn event() -> CUevent {
    let mut event = null_mut();
    // SAFETY: the place is one for a handle.
    assert_eq!(unsafe { cuEventCreate(&mut event, 2) }, Status::Success);
    event
}

fn graph() -> CUgraph {
    let mut graph = null_mut();
    // SAFETY: the place is one for a handle.
    assert_eq!(unsafe { cuGraphCreate(&mut graph, 0) }, Status::Success);
    graph
}

fn instantiate(graph: CUgraph) -> CUgraphExec {
    let mut exec = null_mut();
    // SAFETY: the place is one for a handle.
    assert_eq!(unsafe { cuGraphInstantiateWithFlags(&mut exec, graph, 0) }, Status::Success);
    exec
}

fn nodes(graph: CUgraph) -> Vec<CUgraphNode> {
    let mut count = 0;
    // SAFETY: there is a place for the number, then for so many handles.
    unsafe {
        assert_eq!(cuGraphGetNodes(graph, null_mut(), &mut count), Status::Success);
        let mut nodes = vec![null_mut(); count];
        assert_eq!(cuGraphGetNodes(graph, nodes.as_mut_ptr(), &mut count), Status::Success);
        nodes
    }
}

fn edges(graph: CUgraph) -> Vec<(CUgraphNode, CUgraphNode)> {
    let mut count = 10;
    let (mut from, mut to) = ([null_mut(); 10], [null_mut(); 10]);
    // SAFETY: there is room for ten.
    let status = unsafe { cuGraphGetEdges(graph, from.as_mut_ptr(), to.as_mut_ptr(), &mut count) };
    assert_eq!(status, Status::Success);
    from.into_iter().zip(to).take(count).collect()
}

fn kind(node: CUgraphNode) -> c_uint {
    let mut kind = 99;
    // SAFETY: there is a place for the number.
    assert_eq!(unsafe { cuGraphNodeGetType(node, &mut kind) }, Status::Success);
    kind
}

/// `vector_add` of one element: c = a + b.
fn add(kernel: CUfunction, stream: CUstream, (a, b, c): (u64, u64, u64)) {
    let n = 1_u32;
    let each = [parameter(&a), parameter(&b), parameter(&c), parameter(&n)];
    // SAFETY: the kernel takes these.
    let status = unsafe { cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, stream, each.as_ptr(), null()) };
    assert_eq!(status, Status::Success);
}

fn float(address: u64) -> f32 {
    assert_eq!(cuCtxSynchronize(), Status::Success);
    download::<f32>(address, 1).expect("nothing went wrong")[0]
}

fn fill(address: u64, value: f32, stream: CUstream) {
    assert_eq!(cuMemsetD32Async(address, value.to_bits(), 1, stream), Status::Success);
}

#[test]
fn what_streams_do_is_captured_across_events() {
    let device = Device::new();
    let kernel = device.kernel("vector_add");
    let (a, b, c, d) = (upload(&[0_f32]), upload(&[0_f32]), upload(&[0_f32]), upload(&[0_f32]));
    let (first, second, forked, joined) = (stream(), stream(), event(), event());
    assert_eq!(cuStreamBeginCapture_v2(first, 0), Status::Success);
    fill(a, 1.0, first);
    assert_eq!(cuEventRecord(forked, first), Status::Success);
    assert_eq!(cuStreamWaitEvent(second, forked, 0), Status::Success);
    add(kernel, second, (a, a, b));
    fill(c, 5.0, first);
    assert_eq!(cuEventRecord(joined, second), Status::Success);
    assert_eq!(cuEventQuery(joined), Status::CapturedEvent);
    assert_eq!(cuStreamWaitEvent(first, joined, 0), Status::Success);
    add(kernel, first, (b, c, d));
    let (mut state, mut id, mut found, mut after, mut count) = (9, 0, null_mut(), null(), 0);
    let mut graph = null_mut();
    // SAFETY: the places are there; the list holds as many nodes as it says.
    unsafe {
        assert_eq!(cuStreamIsCapturing(second, &mut state), Status::Success);
        assert_eq!(state, 1);
        let told = cuStreamGetCaptureInfo_v2(first, &mut state, &mut id, &mut found, &mut after, &mut count);
        assert_eq!((told, state, count), (Status::Success, 1, 1));
        assert_eq!(kind(*after), 0);
        assert_eq!(cuStreamEndCapture(second, &mut graph), Status::StreamCaptureUnmatched);
        assert_eq!(cuStreamEndCapture(first, &mut graph), Status::StreamCaptureInvalidated);
        assert!(graph.is_null());
        assert_eq!(cuStreamEndCapture(first, &mut graph), Status::IllegalState);
    }

    assert_eq!(cuStreamBeginCapture_v2(first, 0), Status::Success);
    fill(a, 1.0, first);
    assert_eq!(cuEventRecord(forked, first), Status::Success);
    assert_eq!(cuStreamWaitEvent(second, forked, 0), Status::Success);
    add(kernel, second, (a, a, b));
    fill(c, 5.0, first);
    assert_eq!(cuEventRecord(joined, second), Status::Success);
    assert_eq!(cuStreamWaitEvent(first, joined, 0), Status::Success);
    add(kernel, first, (b, c, d));
    // SAFETY: there is a place for the handle.
    assert_eq!(unsafe { cuStreamEndCapture(first, &mut graph) }, Status::Success);
    assert_eq!(float(d), 0.0, "nothing has run");
    let all = nodes(graph);
    assert_eq!(all.iter().map(|node| kind(*node)).collect::<Vec<_>>(), [2, 0, 2, 0]);
    assert_eq!(edges(graph), [(all[0], all[1]), (all[0], all[2]), (all[2], all[3]), (all[1], all[3])]);
    let exec = instantiate(graph);
    assert_eq!(cuGraphDestroy(graph), Status::Success);
    for _ in 0..ROUNDS {
        for address in [a, b, c, d] {
            assert_eq!(cuda::api::fill::cuMemsetD32_v2(address, 0, 1), Status::Success);
        }
        assert_eq!(cuCtxSynchronize(), Status::Success);
        assert_eq!(cuGraphLaunch(exec, second), Status::Success);
        assert_eq!(float(d), 7.0);
    }
    assert_eq!(cuGraphExecDestroy(exec), Status::Success);
    assert_eq!(cuGraphLaunch(exec, second), Status::InvalidHandle);
}

#[test]
fn captures_do_not_allow_everything() {
    let device = Device::new();
    let (first, second, outside, inside) = (stream(), stream(), event(), event());
    let word = upload(&[0_u32]);
    let mut graph = null_mut();
    let mut end = |stream| {
        // SAFETY: there is a place for the handle.
        unsafe { cuStreamEndCapture(stream, &mut graph) }
    };
    assert_eq!(cuStreamBeginCapture_v2(null_mut(), 0), Status::StreamCaptureUnsupported);
    assert_eq!(cuStreamBeginCapture_v2(first, 3), Status::InvalidValue);
    assert_eq!(end(first), Status::IllegalState);

    assert_eq!(cuStreamBeginCapture_v2(first, 0), Status::Success);
    assert_eq!(cuStreamBeginCapture_v2(first, 0), Status::IllegalState);
    assert_eq!(cuStreamSynchronize(first), Status::StreamCaptureUnsupported);
    assert_eq!(cuMemsetD32Async(word, 1, 1, first), Status::StreamCaptureInvalidated);
    assert_eq!(end(first), Status::StreamCaptureInvalidated);

    assert_eq!(cuEventRecord(outside, second), Status::Success);
    assert_eq!(cuStreamBeginCapture_v2(first, 0), Status::Success);
    assert_eq!(cuStreamWaitEvent(first, outside, 0), Status::StreamCaptureIsolation);
    assert_eq!(end(first), Status::StreamCaptureInvalidated);

    assert_eq!(cuStreamBeginCapture_v2(first, 0), Status::Success);
    assert_eq!(cuEventRecord(inside, first), Status::Success);
    assert_eq!(cuStreamWaitEvent(second, inside, 0), Status::Success);
    assert_eq!(cuMemsetD32Async(word, 1, 1, second), Status::Success);
    assert_eq!(end(first), Status::StreamCaptureUnjoined);
    assert_eq!(cuStreamWaitEvent(second, inside, 0), Status::CapturedEvent, "of a capture that is over");

    let mut blocking = null_mut();
    // SAFETY: the place is one for a handle.
    assert_eq!(unsafe { cuStreamCreate(&mut blocking, 0) }, Status::Success);
    assert_eq!(cuStreamBeginCapture_v2(blocking, 2), Status::Success);
    assert_eq!(cuMemsetD32Async(word, 1, 1, null_mut()), Status::StreamCaptureImplicit);
    assert_eq!(end(blocking), Status::StreamCaptureInvalidated);
    assert_eq!(download(word, 1), Ok(vec![0_u32]));
    drop(device);
}

/// What the API reads of a kernel's node.
#[repr(C)]
struct KernelNode {
    function: CUfunction,
    shape: [c_uint; 7],
    each: *const *const c_void,
    extra: *const *mut c_void,
}

/// The same of a fill's.
#[repr(C)]
struct FillNode {
    to: u64,
    pitch: usize,
    value: c_uint,
    item: c_uint,
    width: usize,
    height: usize,
}

fn fill_node(graph: CUgraph, before: &[CUgraphNode], to: u64, value: f32) -> CUgraphNode {
    let mut node = null_mut();
    let fill = FillNode { to, pitch: 0, value: value.to_bits(), item: 4, width: 1, height: 1 };
    let fill = std::ptr::from_ref(&fill).cast();
    // SAFETY: the lists and parameters are there.
    let added =
        unsafe { cuGraphAddMemsetNode(&mut node, graph, before.as_ptr(), before.len(), fill, null_mut()) };
    assert_eq!(added, Status::Success);
    node
}

fn kernel_node(
    graph: CUgraph,
    before: &[CUgraphNode],
    function: CUfunction,
    each: &[*const c_void],
) -> CUgraphNode {
    let mut node = null_mut();
    let kernel = KernelNode { function, shape: [1, 1, 1, 32, 1, 1, 0], each: each.as_ptr(), extra: null() };
    let kernel = std::ptr::from_ref(&kernel).cast();
    // SAFETY: the lists and parameters are there.
    let added = unsafe { cuGraphAddKernelNode(&mut node, graph, before.as_ptr(), before.len(), kernel) };
    assert_eq!(added, Status::Success);
    node
}

#[test]
fn nodes_are_made_changed_and_looked_at() {
    let device = Device::new();
    let kernel = device.kernel("vector_add");
    let (a, b, n) = (upload(&[0_f32]), upload(&[0_f32]), 1_u32);
    let made = graph();
    let first = fill_node(made, &[], a, 2.0);
    let second =
        kernel_node(made, &[first], kernel, &[parameter(&a), parameter(&a), parameter(&b), parameter(&n)]);
    let exec = instantiate(made);
    assert_eq!(cuGraphLaunch(exec, null_mut()), Status::Success);
    assert_eq!(float(b), 4.0);

    let mut told = KernelNode { function: null_mut(), shape: [0; 7], each: null(), extra: null() };
    // SAFETY: there is room for the answer, whose pointers lead to the parameters' values.
    unsafe {
        let place = std::ptr::from_mut(&mut told).cast();
        assert_eq!(cuGraphKernelNodeGetParams(second, place), Status::Success);
        assert_eq!((told.function, told.shape), (kernel, [1, 1, 1, 32, 1, 1, 0]));
        assert_eq!((*told.each.add(2)).cast::<u64>().read_unaligned(), b);
        assert_eq!((*told.each.add(3)).cast::<u32>().read_unaligned(), 1);
        // The same with another target, in the executable graph alone.
        let c = upload(&[0_f32]);
        let each = [parameter(&a), parameter(&a), parameter(&c), parameter(&n)];
        told.each = each.as_ptr();
        let changed = std::ptr::from_ref(&told).cast();
        assert_eq!(cuGraphExecKernelNodeSetParams(exec, second, changed), Status::Success);
        assert_eq!(cuGraphExecKernelNodeSetParams(exec, first, changed), Status::InvalidValue);
        assert_eq!(cuda::api::fill::cuMemsetD32_v2(b, 0, 1), Status::Success);
        assert_eq!(cuGraphLaunch(exec, null_mut()), Status::Success);
        assert_eq!((float(b), float(c)), (0.0, 4.0));
    }

    let mut clone = null_mut();
    let mut found = null_mut();
    let mut result = [9_u64; 3];
    // SAFETY: the places are there.
    unsafe {
        assert_eq!(cuGraphClone(&mut clone, made), Status::Success);
        assert_eq!(cuGraphNodeFindInClone(&mut found, second, clone), Status::Success);
        assert_eq!(nodes(clone)[1], found);
        assert_eq!(edges(clone).len(), 1);
        let three = FillNode { to: a, pitch: 0, value: 3_f32.to_bits(), item: 4, width: 1, height: 1 };
        let three = std::ptr::from_ref(&three).cast();
        assert_eq!(cuGraphMemsetNodeSetParams(nodes(clone)[0], three), Status::Success);
        let place = result.as_mut_ptr().cast();
        assert_eq!(cuGraphExecUpdate_v2(exec, clone, place), Status::Success);
        assert_eq!(result[0] as u32, 0);
        assert_eq!(cuGraphLaunch(exec, null_mut()), Status::Success);
        assert_eq!(float(b), 6.0);
        assert_eq!(cuGraphDestroyNode(found), Status::Success);
        assert_eq!(cuGraphExecUpdate_v2(exec, clone, place), Status::GraphExecUpdateFailure);
        assert_eq!(result[0] as u32, 2);
    }
    // SAFETY: each list holds one node.
    unsafe {
        assert_eq!(cuGraphAddDependencies(made, &second, &first, 1), Status::Success);
        let mut circle = null_mut();
        assert_eq!(cuGraphInstantiateWithFlags(&mut circle, made, 0), Status::InvalidValue, "a circle");
        assert_eq!(cuGraphRemoveDependencies(made, &second, &first, 1), Status::Success);
        assert_eq!(cuGraphRemoveDependencies(made, &second, &first, 1), Status::InvalidValue);
    }
    assert_eq!(cuGraphNodeSetEnabled(exec, first, 0), Status::Success);
    fill(a, 50.0, null_mut());
    assert_eq!(cuGraphLaunch(exec, null_mut()), Status::Success);
    assert_eq!(float(b), 100.0);
}

#[test]
fn nodes_without_order_run_in_any() {
    let _device = Device::new();
    let word = upload(&[0_f32]);
    let run = |ordered: bool| {
        let made = graph();
        let first = fill_node(made, &[], word, 1.0);
        let before = [first];
        fill_node(made, if ordered { &before } else { &[] }, word, 2.0);
        let exec = instantiate(made);
        let seen: Vec<f32> = (0..ROUNDS)
            .map(|_| {
                assert_eq!(cuGraphLaunch(exec, null_mut()), Status::Success);
                float(word)
            })
            .collect();
        seen
    };
    let any = run(false);
    assert!(any.contains(&1.0) && any.contains(&2.0), "{any:?}");
    assert!(run(true).iter().all(|value| *value == 2.0));
}

#[test]
fn graphs_hold_graphs_events_and_functions() {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    unsafe extern "C" fn function(data: *mut c_void) {
        CALLS.fetch_add(data as usize as u32, Ordering::SeqCst);
    }
    #[repr(C)]
    struct HostNode {
        function: Option<unsafe extern "C" fn(*mut c_void)>,
        data: *mut c_void,
    }
    let _device = Device::new();
    let (word, reached, waited) = (upload(&[0_f32]), event(), event());
    let (inner, outer) = (graph(), graph());
    fill_node(inner, &[], word, 8.0);
    let (mut child, mut host, mut record, mut wait) = (null_mut(), null_mut(), null_mut(), null_mut());
    let call = HostNode { function: Some(function), data: number(3) };
    // SAFETY: the lists and parameters are there.
    unsafe {
        assert_eq!(cuGraphAddEventWaitNode(&mut wait, outer, null(), 0, waited), Status::Success);
        assert_eq!(cuGraphAddChildGraphNode(&mut child, outer, &wait, 1, inner), Status::Success);
        let call = std::ptr::from_ref(&call).cast();
        assert_eq!(cuGraphAddHostNode(&mut host, outer, &child, 1, call), Status::Success);
        assert_eq!(cuGraphAddEventRecordNode(&mut record, outer, &host, 1, reached), Status::Success);
        let mut empty = null_mut();
        assert_eq!(cuGraphAddEmptyNode(&mut empty, outer, &record, 1), Status::Success);
        let mut owned = null_mut();
        assert_eq!(cuGraphChildGraphNodeGetGraph(child, &mut owned), Status::Success);
        assert_eq!(cuGraphDestroy(owned), Status::InvalidValue, "it is the node's");
    }
    assert_eq!(cuGraphDestroy(inner), Status::Success);
    let exec = instantiate(outer);
    assert_eq!(cuGraphDestroy(outer), Status::Success);
    for round in 1..=5 {
        assert_eq!(cuGraphLaunch(exec, null_mut()), Status::Success);
        assert_eq!(CALLS.load(Ordering::SeqCst), 3 * round, "called before the launch returns");
        assert_eq!(cuEventSynchronize(reached), Status::Success);
        assert_eq!(float(word), 8.0);
    }
}

#[test]
fn streams_wait_for_words_of_memory() {
    let _device = Device::new();
    let (a, b) = (stream(), stream());
    let words = upload(&[0_u32, 0]);
    let out = upload(&[0_f32]);
    for round in 1..=20_u32 {
        assert_eq!(cuStreamWaitValue32_v2(a, words, round, 0), Status::Success);
        fill(out, round as f32, a);
        assert_eq!((0..50).map(|_| cuStreamQuery(a)).max_by_key(|s| *s as u32), Some(Status::NotReady));
        assert_eq!(download(out, 1), Ok(vec![(round - 1) as f32]), "it waits");
        assert_eq!(cuStreamWriteValue32_v2(b, words, round, 0), Status::Success);
        assert_eq!(cuStreamSynchronize(a), Status::Success);
        assert_eq!(download(out, 1), Ok(vec![round as f32]));
    }
    assert_eq!(cuStreamWaitValue32_v2(a, words + 2, 1, 0), Status::InvalidValue, "misaligned");
    assert_eq!(cuStreamWaitValue32_v2(a, 1 << 60, 1, 0), Status::InvalidValue);
    assert_eq!(cuCtxSynchronize(), Status::Success);
}

#[test]
fn launches_of_the_old_kind() {
    use cuda::api::legacy_launch::*;
    let device = Device::new();
    let kernel = device.kernel("store_at");
    let out = upload(&[0_u32]);
    assert_eq!(cuLaunch(kernel), Status::InvalidValue, "no parameters yet");
    assert_eq!(cuFuncSetBlockShape(kernel, 32, 1, 1), Status::Success);
    // SAFETY: there are eight bytes.
    assert_eq!(unsafe { cuParamSetv(kernel, 0, parameter(&out), 8) }, Status::Success);
    assert_eq!(cuParamSetSize(kernel, 8), Status::Success);
    assert_eq!(cuLaunchGrid(kernel, 2, 2), Status::Success);
    assert_eq!(download(out, 1), Ok(vec![7_u32]));
}

#[test]
fn a_stream_may_go_before_the_capture_that_it_took_part_in_ends() {
    let _device = Device::new();
    let word = upload(&[0_u32]);
    for (joined, expected) in [(true, Status::Success), (false, Status::StreamCaptureUnjoined)] {
        let (first, second, begin, end) = (stream(), stream(), event(), event());
        assert_eq!(cuStreamBeginCapture_v2(first, 0), Status::Success);
        assert_eq!(cuEventRecord(begin, first), Status::Success);
        assert_eq!(cuStreamWaitEvent(second, begin, 0), Status::Success);
        assert_eq!(cuMemsetD32Async(word, 1, 1, second), Status::Success);
        if joined {
            assert_eq!(cuEventRecord(end, second), Status::Success);
            assert_eq!(cuStreamWaitEvent(first, end, 0), Status::Success);
        }
        assert_eq!(cuStreamDestroy_v2(second), Status::Success);
        let mut graph = null_mut();
        // SAFETY: there is a place for the handle.
        assert_eq!(unsafe { cuStreamEndCapture(first, &mut graph) }, expected);
        assert_eq!(graph.is_null(), !joined);
    }
}

/// A function of the host that expects to be called in this order.
unsafe extern "C" fn in_order(at: *mut c_void) {
    let expected = at as usize as u32;
    let _ = NEXT.compare_exchange(expected, expected + 1, Ordering::Relaxed, Ordering::Relaxed);
}

/// Which of [`in_order`]'s calls comes next.
static NEXT: AtomicU32 = AtomicU32::new(0);

#[test]
fn graphs_may_be_long_and_wide() {
    const LONG: usize = 100_000;
    const WIDE: usize = 20_000;
    let _device = Device::new();
    let host = |graph, before: &[CUgraphNode], at: usize| {
        let call: [*const c_void; 2] = [in_order as *const c_void, at as *const c_void];
        let mut node = null_mut();
        // SAFETY: the list is there; the function takes any number.
        let added = unsafe {
            cuGraphAddHostNode(&mut node, graph, before.as_ptr(), before.len(), call.as_ptr().cast())
        };
        assert_eq!(added, Status::Success);
        node
    };
    // A chain: each node waits for the one before.
    let long = graph();
    let mut last = host(long, &[], 0);
    for at in 1..LONG {
        last = host(long, &[last], at);
    }
    let mut clone = null_mut();
    // SAFETY: the place is one for a handle.
    unsafe {
        assert_eq!(cuGraphClone(&mut clone, long), Status::Success);
    }
    for graph in [long, clone] {
        NEXT.store(0, Ordering::Relaxed);
        assert_eq!(cuGraphLaunch(instantiate(graph), null_mut()), Status::Success);
        assert_eq!(cuCtxSynchronize(), Status::Success);
        assert_eq!(NEXT.load(Ordering::Relaxed), LONG as u32, "each behind the one before");
    }
    // Many that wait for nothing, and one that waits for all of them.
    let wide = graph();
    let all: Vec<CUgraphNode> = (0..WIDE).map(|_| host(wide, &[], 1)).collect();
    host(wide, &all, 0);
    NEXT.store(0, Ordering::Relaxed);
    assert_eq!(cuGraphLaunch(instantiate(wide), null_mut()), Status::Success);
    assert_eq!(cuCtxSynchronize(), Status::Success);
    assert_eq!(NEXT.load(Ordering::Relaxed), 1, "the last one is called when all others were");
}
