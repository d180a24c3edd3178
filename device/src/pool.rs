//! Memory comes from pools and goes back to them.

use bugaroo_cuda_abi::{CUcontext, CUdeviceptr, CUmemoryPool};
use bugaroo_simulator::AllocationKind;

use crate::error::{CallResult, Status};
use crate::objects::stream::Stream;
use crate::state::Gpu;

impl Gpu {
    /// Allocates memory from a pool in the order of a stream: it is there at once, and nobody may use it who does not come behind the
    /// stream's work so far.
    ///
    /// # Errors
    /// As [`Self::allocate_from`].
    pub fn allocate_in(
        &mut self,
        stream: &Stream,
        pool: CUmemoryPool,
        bytes: usize,
    ) -> CallResult<CUdeviceptr> {
        let address = self.allocate_from(pool, stream.context, bytes)?;
        self.running.queue.place_in(stream);
        self.running.queue.tell(|order| {
            order.accessed(address, bytes as u64, true);
            order.end_at_call();
        });
        Ok(address)
    }

    /// Allocates memory from a pool, in the context of a stream.
    ///
    /// # Errors
    /// `InvalidHandle` for no pool, `InvalidValue` for no bytes, `OutOfMemory`.
    pub fn allocate_from(
        &mut self,
        pool: CUmemoryPool,
        context: CUcontext,
        bytes: usize,
    ) -> CallResult<CUdeviceptr> {
        let found = *self.held.pools.all.get(pool)?;
        let used = found.used.saturating_add(bytes as u64);
        if found.limit > 0 && used > found.limit {
            return Err(Status::OutOfMemory);
        }
        let kind = if found.managed { AllocationKind::Managed } else { AllocationKind::Program };
        let address = self.allocate_kind(context, bytes, kind)?;
        if let Some(allocation) = self.held.allocations.get_mut(&address) {
            allocation.pool = Some(pool);
        }
        self.own_in_pool(address, pool);
        let pool = self.held.pools.all.get_mut(pool)?;
        pool.used = used;
        pool.most_used = pool.most_used.max(used);
        pool.most_reserved = pool.most_reserved.max(used);
        Ok(address)
    }
}
