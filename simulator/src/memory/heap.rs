//! The heap of device code's `malloc`: allocations of global memory like any other, but for their limit and
//! for who frees them. They live until device code frees them, over the ends of kernels.

use super::{AllocationKind, Memory};

/// Bytes that the heap may hold unless told otherwise (`cudaLimitMallocHeapSize`).
pub(super) const DEFAULT_LIMIT: u64 = 8 << 20;

impl Memory {
    /// Sets how many bytes device code's `malloc` may hold at once.
    pub fn set_heap_limit(&mut self, bytes: u64) {
        self.heap.limit = bytes;
    }

    /// `malloc` of device code, at a multiple of `align` (a power of two); None when the heap is full.
    pub(crate) fn heap_alloc(&mut self, bytes: u64, align: u64) -> Option<u64> {
        // What a size costs: a multiple of 16, at least 16.
        let cost = bytes.max(1).checked_next_multiple_of(16)?;
        if cost > self.heap.limit.saturating_sub(self.heap.used) {
            return None;
        }
        let address = self.alloc(bytes, align, AllocationKind::Heap).ok()?;
        self.heap.used += cost;
        Some(address)
    }

    /// `free` of device code; false when nothing that `malloc` gave lives at this address.
    pub(crate) fn heap_free(&mut self, address: u64) -> bool {
        let found = self.device.find(address);
        let Some(found) = found.filter(|held| held.kind == AllocationKind::Heap && held.base == address)
        else {
            return false;
        };
        self.heap.used -= found.bytes.next_multiple_of(16);
        self.free(address).is_ok()
    }
}
