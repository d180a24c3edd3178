//! What is said of owners and of the device whose code runs ([`super::owners`]), and why an access was refused.

use super::owners::{MemoryOwner, OwnerAccess};
use super::{MappingAccess, Memory};
use crate::fault::{MissingGrant, StopKind, TouchKind};

impl Memory {
    /// Says whose the allocation at a first address is, until it is freed.
    pub fn set_owner(&mut self, address: u64, owner: MemoryOwner) {
        self.changes += 1;
        self.peers.owners.insert(address, owner);
    }

    /// Says who reaches what an owner has; before it is said, everybody does.
    pub fn set_owner_access(&mut self, owner: MemoryOwner, access: OwnerAccess) {
        self.changes += 1;
        self.peers.access.insert(owner, access);
    }

    /// Who reaches what an owner has.
    pub fn owner_access(&self, owner: MemoryOwner) -> Option<OwnerAccess> {
        self.peers.access.get(&owner).copied()
    }

    /// Code of this device runs from now on; None: that of no device does, and all can be reached.
    pub fn run_on(&mut self, device: Option<u32>) {
        self.peers.running = device;
    }

    /// Why an access is refused to what is there, if it is.
    pub(crate) fn refused(&self, address: u64, size: u32, access: TouchKind) -> Option<StopKind> {
        let write = access != TouchKind::Read;
        let wanted = if write { MappingAccess::ReadWrite } else { MappingAccess::Read };
        let (base, len) = self.allocation(address)?;
        if base + len - address < u64::from(size) || self.region_for(address, Some(wanted)).is_some() {
            return None;
        }
        let missing = self.peers.running.and_then(|device| match self.mappings.find(address) {
            // Where nobody may, it is no matter of devices.
            Some(mapping) if !mapping.access.lets(None, wanted) => None,
            Some(_) => Some(MissingGrant::Mapping { device }),
            None => self.peers.closed(base, device, write),
        });
        Some(match missing {
            Some(missing) => StopKind::NoPeerAccess { address, size, access, missing },
            None => StopKind::NoAccess { address, size, access },
        })
    }
}
