//! Stream capture (CUDA Driver API, "Stream Management"): a capturing stream's work becomes nodes of a graph
//! instead of being done.
//!
//! A capture begins in one stream; others join it by waiting for an event that was recorded in it, and have to
//! be joined back before it ends. What a capturing stream does not allow invalidates the capture. Calls of other
//! streams and threads that the capture's mode forbids are let through where they do no harm.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ffi::{c_uint, c_ulonglong, c_void};

use bugaroo_cuda_abi::{CUgraph, CUgraphNode, CUstream};

use crate::api::entry::anytime;
use crate::api::graph::edit::nodes;
use crate::api::submit::{on_stream, twin};
use bugaroo_device::error::{CallResult, Status};
use bugaroo_device::lane::Lane;
use bugaroo_device::objects::capture::StreamCapture;
use bugaroo_device::objects::graph::user_object::Dying;
use bugaroo_device::objects::stream::Stream;
use bugaroo_device::places::{not_null, write, write_if_wanted};
use bugaroo_device::state::Gpu;

/// `CU_STREAM_CAPTURE_MODE_RELAXED`, the last mode.
const RELAXED: c_uint = 2;

thread_local! {
    /// The calling thread's interaction mode.
    static MODE: Cell<c_uint> = const { Cell::new(0) };
}

/// Begins a capture.
fn begin(
    name: &str,
    stream: CUstream,
    mode: c_uint,
    into: impl FnOnce(&mut Gpu) -> CallResult<(Option<CUgraph>, Vec<CUgraphNode>)>,
) -> Status {
    on_stream(name, stream, |gpu, stream| {
        if mode > RELAXED {
            return Err(Status::InvalidValue);
        }
        if matches!(stream.lane, Lane::Legacy(_)) {
            return Err(Status::StreamCaptureUnsupported);
        }
        if gpu.is_capturing(&stream) {
            return Err(Status::IllegalState);
        }
        let (given, after) = into(gpu)?;
        let graph = given.unwrap_or_else(|| gpu.ordered.graphs.create());
        let capture = StreamCapture {
            graph,
            given: given.is_some(),
            mode,
            origin: stream.lane,
            thread: std::thread::current().id(),
            context: stream.context,
            invalid: false,
            streams: BTreeMap::from([(stream.lane, after)]),
        };
        gpu.ordered.graphs.captured += 1;
        let number = gpu.ordered.graphs.captured;
        gpu.ordered.graphs.captures.insert(number, capture);
        Ok(())
    })
}

twin! { cuStreamBeginCapture_v2_ptsz =
    /// Begins a capture.
    pub extern "C" fn cuStreamBeginCapture_v2(stream: CUstream, mode: c_uint) -> Status {
        begin("cuStreamBeginCapture_v2", stream, mode, |_| Ok((None, Vec::new())))
    }
}

twin! { cuStreamBeginCapture_ptsz =
    /// Begins a capture, in global mode.
    pub extern "C" fn cuStreamBeginCapture(stream: CUstream) -> Status {
        begin("cuStreamBeginCapture", stream, 0, |_| Ok((None, Vec::new())))
    }
}

twin! { cuStreamBeginCaptureToGraph_ptsz =
    /// Begins a capture that adds to a graph, after some of its nodes.
    ///
    /// # Safety
    /// `after` is null or holds `count` nodes; `edges` is null or holds as many items.
    pub unsafe extern "C" fn cuStreamBeginCaptureToGraph(
        stream: CUstream,
        graph: CUgraph,
        after: *const CUgraphNode,
        _edges: *const c_void,
        count: usize,
        mode: c_uint,
    ) -> Status {
        begin("cuStreamBeginCaptureToGraph", stream, mode, |gpu| {
            gpu.ordered.graphs.graphs.get(graph)?;
            // SAFETY: the caller's promise.
            let after = unsafe { nodes(after, count) }?;
            check_nodes(gpu, graph, &after)?;
            Ok((Some(graph), after))
        })
    }
}

fn check_nodes(gpu: &Gpu, graph: CUgraph, nodes: &[CUgraphNode]) -> CallResult {
    let inside =
        |node: &CUgraphNode| gpu.ordered.graphs.nodes.get(*node).is_ok_and(|node| node.graph == graph);
    if nodes.iter().all(inside) { Ok(()) } else { Err(Status::InvalidValue) }
}

twin! { cuStreamEndCapture_ptsz =
    /// Ends a capture in the stream that it began in, and gives its graph, or null when it is invalid. Who gave the graph to
    /// capture to need not be told it.
    ///
    /// # Safety
    /// `place` is null or points to a place for a handle.
    pub unsafe extern "C" fn cuStreamEndCapture(stream: CUstream, place: *mut CUgraph) -> Status {
        let mut dying = Dying::default();
        let status = on_stream("cuStreamEndCapture", stream, |gpu, stream| {
            let number = gpu.capture_of(&stream).ok_or(Status::IllegalState)?;
            let Some(capture) = gpu.ordered.graphs.captures.get(&number) else { return Err(Status::IllegalState) };
            if !capture.given {
                not_null(place)?;
            }
            if capture.origin != stream.lane {
                gpu.invalidate(number);
                return Err(Status::StreamCaptureUnmatched);
            }
            if capture.mode != RELAXED && capture.thread != std::thread::current().id() {
                return Err(Status::StreamCaptureWrongThread);
            }
            let joined = gpu.reached(capture.streams.get(&stream.lane).map_or(&[], Vec::as_slice));
            let unjoined = capture.streams.values().flatten().any(|node| !joined.contains(node));
            let Some(capture) = gpu.ordered.graphs.captures.remove(&number) else { return Err(Status::IllegalState) };
            let failed = match (capture.invalid, unjoined) {
                (true, _) => Some(Status::StreamCaptureInvalidated),
                (_, true) => Some(Status::StreamCaptureUnjoined),
                _ => None,
            };
            if failed.is_some() && !capture.given {
                gpu.ordered.graphs.remove(capture.graph, &mut dying);
            }
            let graph = if failed.is_some() { std::ptr::null_mut() } else { capture.graph };
            // SAFETY: the caller's promise.
            unsafe { write_if_wanted(place, graph) };
            failed.map_or(Ok(()), Err)
        });
        dying.destroy();
        status
    }
}

/// 0: not captured, 1: captured, 2: the capture is invalid.
fn state(gpu: &Gpu, stream: &Stream) -> (c_uint, Option<u64>) {
    let number = gpu.capture_of(stream);
    let invalid = number.is_some_and(|number| gpu.ordered.graphs.captures[&number].invalid);
    (c_uint::from(number.is_some()) + c_uint::from(invalid), number)
}

twin! { cuStreamIsCapturing_ptsz =
    /// Whether a stream is being captured.
    ///
    /// # Safety
    /// `place` is null or points to a place for the state.
    pub unsafe extern "C" fn cuStreamIsCapturing(stream: CUstream, place: *mut c_uint) -> Status {
        on_stream("cuStreamIsCapturing", stream, |gpu, stream| {
            let (state, _) = state(gpu, &stream);
            // SAFETY: the caller's promise.
            unsafe { write(place, state) }
        })
    }
}

twin! { cuStreamGetCaptureInfo_v3_ptsz =
    /// What a stream's capture is up to. The list of nodes stays until the stream is used again.
    ///
    /// # Safety
    /// `status` is null, which is refused, or points to a place for the state; the others are null (not wanted) or
    /// point to places for their results.
    pub unsafe extern "C" fn cuStreamGetCaptureInfo_v3(
        stream: CUstream,
        status: *mut c_uint,
        number: *mut c_ulonglong,
        graph: *mut CUgraph,
        after: *mut *const CUgraphNode,
        edges: *mut *const c_void,
        count: *mut usize,
    ) -> Status {
        on_stream("cuStreamGetCaptureInfo_v3", stream, |gpu, stream| {
            let (state, found) = state(gpu, &stream);
            // SAFETY: the caller's promise.
            unsafe {
                write(status, state)?;
                if let (1, Some(found)) = (state, found) {
                    let capture = &gpu.ordered.graphs.captures[&found];
                    let nodes = capture.streams.get(&stream.lane).map_or(&[][..], Vec::as_slice);
                    write_if_wanted(number, found);
                    write_if_wanted(graph, capture.graph);
                    write_if_wanted(after, nodes.as_ptr());
                    write_if_wanted(edges, std::ptr::null());
                    write_if_wanted(count, nodes.len());
                }
            }
            Ok(())
        })
    }
}

twin! { cuStreamGetCaptureInfo_v2_ptsz =
    /// What a stream's capture is up to.
    ///
    /// # Safety
    /// As [`cuStreamGetCaptureInfo_v3`].
    pub unsafe extern "C" fn cuStreamGetCaptureInfo_v2(
        stream: CUstream,
        status: *mut c_uint,
        number: *mut c_ulonglong,
        graph: *mut CUgraph,
        after: *mut *const CUgraphNode,
        count: *mut usize,
    ) -> Status {
        // SAFETY: the same contract.
        unsafe { cuStreamGetCaptureInfo_v3(stream, status, number, graph, after, std::ptr::null_mut(), count) }
    }
}

twin! { cuStreamGetCaptureInfo_ptsz =
    /// What a stream's capture is up to.
    ///
    /// # Safety
    /// As [`cuStreamGetCaptureInfo_v3`].
    pub unsafe extern "C" fn cuStreamGetCaptureInfo(
        stream: CUstream,
        status: *mut c_uint,
        number: *mut c_ulonglong,
    ) -> Status {
        let null = std::ptr::null_mut();
        // SAFETY: the same contract.
        unsafe {
            cuStreamGetCaptureInfo_v2(stream, status, number, null, std::ptr::null_mut(), std::ptr::null_mut())
        }
    }
}

twin! { cuStreamUpdateCaptureDependencies_ptsz =
    /// Adds to (0) or sets (1) what a capturing stream's next work comes after.
    ///
    /// # Safety
    /// `after` is null or holds `count` nodes.
    pub unsafe extern "C" fn cuStreamUpdateCaptureDependencies(
        stream: CUstream,
        after: *mut CUgraphNode,
        count: usize,
        flags: c_uint,
    ) -> Status {
        on_stream("cuStreamUpdateCaptureDependencies", stream, |gpu, stream| {
            if flags > 1 {
                return Err(Status::InvalidValue);
            }
            let number = gpu.capture_of(&stream).ok_or(Status::IllegalState)?;
            // SAFETY: the caller's promise.
            let given = unsafe { nodes(after, count) }?;
            let graph = gpu.ordered.graphs.captures[&number].graph;
            check_nodes(gpu, graph, &given)?;
            let Some(capture) = gpu.ordered.graphs.captures.get_mut(&number) else { return Err(Status::IllegalState) };
            if capture.invalid {
                return Err(Status::StreamCaptureInvalidated);
            }
            let after = capture.streams.entry(stream.lane).or_default();
            if flags == 1 {
                after.clear();
            }
            for node in given {
                if !after.contains(&node) {
                    after.push(node);
                }
            }
            Ok(())
        })
    }
}

twin! { cuStreamUpdateCaptureDependencies_v2_ptsz =
    /// Adds to (0) or sets (1) what a capturing stream's next work comes after; edges are plain ones.
    ///
    /// # Safety
    /// As [`cuStreamUpdateCaptureDependencies`].
    pub unsafe extern "C" fn cuStreamUpdateCaptureDependencies_v2(
        stream: CUstream,
        after: *mut CUgraphNode,
        _edges: *const c_void,
        count: usize,
        flags: c_uint,
    ) -> Status {
        // SAFETY: the same contract.
        unsafe { cuStreamUpdateCaptureDependencies(stream, after, count, flags) }
    }
}

/// Exchanges the calling thread's mode, which says what it may do while streams are captured; it is kept and told.
///
/// # Safety
/// `mode` is null or points to a mode.
pub unsafe extern "C" fn cuThreadExchangeStreamCaptureMode(mode: *mut c_uint) -> Status {
    anytime("cuThreadExchangeStreamCaptureMode", || {
        not_null(mode)?;
        // SAFETY: not null, and the caller vouches for the rest.
        let new = unsafe { mode.read_unaligned() };
        if new > RELAXED {
            return Err(Status::InvalidValue);
        }
        // SAFETY: as above.
        unsafe { write(mode, MODE.replace(new)) }
    })
}
