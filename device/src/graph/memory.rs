//! Memory of graphs is allocated, opened and swept away.

use std::rc::Rc;

use bugaroo_cuda_abi::{CUcontext, CUdeviceptr};
use bugaroo_simulator::AllocationKind;

use crate::error::{CallResult, Status};
use crate::objects::graph::memory::Owned;
use crate::objects::work::{Act, Doing, GraphMemory, GraphStep, NodeBody, Work};
use crate::state::Gpu;

/// Memory that steps allocate, and that they free.
fn changes(steps: &[GraphStep]) -> [Vec<CUdeviceptr>; 2] {
    let mut found = [Vec::new(), Vec::new()];
    for step in steps {
        match step.doing() {
            Doing::Body(NodeBody::Allocate(memory)) => found[0].push(memory.address),
            Doing::Body(NodeBody::Free(memory)) => found[1].push(memory.address),
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

impl Gpu {
    /// New memory for a graph.
    ///
    /// # Errors
    /// `InvalidValue` for no bytes, `OutOfMemory`.
    pub fn graph_memory(&mut self, context: CUcontext, bytes: usize) -> CallResult<Rc<GraphMemory>> {
        // Of no device: which ones reach it, nodes say, or the pool that was asked when it was captured.
        let address = self.allocate_kind(context, bytes, AllocationKind::Program)?;
        let memory = Rc::new(GraphMemory { address, bytes: bytes as u64 });
        let owned = Owned { memory: Rc::clone(&memory), open: false, live: false };
        self.ordered.graphs.memory.owned.insert(address, owned);
        Ok(memory)
    }

    /// Looks at what launching steps allocates and frees.
    ///
    /// # Errors
    /// `InvalidValue` when something is allocated that is, unless it is freed first then, or freed that is not.
    pub fn open_graph_memory(&mut self, steps: &[GraphStep], free_first: bool) -> CallResult {
        let [allocated, freed] = changes(steps);
        let owned = &mut self.ordered.graphs.memory.owned;
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
        let gone: Vec<CUdeviceptr> = self.ordered.graphs.memory.owned.iter().filter_map(gone).collect();
        for address in gone {
            self.ordered.graphs.memory.forget(address);
            // It was there, or its context would have made it forgotten.
            let _ = self.free(address);
        }
    }
}
