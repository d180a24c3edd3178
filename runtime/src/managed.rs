//! Hints about managed memory (CUDA Runtime API, `cudaMemPrefetchAsync`, `cudaMemAdvise`).

use std::ffi::{c_int, c_uint, c_ulonglong, c_void};

use bugaroo_cuda_abi::{CUdeviceptr, CUmemLocation, CUstream};

use crate::api::api;
use crate::driver::driver;

driver! {
    cuMemPrefetchAsync_v2(address: CUdeviceptr, bytes: usize, location: CUmemLocation, flags: c_uint, stream: CUstream);
    cuMemAdvise_v2(address: CUdeviceptr, bytes: usize, advice: c_int, location: CUmemLocation);
    cuMemRangeGetAttribute(place: *mut c_void, size: usize, attribute: c_int, address: CUdeviceptr, bytes: usize);
    cuMemRangeGetAttributes(places: *mut *mut c_void, sizes: *mut usize, attributes: *mut c_int, number: usize, address: CUdeviceptr, bytes: usize);
    cuMemPrefetchBatchAsync(addresses: *mut *mut c_void, sizes: *mut usize, count: usize, locations: *mut CUmemLocation, indices: *mut usize, number: usize, flags: c_ulonglong, stream: CUstream);
    cuMemDiscardBatchAsync(addresses: *mut *mut c_void, sizes: *mut usize, count: usize, flags: c_ulonglong, stream: CUstream);
    cuMemDiscardAndPrefetchBatchAsync(addresses: *mut *mut c_void, sizes: *mut usize, count: usize, locations: *mut CUmemLocation, indices: *mut usize, number: usize, flags: c_ulonglong, stream: CUstream);
}

/// The location that CUDA 12 names by a device's number; -1 is the host (`cudaCpuDeviceId`).
fn location(device: c_int) -> CUmemLocation {
    if device == -1 { CUmemLocation { kind: 2, id: 0 } } else { CUmemLocation { kind: 1, id: device } }
}

api! {
    with_device cudaMemPrefetchAsync(address: *const c_void, bytes: usize, location: CUmemLocation, flags: c_uint, stream: CUstream)
        on stream as cudaMemPrefetchAsync_ptsz {
        cuMemPrefetchAsync_v2(address as CUdeviceptr, bytes, location, flags, stream)
    }
    /// CUDA 12's form, with a device's number.
    with_device cudaMemPrefetchAsync_v12(address: *const c_void, bytes: usize, device: c_int, stream: CUstream)
        on stream as cudaMemPrefetchAsync_ptsz_v12 {
        cuMemPrefetchAsync_v2(address as CUdeviceptr, bytes, location(device), 0, stream)
    }
    with_device cudaMemAdvise(address: *const c_void, bytes: usize, advice: c_int, location: CUmemLocation) {
        cuMemAdvise_v2(address as CUdeviceptr, bytes, advice, location)
    }
    /// CUDA 12's form, with a device's number.
    with_device cudaMemAdvise_v12(address: *const c_void, bytes: usize, advice: c_int, device: c_int) {
        cuMemAdvise_v2(address as CUdeviceptr, bytes, advice, location(device))
    }
    with_device cudaMemRangeGetAttribute(
        place: *mut c_void, size: usize, attribute: c_int, address: *const c_void, bytes: usize,
    ) {
        cuMemRangeGetAttribute(place, size, attribute, address as CUdeviceptr, bytes)
    }
    with_device cudaMemRangeGetAttributes(
        places: *mut *mut c_void, sizes: *mut usize, attributes: *mut c_int, number: usize,
        address: *const c_void, bytes: usize,
    ) {
        cuMemRangeGetAttributes(places, sizes, attributes, number, address as CUdeviceptr, bytes)
    }
    with_device cudaMemPrefetchBatchAsync(
        addresses: *mut *mut c_void, sizes: *mut usize, count: usize, locations: *mut CUmemLocation,
        indices: *mut usize, number: usize, flags: c_ulonglong, stream: CUstream,
    ) on stream as cudaMemPrefetchBatchAsync_ptsz {
        cuMemPrefetchBatchAsync(addresses, sizes, count, locations, indices, number, flags, stream)
    }
    with_device cudaMemDiscardBatchAsync(
        addresses: *mut *mut c_void, sizes: *mut usize, count: usize, flags: c_ulonglong, stream: CUstream,
    ) on stream as cudaMemDiscardBatchAsync_ptsz {
        cuMemDiscardBatchAsync(addresses, sizes, count, flags, stream)
    }
    with_device cudaMemDiscardAndPrefetchBatchAsync(
        addresses: *mut *mut c_void, sizes: *mut usize, count: usize, locations: *mut CUmemLocation,
        indices: *mut usize, number: usize, flags: c_ulonglong, stream: CUstream,
    ) on stream as cudaMemDiscardAndPrefetchBatchAsync_ptsz {
        cuMemDiscardAndPrefetchBatchAsync(addresses, sizes, count, locations, indices, number, flags, stream)
    }
}
