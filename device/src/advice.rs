//! Which memory the program may say something about.

use bugaroo_cuda_abi::CUdeviceptr;
use bugaroo_simulator::AllocationKind;

use crate::state::Gpu;

/// Whether host and device share the memory at an address, which is the device's as much as the host's.
pub fn is_managed(gpu: &Gpu, address: CUdeviceptr) -> bool {
    match gpu.program_allocation(address) {
        Some((_, allocation)) => allocation.kind == AllocationKind::Managed,
        // A module's variable, unless it is page-locked.
        None => {
            let block = usize::try_from(address).ok().and_then(|address| gpu.host_block(address));
            block.is_none() && gpu.memory.covers_host_visible(address)
        }
    }
}
