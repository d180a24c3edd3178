//! Occupancy (CUDA Driver API, "Occupancy"): how many blocks of a kernel an SM of the virtual GPU holds.
//!
//! Threads, blocks and shared memory limit it, as they limit the simulator; registers never do.

use std::ffi::{c_int, c_uint};

use bugaroo_cuda_abi::{CUfunction, CUoccupancyB2DSize};

use crate::api::entry::with_context;
use bugaroo_device::error::{CallResult, Status};
use bugaroo_device::objects::occupancy::Limits;
use bugaroo_device::places::{not_null, write};

fn block_size(size: c_int) -> CallResult<u32> {
    u32::try_from(size).ok().filter(|size| *size > 0).ok_or(Status::InvalidValue)
}

/// Blocks of a kernel that an SM holds at once.
///
/// # Safety
/// `place` is null or points to a place for the number.
pub unsafe extern "C" fn cuOccupancyMaxActiveBlocksPerMultiprocessor(
    place: *mut c_int,
    function: CUfunction,
    block: c_int,
    dynamic_shared: usize,
) -> Status {
    // SAFETY: the same contract.
    unsafe { cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(place, function, block, dynamic_shared, 0) }
}

/// Blocks of a kernel that an SM holds at once.
///
/// # Safety
/// `place` is null or points to a place for the number.
pub unsafe extern "C" fn cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    place: *mut c_int,
    function: CUfunction,
    block: c_int,
    dynamic_shared: usize,
    flags: c_uint,
) -> Status {
    with_context("cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", |gpu, _| {
        if flags > 1 {
            return Err(Status::InvalidValue);
        }
        let blocks = Limits::of(gpu, function)?.blocks(block_size(block)?, dynamic_shared as u64);
        // SAFETY: the caller's promise.
        unsafe { write(place, c_int::try_from(blocks).unwrap_or(c_int::MAX)) }
    })
}

/// Dynamic shared memory that each of so many blocks of an SM can have.
///
/// # Safety
/// `place` is null or points to a place for the number.
pub unsafe extern "C" fn cuOccupancyAvailableDynamicSMemPerBlock(
    place: *mut usize,
    function: CUfunction,
    blocks: c_int,
    block: c_int,
) -> Status {
    with_context("cuOccupancyAvailableDynamicSMemPerBlock", |gpu, _| {
        let limits = Limits::of(gpu, function)?;
        let (blocks, block) = (block_size(blocks)?, block_size(block)?);
        if blocks > limits.blocks(block, 0) {
            return Err(Status::InvalidValue);
        }
        let most = u64::from(gpu.config.shared_per_block_optin);
        let each = (limits.shared_per_sm / u64::from(blocks)).min(most).saturating_sub(limits.static_shared);
        // SAFETY: the caller's promise.
        unsafe { write(place, each as usize) }
    })
}

/// The block size that keeps most threads of a kernel resident, and the smallest grid that fills the
/// device with it.
///
/// # Safety
/// Each place is null, which is refused, or points to a place for a number; `dynamic_of` is null or may
/// be called with any block size.
pub unsafe extern "C" fn cuOccupancyMaxPotentialBlockSize(
    grid: *mut c_int,
    block: *mut c_int,
    function: CUfunction,
    dynamic_of: CUoccupancyB2DSize,
    dynamic_shared: usize,
    limit: c_int,
) -> Status {
    // SAFETY: the same contract.
    unsafe {
        cuOccupancyMaxPotentialBlockSizeWithFlags(grid, block, function, dynamic_of, dynamic_shared, limit, 0)
    }
}

/// The block size that keeps most threads of a kernel resident, and the smallest grid that fills the
/// device with it.
///
/// # Safety
/// As [`cuOccupancyMaxPotentialBlockSize`].
pub unsafe extern "C" fn cuOccupancyMaxPotentialBlockSizeWithFlags(
    grid: *mut c_int,
    block: *mut c_int,
    function: CUfunction,
    dynamic_of: CUoccupancyB2DSize,
    dynamic_shared: usize,
    limit: c_int,
    flags: c_uint,
) -> Status {
    let mut limits = None;
    let looked_up = with_context("cuOccupancyMaxPotentialBlockSizeWithFlags", |gpu, _| {
        not_null(grid)?;
        not_null(block)?;
        if flags > 1 || limit < 0 {
            return Err(Status::InvalidValue);
        }
        limits = Some(Limits::of(gpu, function)?);
        Ok(())
    });
    let Some(limits) = limits else { return looked_up };
    // Outside of the lock: `dynamic_of` is the program's own code.
    let (best, blocks) = limits.best(limit.unsigned_abs(), |size| match dynamic_of {
        // SAFETY: the caller's promise. Block sizes are at most 1024.
        Some(dynamic_of) => unsafe { dynamic_of(size as c_int) as u64 },
        None => dynamic_shared as u64,
    });
    with_context("cuOccupancyMaxPotentialBlockSizeWithFlags", |_, _| {
        // SAFETY: the caller's promise, for both.
        unsafe {
            write(block, c_int::try_from(best).unwrap_or(c_int::MAX))?;
            write(grid, c_int::try_from(blocks).unwrap_or(c_int::MAX))
        }
    })
}
