//! Names that mean something else in CUDA 12 than in CUDA 13, and those that CUDA 13 dropped, for programs
//! that were linked with `libcudart.so.12`; all others are [`crate::exports`]' own.

use crate::list::export;
use crate::{capture, copy, device, graph, managed, node_parameters, properties, stream, version};

export! {
    capture {
        cudaStreamGetCaptureInfo = cudaStreamGetCaptureInfo_v12
        cudaStreamGetCaptureInfo_ptsz = cudaStreamGetCaptureInfo_ptsz_v12
        cudaStreamGetCaptureInfo_v3 = cudaStreamGetCaptureInfo
        cudaStreamGetCaptureInfo_v3_ptsz = cudaStreamGetCaptureInfo_ptsz
        cudaStreamUpdateCaptureDependencies = cudaStreamUpdateCaptureDependencies_v12
        cudaStreamUpdateCaptureDependencies_ptsz = cudaStreamUpdateCaptureDependencies_ptsz_v12
        cudaStreamUpdateCaptureDependencies_v2 = cudaStreamUpdateCaptureDependencies
        cudaStreamUpdateCaptureDependencies_v2_ptsz = cudaStreamUpdateCaptureDependencies_ptsz
    }
    copy {
        cudaMemcpyBatchAsync = cudaMemcpyBatchAsync_v12
        cudaMemcpyBatchAsync_ptsz = cudaMemcpyBatchAsync_ptsz_v12
        cudaMemcpy3DBatchAsync = cudaMemcpy3DBatchAsync_v12
        cudaMemcpy3DBatchAsync_ptsz = cudaMemcpy3DBatchAsync_ptsz_v12
    }
    graph {
        cudaGraphAddDependencies = cudaGraphAddDependencies_v12
        cudaGraphAddDependencies_v2 = cudaGraphAddDependencies
        cudaGraphGetEdges = cudaGraphGetEdges_v12
        cudaGraphGetEdges_v2 = cudaGraphGetEdges
        cudaGraphNodeGetDependencies = cudaGraphNodeGetDependencies_v12
        cudaGraphNodeGetDependencies_v2 = cudaGraphNodeGetDependencies
        cudaGraphNodeGetDependentNodes = cudaGraphNodeGetDependentNodes_v12
        cudaGraphNodeGetDependentNodes_v2 = cudaGraphNodeGetDependentNodes
        cudaGraphRemoveDependencies = cudaGraphRemoveDependencies_v12
        cudaGraphRemoveDependencies_v2 = cudaGraphRemoveDependencies
    }
    device {
        cudaThreadExit = cudaDeviceReset
        cudaThreadGetCacheConfig = cudaDeviceGetCacheConfig
        cudaThreadGetLimit = cudaDeviceGetLimit
        cudaThreadSetCacheConfig = cudaDeviceSetCacheConfig
        cudaThreadSetLimit = cudaDeviceSetLimit
        cudaThreadSynchronize = cudaDeviceSynchronize
    }
    managed {
        cudaMemAdvise = cudaMemAdvise_v12
        cudaMemPrefetchAsync = cudaMemPrefetchAsync_v12
        cudaMemPrefetchAsync_ptsz = cudaMemPrefetchAsync_ptsz_v12
        cudaMemAdvise_v2 = cudaMemAdvise
        cudaMemPrefetchAsync_v2 = cudaMemPrefetchAsync
        cudaMemPrefetchAsync_v2_ptsz = cudaMemPrefetchAsync_ptsz
    }
    node_parameters {
        cudaGraphAddNode = cudaGraphAddNode_v12
        cudaGraphAddNode_v2 = cudaGraphAddNode
    }
    properties {
        cudaGetDeviceProperties = cudaGetDeviceProperties_v12
    }
    stream {
        cudaEventElapsedTime_v2 = cudaEventElapsedTime
    }
    version {
        cudaGetDriverEntryPoint = cudaGetDriverEntryPoint_v12
        cudaGetDriverEntryPoint_ptsz = cudaGetDriverEntryPoint_ptsz_v12
        cudaRuntimeGetVersion = cudaRuntimeGetVersion_v12
    }
}
