//! Memory pools: what each holds back, and who may use it.

use std::ffi::c_int;

use bugaroo_cuda_abi::{CUmemLocation, CUmemoryPool, LOCATION_DEVICE, LOCATION_HOST};

use crate::error::{CallResult, Status};
use crate::handles::{HandleKind, Handles};
use crate::objects::memory::Allocation;
use crate::objects::primary::check_device;
use crate::places::not_null;

/// `CU_MEM_ALLOCATION_TYPE_MANAGED`
const MANAGED: c_int = 2;
/// The three switches of reuse, on.
pub const REUSE: u32 = 0b1110;

/// A pool.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pool {
    /// As set; changes nothing.
    pub release_threshold: u64,
    /// The three switches of reuse, which change nothing; bit by attribute number.
    pub reuse: u32,
    /// Bytes allocated now; as many are reserved.
    pub used: u64,
    /// Bytes allocated at most since that was set back.
    pub most_used: u64,
    /// Bytes reserved at most since that was set back.
    pub most_reserved: u64,
    /// The most that may be allocated; 0 for no limit but the device's.
    pub limit: u64,
    /// Of memory that host and device share.
    pub managed: bool,
}

/// The device's pools.
#[derive(Debug)]
pub struct Pools {
    /// The one that there always is.
    pub default: CUmemoryPool,
    /// The one that `cuMemAllocAsync` takes from.
    pub current: CUmemoryPool,
    /// The one that there always is of memory that host and device share: managed memory, and the host's own.
    pub shared_default: CUmemoryPool,
    /// The one that was set in its place.
    pub shared_current: CUmemoryPool,
    /// All of them.
    pub all: Handles<Pool>,
}

impl Pools {
    /// The default pool alone.
    pub fn new() -> Self {
        let mut all = Handles::new(HandleKind::Pool);
        let default = all.insert(Pool { reuse: REUSE, ..Pool::default() });
        let shared = all.insert(Pool { reuse: REUSE, managed: true, ..Pool::default() });
        Pools { default, current: default, shared_default: shared, shared_current: shared, all }
    }

    /// The pool that memory is taken from where none is named.
    pub fn current(&self) -> CUmemoryPool {
        self.current
    }

    /// An allocation is no more; its pool may be neither.
    pub fn freed(&mut self, allocation: &Allocation) {
        if let Some(pool) = allocation.pool.and_then(|pool| self.all.get_mut(pool).ok()) {
            pool.used = pool.used.saturating_sub(allocation.size);
        }
    }
}

impl Default for Pools {
    fn default() -> Self {
        Self::new()
    }
}

/// Whether memory of a location and of an allocation type is shared by host and device.
///
/// # Errors
/// `InvalidValue` when there is no such location, or no such type of it.
///
/// # Safety
/// `location` is null or points to one.
pub unsafe fn shared(location: *const CUmemLocation, kind: c_int) -> CallResult<bool> {
    not_null(location)?;
    // SAFETY: not null; the caller vouches for the rest.
    let location = unsafe { location.read_unaligned() };
    match (location.kind, kind) {
        (LOCATION_DEVICE, 1 | 2) => check_device(location.id).map(|()| kind == MANAGED),
        (LOCATION_HOST..=4, 1 | 2) | (0, MANAGED) => Ok(true),
        _ => Err(Status::InvalidValue),
    }
}
