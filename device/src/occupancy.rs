//! How many blocks an SM holds, by what a kernel takes.

use bugaroo_cuda_abi::CUfunction;
use bugaroo_simulator::DeviceConfig;

use crate::attributes::WARP_SIZE;
use crate::error::CallResult;
use crate::objects::occupancy::Limits;
use crate::state::Gpu;

impl Limits {
    /// Those of a kernel.
    ///
    /// # Errors
    /// `InvalidHandle`
    pub fn of(gpu: &Gpu, function: CUfunction) -> CallResult<Self> {
        let (_, kernel) = gpu.kernel(function)?;
        let device: &DeviceConfig = &gpu.config;
        Ok(Limits {
            static_shared: u64::from(kernel.static_shared),
            threads_per_block: kernel.max_threads.min(device.threads_per_block),
            threads_per_sm: device.threads_per_sm,
            blocks_per_sm: device.blocks_per_sm,
            shared_per_sm: u64::from(device.shared_per_sm),
            sm_count: device.sm_count,
        })
    }

    /// Blocks of this size that an SM holds at once.
    pub fn blocks(&self, block: u32, dynamic_shared: u64) -> u32 {
        if block > self.threads_per_block {
            return 0;
        }
        let threads = block.next_multiple_of(WARP_SIZE).max(1);
        let by_threads = self.threads_per_sm / threads;
        let shared = self.static_shared.saturating_add(dynamic_shared);
        let by_shared = self.shared_per_sm.checked_div(shared).unwrap_or(u64::MAX);
        let by_shared = u32::try_from(by_shared).unwrap_or(u32::MAX);
        by_threads.min(by_shared).min(self.blocks_per_sm)
    }

    /// Blocks of this size that the device holds at once.
    pub fn resident(&self, block: u32, dynamic_shared: u64) -> u32 {
        self.blocks(block, dynamic_shared).saturating_mul(self.sm_count)
    }

    /// The block size that keeps most threads resident, and the grid that fills the device. Of equally
    /// good sizes the largest.
    pub fn best(&self, most: u32, dynamic_shared: impl Fn(u32) -> u64) -> (u32, u32) {
        let (mut best, mut best_threads, mut best_blocks) = (0, 0, 0);
        let most = if most == 0 { self.threads_per_block } else { most.min(self.threads_per_block) };
        let sizes = (WARP_SIZE..=most).step_by(WARP_SIZE as usize);
        // Sizes that are no whole warps are worth a try only at the limit itself.
        for block in sizes.chain((most % WARP_SIZE != 0).then_some(most)) {
            let blocks = self.blocks(block, dynamic_shared(block));
            if blocks > 0 && blocks * block >= best_threads {
                (best, best_threads, best_blocks) = (block, blocks * block, blocks);
            }
        }
        (best, best_blocks * self.sm_count)
    }
}
