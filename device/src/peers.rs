//! Access of devices to each other's memory, as contexts and pools give it (CUDA Driver API, "Peer Context Memory Access").
//!
//! What is given is given by device: of several contexts of one device, each may what any of them may. With one device nothing
//! here is ever told to the memory, which then asks for nothing.

use bugaroo_cuda_abi::{CUcontext, CUdevice, CUmemoryPool, CUmodule};
use bugaroo_simulator::{Granted, MappingAccess, MemoryOwner, OwnerAccess};

use crate::devices;
use crate::error::{CallResult, Status};
use crate::lane::Ticket;
use crate::state::Gpu;

/// A device as the memory knows it: there is none below 0.
fn ordinal(device: CUdevice) -> u32 {
    u32::try_from(device).unwrap_or(0)
}

impl Gpu {
    /// Lets a context use the memory of another device's.
    ///
    /// # Errors
    /// `InvalidContext`, `PeerAccessUnsupported` between contexts of one device, `PeerAccessAlreadyEnabled`.
    pub fn enable_peer(&mut self, context: CUcontext, peer: CUcontext) -> CallResult {
        self.context(peer)?;
        if peer == context {
            return Err(Status::InvalidContext);
        }
        if self.device_of(peer) == self.device_of(context) {
            return Err(Status::PeerAccessUnsupported);
        }
        if !self.context_mut(context)?.peers.insert(peer) {
            return Err(Status::PeerAccessAlreadyEnabled);
        }
        self.tell_peers();
        Ok(())
    }

    /// Takes that back.
    ///
    /// # Errors
    /// `InvalidContext`, `PeerAccessNotEnabled`.
    pub fn disable_peer(&mut self, context: CUcontext, peer: CUcontext) -> CallResult {
        self.context(peer)?;
        if !self.context_mut(context)?.peers.remove(&peer) {
            return Err(Status::PeerAccessNotEnabled);
        }
        self.tell_peers();
        Ok(())
    }

    /// A context ends, and with it what it could reach and who could reach it.
    pub fn forget_peer(&mut self, ended: CUcontext) {
        let mut changed = false;
        for context in self.owners.contexts.find(|_| true) {
            // Just found, hence there.
            if let Ok(found) = self.owners.contexts.get_mut(context) {
                changed |= found.peers.remove(&ended);
                if context == ended {
                    changed |= !std::mem::take(&mut found.peers).is_empty();
                }
            }
        }
        if changed {
            self.tell_peers();
        }
    }

    /// Tells the memory which devices reach which.
    pub fn tell_peers(&mut self) {
        if devices::count() == 1 {
            return;
        }
        let mut all = vec![Granted::default(); devices::count() as usize];
        for context in self.owners.contexts.find(|context| !context.peers.is_empty()) {
            let from = ordinal(self.device_of(context));
            let Ok(found) = self.owners.contexts.get(context) else { continue };
            for peer in &found.peers {
                if let Some(granted) = all.get_mut(self.device_of(*peer) as usize) {
                    granted.set(from, MappingAccess::ReadWrite);
                }
            }
        }
        for (home, granted) in (0..).zip(all) {
            self.memory.set_owner_access(MemoryOwner::Device(home), OwnerAccess { home, granted });
        }
    }

    /// Memory is of a context's device.
    pub fn own(&mut self, address: u64, context: CUcontext) {
        if devices::count() > 1 {
            let owner = MemoryOwner::Device(ordinal(self.device_of(context)));
            self.memory.set_owner(address, owner);
        }
    }

    /// Memory is of a pool.
    pub fn own_in_pool(&mut self, address: u64, pool: CUmemoryPool) {
        if devices::count() > 1 {
            self.memory.set_owner(address, MemoryOwner::Pool(pool as u64));
        }
    }

    /// A module's variables are of a device.
    pub fn own_module(&mut self, module: CUmodule, device: CUdevice) {
        if devices::count() == 1 {
            return;
        }
        let Ok(module) = self.code.modules.get(module) else { return };
        let all = module.program.variables().map(|(_, (address, _))| address);
        // What the host reaches is no device's.
        for address in all.filter(|address| !self.memory.covers_host_visible(*address)).collect::<Vec<_>>() {
            self.memory.set_owner(address, MemoryOwner::Device(ordinal(device)));
        }
    }

    /// What a device may do with a pool's memory.
    ///
    /// # Errors
    /// `InvalidHandle`
    pub fn pool_access(&self, pool: CUmemoryPool, device: CUdevice) -> CallResult<MappingAccess> {
        let found = self.held.pools.all.get(pool)?;
        if found.managed || found.device == device {
            return Ok(MappingAccess::ReadWrite);
        }
        let access = self.memory.owner_access(MemoryOwner::Pool(pool as u64)).unwrap_or_default();
        Ok(access.granted.of(ordinal(device)))
    }

    /// Says what a device may do with a pool's memory, what it holds already included.
    ///
    /// # Errors
    /// `InvalidHandle`; `InvalidValue` where the pool's own device would be kept out.
    pub fn set_pool_access(
        &mut self,
        pool: CUmemoryPool,
        device: CUdevice,
        access: MappingAccess,
    ) -> CallResult {
        let found = self.held.pools.all.get(pool)?;
        if found.device == device || found.managed {
            return if access == MappingAccess::None { Err(Status::InvalidValue) } else { Ok(()) };
        }
        let (owner, home) = (MemoryOwner::Pool(pool as u64), ordinal(found.device));
        let mut granted = self.memory.owner_access(owner).unwrap_or_default().granted;
        granted.set(ordinal(device), access);
        self.memory.set_owner_access(owner, OwnerAccess { home, granted });
        Ok(())
    }

    /// A pool is there: its own device reaches its memory.
    pub fn tell_pool(&mut self, pool: CUmemoryPool) {
        if devices::count() > 1
            && let Ok(found) = self.held.pools.all.get(pool)
        {
            let access = OwnerAccess { home: ordinal(found.device), ..OwnerAccess::default() };
            self.memory.set_owner_access(MemoryOwner::Pool(pool as u64), access);
        }
    }

    /// The device that runs a piece of work, where there are several.
    pub fn runs_on(&mut self, ticket: Ticket) -> Option<u32> {
        if devices::count() == 1 {
            return None;
        }
        let context = self.running.queue.item(ticket)?.context;
        Some(ordinal(self.device_of(context)))
    }
}
