//! Streams and events (CUDA Runtime API, "Stream Management", "Event Management").
//!
//! Handles and flags are the driver's, and so are the numbers of errors that a callback is told.

use std::ffi::{c_int, c_uint, c_ulonglong, c_void};

use bugaroo_cuda_abi::{CUevent, CUhostFn, CUstream, CUstreamCallback};

use crate::api::api;
use crate::driver::driver;

driver! {
    cuStreamCreate(place: *mut CUstream, flags: c_uint);
    cuStreamCreateWithPriority(place: *mut CUstream, flags: c_uint, priority: c_int);
    cuStreamDestroy_v2(stream: CUstream);
    cuStreamGetPriority(stream: CUstream, place: *mut c_int);
    cuStreamGetFlags(stream: CUstream, place: *mut c_uint);
    cuStreamGetId(stream: CUstream, place: *mut c_ulonglong);
    cuStreamGetDevice(stream: CUstream, place: *mut c_int);
    cuStreamSynchronize(stream: CUstream);
    cuStreamQuery(stream: CUstream);
    cuStreamWaitEvent(stream: CUstream, event: CUevent, flags: c_uint);
    cuStreamAddCallback(stream: CUstream, callback: CUstreamCallback, data: *mut c_void, flags: c_uint);
    cuStreamAttachMemAsync(stream: CUstream, address: u64, length: usize, flags: c_uint);
    cuStreamCopyAttributes(to: CUstream, from: CUstream);
    cuStreamGetAttribute(stream: CUstream, attribute: c_int, place: *mut c_void);
    cuStreamSetAttribute(stream: CUstream, attribute: c_int, value: *const c_void);
    cuLaunchHostFunc(stream: CUstream, function: CUhostFn, data: *mut c_void);
    cuEventCreate(place: *mut CUevent, flags: c_uint);
    cuEventRecord(event: CUevent, stream: CUstream);
    cuEventRecordWithFlags(event: CUevent, stream: CUstream, flags: c_uint);
    cuEventQuery(event: CUevent);
    cuEventSynchronize(event: CUevent);
    cuEventDestroy_v2(event: CUevent);
    cuEventElapsedTime(place: *mut f32, start: CUevent, end: CUevent);
}

api! {
    with_device cudaStreamCreate(place: *mut CUstream) { cuStreamCreate(place, 0) }
    with_device cudaStreamCreateWithFlags(place: *mut CUstream, flags: c_uint) { cuStreamCreate(place, flags) }
    with_device cudaStreamCreateWithPriority(place: *mut CUstream, flags: c_uint, priority: c_int) {
        cuStreamCreateWithPriority(place, flags, priority)
    }
    with_device cudaStreamDestroy(stream: CUstream) { cuStreamDestroy_v2(stream) }
    with_device cudaStreamGetPriority(stream: CUstream, place: *mut c_int)
        on stream as cudaStreamGetPriority_ptsz { cuStreamGetPriority(stream, place) }
    with_device cudaStreamGetFlags(stream: CUstream, place: *mut c_uint)
        on stream as cudaStreamGetFlags_ptsz { cuStreamGetFlags(stream, place) }
    with_device cudaStreamGetId(stream: CUstream, place: *mut c_ulonglong)
        on stream as cudaStreamGetId_ptsz { cuStreamGetId(stream, place) }
    with_device cudaStreamGetDevice(stream: CUstream, place: *mut c_int)
        on stream as cudaStreamGetDevice_ptsz { cuStreamGetDevice(stream, place) }
    with_device cudaStreamSynchronize(stream: CUstream)
        on stream as cudaStreamSynchronize_ptsz { cuStreamSynchronize(stream) }
    with_device cudaStreamQuery(stream: CUstream)
        on stream as cudaStreamQuery_ptsz { cuStreamQuery(stream) }
    with_device cudaStreamWaitEvent(stream: CUstream, event: CUevent, flags: c_uint)
        on stream as cudaStreamWaitEvent_ptsz { cuStreamWaitEvent(stream, event, flags) }
    with_device cudaStreamAddCallback(stream: CUstream, callback: CUstreamCallback, data: *mut c_void, flags: c_uint)
        on stream as cudaStreamAddCallback_ptsz { cuStreamAddCallback(stream, callback, data, flags) }
    with_device cudaStreamAttachMemAsync(stream: CUstream, address: *mut c_void, length: usize, flags: c_uint)
        on stream as cudaStreamAttachMemAsync_ptsz { cuStreamAttachMemAsync(stream, address as u64, length, flags) }
    with_device cudaStreamCopyAttributes(to: CUstream, from: CUstream) { cuStreamCopyAttributes(to, from) }
    with_device cudaStreamCopyAttributes_ptsz(to: CUstream, from: CUstream) {
        cuStreamCopyAttributes(crate::api::per_thread(to), crate::api::per_thread(from))
    }
    with_device cudaStreamGetAttribute(stream: CUstream, attribute: c_int, place: *mut c_void)
        on stream as cudaStreamGetAttribute_ptsz { cuStreamGetAttribute(stream, attribute, place) }
    with_device cudaStreamSetAttribute(stream: CUstream, attribute: c_int, value: *const c_void)
        on stream as cudaStreamSetAttribute_ptsz { cuStreamSetAttribute(stream, attribute, value) }
    with_device cudaLaunchHostFunc(stream: CUstream, function: CUhostFn, data: *mut c_void)
        on stream as cudaLaunchHostFunc_ptsz { cuLaunchHostFunc(stream, function, data) }

    with_device cudaEventCreate(place: *mut CUevent) { cuEventCreate(place, 0) }
    with_device cudaEventCreateWithFlags(place: *mut CUevent, flags: c_uint) { cuEventCreate(place, flags) }
    with_device cudaEventRecord(event: CUevent, stream: CUstream)
        on stream as cudaEventRecord_ptsz { cuEventRecord(event, stream) }
    with_device cudaEventRecordWithFlags(event: CUevent, stream: CUstream, flags: c_uint)
        on stream as cudaEventRecordWithFlags_ptsz { cuEventRecordWithFlags(event, stream, flags) }
    with_device cudaEventQuery(event: CUevent) { cuEventQuery(event) }
    with_device cudaEventSynchronize(event: CUevent) { cuEventSynchronize(event) }
    with_device cudaEventDestroy(event: CUevent) { cuEventDestroy_v2(event) }
    with_device cudaEventElapsedTime(place: *mut f32, start: CUevent, end: CUevent) {
        cuEventElapsedTime(place, start, end)
    }
}
