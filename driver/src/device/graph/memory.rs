//! Memory that belongs to graphs. Its address is known when the node is made; what changes with launches is whether it is
//! allocated.

use std::collections::BTreeMap;
use std::rc::Rc;

use bugaroo_cuda_abi::{CUcontext, CUdeviceptr};

use crate::device::graph::Body;
use crate::device::graph::exec::{Doing, Step};
use crate::device::state::Driver;
use crate::device::work::{Act, Work};
use crate::error::{Outcome, Status};

/// Memory of a graph. Who may use its address holds a reference.
#[derive(Debug)]
pub struct GraphMemory {
    /// Where.
    pub address: CUdeviceptr,
    /// How much.
    pub bytes: u64,
}

/// What is known of one.
#[derive(Debug)]
struct Owned {
    memory: Rc<GraphMemory>,
    /// It is allocated, once everything that was asked for so far is done.
    open: bool,
    /// It is allocated.
    live: bool,
}

/// All of it.
#[derive(Debug, Default)]
pub struct GraphMemories {
    owned: BTreeMap<CUdeviceptr, Owned>,
    pub(crate) used: u64,
    pub(crate) most_used: u64,
    /// What was in use at most since the device was given back the rest.
    pub(crate) reserved: u64,
    pub(crate) most_reserved: u64,
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
    pub fn get(&self, address: CUdeviceptr) -> Outcome<Rc<GraphMemory>> {
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
    pub fn close(&mut self, address: CUdeviceptr) -> Outcome {
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

/// Memory that steps allocate, and that they free.
fn changes(steps: &[Step]) -> [Vec<CUdeviceptr>; 2] {
    let mut found = [Vec::new(), Vec::new()];
    for step in steps {
        match step.doing() {
            Doing::Body(Body::Allocate(memory)) => found[0].push(memory.address),
            Doing::Body(Body::Free(memory)) => found[1].push(memory.address),
            Doing::Body(_) => {}
            Doing::All(steps) => {
                for (all, more) in found.iter_mut().zip(changes(steps)) {
                    all.extend(more);
                }
            }
            // No memory nodes are in conditional ones.
            Doing::Branch(_) => {}
        }
    }
    found
}

impl Driver {
    /// New memory for a graph.
    ///
    /// # Errors
    /// `InvalidValue` for no bytes, `OutOfMemory`.
    pub fn graph_memory(&mut self, context: CUcontext, bytes: usize) -> Outcome<Rc<GraphMemory>> {
        let address = self.allocate(context, bytes)?;
        let memory = Rc::new(GraphMemory { address, bytes: bytes as u64 });
        let owned = Owned { memory: Rc::clone(&memory), open: false, live: false };
        self.graphs.memory.owned.insert(address, owned);
        Ok(memory)
    }

    /// Looks at what launching steps allocates and frees.
    ///
    /// # Errors
    /// `InvalidValue` when something is allocated that is, unless it is freed first then, or freed that is not.
    pub fn open_graph_memory(&mut self, steps: &[Step], free_first: bool) -> Outcome {
        let [allocated, freed] = changes(steps);
        let owned = &mut self.graphs.memory.owned;
        let open = |address: &CUdeviceptr| owned.get(address).is_some_and(|owned| owned.open);
        if !free_first && allocated.iter().any(open) {
            return Err(Status::InvalidValue);
        }
        if freed.iter().any(|address| !open(address) && !allocated.contains(address)) {
            return Err(Status::InvalidValue);
        }
        for (addresses, open) in [(&allocated, true), (&freed, false)] {
            for address in addresses {
                if let Some(owned) = owned.get_mut(address) {
                    owned.open = open;
                }
            }
        }
        Ok(())
    }

    /// The work of a node that allocates or frees.
    pub fn graph_memory_work(memory: &Rc<GraphMemory>, live: bool) -> Work {
        Work::Act(Act::Allocated { memory: Rc::clone(memory), live })
    }

    /// Frees memory that no graph has any more.
    pub fn sweep_graph_memory(&mut self) {
        let gone = |(address, owned): (&CUdeviceptr, &Owned)| {
            let unused = Rc::strong_count(&owned.memory) == 1 && !owned.open && !owned.live;
            unused.then_some(*address)
        };
        let gone: Vec<CUdeviceptr> = self.graphs.memory.owned.iter().filter_map(gone).collect();
        for address in gone {
            self.graphs.memory.forget(address);
            // It was there, or its context would have made it forgotten.
            let _ = self.free(address);
        }
    }
}
