//! The names that programs compiled for per-thread default streams ask for (`_ptsz`, `_ptds`): each takes
//! the default stream for the calling thread's own ([`crate::submit::per_thread`]), and is its namesake otherwise.
//! Mere second names stand in [`crate::exports`].

use std::ffi::{c_int, c_uchar, c_uint, c_ulonglong, c_ushort, c_void};

use crate::error::Status;
use crate::graph::exec as graph_exec;
use crate::types::{
    CUDA_MEMCPY2D, CUDA_MEMCPY3D, CUDA_MEMCPY3D_BATCH_OP, CUarray, CUcontext, CUdevice, CUdeviceptr, CUevent,
    CUfunction, CUgraph, CUgraphExec, CUgraphNode, CUhostFn, CUlaunchAttributeValue, CUlaunchConfig,
    CUmemLocation, CUmemcpyAttributes, CUmemoryPool, CUstream, CUstreamCallback,
};
use crate::{
    advice, capture, copy, copy_array, copy_batch, copy2d, copy3d, event, fill, launch, memop, memory, pool,
    stream, stream_attributes,
};

macro_rules! per_thread {
    ($($alias:ident = $module:ident::$name:ident($($argument:ident: $type:ty),* $(,)?);)*) => {$(
        #[doc = concat!("[`", stringify!($module), "::", stringify!($name), "`] with the thread's default stream.")]
        ///
        /// # Safety
        /// As that one.
        #[allow(clippy::too_many_arguments, reason = "the API's own signature")]
        #[allow(unused_unsafe, reason = "some of the functions are safe")]
        pub unsafe extern "C" fn $alias($($argument: $type),*) -> Status {
            // SAFETY: the same contract.
            crate::submit::per_thread(|| unsafe { $module::$name($($argument),*) })
        }
    )*};
}

per_thread! {
    cuEventRecordWithFlags_ptsz = event::cuEventRecordWithFlags(
        event: CUevent,
        stream: CUstream,
        flags: c_uint,
    );
    cuEventRecord_ptsz = event::cuEventRecord(event: CUevent, stream: CUstream);
    cuLaunchCooperativeKernel_ptsz = launch::cuLaunchCooperativeKernel(
        function: CUfunction,
        grid_x: c_uint,
        grid_y: c_uint,
        grid_z: c_uint,
        block_x: c_uint,
        block_y: c_uint,
        block_z: c_uint,
        dynamic_shared: c_uint,
        stream: CUstream,
        each: *const *const c_void,
    );
    cuLaunchHostFunc_ptsz = stream::cuLaunchHostFunc(
        stream: CUstream,
        function: CUhostFn,
        user_data: *mut c_void,
    );
    cuLaunchKernelEx_ptsz = launch::cuLaunchKernelEx(
        config: *const CUlaunchConfig,
        function: CUfunction,
        each: *const *const c_void,
        extra: *const *mut c_void,
    );
    cuLaunchKernel_ptsz = launch::cuLaunchKernel(
        function: CUfunction,
        grid_x: c_uint,
        grid_y: c_uint,
        grid_z: c_uint,
        block_x: c_uint,
        block_y: c_uint,
        block_z: c_uint,
        dynamic_shared: c_uint,
        stream: CUstream,
        each: *const *const c_void,
        extra: *const *mut c_void,
    );
    cuMemAllocAsync_ptsz = memory::cuMemAllocAsync(place: *mut CUdeviceptr, bytes: usize, stream: CUstream);
    cuMemAllocFromPoolAsync_ptsz = pool::cuMemAllocFromPoolAsync(
        place: *mut CUdeviceptr,
        bytes: usize,
        pool: CUmemoryPool,
        stream: CUstream,
    );
    cuMemFreeAsync_ptsz = memory::cuMemFreeAsync(address: CUdeviceptr, stream: CUstream);
    cuMemcpy2DAsync_v2_ptsz = copy2d::cuMemcpy2DAsync_v2(copy: *const CUDA_MEMCPY2D, stream: CUstream);
    cuMemcpy2DUnaligned_v2_ptds = copy2d::cuMemcpy2DUnaligned_v2(copy: *const CUDA_MEMCPY2D);
    cuMemcpy2D_v2_ptds = copy2d::cuMemcpy2D_v2(copy: *const CUDA_MEMCPY2D);
    cuMemcpyAsync_ptsz = copy::cuMemcpyAsync(
        to: CUdeviceptr,
        from: CUdeviceptr,
        bytes: usize,
        stream: CUstream,
    );
    cuMemcpyDtoDAsync_v2_ptsz = copy::cuMemcpyDtoDAsync_v2(
        to: CUdeviceptr,
        from: CUdeviceptr,
        bytes: usize,
        stream: CUstream,
    );
    cuMemcpyDtoD_v2_ptds = copy::cuMemcpyDtoD_v2(to: CUdeviceptr, from: CUdeviceptr, bytes: usize);
    cuMemcpyDtoHAsync_v2_ptsz = copy::cuMemcpyDtoHAsync_v2(
        to: *mut c_void,
        from: CUdeviceptr,
        bytes: usize,
        stream: CUstream,
    );
    cuMemcpyDtoH_v2_ptds = copy::cuMemcpyDtoH_v2(to: *mut c_void, from: CUdeviceptr, bytes: usize);
    cuMemcpyHtoDAsync_v2_ptsz = copy::cuMemcpyHtoDAsync_v2(
        to: CUdeviceptr,
        from: *const c_void,
        bytes: usize,
        stream: CUstream,
    );
    cuMemcpyHtoD_v2_ptds = copy::cuMemcpyHtoD_v2(to: CUdeviceptr, from: *const c_void, bytes: usize);
    cuMemcpyPeerAsync_ptsz = copy::cuMemcpyPeerAsync(
        to: CUdeviceptr,
        to_context: CUcontext,
        from: CUdeviceptr,
        from_context: CUcontext,
        bytes: usize,
        stream: CUstream,
    );
    cuMemcpyPeer_ptds = copy::cuMemcpyPeer(
        to: CUdeviceptr,
        to_context: CUcontext,
        from: CUdeviceptr,
        from_context: CUcontext,
        bytes: usize,
    );
    cuMemcpy_ptds = copy::cuMemcpy(to: CUdeviceptr, from: CUdeviceptr, bytes: usize);
    cuMemsetD16Async_ptsz = fill::cuMemsetD16Async(
        to: CUdeviceptr,
        item: c_ushort,
        items: usize,
        stream: CUstream,
    );
    cuMemsetD16_v2_ptds = fill::cuMemsetD16_v2(to: CUdeviceptr, item: c_ushort, items: usize);
    cuMemsetD2D16Async_ptsz = fill::cuMemsetD2D16Async(
        to: CUdeviceptr,
        pitch: usize,
        item: c_ushort,
        width: usize,
        height: usize,
        stream: CUstream,
    );
    cuMemsetD2D16_v2_ptds = fill::cuMemsetD2D16_v2(
        to: CUdeviceptr,
        pitch: usize,
        item: c_ushort,
        width: usize,
        height: usize,
    );
    cuMemsetD2D32Async_ptsz = fill::cuMemsetD2D32Async(
        to: CUdeviceptr,
        pitch: usize,
        item: c_uint,
        width: usize,
        height: usize,
        stream: CUstream,
    );
    cuMemsetD2D32_v2_ptds = fill::cuMemsetD2D32_v2(
        to: CUdeviceptr,
        pitch: usize,
        item: c_uint,
        width: usize,
        height: usize,
    );
    cuMemsetD2D8Async_ptsz = fill::cuMemsetD2D8Async(
        to: CUdeviceptr,
        pitch: usize,
        item: c_uchar,
        width: usize,
        height: usize,
        stream: CUstream,
    );
    cuMemsetD2D8_v2_ptds = fill::cuMemsetD2D8_v2(
        to: CUdeviceptr,
        pitch: usize,
        item: c_uchar,
        width: usize,
        height: usize,
    );
    cuMemsetD32Async_ptsz = fill::cuMemsetD32Async(
        to: CUdeviceptr,
        item: c_uint,
        items: usize,
        stream: CUstream,
    );
    cuMemsetD32_v2_ptds = fill::cuMemsetD32_v2(to: CUdeviceptr, item: c_uint, items: usize);
    cuMemsetD8Async_ptsz = fill::cuMemsetD8Async(
        to: CUdeviceptr,
        item: c_uchar,
        items: usize,
        stream: CUstream,
    );
    cuMemsetD8_v2_ptds = fill::cuMemsetD8_v2(to: CUdeviceptr, item: c_uchar, items: usize);
    cuStreamAddCallback_ptsz = stream::cuStreamAddCallback(
        stream: CUstream,
        callback: CUstreamCallback,
        user_data: *mut c_void,
        flags: c_uint,
    );
    cuStreamAttachMemAsync_ptsz = stream::cuStreamAttachMemAsync(
        stream: CUstream,
        address: u64,
        length: usize,
        flags: c_uint,
    );
    cuStreamEndCapture_ptsz = capture::cuStreamEndCapture(stream: CUstream, graph: *mut CUgraph);
    cuStreamGetCtx_ptsz = stream::cuStreamGetCtx(stream: CUstream, place: *mut CUcontext);
    cuStreamGetCtx_v2_ptsz = stream::cuStreamGetCtx_v2(
        stream: CUstream,
        place: *mut CUcontext,
        green: *mut CUcontext,
    );
    cuStreamGetDevice_ptsz = stream::cuStreamGetDevice(stream: CUstream, place: *mut CUdevice);
    cuStreamGetFlags_ptsz = stream::cuStreamGetFlags(stream: CUstream, place: *mut c_uint);
    cuStreamGetId_ptsz = stream::cuStreamGetId(stream: CUstream, place: *mut c_ulonglong);
    cuStreamGetPriority_ptsz = stream::cuStreamGetPriority(stream: CUstream, place: *mut c_int);
    cuStreamIsCapturing_ptsz = capture::cuStreamIsCapturing(stream: CUstream, place: *mut c_uint);
    cuStreamQuery_ptsz = stream::cuStreamQuery(stream: CUstream);
    cuStreamSynchronize_ptsz = stream::cuStreamSynchronize(stream: CUstream);
    cuGraphInstantiateWithParams_ptsz = graph_exec::cuGraphInstantiateWithParams(
        place: *mut CUgraphExec,
        graph: CUgraph,
        params: *mut graph_exec::InstantiateParams,
    );
    cuGraphLaunch_ptsz = graph_exec::cuGraphLaunch(exec: CUgraphExec, stream: CUstream);
    cuGraphUpload_ptsz = graph_exec::cuGraphUpload(exec: CUgraphExec, stream: CUstream);
    cuStreamBatchMemOp_ptsz = memop::cuStreamBatchMemOp(
        stream: CUstream,
        count: c_uint,
        list: *mut c_void,
        flags: c_uint,
    );
    cuStreamBatchMemOp_v2_ptsz = memop::cuStreamBatchMemOp_v2(
        stream: CUstream,
        count: c_uint,
        list: *mut memop::BatchMemOp,
        flags: c_uint,
    );
    cuStreamBeginCaptureToGraph_ptsz = capture::cuStreamBeginCaptureToGraph(
        stream: CUstream,
        graph: CUgraph,
        after: *const CUgraphNode,
        edges: *const c_void,
        count: usize,
        mode: c_uint,
    );
    cuStreamBeginCapture_ptsz = capture::cuStreamBeginCapture(stream: CUstream);
    cuStreamBeginCapture_v2_ptsz = capture::cuStreamBeginCapture_v2(stream: CUstream, mode: c_uint);
    cuStreamCopyAttributes_ptsz = stream_attributes::cuStreamCopyAttributes(to: CUstream, from: CUstream);
    cuStreamGetAttribute_ptsz = stream_attributes::cuStreamGetAttribute(
        stream: CUstream,
        attribute: c_uint,
        place: *mut CUlaunchAttributeValue,
    );
    cuStreamGetCaptureInfo_ptsz = capture::cuStreamGetCaptureInfo(
        stream: CUstream,
        status: *mut c_uint,
        number: *mut c_ulonglong,
    );
    cuStreamGetCaptureInfo_v2_ptsz = capture::cuStreamGetCaptureInfo_v2(
        stream: CUstream,
        status: *mut c_uint,
        number: *mut c_ulonglong,
        graph: *mut CUgraph,
        after: *mut *const CUgraphNode,
        count: *mut usize,
    );
    cuStreamGetCaptureInfo_v3_ptsz = capture::cuStreamGetCaptureInfo_v3(
        stream: CUstream,
        status: *mut c_uint,
        number: *mut c_ulonglong,
        graph: *mut CUgraph,
        after: *mut *const CUgraphNode,
        edges: *mut *const c_void,
        count: *mut usize,
    );
    cuStreamSetAttribute_ptsz = stream_attributes::cuStreamSetAttribute(
        stream: CUstream,
        attribute: c_uint,
        value: *const CUlaunchAttributeValue,
    );
    cuStreamUpdateCaptureDependencies_ptsz = capture::cuStreamUpdateCaptureDependencies(
        stream: CUstream,
        after: *mut CUgraphNode,
        count: usize,
        flags: c_uint,
    );
    cuStreamUpdateCaptureDependencies_v2_ptsz = capture::cuStreamUpdateCaptureDependencies_v2(
        stream: CUstream,
        after: *mut CUgraphNode,
        edges: *const c_void,
        count: usize,
        flags: c_uint,
    );
    cuStreamWaitValue32_ptsz = memop::cuStreamWaitValue32(
        stream: CUstream,
        address: CUdeviceptr,
        value: u32,
        flags: c_uint,
    );
    cuStreamWaitValue32_v2_ptsz = memop::cuStreamWaitValue32_v2(
        stream: CUstream,
        address: CUdeviceptr,
        value: u32,
        flags: c_uint,
    );
    cuStreamWaitValue64_ptsz = memop::cuStreamWaitValue64(
        stream: CUstream,
        address: CUdeviceptr,
        value: u64,
        flags: c_uint,
    );
    cuStreamWaitValue64_v2_ptsz = memop::cuStreamWaitValue64_v2(
        stream: CUstream,
        address: CUdeviceptr,
        value: u64,
        flags: c_uint,
    );
    cuStreamWriteValue32_ptsz = memop::cuStreamWriteValue32(
        stream: CUstream,
        address: CUdeviceptr,
        value: u32,
        flags: c_uint,
    );
    cuStreamWriteValue32_v2_ptsz = memop::cuStreamWriteValue32_v2(
        stream: CUstream,
        address: CUdeviceptr,
        value: u32,
        flags: c_uint,
    );
    cuStreamWriteValue64_ptsz = memop::cuStreamWriteValue64(
        stream: CUstream,
        address: CUdeviceptr,
        value: u64,
        flags: c_uint,
    );
    cuStreamWriteValue64_v2_ptsz = memop::cuStreamWriteValue64_v2(
        stream: CUstream,
        address: CUdeviceptr,
        value: u64,
        flags: c_uint,
    );
    cuStreamWaitEvent_ptsz = stream::cuStreamWaitEvent(stream: CUstream, event: CUevent, flags: c_uint);
    cuMemPrefetchAsync_ptsz = advice::cuMemPrefetchAsync(
        address: CUdeviceptr,
        bytes: usize,
        device: CUdevice,
        stream: CUstream,
    );
    cuMemPrefetchAsync_v2_ptsz = advice::cuMemPrefetchAsync_v2(
        address: CUdeviceptr,
        bytes: usize,
        location: CUmemLocation,
        flags: c_uint,
        stream: CUstream,
    );
    cuMemPrefetchBatchAsync_ptsz = advice::cuMemPrefetchBatchAsync(
        addresses: *const CUdeviceptr,
        sizes: *const usize,
        count: usize,
        locations: *const CUmemLocation,
        starts: *const usize,
        locations_count: usize,
        flags: u64,
        stream: CUstream,
    );
    cuMemDiscardAndPrefetchBatchAsync_ptsz = advice::cuMemDiscardAndPrefetchBatchAsync(
        addresses: *const CUdeviceptr,
        sizes: *const usize,
        count: usize,
        locations: *const CUmemLocation,
        starts: *const usize,
        locations_count: usize,
        flags: u64,
        stream: CUstream,
    );
    cuMemDiscardBatchAsync_ptsz = advice::cuMemDiscardBatchAsync(
        addresses: *const CUdeviceptr,
        sizes: *const usize,
        count: usize,
        flags: u64,
        stream: CUstream,
    );
    cuMemcpy3DAsync_v2_ptsz = copy3d::cuMemcpy3DAsync_v2(
        copy: *const CUDA_MEMCPY3D,
        stream: CUstream,
    );
    cuMemcpy3DBatchAsync_ptsz = copy_batch::cuMemcpy3DBatchAsync(
        count: usize,
        operations: *const CUDA_MEMCPY3D_BATCH_OP,
        failed: *mut usize,
        flags: c_ulonglong,
        stream: CUstream,
    );
    cuMemcpy3DBatchAsync_v2_ptsz = copy_batch::cuMemcpy3DBatchAsync_v2(
        count: usize,
        operations: *const CUDA_MEMCPY3D_BATCH_OP,
        flags: c_ulonglong,
        stream: CUstream,
    );
    cuMemcpy3DPeerAsync_ptsz = copy3d::cuMemcpy3DPeerAsync(
        copy: *const CUDA_MEMCPY3D,
        stream: CUstream,
    );
    cuMemcpy3DPeer_ptds = copy3d::cuMemcpy3DPeer(
        copy: *const CUDA_MEMCPY3D,
    );
    cuMemcpy3D_v2_ptds = copy3d::cuMemcpy3D_v2(
        copy: *const CUDA_MEMCPY3D,
    );
    cuMemcpyAtoA_v2_ptds = copy_array::cuMemcpyAtoA_v2(
        to: CUarray,
        to_offset: usize,
        from: CUarray,
        from_offset: usize,
        bytes: usize,
    );
    cuMemcpyAtoD_v2_ptds = copy_array::cuMemcpyAtoD_v2(
        to: CUdeviceptr,
        from: CUarray,
        offset: usize,
        bytes: usize,
    );
    cuMemcpyAtoHAsync_v2_ptsz = copy_array::cuMemcpyAtoHAsync_v2(
        to: *mut c_void,
        from: CUarray,
        offset: usize,
        bytes: usize,
        stream: CUstream,
    );
    cuMemcpyAtoH_v2_ptds = copy_array::cuMemcpyAtoH_v2(
        to: *mut c_void,
        from: CUarray,
        offset: usize,
        bytes: usize,
    );
    cuMemcpyBatchAsync_ptsz = copy_batch::cuMemcpyBatchAsync(
        to: *const CUdeviceptr,
        from: *const CUdeviceptr,
        sizes: *const usize,
        count: usize,
        attributes: *const CUmemcpyAttributes,
        starts: *const usize,
        attributes_count: usize,
        failed: *mut usize,
        stream: CUstream,
    );
    cuMemcpyBatchAsync_v2_ptsz = copy_batch::cuMemcpyBatchAsync_v2(
        to: *const CUdeviceptr,
        from: *const CUdeviceptr,
        sizes: *const usize,
        count: usize,
        attributes: *const CUmemcpyAttributes,
        starts: *const usize,
        attributes_count: usize,
        stream: CUstream,
    );
    cuMemcpyDtoA_v2_ptds = copy_array::cuMemcpyDtoA_v2(
        to: CUarray,
        offset: usize,
        from: CUdeviceptr,
        bytes: usize,
    );
    cuMemcpyHtoAAsync_v2_ptsz = copy_array::cuMemcpyHtoAAsync_v2(
        to: CUarray,
        offset: usize,
        from: *const c_void,
        bytes: usize,
        stream: CUstream,
    );
    cuMemcpyHtoA_v2_ptds = copy_array::cuMemcpyHtoA_v2(
        to: CUarray,
        offset: usize,
        from: *const c_void,
        bytes: usize,
    );
}
