//! The names that the library exports, each with the function behind it.
//!
//! An exported name is a single jump through its slot, so that what stands behind it can be exchanged
//! when the library is loaded: the virtual GPU's function at first. A function of the API is an ordinary
//! one in the file of its subject, and a name in the list here; those that are missing are listed in
//! [`crate::api::missing`].

use bugaroo_cuda_abi::{Slot, slots};

use crate::api::graph::{
    condition, dot, edit as graph_edit, exec as graph_exec, inspect as graph_inspect, memory as graph_memory,
    node_params as graph_node_params, update as graph_update, user_object,
};
use crate::api::texture::{self, surface};
use crate::api::{
    advice, array, capture, cluster, context, copy, copy_array, copy_batch, copy2d, copy3d, device, door,
    error, event, export, fill, function, green, host, init, interprocess, launch, legacy_launch, library,
    link, memop, memory, mipmap, module, notices, occupancy, peer, pointer, pool, primary, procaddr,
    profiler, stream, stream_attributes, tensor_map, virtual_memory,
};

/// Every exported name, with its slot.
pub fn all() -> impl Iterator<Item = (&'static str, &'static Slot)> {
    NAMES.iter().chain(crate::api::missing::NAMES).copied()
}

slots! {
    advice {
        cuMemAdvise cuMemAdvise_v2 cuMemDiscardAndPrefetchBatchAsync
        cuMemDiscardAndPrefetchBatchAsync_ptsz cuMemDiscardBatchAsync cuMemDiscardBatchAsync_ptsz
        cuMemPrefetchAsync cuMemPrefetchAsync_ptsz cuMemPrefetchAsync_v2 cuMemPrefetchAsync_v2_ptsz
        cuMemPrefetchBatchAsync cuMemPrefetchBatchAsync_ptsz cuMemRangeGetAttribute
        cuMemRangeGetAttributes
    }
    array {
        cuArray3DCreate_v2 cuArray3DGetDescriptor_v2 cuArrayCreate_v2 cuArrayDestroy
        cuArrayGetDescriptor_v2
    }
    capture {
        cuStreamBeginCapture cuStreamBeginCaptureToGraph cuStreamBeginCaptureToGraph_ptsz
        cuStreamBeginCapture_ptsz cuStreamBeginCapture_v2 cuStreamBeginCapture_v2_ptsz
        cuStreamEndCapture cuStreamEndCapture_ptsz cuStreamGetCaptureInfo cuStreamGetCaptureInfo_ptsz
        cuStreamGetCaptureInfo_v2 cuStreamGetCaptureInfo_v2_ptsz cuStreamGetCaptureInfo_v3
        cuStreamGetCaptureInfo_v3_ptsz cuStreamIsCapturing cuStreamIsCapturing_ptsz
        cuStreamUpdateCaptureDependencies cuStreamUpdateCaptureDependencies_ptsz
        cuStreamUpdateCaptureDependencies_v2 cuStreamUpdateCaptureDependencies_v2_ptsz
        cuThreadExchangeStreamCaptureMode
    }
    cluster {
        cuOccupancyMaxActiveClusters cuOccupancyMaxPotentialClusterSize
    }
    context {
        cuCtxPushCurrent = cuCtxPushCurrent_v2
        cuCtxPopCurrent = cuCtxPopCurrent_v2
        cuCtxDestroy = cuCtxDestroy_v2
        cuCtxCreate_v2 cuCtxCreate_v3 cuCtxCreate_v4 cuCtxDestroy_v2 cuCtxGetApiVersion
        cuCtxGetCacheConfig cuCtxGetCurrent cuCtxGetDevice cuCtxGetDevice_v2 cuCtxGetFlags cuCtxGetId
        cuCtxGetLimit cuCtxGetSharedMemConfig cuCtxGetStreamPriorityRange cuCtxPopCurrent_v2
        cuCtxPushCurrent_v2 cuCtxRecordEvent cuCtxResetPersistingL2Cache cuCtxSetCacheConfig
        cuCtxSetCurrent cuCtxSetFlags cuCtxSetLimit cuCtxSetSharedMemConfig cuCtxSynchronize
        cuCtxSynchronize_v2 cuCtxWaitEvent
    }
    copy {
        cuMemcpy cuMemcpyAsync cuMemcpyAsync_ptsz cuMemcpyDtoDAsync_v2 cuMemcpyDtoDAsync_v2_ptsz
        cuMemcpyDtoD_v2 cuMemcpyDtoD_v2_ptds cuMemcpyDtoHAsync_v2 cuMemcpyDtoHAsync_v2_ptsz
        cuMemcpyDtoH_v2 cuMemcpyDtoH_v2_ptds cuMemcpyHtoDAsync_v2 cuMemcpyHtoDAsync_v2_ptsz
        cuMemcpyHtoD_v2 cuMemcpyHtoD_v2_ptds cuMemcpyPeer cuMemcpyPeerAsync cuMemcpyPeerAsync_ptsz
        cuMemcpyPeer_ptds cuMemcpy_ptds
    }
    copy2d {
        cuMemcpy2DAsync_v2 cuMemcpy2DAsync_v2_ptsz cuMemcpy2DUnaligned_v2 cuMemcpy2DUnaligned_v2_ptds
        cuMemcpy2D_v2 cuMemcpy2D_v2_ptds
    }
    copy3d {
        cuMemcpy3DAsync_v2 cuMemcpy3DAsync_v2_ptsz cuMemcpy3DPeer cuMemcpy3DPeerAsync
        cuMemcpy3DPeerAsync_ptsz cuMemcpy3DPeer_ptds cuMemcpy3D_v2 cuMemcpy3D_v2_ptds
    }
    copy_array {
        cuMemcpyAtoA_v2 cuMemcpyAtoA_v2_ptds cuMemcpyAtoD_v2 cuMemcpyAtoD_v2_ptds cuMemcpyAtoHAsync_v2
        cuMemcpyAtoHAsync_v2_ptsz cuMemcpyAtoH_v2 cuMemcpyAtoH_v2_ptds cuMemcpyDtoA_v2
        cuMemcpyDtoA_v2_ptds cuMemcpyHtoAAsync_v2 cuMemcpyHtoAAsync_v2_ptsz cuMemcpyHtoA_v2
        cuMemcpyHtoA_v2_ptds
    }
    copy_batch {
        cuMemcpy3DBatchAsync cuMemcpy3DBatchAsync_ptsz cuMemcpy3DBatchAsync_v2
        cuMemcpy3DBatchAsync_v2_ptsz cuMemcpyBatchAsync cuMemcpyBatchAsync_ptsz cuMemcpyBatchAsync_v2
        cuMemcpyBatchAsync_v2_ptsz
    }
    device {
        cuDeviceCanAccessPeer cuDeviceComputeCapability cuDeviceGet cuDeviceGetAttribute
        cuDeviceGetByPCIBusId cuDeviceGetCount cuDeviceGetExecAffinitySupport cuDeviceGetName
        cuDeviceGetPCIBusId cuDeviceGetProperties cuDeviceGetUuid cuDeviceGetUuid_v2 cuDeviceTotalMem_v2
    }
    error {
        cuGetErrorName cuGetErrorString
    }
    event {
        cuEventDestroy = cuEventDestroy_v2
        cuEventCreate cuEventDestroy_v2 cuEventElapsedTime cuEventElapsedTime_v2 cuEventQuery
        cuEventRecord cuEventRecordWithFlags cuEventRecordWithFlags_ptsz cuEventRecord_ptsz
        cuEventSynchronize
    }
    export {
        cuGetExportTable
    }
    fill {
        cuMemsetD16Async cuMemsetD16Async_ptsz cuMemsetD16_v2 cuMemsetD16_v2_ptds cuMemsetD2D16Async
        cuMemsetD2D16Async_ptsz cuMemsetD2D16_v2 cuMemsetD2D16_v2_ptds cuMemsetD2D32Async
        cuMemsetD2D32Async_ptsz cuMemsetD2D32_v2 cuMemsetD2D32_v2_ptds cuMemsetD2D8Async
        cuMemsetD2D8Async_ptsz cuMemsetD2D8_v2 cuMemsetD2D8_v2_ptds cuMemsetD32Async
        cuMemsetD32Async_ptsz cuMemsetD32_v2 cuMemsetD32_v2_ptds cuMemsetD8Async cuMemsetD8Async_ptsz
        cuMemsetD8_v2 cuMemsetD8_v2_ptds
    }
    function {
        cuFuncGetAttribute cuFuncGetModule cuFuncGetName cuFuncGetParamInfo cuFuncIsLoaded cuFuncLoad
        cuFuncSetAttribute cuFuncSetCacheConfig cuFuncSetSharedMemConfig
    }
    condition {
        cuGraphConditionalHandleCreate
    }
    door {
        bugarooDoor
    }
    dot {
        cuGraphDebugDotPrint
    }
    graph_memory {
        cuDeviceGetGraphMemAttribute cuDeviceGraphMemTrim cuDeviceSetGraphMemAttribute
        cuGraphMemAllocNodeGetParams cuGraphMemFreeNodeGetParams
    }
    graph_update {
        cuGraphExecUpdate cuGraphExecUpdate_v2
    }
    user_object {
        cuGraphReleaseUserObject cuGraphRetainUserObject cuUserObjectCreate cuUserObjectRelease
        cuUserObjectRetain
    }
    graph_edit {
        cuGraphAddChildGraphNode cuGraphAddDependencies cuGraphAddDependencies_v2 cuGraphAddEmptyNode
        cuGraphAddEventRecordNode cuGraphAddEventWaitNode cuGraphAddHostNode cuGraphAddKernelNode
        cuGraphAddKernelNode_v2 cuGraphAddMemAllocNode cuGraphAddMemFreeNode cuGraphAddMemcpyNode
        cuGraphAddMemsetNode cuGraphAddNode cuGraphAddNode_v2 cuGraphClone cuGraphCreate cuGraphDestroy
        cuGraphDestroyNode cuGraphRemoveDependencies cuGraphRemoveDependencies_v2
    }
    graph_exec {
        cuGraphExecChildGraphNodeSetParams cuGraphExecDestroy cuGraphExecGetFlags cuGraphInstantiate
        cuGraphInstantiateWithFlags cuGraphInstantiateWithParams cuGraphInstantiateWithParams_ptsz
        cuGraphInstantiate_v2 cuGraphLaunch cuGraphLaunch_ptsz cuGraphNodeGetEnabled
        cuGraphNodeSetEnabled cuGraphUpload cuGraphUpload_ptsz
    }
    graph_inspect {
        cuGraphChildGraphNodeGetGraph cuGraphGetEdges cuGraphGetEdges_v2 cuGraphGetNodes
        cuGraphGetRootNodes cuGraphNodeFindInClone cuGraphNodeGetDependencies
        cuGraphNodeGetDependencies_v2 cuGraphNodeGetDependentNodes cuGraphNodeGetDependentNodes_v2
        cuGraphNodeGetType
    }
    graph_node_params {
        cuGraphEventRecordNodeGetEvent cuGraphEventRecordNodeSetEvent cuGraphEventWaitNodeGetEvent
        cuGraphEventWaitNodeSetEvent cuGraphExecEventRecordNodeSetEvent
        cuGraphExecEventWaitNodeSetEvent cuGraphExecHostNodeSetParams cuGraphExecKernelNodeSetParams
        cuGraphExecKernelNodeSetParams_v2 cuGraphExecMemcpyNodeSetParams
        cuGraphExecMemsetNodeSetParams cuGraphExecNodeSetParams cuGraphHostNodeGetParams
        cuGraphHostNodeSetParams cuGraphKernelNodeCopyAttributes cuGraphKernelNodeGetAttribute
        cuGraphKernelNodeGetParams cuGraphKernelNodeGetParams_v2 cuGraphKernelNodeSetAttribute
        cuGraphKernelNodeSetParams cuGraphKernelNodeSetParams_v2 cuGraphMemcpyNodeGetParams
        cuGraphMemcpyNodeSetParams cuGraphMemsetNodeGetParams cuGraphMemsetNodeSetParams
        cuGraphNodeSetParams
    }
    green {
        cuCtxFromGreenCtx cuCtxGetDevResource cuDevResourceGenerateDesc cuDevSmResourceSplitByCount
        cuDeviceGetDevResource cuGreenCtxCreate cuGreenCtxDestroy cuGreenCtxGetDevResource
        cuGreenCtxGetId cuGreenCtxRecordEvent cuGreenCtxStreamCreate cuGreenCtxWaitEvent cuStreamGetGreenCtx
    }
    host {
        cuMemHostRegister = cuMemHostRegister_v2
        cuMemAllocHost_v2 cuMemFreeHost cuMemHostAlloc cuMemHostGetDevicePointer_v2
        cuMemHostGetFlags cuMemHostRegister_v2 cuMemHostUnregister
    }
    init {
        cuDriverGetVersion cuInit
    }
    interprocess {
        cuIpcCloseMemHandle cuIpcGetEventHandle cuIpcGetMemHandle cuIpcOpenEventHandle cuIpcOpenMemHandle_v2
    }
    launch {
        cuLaunchCooperativeKernel cuLaunchCooperativeKernel_ptsz cuLaunchKernel cuLaunchKernelEx
        cuLaunchKernelEx_ptsz cuLaunchKernel_ptsz
    }
    legacy_launch {
        cuFuncSetBlockShape cuFuncSetSharedSize cuLaunch cuLaunchGrid cuLaunchGridAsync
        cuParamSetSize cuParamSetf cuParamSeti cuParamSetv
    }
    library {
        cuKernelGetAttribute cuKernelGetFunction cuKernelGetLibrary cuKernelGetName cuKernelGetParamInfo
        cuKernelSetAttribute cuKernelSetCacheConfig cuLibraryEnumerateKernels cuLibraryGetGlobal
        cuLibraryGetKernel cuLibraryGetKernelCount cuLibraryGetManaged cuLibraryGetModule cuLibraryLoadData
        cuLibraryLoadFromFile cuLibraryUnload
    }
    link {
        cuLinkCreate = cuLinkCreate_v2
        cuLinkAddFile = cuLinkAddFile_v2
        cuLinkAddData = cuLinkAddData_v2
        cuLinkAddData_v2 cuLinkAddFile_v2 cuLinkComplete cuLinkCreate_v2 cuLinkDestroy
    }
    memop {
        cuStreamBatchMemOp cuStreamBatchMemOp_ptsz cuStreamBatchMemOp_v2 cuStreamBatchMemOp_v2_ptsz
        cuStreamWaitValue32 cuStreamWaitValue32_ptsz cuStreamWaitValue32_v2 cuStreamWaitValue32_v2_ptsz
        cuStreamWaitValue64 cuStreamWaitValue64_ptsz cuStreamWaitValue64_v2 cuStreamWaitValue64_v2_ptsz
        cuStreamWriteValue32 cuStreamWriteValue32_ptsz cuStreamWriteValue32_v2
        cuStreamWriteValue32_v2_ptsz cuStreamWriteValue64 cuStreamWriteValue64_ptsz
        cuStreamWriteValue64_v2 cuStreamWriteValue64_v2_ptsz
    }
    memory {
        cuMemAllocAsync cuMemAllocAsync_ptsz cuMemAllocManaged cuMemAllocPitch_v2 cuMemAlloc_v2
        cuMemFreeAsync cuMemFreeAsync_ptsz cuMemFree_v2 cuMemGetAddressRange_v2 cuMemGetInfo_v2
    }
    module {
        cuModuleEnumerateFunctions cuModuleGetFunction cuModuleGetFunctionCount cuModuleGetGlobal_v2
        cuModuleGetLoadingMode cuModuleLoad cuModuleLoadData cuModuleLoadDataEx cuModuleLoadFatBinary
        cuModuleUnload
    }
    occupancy {
        cuOccupancyAvailableDynamicSMemPerBlock cuOccupancyMaxActiveBlocksPerMultiprocessor
        cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags cuOccupancyMaxPotentialBlockSize
        cuOccupancyMaxPotentialBlockSizeWithFlags
    }
    notices {
        cuDeviceRegisterAsyncNotification cuDeviceUnregisterAsyncNotification cuLogsCurrent
        cuLogsDumpToFile cuLogsDumpToMemory cuLogsRegisterCallback cuLogsUnregisterCallback
    }
    peer {
        cuDeviceGetHostAtomicCapabilities cuDeviceGetP2PAtomicCapabilities
        cuCtxDisablePeerAccess cuCtxEnablePeerAccess cuCtxGetExecAffinity cuDeviceGetLuid
        cuDeviceGetP2PAttribute
    }
    pointer {
        cuPointerGetAttribute cuPointerGetAttributes cuPointerSetAttribute
    }
    pool {
        cuDeviceGetDefaultMemPool cuDeviceGetMemPool cuDeviceSetMemPool cuMemAllocFromPoolAsync
        cuMemAllocFromPoolAsync_ptsz cuMemGetDefaultMemPool cuMemGetMemPool cuMemPoolCreate
        cuMemPoolDestroy cuMemPoolExportToShareableHandle cuMemPoolGetAccess cuMemPoolGetAttribute
        cuMemPoolSetAccess cuMemPoolSetAttribute cuMemPoolTrimTo cuMemSetMemPool
    }
    primary {
        cuDevicePrimaryCtxSetFlags = cuDevicePrimaryCtxSetFlags_v2
        cuDevicePrimaryCtxReset = cuDevicePrimaryCtxReset_v2
        cuDevicePrimaryCtxRelease = cuDevicePrimaryCtxRelease_v2
        cuDevicePrimaryCtxGetState cuDevicePrimaryCtxRelease_v2 cuDevicePrimaryCtxReset_v2
        cuDevicePrimaryCtxRetain cuDevicePrimaryCtxSetFlags_v2
    }
    procaddr {
        cuGetProcAddress cuGetProcAddress_v2
    }
    profiler {
        cuProfilerStart cuProfilerStop
    }
    stream {
        cuStreamDestroy = cuStreamDestroy_v2
        cuLaunchHostFunc cuLaunchHostFunc_ptsz cuStreamAddCallback cuStreamAddCallback_ptsz
        cuStreamAttachMemAsync cuStreamAttachMemAsync_ptsz cuStreamCreate cuStreamCreateWithPriority
        cuStreamDestroy_v2 cuStreamGetCtx cuStreamGetCtx_ptsz cuStreamGetCtx_v2 cuStreamGetCtx_v2_ptsz
        cuStreamGetDevice cuStreamGetDevice_ptsz cuStreamGetFlags cuStreamGetFlags_ptsz cuStreamGetId
        cuStreamGetId_ptsz cuStreamGetPriority cuStreamGetPriority_ptsz cuStreamQuery cuStreamQuery_ptsz
        cuStreamSynchronize cuStreamSynchronize_ptsz cuStreamWaitEvent cuStreamWaitEvent_ptsz
    }
    texture {
        cuTexObjectCreate cuTexObjectDestroy cuTexObjectGetResourceDesc cuTexObjectGetResourceViewDesc
        cuTexObjectGetTextureDesc
    }
    mipmap {
        cuMipmappedArrayCreate cuMipmappedArrayDestroy cuMipmappedArrayGetLevel
    }
    surface {
        cuSurfObjectCreate cuSurfObjectDestroy cuSurfObjectGetResourceDesc
    }
    tensor_map {
        cuTensorMapEncodeTiled cuTensorMapReplaceAddress
    }
    virtual_memory {
        cuMemAddressFree cuMemAddressReserve cuMemCreate cuMemGetAccess
        cuMemGetAllocationGranularity cuMemGetAllocationPropertiesFromHandle cuMemMap cuMemRelease
        cuMemRetainAllocationHandle cuMemSetAccess cuMemUnmap
    }
    stream_attributes {
        cuStreamCopyAttributes cuStreamCopyAttributes_ptsz cuStreamGetAttribute
        cuStreamGetAttribute_ptsz cuStreamSetAttribute cuStreamSetAttribute_ptsz
    }
}
