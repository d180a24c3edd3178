//! Capturing streams into graphs (CUDA Runtime API, "Stream Management").

use std::ffi::{c_int, c_uint, c_ulonglong, c_void};
use std::ptr::{null, null_mut};

use bugaroo_cuda_abi::CUstream;

use crate::api::api;
use crate::driver::driver;
use crate::types::Handle;

driver! {
    cuStreamBeginCapture_v2(stream: CUstream, mode: c_int);
    cuStreamBeginCaptureToGraph(stream: CUstream, graph: Handle, nodes: *const Handle, data: *const c_void, count: usize, mode: c_int);
    cuStreamEndCapture(stream: CUstream, place: *mut Handle);
    cuStreamIsCapturing(stream: CUstream, place: *mut c_int);
    cuStreamGetCaptureInfo_v3(stream: CUstream, status: *mut c_int, id: *mut c_ulonglong, graph: *mut Handle, nodes: *mut *const Handle, data: *mut *const c_void, count: *mut usize);
    cuStreamUpdateCaptureDependencies_v2(stream: CUstream, nodes: *mut Handle, data: *const c_void, count: usize, flags: c_uint);
    cuThreadExchangeStreamCaptureMode(mode: *mut c_int);
}

api! {
    with_device cudaStreamBeginCapture(stream: CUstream, mode: c_int)
        on stream as cudaStreamBeginCapture_ptsz { cuStreamBeginCapture_v2(stream, mode) }
    with_device cudaStreamBeginCaptureToGraph(
        stream: CUstream, graph: Handle, nodes: *const Handle, data: *const c_void, count: usize, mode: c_int,
    ) on stream as cudaStreamBeginCaptureToGraph_ptsz {
        cuStreamBeginCaptureToGraph(stream, graph, nodes, data, count, mode)
    }
    with_device cudaStreamEndCapture(stream: CUstream, place: *mut Handle)
        on stream as cudaStreamEndCapture_ptsz { cuStreamEndCapture(stream, place) }
    with_device cudaStreamIsCapturing(stream: CUstream, place: *mut c_int)
        on stream as cudaStreamIsCapturing_ptsz { cuStreamIsCapturing(stream, place) }
    with_device cudaStreamGetCaptureInfo(
        stream: CUstream, status: *mut c_int, id: *mut c_ulonglong, graph: *mut Handle,
        nodes: *mut *const Handle, data: *mut *const c_void, count: *mut usize,
    ) on stream as cudaStreamGetCaptureInfo_ptsz {
        cuStreamGetCaptureInfo_v3(stream, status, id, graph, nodes, data, count)
    }
    /// CUDA 12's form without data of edges.
    with_device cudaStreamGetCaptureInfo_v2(
        stream: CUstream, status: *mut c_int, id: *mut c_ulonglong, graph: *mut Handle,
        nodes: *mut *const Handle, count: *mut usize,
    ) on stream as cudaStreamGetCaptureInfo_v2_ptsz {
        cuStreamGetCaptureInfo_v3(stream, status, id, graph, nodes, null_mut(), count)
    }
    /// CUDA 12's oldest form, which tells only whether, and which capture.
    with_device cudaStreamGetCaptureInfo_v12(stream: CUstream, status: *mut c_int, id: *mut c_ulonglong)
        on stream as cudaStreamGetCaptureInfo_ptsz_v12 {
        cuStreamGetCaptureInfo_v3(stream, status, id, null_mut(), null_mut(), null_mut(), null_mut())
    }
    with_device cudaStreamUpdateCaptureDependencies(
        stream: CUstream, nodes: *mut Handle, data: *const c_void, count: usize, flags: c_uint,
    ) on stream as cudaStreamUpdateCaptureDependencies_ptsz {
        cuStreamUpdateCaptureDependencies_v2(stream, nodes, data, count, flags)
    }
    with_device cudaStreamUpdateCaptureDependencies_v12(
        stream: CUstream, nodes: *mut Handle, count: usize, flags: c_uint,
    ) on stream as cudaStreamUpdateCaptureDependencies_ptsz_v12 {
        cuStreamUpdateCaptureDependencies_v2(stream, nodes, null(), count, flags)
    }
    with_device cudaThreadExchangeStreamCaptureMode(mode: *mut c_int) { cuThreadExchangeStreamCaptureMode(mode) }
}
