//! Names that mean something else in CUDA 12 than in CUDA 13, for programs that were linked with
//! `libcudart.so.12`; all others are [`crate::exports`]' own.

use crate::exports::export;
use crate::{copy, managed, properties, version};

export! {
    copy {
        cudaMemcpyBatchAsync = cudaMemcpyBatchAsync_v12
        cudaMemcpyBatchAsync_ptsz = cudaMemcpyBatchAsync_ptsz_v12
        cudaMemcpy3DBatchAsync = cudaMemcpy3DBatchAsync_v12
        cudaMemcpy3DBatchAsync_ptsz = cudaMemcpy3DBatchAsync_ptsz_v12
    }
    managed {
        cudaMemAdvise = cudaMemAdvise_v12
        cudaMemPrefetchAsync = cudaMemPrefetchAsync_v12
        cudaMemPrefetchAsync_ptsz = cudaMemPrefetchAsync_ptsz_v12
    }
    properties {
        cudaGetDeviceProperties = cudaGetDeviceProperties_v12
    }
    version {
        cudaGetDriverEntryPoint = cudaGetDriverEntryPoint_v12
        cudaGetDriverEntryPoint_ptsz = cudaGetDriverEntryPoint_ptsz_v12
        cudaRuntimeGetVersion = cudaRuntimeGetVersion_v12
    }
}
