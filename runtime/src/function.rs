//! Attributes of kernels, and how many blocks fit (CUDA Runtime API, "Execution Control", "Occupancy").

use std::ffi::{c_int, c_uint, c_void};

use bugaroo_cuda_abi::{CUfunction, CUlaunchConfig};

use crate::api::api;
use crate::driver::driver;
use crate::error::{RuntimeError, RuntimeResult};
use crate::registration::function;
use crate::types::{FuncAttributes, LaunchConfig, not_null, write};

driver! {
    cuFuncGetAttribute(place: *mut c_int, attribute: c_int, function: CUfunction);
    cuFuncSetAttribute(function: CUfunction, attribute: c_int, value: c_int);
    cuFuncSetCacheConfig(function: CUfunction, config: c_int);
    cuFuncSetSharedMemConfig(function: CUfunction, config: c_int);
    cuFuncGetParamInfo(function: CUfunction, index: usize, offset: *mut usize, size: *mut usize);
    cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(place: *mut c_int, function: CUfunction, block: c_int, shared: usize, flags: c_uint);
    cuOccupancyAvailableDynamicSMemPerBlock(place: *mut usize, function: CUfunction, blocks: c_int, block: c_int);
    cuOccupancyMaxPotentialClusterSize(place: *mut c_int, function: CUfunction, config: *const CUlaunchConfig);
    cuOccupancyMaxActiveClusters(place: *mut c_int, function: CUfunction, config: *const CUlaunchConfig);
}

/// Attributes of a function that the driver numbers (`CU_FUNC_ATTRIBUTE_…`).
const SHARED_SIZE: c_int = 1;
const CONST_SIZE: c_int = 2;
const LOCAL_SIZE: c_int = 3;
/// The attributes behind `cudaFuncAttributes`, from `maxThreadsPerBlock` to
/// `nonPortableClusterSizeAllowed`; the last two stand the other way round there.
const OTHERS: [c_int; 13] = [0, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 14];
/// What a program may set (`cudaFuncAttribute`).
const SETTABLE: std::ops::RangeInclusive<c_int> = 8..=15;

/// All attributes; one that the driver does not know is 0.
fn attributes(function: CUfunction) -> FuncAttributes {
    let attribute = |which| {
        let mut value = 0;
        // SAFETY: a place for the answer.
        unsafe { cuFuncGetAttribute(&raw mut value, which, function) }.map_or(0, |()| value)
    };
    let size = |which| usize::try_from(attribute(which)).unwrap_or(0);
    FuncAttributes {
        shared_size_bytes: size(SHARED_SIZE),
        const_size_bytes: size(CONST_SIZE),
        local_size_bytes: size(LOCAL_SIZE),
        others: OTHERS.map(attribute),
        reserved: [0; 16],
    }
}

/// A launch's configuration in the driver's form.
///
/// # Safety
/// `config` is null or points to a configuration.
unsafe fn configuration(config: *const LaunchConfig) -> RuntimeResult<CUlaunchConfig> {
    not_null(config)?;
    // SAFETY: not null, and the caller's promise.
    Ok(unsafe { &*config }.for_driver())
}

api! {
    with_device cudaFuncGetAttributes(place: *mut FuncAttributes, host: *const c_void) {
        not_null(place)?;
        write(place, attributes(function(host)?))
    }
    with_device cudaFuncSetAttribute(host: *const c_void, attribute: c_int, value: c_int) {
        if !SETTABLE.contains(&attribute) {
            return Err(RuntimeError::INVALID_VALUE);
        }
        cuFuncSetAttribute(function(host)?, attribute, value)
    }
    with_device cudaFuncSetCacheConfig(host: *const c_void, config: c_int) {
        cuFuncSetCacheConfig(function(host)?, config)
    }
    with_device cudaFuncSetSharedMemConfig(host: *const c_void, config: c_int) {
        cuFuncSetSharedMemConfig(function(host)?, config)
    }
    with_device cudaFuncGetParamInfo(host: *const c_void, index: usize, offset: *mut usize, size: *mut usize) {
        cuFuncGetParamInfo(function(host)?, index, offset, size)
    }
    with_device cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        place: *mut c_int, host: *const c_void, block: c_int, shared: usize,
    ) {
        cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(place, function(host)?, block, shared, 0)
    }
    with_device cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        place: *mut c_int, host: *const c_void, block: c_int, shared: usize, flags: c_uint,
    ) {
        cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(place, function(host)?, block, shared, flags)
    }
    with_device cudaOccupancyAvailableDynamicSMemPerBlock(
        place: *mut usize, host: *const c_void, blocks: c_int, block: c_int,
    ) {
        cuOccupancyAvailableDynamicSMemPerBlock(place, function(host)?, blocks, block)
    }
    with_device cudaOccupancyMaxPotentialClusterSize(
        place: *mut c_int, host: *const c_void, config: *const LaunchConfig,
    ) {
        let config = configuration(config)?;
        cuOccupancyMaxPotentialClusterSize(place, function(host)?, &raw const config)
    }
    with_device cudaOccupancyMaxActiveClusters(place: *mut c_int, host: *const c_void, config: *const LaunchConfig) {
        let config = configuration(config)?;
        cuOccupancyMaxActiveClusters(place, function(host)?, &raw const config)
    }
}
