//! Device memory of the program: allocated, checked and freed.

use bugaroo_cuda_abi::{CUcontext, CUdeviceptr};
use bugaroo_simulator::AllocationKind;

use crate::error::{CallResult, Status};
use crate::objects::memory::Allocation;
use crate::objects::stream::Stream;
use crate::objects::work::NodeBody;
use crate::state::Gpu;

/// Alignment of allocations, as hardware has it at least.
const ALIGNMENT: u64 = 256;
/// From so many bytes on hardware gives pages of their own to an allocation, and there are programs that count on it.
const LARGE: u64 = 1 << 20;
/// Alignment of such.
const PAGE: u64 = 1 << 16;

impl Gpu {
    /// Allocates device memory for the program.
    ///
    /// # Errors
    /// `InvalidValue` for no bytes at all, `OutOfMemory`.
    pub fn allocate(&mut self, context: CUcontext, bytes: usize) -> CallResult<CUdeviceptr> {
        let address = self.allocate_kind(context, bytes, AllocationKind::Program)?;
        self.own(address, context);
        Ok(address)
    }

    /// Allocates memory of some kind for the program.
    ///
    /// # Errors
    /// As [`Self::allocate`].
    pub fn allocate_kind(
        &mut self,
        context: CUcontext,
        bytes: usize,
        kind: AllocationKind,
    ) -> CallResult<CUdeviceptr> {
        if bytes == 0 {
            return Err(Status::InvalidValue);
        }
        let size = bytes as u64;
        let alignment = if size >= LARGE { PAGE } else { ALIGNMENT };
        let found = self.memory.alloc(size, alignment, kind);
        let address = found.map_err(|_| Status::OutOfMemory)?;
        let allocation = Allocation { context, size, kind, pool: None, synchronous: false };
        self.held.allocations.insert(address, allocation);
        self.held.origins.allocated(address, size);
        self.trial.ends.allocated(address);
        self.running.queue.tell(|order| order.allocated(address, size, kind.host_visible()));
        Ok(address)
    }

    /// Memory of the graph that a stream is captured for.
    ///
    /// # Errors
    /// As [`Self::allocate`], and as the capture has it.
    pub fn capture_allocation(&mut self, stream: &Stream, bytes: usize) -> CallResult<CUdeviceptr> {
        let memory = self.graph_memory(stream.context, bytes)?;
        let address = memory.address;
        self.capture_body(stream, NodeBody::Allocate(memory))?;
        Ok(address)
    }

    /// Frees what [`Self::allocate`] gave.
    ///
    /// # Errors
    /// `InvalidValue` when it is not the first address of such memory.
    pub fn free(&mut self, address: CUdeviceptr) -> CallResult {
        if self.ordered.graphs.memory.has(address) {
            // It stays where it is for the graph's next launch.
            self.ordered.graphs.memory.close(address)?;
            self.ordered.graphs.memory.set_live(address, false);
            self.sweep_graph_memory();
            return Ok(());
        }
        let imported = |held: &Allocation| held.kind == AllocationKind::Imported;
        if self.held.allocations.get(&address).is_some_and(imported) {
            // It is another process's.
            return Err(Status::InvalidValue);
        }
        let gone = self.held.allocations.remove(&address).ok_or(Status::InvalidValue)?;
        self.note_end(address);
        self.held.pools.freed(&gone);
        self.held.advice.forget(address, gone.size);
        self.held.origins.freed(address);
        self.running.queue.tell(|order| order.freed(address, gone.size));
        self.memory.free(address).map_err(|_| Status::InvalidValue)
    }

    /// The allocation of the program that an address lies in, with its first address.
    pub fn program_allocation(&self, address: CUdeviceptr) -> Option<(CUdeviceptr, &Allocation)> {
        let (first, found) = self.held.allocations.range(..=address).next_back()?;
        (address - first < found.size).then_some((*first, found))
    }
}
