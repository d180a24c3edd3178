//! Memory that belongs to graphs. Its address is known when the node is made; what changes with launches is whether it is
//! allocated.

use std::collections::BTreeMap;
use std::rc::Rc;

use bugaroo_cuda_abi::CUdeviceptr;

use crate::error::{CallResult, Status};
use crate::objects::work::GraphMemory;

/// What is known of one.
#[derive(Debug)]
pub(crate) struct Owned {
    pub(crate) memory: Rc<GraphMemory>,
    /// It is allocated, once everything that was asked for so far is done.
    pub(crate) open: bool,
    /// It is allocated.
    pub(crate) live: bool,
}

/// All of it.
#[derive(Debug, Default)]
pub struct GraphMemories {
    pub(crate) owned: BTreeMap<CUdeviceptr, Owned>,
    /// Bytes in use.
    pub used: u64,
    /// Bytes in use at most, since that was set back.
    pub most_used: u64,
    /// What was in use at most since the device was given back the rest.
    pub reserved: u64,
    /// Bytes reserved at most, since that was set back.
    pub most_reserved: u64,
}

impl GraphMemories {
    /// Whether memory at this address is a graph's.
    pub fn has(&self, address: CUdeviceptr) -> bool {
        self.owned.contains_key(&address)
    }

    /// A reference to memory of this address.
    ///
    /// # Errors
    /// `InvalidValue` when it is no graph's.
    pub fn get(&self, address: CUdeviceptr) -> CallResult<Rc<GraphMemory>> {
        self.owned.get(&address).map(|owned| Rc::clone(&owned.memory)).ok_or(Status::InvalidValue)
    }

    /// Its context is gone, and frees it.
    pub fn forget(&mut self, address: CUdeviceptr) {
        self.owned.remove(&address);
    }

    /// Freeing was asked for.
    ///
    /// # Errors
    /// `InvalidValue` when it is not allocated.
    pub fn close(&mut self, address: CUdeviceptr) -> CallResult {
        match self.owned.get_mut(&address) {
            Some(owned) if owned.open => {
                owned.open = false;
                Ok(())
            }
            _ => Err(Status::InvalidValue),
        }
    }

    /// It is allocated from now on, or no longer.
    pub fn set_live(&mut self, address: CUdeviceptr, live: bool) {
        let Some(owned) = self.owned.get_mut(&address) else { return };
        if owned.live == live {
            return;
        }
        owned.live = live;
        let bytes = owned.memory.bytes;
        self.used = if live { self.used + bytes } else { self.used.saturating_sub(bytes) };
        self.most_used = self.most_used.max(self.used);
        self.reserved = self.reserved.max(self.used);
        self.most_reserved = self.most_reserved.max(self.reserved);
    }
}
