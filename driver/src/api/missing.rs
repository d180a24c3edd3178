//! Functions of CUDA 13.0's Driver API that are refused by name: texture references, interoperation with other interfaces and
//! devices, shareable handles, sparse arrays, multicast, and what came before 64 bits.
//!
//! Each says its name on stderr, once, tells the harness, and answers `CUDA_ERROR_NOT_SUPPORTED`. They
//! take no arguments: by the C calling convention of 64-bit Linux it is the caller that cleans up, and
//! whatever was passed is left unread.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use bugaroo_protocol::Message;

use crate::api::entry::{anytime, with_gpu};
use bugaroo_device::error::Status;
use bugaroo_device::own_process::{Whose, whose};

/// Names that were said already.
static SAID: Mutex<BTreeSet<Cow<'static, str>>> = Mutex::new(BTreeSet::new());

/// Says that this is not supported, once, and tells the harness.
pub(super) fn missing(name: impl Into<Cow<'static, str>>) -> Status {
    let name = name.into();
    let mut first = false;
    let said = anytime(&name, || {
        first = SAID.lock().unwrap_or_else(PoisonError::into_inner).insert(name.clone());
        Err(Status::NotSupported)
    });
    if first {
        eprintln!("bugaroo: {name} is not supported");
    }
    if first && whose() == Whose::Ours {
        let what = format!("{name} is not supported");
        return with_gpu(&name, |gpu| {
            gpu.trial.report.send(&Message::Unsupported { what });
            Err(Status::NotSupported)
        });
    }
    said
}

macro_rules! missing {
    ($($name:ident)*) => {
        /// The functions themselves; the exported names stand beside.
        pub mod refused {
            use bugaroo_device::error::Status;

            $(
                /// Not supported by this version.
                pub extern "C" fn $name() -> Status {
                    super::missing(stringify!($name))
                }
            )*
        }
        bugaroo_cuda_abi::slots! { refused { $($name)* } }
    };
}

missing! {
    cuArray3DCreate cuArray3DGetDescriptor cuArrayCreate cuArrayGetDescriptor cuArrayGetMemoryRequirements
    cuArrayGetPlane cuArrayGetSparseProperties cuCheckpointProcessCheckpoint
    cuCheckpointProcessGetRestoreThreadId cuCheckpointProcessGetState cuCheckpointProcessLock
    cuCheckpointProcessRestore cuCheckpointProcessUnlock cuCoredumpGetAttribute cuCoredumpGetAttributeGlobal
    cuCoredumpSetAttribute cuCoredumpSetAttributeGlobal cuCtxAttach cuCtxCreate cuCtxDetach
    cuDestroyExternalMemory cuDestroyExternalSemaphore cuDeviceGetNvSciSyncAttributes
    cuDeviceGetTexture1DLinearMaxWidth cuDeviceTotalMem cuExternalMemoryGetMappedBuffer
    cuExternalMemoryGetMappedMipmappedArray cuFlushGPUDirectRDMAWrites cuGraphAddBatchMemOpNode
    cuGraphAddExternalSemaphoresSignalNode cuGraphAddExternalSemaphoresWaitNode cuGraphBatchMemOpNodeGetParams
    cuGraphBatchMemOpNodeSetParams cuGraphExecBatchMemOpNodeSetParams
    cuGraphExecExternalSemaphoresSignalNodeSetParams cuGraphExecExternalSemaphoresWaitNodeSetParams
    cuGraphExternalSemaphoresSignalNodeGetParams cuGraphExternalSemaphoresSignalNodeSetParams
    cuGraphExternalSemaphoresWaitNodeGetParams cuGraphExternalSemaphoresWaitNodeSetParams
    cuGraphicsMapResources cuGraphicsMapResources_ptsz cuGraphicsResourceGetMappedMipmappedArray
    cuGraphicsResourceGetMappedPointer cuGraphicsResourceGetMappedPointer_v2 cuGraphicsResourceSetMapFlags
    cuGraphicsResourceSetMapFlags_v2 cuGraphicsSubResourceGetMappedArray cuGraphicsUnmapResources
    cuGraphicsUnmapResources_ptsz cuGraphicsUnregisterResource cuImportExternalMemory
    cuImportExternalSemaphore cuIpcOpenMemHandle cuLaunchCooperativeKernelMultiDevice cuLibraryGetUnifiedFunction
    cuMemAlloc cuMemAllocHost cuMemAllocPitch cuMemBatchDecompressAsync cuMemBatchDecompressAsync_ptsz
    cuMemExportToShareableHandle cuMemFree cuMemGetAddressRange cuMemGetHandleForAddressRange cuMemGetInfo
    cuMemHostGetDevicePointer cuMemImportFromShareableHandle cuMemMapArrayAsync cuMemMapArrayAsync_ptsz
    cuMemPoolExportPointer cuMemPoolImportFromShareableHandle cuMemPoolImportPointer cuMemcpy2D
    cuMemcpy2DAsync cuMemcpy2DUnaligned cuMemcpy3D cuMemcpy3DAsync cuMemcpyAtoA cuMemcpyAtoD cuMemcpyAtoH
    cuMemcpyAtoHAsync cuMemcpyDtoA cuMemcpyDtoD cuMemcpyDtoDAsync cuMemcpyDtoH cuMemcpyDtoHAsync cuMemcpyHtoA
    cuMemcpyHtoAAsync cuMemcpyHtoD cuMemcpyHtoDAsync cuMemsetD16 cuMemsetD2D16 cuMemsetD2D32 cuMemsetD2D8
    cuMemsetD32 cuMemsetD8
    cuMipmappedArrayGetMemoryRequirements cuMipmappedArrayGetSparseProperties cuModuleGetGlobal
    cuModuleGetSurfRef cuModuleGetTexRef cuMulticastAddDevice cuMulticastBindAddr cuMulticastBindMem
    cuMulticastCreate cuMulticastGetGranularity cuMulticastUnbind cuParamSetTexRef cuProfilerInitialize
    cuSignalExternalSemaphoresAsync cuSignalExternalSemaphoresAsync_ptsz
    cuSurfRefGetArray cuSurfRefSetArray
    cuTensorMapEncodeIm2col cuTensorMapEncodeIm2colWide cuTexRefCreate
    cuTexRefDestroy cuTexRefGetAddress cuTexRefGetAddressMode cuTexRefGetAddress_v2 cuTexRefGetArray
    cuTexRefGetBorderColor cuTexRefGetFilterMode cuTexRefGetFlags cuTexRefGetFormat cuTexRefGetMaxAnisotropy
    cuTexRefGetMipmapFilterMode cuTexRefGetMipmapLevelBias cuTexRefGetMipmapLevelClamp
    cuTexRefGetMipmappedArray cuTexRefSetAddress cuTexRefSetAddress2D cuTexRefSetAddress2D_v2
    cuTexRefSetAddress2D_v3 cuTexRefSetAddressMode cuTexRefSetAddress_v2 cuTexRefSetArray
    cuTexRefSetBorderColor cuTexRefSetFilterMode cuTexRefSetFlags cuTexRefSetFormat cuTexRefSetMaxAnisotropy
    cuTexRefSetMipmapFilterMode cuTexRefSetMipmapLevelBias cuTexRefSetMipmapLevelClamp
    cuTexRefSetMipmappedArray cuWaitExternalSemaphoresAsync cuWaitExternalSemaphoresAsync_ptsz
}
