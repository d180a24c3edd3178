//! Stream-ordered allocation (CUDA Runtime API, "Stream Ordered Memory Allocator").

use std::ffi::{c_int, c_uint, c_ulonglong, c_void};

use bugaroo_cuda_abi::{CUdevice, CUdeviceptr, CUmemLocation, CUstream};

use crate::api::api;
use crate::device::handle;
use crate::driver::driver;
use crate::types::{Handle, not_null, write};

driver! {
    cuMemAllocAsync(place: *mut CUdeviceptr, bytes: usize, stream: CUstream);
    cuMemAllocFromPoolAsync(place: *mut CUdeviceptr, bytes: usize, pool: Handle, stream: CUstream);
    cuMemFreeAsync(address: CUdeviceptr, stream: CUstream);
    cuMemPoolCreate(place: *mut Handle, properties: *const c_void);
    cuMemPoolDestroy(pool: Handle);
    cuMemPoolTrimTo(pool: Handle, keep: usize);
    cuMemPoolSetAttribute(pool: Handle, attribute: c_int, value: *mut c_void);
    cuMemPoolGetAttribute(pool: Handle, attribute: c_int, value: *mut c_void);
    cuMemPoolSetAccess(pool: Handle, descriptions: *const c_void, count: usize);
    cuMemPoolGetAccess(place: *mut c_int, pool: Handle, location: *mut CUmemLocation);
    cuMemPoolExportToShareableHandle(place: *mut c_void, pool: Handle, kind: c_int, flags: c_ulonglong);
    cuMemPoolImportFromShareableHandle(place: *mut Handle, handle: *mut c_void, kind: c_int, flags: c_ulonglong);
    cuMemPoolExportPointer(place: *mut c_void, address: CUdeviceptr);
    cuMemPoolImportPointer(place: *mut *mut c_void, pool: Handle, data: *mut c_void);
    cuDeviceGetDefaultMemPool(place: *mut Handle, device: CUdevice);
    cuDeviceGetMemPool(place: *mut Handle, device: CUdevice);
    cuDeviceSetMemPool(device: CUdevice, pool: Handle);
    cuMemGetDefaultMemPool(place: *mut Handle, location: *mut CUmemLocation, kind: c_int);
    cuMemGetMemPool(place: *mut Handle, location: *mut CUmemLocation, kind: c_int);
    cuMemSetMemPool(location: *mut CUmemLocation, kind: c_int, pool: Handle);
}

api! {
    /// Asking for nothing gives a null pointer.
    with_device cudaMallocAsync(place: *mut *mut c_void, bytes: usize, stream: CUstream)
        on stream as cudaMallocAsync_ptsz {
        not_null(place)?;
        let mut address = 0;
        if bytes > 0 {
            cuMemAllocAsync(&raw mut address, bytes, stream)?;
        }
        write(place, address as *mut c_void)
    }
    with_device cudaMallocFromPoolAsync(place: *mut *mut c_void, bytes: usize, pool: Handle, stream: CUstream)
        on stream as cudaMallocFromPoolAsync_ptsz {
        not_null(place)?;
        let mut address = 0;
        if bytes > 0 {
            cuMemAllocFromPoolAsync(&raw mut address, bytes, pool, stream)?;
        }
        write(place, address as *mut c_void)
    }
    with_device cudaFreeAsync(memory: *mut c_void, stream: CUstream) on stream as cudaFreeAsync_ptsz {
        if memory.is_null() { Ok(()) } else { cuMemFreeAsync(memory as CUdeviceptr, stream) }
    }
    with_device cudaMemPoolCreate(place: *mut Handle, properties: *const c_void) { cuMemPoolCreate(place, properties) }
    with_device cudaMemPoolDestroy(pool: Handle) { cuMemPoolDestroy(pool) }
    with_device cudaMemPoolTrimTo(pool: Handle, keep: usize) { cuMemPoolTrimTo(pool, keep) }
    with_device cudaMemPoolSetAttribute(pool: Handle, attribute: c_int, value: *mut c_void) {
        cuMemPoolSetAttribute(pool, attribute, value)
    }
    with_device cudaMemPoolGetAttribute(pool: Handle, attribute: c_int, value: *mut c_void) {
        cuMemPoolGetAttribute(pool, attribute, value)
    }
    with_device cudaMemPoolSetAccess(pool: Handle, descriptions: *const c_void, count: usize) {
        cuMemPoolSetAccess(pool, descriptions, count)
    }
    with_device cudaMemPoolGetAccess(place: *mut c_int, pool: Handle, location: *mut CUmemLocation) {
        cuMemPoolGetAccess(place, pool, location)
    }
    with_device cudaMemPoolExportToShareableHandle(place: *mut c_void, pool: Handle, kind: c_int, flags: c_uint) {
        cuMemPoolExportToShareableHandle(place, pool, kind, flags.into())
    }
    with_device cudaMemPoolImportFromShareableHandle(
        place: *mut Handle, shared: *mut c_void, kind: c_int, flags: c_uint,
    ) {
        cuMemPoolImportFromShareableHandle(place, shared, kind, flags.into())
    }
    with_device cudaMemPoolExportPointer(place: *mut c_void, memory: *mut c_void) {
        cuMemPoolExportPointer(place, memory as CUdeviceptr)
    }
    with_device cudaMemPoolImportPointer(place: *mut *mut c_void, pool: Handle, data: *mut c_void) {
        cuMemPoolImportPointer(place, pool, data)
    }
    with_device cudaDeviceGetDefaultMemPool(place: *mut Handle, ordinal: c_int) {
        cuDeviceGetDefaultMemPool(place, handle(ordinal)?)
    }
    with_device cudaDeviceGetMemPool(place: *mut Handle, ordinal: c_int) { cuDeviceGetMemPool(place, handle(ordinal)?) }
    with_device cudaDeviceSetMemPool(ordinal: c_int, pool: Handle) { cuDeviceSetMemPool(handle(ordinal)?, pool) }
    with_device cudaMemGetDefaultMemPool(place: *mut Handle, location: *mut CUmemLocation, kind: c_int) {
        cuMemGetDefaultMemPool(place, location, kind)
    }
    with_device cudaMemGetMemPool(place: *mut Handle, location: *mut CUmemLocation, kind: c_int) {
        cuMemGetMemPool(place, location, kind)
    }
    with_device cudaMemSetMemPool(location: *mut CUmemLocation, kind: c_int, pool: Handle) {
        cuMemSetMemPool(location, kind, pool)
    }
}
