//! What the program's device memory held at its end, for an oracle that compares it (`--oracle memory`).
//!
//! Allocations are numbered in the order in which the program asks, whatever their addresses. What one holds is hashed when it is
//! freed, or when the program ends; of a module's variables when it is unloaded, or at the end. All of it is told at the program's
//! end, in one go: a trial that is forked knows of what its parent has freed.
//!
//! What it misses: memory of the host (page-locked or not), what device code allocates, memory of graphs, and chunks that are mapped
//! (`cuMemCreate`). The order in which several host threads allocate is not always the same, and neither are the numbers then.

use std::collections::BTreeMap;

use bugaroo_cuda_abi::CUmodule;
use bugaroo_protocol::MemoryEnd;

/// What is known of ends.
#[derive(Debug, Default)]
pub struct EndsTold {
    allocations: u64,
    /// Numbers of the live ones, by address.
    pub(crate) live: BTreeMap<u64, u64>,
    loads: u32,
    /// Numbers of the loads of the modules that are there.
    pub(crate) modules: BTreeMap<CUmodule, u32>,
    pub(crate) ended: Vec<MemoryEnd>,
}

impl EndsTold {
    /// The program was given memory.
    pub fn allocated(&mut self, address: u64) {
        self.allocations += 1;
        self.live.insert(address, self.allocations);
    }

    /// The program has loaded a module.
    pub fn loaded(&mut self, module: CUmodule) {
        self.loads += 1;
        self.modules.insert(module, self.loads);
    }
}
