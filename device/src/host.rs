//! Page-locked memory of the host: which block an address lies in, and what ends with one.

use crate::objects::memory::HostBlock;
use crate::state::Gpu;

/// Frees or unregisters a block, if there is one at that address.
pub fn release(gpu: &mut Gpu, address: usize) -> bool {
    let Some(block) = gpu.held.host_blocks.remove(&address) else { return false };
    gpu.held.origins.freed(address as u64);
    gpu.running.queue.tell(|order| order.freed(address as u64, block.size as u64));
    let released = if block.registered {
        gpu.memory.unregister(address as u64)
    } else {
        gpu.memory.free(address as u64)
    };
    released.is_ok()
}

impl Gpu {
    /// The block of page-locked memory that an address lies in, with its first address.
    pub fn host_block(&self, address: usize) -> Option<(usize, HostBlock)> {
        let (first, block) = self.held.host_blocks.range(..=address).next_back()?;
        (address - first < block.size).then_some((*first, *block))
    }
}
