//! Which device may reach whose memory, where several share one (CUDA Driver API, "Peer Context Memory Access" and
//! "Device Accessibility for Multi-GPU Support").
//!
//! An allocation belongs to a device or to a pool, which has a device of its own, too. The own device always reaches it; others
//! reach it as far as they were given access. What belongs to nobody is open to all: memory that the host reaches, too, and the
//! tester's own. Access is asked for only while code of a device runs. What the host copies is not asked for: copies between
//! devices need no peer access. Where there is one device, nobody ever says whose code runs, and nothing is asked for at all.

use std::collections::BTreeMap;

use super::granted::{Granted, MappingAccess};
use crate::fault::MissingGrant;

/// Whose an allocation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MemoryOwner {
    /// A device's, by its ordinal.
    Device(u32),
    /// A pool's, by a number that the caller gave it.
    Pool(u64),
}

/// Which devices reach what an owner has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OwnerAccess {
    /// The device where the memory is.
    pub home: u32,
    /// What others may do.
    pub granted: Granted,
}

impl OwnerAccess {
    fn lets(&self, device: u32, write: bool) -> bool {
        let wanted = if write { MappingAccess::ReadWrite } else { MappingAccess::Read };
        device == self.home || self.granted.lets(Some(device), wanted)
    }
}

/// Owners of memory, and what they let others do.
#[derive(Debug, Default)]
pub(super) struct Peers {
    /// By first address of an allocation.
    pub owners: BTreeMap<u64, MemoryOwner>,
    /// By owner.
    pub access: BTreeMap<MemoryOwner, OwnerAccess>,
    /// The device whose code runs.
    pub running: Option<u32>,
}

impl Peers {
    /// Whether who runs may read, or write to, the allocation that begins here.
    pub fn lets(&self, base: u64, write: bool) -> bool {
        let Some(device) = self.running else { return true };
        self.closed(base, device, write).is_none()
    }

    /// Why a device may not.
    pub fn closed(&self, base: u64, device: u32, write: bool) -> Option<MissingGrant> {
        let owner = self.owners.get(&base)?;
        let given = self.access.get(owner)?;
        let owner_device = given.home;
        (!given.lets(device, write)).then_some(match owner {
            MemoryOwner::Device(_) => MissingGrant::Peer { owner: owner_device, device },
            MemoryOwner::Pool(_) => MissingGrant::Pool { owner: owner_device, device },
        })
    }

    /// An allocation is no more.
    pub fn freed(&mut self, base: u64) {
        self.owners.remove(&base);
    }

    /// Code of a device has made an allocation, if any runs.
    pub fn allocated_by_code(&mut self, base: u64) {
        if let Some(device) = self.running {
            self.owners.insert(base, MemoryOwner::Device(device));
        }
    }
}
