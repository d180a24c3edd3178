//! Memory pools: what each holds back, and who may use it.

use std::ffi::c_int;

use bugaroo_cuda_abi::{CUdevice, CUmemLocation, CUmemoryPool, LOCATION_DEVICE, LOCATION_HOST};

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
    /// Where its memory is, if it is a device's.
    pub device: CUdevice,
}

/// The pools that are taken from where none is named: of a device, or of memory that host and device share.
#[derive(Clone, Copy, Debug)]
pub struct DevicePools {
    /// The device; None: managed memory, and the host's own.
    pub of: Option<CUdevice>,
    /// The one that there always is.
    pub default: CUmemoryPool,
    /// The one that `cuMemAllocAsync` takes from.
    pub current: CUmemoryPool,
}

/// The devices' pools.
#[derive(Debug)]
pub struct Pools {
    /// Of each device.
    of: Vec<DevicePools>,
    /// Of memory that host and device share.
    pub shared: DevicePools,
    /// All of them.
    pub all: Handles<Pool>,
}

impl Pools {
    /// The default pools alone, of so many devices.
    pub fn new(devices: CUdevice) -> Self {
        let mut all = Handles::new(HandleKind::Pool);
        let mut make = |of: Option<CUdevice>| {
            let (managed, device) = (of.is_none(), of.unwrap_or(0));
            let default = all.insert(Pool { reuse: REUSE, managed, device, ..Pool::default() });
            DevicePools { of, default, current: default }
        };
        let (mut of, shared) = (vec![make(Some(0))], make(None));
        of.extend((1..devices).map(|device| make(Some(device))));
        Pools { of, shared, all }
    }

    /// A device's pools.
    ///
    /// # Errors
    /// `InvalidDevice`
    pub fn of(&mut self, device: CUdevice) -> CallResult<&mut DevicePools> {
        let found = usize::try_from(device).ok().and_then(|device| self.of.get_mut(device));
        found.ok_or(Status::InvalidDevice)
    }

    /// Whether it is one that there always is.
    pub fn is_default(&self, pool: CUmemoryPool) -> bool {
        self.of.iter().chain([&self.shared]).any(|of| of.default == pool)
    }

    /// A pool is no more: where it was current, the default one is.
    pub fn forget(&mut self, pool: CUmemoryPool) {
        for of in self.of.iter_mut().chain([&mut self.shared]).filter(|of| of.current == pool) {
            of.current = of.default;
        }
    }

    /// An allocation is no more; its pool may be neither.
    pub fn freed(&mut self, allocation: &Allocation) {
        if let Some(pool) = allocation.pool.and_then(|pool| self.all.get_mut(pool).ok()) {
            pool.used = pool.used.saturating_sub(allocation.size);
        }
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
