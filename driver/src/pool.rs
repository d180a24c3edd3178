//! Memory pools (CUDA Driver API, "Stream Ordered Memory Allocator").
//!
//! All pools draw on the one device memory and hold nothing back, as everything is freed at once. A
//! pool is a name, with what it counts.

use std::ffi::{c_uint, c_void};

use crate::entry::{not_null, with_driver, write};
use crate::error::{Outcome, Status};
use crate::primary::check_device;
use crate::state::Driver;
use crate::submit::on_stream;
use crate::types::{CUdevice, CUdeviceptr, CUmemoryPool, CUstream};

/// `CU_MEMPOOL_ATTR_RELEASE_THRESHOLD`
const RELEASE_THRESHOLD: c_uint = 4;

/// A pool.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pool {
    /// As set; changes nothing.
    release_threshold: u64,
    /// The three switches of reuse, which change nothing; bit by attribute number.
    reuse: u32,
}

/// The device's pools.
#[derive(Debug)]
pub struct Pools {
    /// The one that there always is.
    default: CUmemoryPool,
    /// The one that `cuMemAllocAsync` names as its own.
    current: CUmemoryPool,
    /// All of them.
    all: crate::handles::Handles<Pool>,
}

impl Pools {
    /// The default pool alone.
    pub fn new() -> Self {
        let mut all = crate::handles::Handles::new(crate::handles::Kind::Pool);
        let default = all.insert(Pool { reuse: 0b1110, ..Pool::default() });
        Pools { default, current: default, all }
    }
}

impl Default for Pools {
    fn default() -> Self {
        Self::new()
    }
}

fn tell(name: &str, place: *mut CUmemoryPool, device: CUdevice, which: fn(&Pools) -> CUmemoryPool) -> Status {
    with_driver(name, |driver| {
        check_device(device)?;
        // SAFETY: the exported functions' callers vouch for the place.
        unsafe { write(place, which(&driver.pools)) }
    })
}

/// The device's default pool.
///
/// # Safety
/// `place` is null or points to a place for a handle.
pub unsafe extern "C" fn cuDeviceGetDefaultMemPool(place: *mut CUmemoryPool, device: CUdevice) -> Status {
    tell("cuDeviceGetDefaultMemPool", place, device, |pools| pools.default)
}

/// The device's current pool.
///
/// # Safety
/// `place` is null or points to a place for a handle.
pub unsafe extern "C" fn cuDeviceGetMemPool(place: *mut CUmemoryPool, device: CUdevice) -> Status {
    tell("cuDeviceGetMemPool", place, device, |pools| pools.current)
}

/// Makes a pool the device's current one.
pub extern "C" fn cuDeviceSetMemPool(device: CUdevice, pool: CUmemoryPool) -> Status {
    with_driver("cuDeviceSetMemPool", |driver| {
        check_device(device)?;
        driver.pools.all.get(pool)?;
        driver.pools.current = pool;
        Ok(())
    })
}

/// Makes a pool.
///
/// # Safety
/// `place` is null or points to a place for a handle; `properties` is only looked at for null.
pub unsafe extern "C" fn cuMemPoolCreate(place: *mut CUmemoryPool, properties: *const c_void) -> Status {
    with_driver("cuMemPoolCreate", |driver| {
        not_null(place)?;
        not_null(properties)?;
        let pool = driver.pools.all.insert(Pool { reuse: 0b1110, ..Pool::default() });
        // SAFETY: the caller's promise.
        unsafe { write(place, pool) }
    })
}

/// Destroys a pool; what was allocated from it stays. The default pool cannot be destroyed.
pub extern "C" fn cuMemPoolDestroy(pool: CUmemoryPool) -> Status {
    with_driver("cuMemPoolDestroy", |driver| {
        if pool == driver.pools.default {
            return Err(Status::InvalidValue);
        }
        driver.pools.all.remove(pool)?;
        if driver.pools.current == pool {
            driver.pools.current = driver.pools.default;
        }
        Ok(())
    })
}

/// Gives memory that a pool holds back to the device; it holds none.
pub extern "C" fn cuMemPoolTrimTo(pool: CUmemoryPool, _bytes_to_keep: usize) -> Status {
    with_driver("cuMemPoolTrimTo", |driver| driver.pools.all.get(pool).map(|_| ()))
}

/// Bytes that the program has allocated: what each pool counts as used, since they share the device.
fn used(driver: &Driver) -> u64 {
    driver.allocations.values().map(|allocation| allocation.size).sum()
}

/// One of a pool's attributes. What is in use is counted for all pools together.
///
/// # Safety
/// `place` is null or points to a place for a value of the attribute's type.
pub unsafe extern "C" fn cuMemPoolGetAttribute(
    pool: CUmemoryPool,
    attribute: c_uint,
    place: *mut c_void,
) -> Status {
    with_driver("cuMemPoolGetAttribute", |driver| {
        let pool = *driver.pools.all.get(pool)?;
        // SAFETY: the caller's promise, with the types that `cuda.h` states.
        unsafe {
            match attribute {
                1..=3 => write(place.cast::<u32>(), pool.reuse >> attribute & 1),
                RELEASE_THRESHOLD => write(place.cast::<u64>(), pool.release_threshold),
                5..=8 => write(place.cast::<u64>(), used(driver)),
                _ => Err(Status::InvalidValue),
            }
        }
    })
}

/// Sets one of a pool's attributes, which is kept and told, and changes nothing.
///
/// # Safety
/// `value` is null or points to a value of the attribute's type.
pub unsafe extern "C" fn cuMemPoolSetAttribute(
    pool: CUmemoryPool,
    attribute: c_uint,
    value: *const c_void,
) -> Status {
    with_driver("cuMemPoolSetAttribute", |driver| {
        let pool = driver.pools.all.get_mut(pool)?;
        not_null(value)?;
        // SAFETY: the caller's promise, with the types that `cuda.h` states.
        unsafe {
            match attribute {
                1..=3 => {
                    let on = u32::from(value.cast::<u32>().read_unaligned() != 0);
                    pool.reuse = pool.reuse & !(1 << attribute) | on << attribute;
                }
                RELEASE_THRESHOLD => pool.release_threshold = value.cast::<u64>().read_unaligned(),
                // The two high-water marks may be set back.
                6 | 8 => {}
                _ => return Err(Status::InvalidValue),
            }
        }
        Ok(())
    })
}

/// Allocates device memory from a pool, in stream order, which is now.
///
/// # Safety
/// `place` is null or points to a place for an address.
pub unsafe extern "C" fn cuMemAllocFromPoolAsync(
    place: *mut CUdeviceptr,
    bytes: usize,
    pool: CUmemoryPool,
    stream: CUstream,
) -> Status {
    on_stream("cuMemAllocFromPoolAsync", stream, |driver, stream| -> Outcome {
        not_null(place)?;
        driver.pools.all.get(pool)?;
        let address = driver.allocate(stream.context, bytes)?;
        // SAFETY: the caller's promise.
        unsafe { write(place, address) }
    })
}
