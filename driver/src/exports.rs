//! The names that the library exports, each with the function behind it.
//!
//! An exported name is a single jump through its slot, so that what stands behind it can be exchanged
//! when the library is loaded: the virtual GPU's function at first. A function of the API is an ordinary
//! one in the file of its subject, and a name in the list here; those that are missing are listed in
//! [`crate::missing`].

use std::ffi::c_void;
use std::sync::atomic::AtomicPtr;

use crate::{
    advice, array, capture, cluster, context, copy, copy_array, copy_batch, copy2d, copy3d, device, error,
    event, fill, function, green, host, init, launch, legacy_launch, library, library_work, link, memop,
    memory, mipmap, module, notices, occupancy, peer, per_thread, pointer, pool, primary, procaddr, profiler,
    stream, stream_attributes, tensor_map, texture, virtual_memory,
};

use crate::texture::surface;

use crate::graph::{
    condition, dot, edit as graph_edit, exec as graph_exec, inspect as graph_inspect, memory as graph_memory,
    node_params as graph_node_params, update as graph_update, user_object,
};

/// What stands behind an exported name.
pub type Slot = AtomicPtr<c_void>;

/// Exports functions of modules in scope, and lists them in `NAMES`: `name`, or `name = function` for an old name of a
/// function that only got stricter.
macro_rules! export {
    ($($module:ident { $($name:ident $(= $function:ident)?)* })*) => {
        /// Every name exported from here, with its slot.
        pub static NAMES: &[(&str, &$crate::exports::Slot)] =
            &[$($((stringify!($name), &$name::SLOT)),*),*];
        $($(
            mod $name {
                /// The function behind the name.
                pub static SLOT: $crate::exports::Slot =
                    $crate::exports::Slot::new($crate::exports::behind!(super::$module, $name $(= $function)?));
            }
            #[doc = concat!("Jumps to [`", stringify!($module), "::", stringify!($name), "`], or what replaced it.")]
            ///
            /// # Safety
            /// Takes that function's arguments, and asks for what it asks.
            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name() {
                std::arch::naked_asm!("jmp qword ptr [rip + {slot}]", slot = sym $name::SLOT)
            }
        )*)*
    };
}
pub(crate) use export;

/// The address of the function behind a name: the one of that name, or the one that is named.
macro_rules! behind {
    ($($module:ident)::+, $name:ident) => { $($module)::+::$name as *mut std::ffi::c_void };
    ($($module:ident)::+, $name:ident = $function:ident) => { $($module)::+::$function as *mut std::ffi::c_void };
}
pub(crate) use behind;

/// Every exported name, with its slot.
pub fn all() -> impl Iterator<Item = (&'static str, &'static Slot)> {
    NAMES.iter().chain(crate::missing::NAMES).copied()
}

export! {
    advice {
        cuMemAdvise cuMemAdvise_v2 cuMemDiscardAndPrefetchBatchAsync cuMemDiscardBatchAsync cuMemPrefetchAsync
        cuMemPrefetchAsync_v2 cuMemPrefetchBatchAsync cuMemRangeGetAttribute cuMemRangeGetAttributes
    }
    per_thread {
        cuEventRecordWithFlags_ptsz cuEventRecord_ptsz cuGraphInstantiateWithParams_ptsz
        cuGraphLaunch_ptsz cuGraphUpload_ptsz cuLaunchCooperativeKernel_ptsz cuLaunchHostFunc_ptsz
        cuLaunchKernelEx_ptsz cuLaunchKernel_ptsz cuMemAllocAsync_ptsz cuMemAllocFromPoolAsync_ptsz
        cuMemFreeAsync_ptsz cuMemPrefetchAsync_ptsz cuMemPrefetchAsync_v2_ptsz
        cuMemDiscardAndPrefetchBatchAsync_ptsz cuMemDiscardBatchAsync_ptsz
        cuMemPrefetchBatchAsync_ptsz cuMemcpy2DAsync_v2_ptsz cuMemcpy2DUnaligned_v2_ptds
        cuMemcpy2D_v2_ptds cuMemcpy3DAsync_v2_ptsz cuMemcpy3DBatchAsync_ptsz
        cuMemcpy3DBatchAsync_v2_ptsz cuMemcpy3DPeerAsync_ptsz cuMemcpy3DPeer_ptds cuMemcpy3D_v2_ptds
        cuMemcpyAsync_ptsz cuMemcpyAtoA_v2_ptds cuMemcpyAtoD_v2_ptds cuMemcpyAtoHAsync_v2_ptsz
        cuMemcpyAtoH_v2_ptds cuMemcpyBatchAsync_ptsz cuMemcpyBatchAsync_v2_ptsz cuMemcpyDtoA_v2_ptds
        cuMemcpyDtoDAsync_v2_ptsz cuMemcpyDtoD_v2_ptds cuMemcpyDtoHAsync_v2_ptsz
        cuMemcpyDtoH_v2_ptds cuMemcpyHtoAAsync_v2_ptsz cuMemcpyHtoA_v2_ptds
        cuMemcpyHtoDAsync_v2_ptsz cuMemcpyHtoD_v2_ptds cuMemcpyPeerAsync_ptsz cuMemcpyPeer_ptds
        cuMemcpy_ptds cuMemsetD16Async_ptsz cuMemsetD16_v2_ptds cuMemsetD2D16Async_ptsz
        cuMemsetD2D16_v2_ptds cuMemsetD2D32Async_ptsz cuMemsetD2D32_v2_ptds cuMemsetD2D8Async_ptsz
        cuMemsetD2D8_v2_ptds cuMemsetD32Async_ptsz cuMemsetD32_v2_ptds cuMemsetD8Async_ptsz
        cuMemsetD8_v2_ptds cuStreamAddCallback_ptsz cuStreamAttachMemAsync_ptsz
        cuStreamBatchMemOp_ptsz cuStreamBatchMemOp_v2_ptsz cuStreamBeginCaptureToGraph_ptsz
        cuStreamBeginCapture_ptsz cuStreamBeginCapture_v2_ptsz cuStreamCopyAttributes_ptsz
        cuStreamEndCapture_ptsz cuStreamGetAttribute_ptsz cuStreamGetCaptureInfo_ptsz
        cuStreamGetCaptureInfo_v2_ptsz cuStreamGetCaptureInfo_v3_ptsz cuStreamGetCtx_ptsz
        cuStreamGetCtx_v2_ptsz cuStreamGetDevice_ptsz cuStreamGetFlags_ptsz cuStreamGetId_ptsz
        cuStreamGetPriority_ptsz cuStreamIsCapturing_ptsz cuStreamQuery_ptsz
        cuStreamSetAttribute_ptsz cuStreamSynchronize_ptsz cuStreamUpdateCaptureDependencies_ptsz
        cuStreamUpdateCaptureDependencies_v2_ptsz cuStreamWaitEvent_ptsz cuStreamWaitValue32_ptsz
        cuStreamWaitValue32_v2_ptsz cuStreamWaitValue64_ptsz cuStreamWaitValue64_v2_ptsz
        cuStreamWriteValue32_ptsz cuStreamWriteValue32_v2_ptsz cuStreamWriteValue64_ptsz
        cuStreamWriteValue64_v2_ptsz
    }
    array {
        cuArray3DCreate_v2 cuArray3DGetDescriptor_v2 cuArrayCreate_v2 cuArrayDestroy
        cuArrayGetDescriptor_v2
    }
    capture {
        cuStreamBeginCapture cuStreamBeginCaptureToGraph cuStreamBeginCapture_v2 cuStreamEndCapture
        cuStreamGetCaptureInfo cuStreamGetCaptureInfo_v2 cuStreamGetCaptureInfo_v3
        cuStreamIsCapturing cuStreamUpdateCaptureDependencies cuStreamUpdateCaptureDependencies_v2
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
        cuMemcpy cuMemcpyAsync cuMemcpyDtoDAsync_v2 cuMemcpyDtoD_v2 cuMemcpyDtoHAsync_v2 cuMemcpyDtoH_v2
        cuMemcpyHtoDAsync_v2 cuMemcpyHtoD_v2 cuMemcpyPeer cuMemcpyPeerAsync
    }
    copy2d {
        cuMemcpy2DAsync_v2 cuMemcpy2DUnaligned_v2 cuMemcpy2D_v2
    }
    copy3d {
        cuMemcpy3DAsync_v2 cuMemcpy3DPeer cuMemcpy3DPeerAsync cuMemcpy3D_v2
    }
    copy_array {
        cuMemcpyAtoA_v2 cuMemcpyAtoD_v2 cuMemcpyAtoHAsync_v2 cuMemcpyAtoH_v2 cuMemcpyDtoA_v2
        cuMemcpyHtoAAsync_v2 cuMemcpyHtoA_v2
    }
    copy_batch {
        cuMemcpy3DBatchAsync cuMemcpy3DBatchAsync_v2 cuMemcpyBatchAsync cuMemcpyBatchAsync_v2
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
        cuEventRecord cuEventRecordWithFlags cuEventSynchronize
    }
    fill {
        cuMemsetD8_v2 cuMemsetD8Async cuMemsetD2D8_v2 cuMemsetD2D8Async cuMemsetD16_v2 cuMemsetD16Async
        cuMemsetD2D16_v2 cuMemsetD2D16Async cuMemsetD32_v2 cuMemsetD32Async cuMemsetD2D32_v2
        cuMemsetD2D32Async
    }
    function {
        cuFuncGetAttribute cuFuncGetModule cuFuncGetName cuFuncGetParamInfo cuFuncIsLoaded cuFuncLoad
        cuFuncSetAttribute cuFuncSetCacheConfig cuFuncSetSharedMemConfig
    }
    condition {
        cuGraphConditionalHandleCreate
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
        cuGraphInstantiateWithFlags cuGraphInstantiateWithParams cuGraphInstantiate_v2 cuGraphLaunch
        cuGraphNodeGetEnabled cuGraphNodeSetEnabled cuGraphUpload
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
    launch {
        cuLaunchCooperativeKernel cuLaunchKernel cuLaunchKernelEx
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
    library_work {
        bugarooLibraryDoor
    }
    link {
        cuLinkCreate = cuLinkCreate_v2
        cuLinkAddFile = cuLinkAddFile_v2
        cuLinkAddData = cuLinkAddData_v2
        cuLinkAddData_v2 cuLinkAddFile_v2 cuLinkComplete cuLinkCreate_v2 cuLinkDestroy
    }
    memop {
        cuStreamBatchMemOp cuStreamBatchMemOp_v2 cuStreamWaitValue32 cuStreamWaitValue32_v2
        cuStreamWaitValue64 cuStreamWaitValue64_v2 cuStreamWriteValue32 cuStreamWriteValue32_v2
        cuStreamWriteValue64 cuStreamWriteValue64_v2
    }
    memory {
        cuMemAllocAsync cuMemAllocManaged cuMemAllocPitch_v2 cuMemAlloc_v2 cuMemFreeAsync cuMemFree_v2
        cuMemGetAddressRange_v2 cuMemGetInfo_v2
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
        cuMemGetDefaultMemPool cuMemGetMemPool cuMemPoolCreate cuMemPoolDestroy
        cuMemPoolExportToShareableHandle cuMemPoolGetAccess cuMemPoolGetAttribute cuMemPoolSetAccess
        cuMemPoolSetAttribute cuMemPoolTrimTo cuMemSetMemPool
    }
    primary {
        cuDevicePrimaryCtxSetFlags = cuDevicePrimaryCtxSetFlags_v2
        cuDevicePrimaryCtxReset = cuDevicePrimaryCtxReset_v2
        cuDevicePrimaryCtxRelease = cuDevicePrimaryCtxRelease_v2
        cuDevicePrimaryCtxGetState cuDevicePrimaryCtxRelease_v2 cuDevicePrimaryCtxReset_v2
        cuDevicePrimaryCtxRetain cuDevicePrimaryCtxSetFlags_v2
    }
    procaddr {
        cuGetExportTable cuGetProcAddress cuGetProcAddress_v2
    }
    profiler {
        cuProfilerStart cuProfilerStop
    }
    stream {
        cuStreamDestroy = cuStreamDestroy_v2
        cuLaunchHostFunc cuStreamAddCallback cuStreamAttachMemAsync cuStreamCreate
        cuStreamCreateWithPriority cuStreamDestroy_v2 cuStreamGetCtx
        cuStreamGetCtx_v2 cuStreamGetDevice cuStreamGetFlags cuStreamGetId cuStreamGetPriority
        cuStreamQuery cuStreamSynchronize cuStreamWaitEvent
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
        cuStreamCopyAttributes cuStreamGetAttribute cuStreamSetAttribute
    }
}
