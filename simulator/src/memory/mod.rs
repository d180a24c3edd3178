//! Global memory of the virtual GPU: one reserved range of host addresses, a table of what is allocated in
//! it, and the checks that keep device code inside.
//!
//! A device address is an offset into the reserved range plus [`crate::address::GLOBAL_BASE`], so it is the
//! same in every run. Pages are committed by the host as they are touched. Between two allocations lies a
//! gap that belongs to nobody; a range that was freed is not handed out again before the arena's end has
//! been reached once, so a stale pointer faults. What it misses: an overrun that jumps over the gap into
//! another live allocation.

mod arena;
mod heap;
mod shared;
mod table;
#[cfg(test)]
mod tests;

use arena::Arena;
pub(crate) use shared::Shared;
use table::Table;

use crate::address::GLOBAL_BASE;
use crate::console::Console;
use crate::fault::Near;

/// Allocations from this size on ask for huge pages: smaller ones would commit more than they use.
const HUGE: u64 = 4 << 20;

/// Whose an allocation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AllocationKind {
    /// The program under test asked for it.
    Program,
    /// Variables of a loaded module.
    Module,
    /// Device code asked for it (`malloc`).
    Heap,
    /// The tester's own (store buffers and the like): no part of a digest, and accesses to it are no
    /// scheduling points.
    Tool,
}

/// Why a request on memory failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MemoryError {
    /// The device has no such room left.
    #[error("out of device memory: {bytes} bytes asked for, {available} available")]
    OutOfMemory {
        /// Bytes asked for.
        bytes: u64,
        /// Bytes that could still be had, in all.
        available: u64,
    },
    /// Not the base of a live allocation.
    #[error("{0:#x} is not the base of an allocation")]
    NotAllocated(u64),
    /// The range is not inside one live allocation.
    #[error("{bytes} bytes at {address:#x} are not inside one allocation")]
    OutOfBounds {
        /// First address.
        address: u64,
        /// Bytes.
        bytes: u64,
    },
    /// The host would not reserve the address range.
    #[error("the host cannot reserve {0} bytes of address space")]
    Reserve(u64),
}

/// A live allocation as device code's accesses see it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Region {
    /// First device address.
    pub base: u64,
    /// Bytes.
    pub len: u64,
    /// Add to a device address to get the host's.
    pub bias: u64,
    /// Belongs to the tester.
    pub tool: bool,
}

impl Region {
    /// The region that holds nothing.
    pub const NONE: Region = Region { base: 0, len: 0, bias: 0, tool: false };
}

/// Global memory.
#[derive(Debug)]
pub struct Memory {
    arena: Arena,
    table: Table,
    capacity: u64,
    used: u64,
    /// How often what is allocated has changed.
    changes: u64,
    heap_limit: u64,
    heap_used: u64,
    console: Console,
}

impl Memory {
    /// Memory of `capacity` bytes. Reserves address space (twice as much, for the gaps and for ranges in
    /// quarantine), commits nothing.
    ///
    /// # Errors
    /// [`MemoryError::Reserve`] when the host refuses the range.
    pub fn new(capacity: u64) -> Result<Memory, MemoryError> {
        let span = capacity.saturating_mul(2).max(1 << 24);
        let arena = Arena::reserve(span).ok_or(MemoryError::Reserve(span))?;
        let table = Table::new(arena.len());
        Ok(Memory {
            arena,
            table,
            capacity,
            used: 0,
            changes: 0,
            heap_limit: heap::DEFAULT_LIMIT,
            heap_used: 0,
            console: Console::default(),
        })
    }

    /// Allocates `bytes` (at least 1) at a multiple of `align` (a power of two; 256 at least), filled with
    /// zero, and answers the device address.
    ///
    /// # Errors
    /// [`MemoryError::OutOfMemory`]
    pub fn alloc(&mut self, bytes: u64, align: u64, kind: AllocationKind) -> Result<u64, MemoryError> {
        let bytes = bytes.max(1);
        let full = MemoryError::OutOfMemory { bytes, available: self.available() };
        if bytes > self.available() {
            return Err(full);
        }
        let offset = self.table.insert(bytes, align.max(256).next_power_of_two(), kind).ok_or(full)?;
        self.used += bytes;
        self.changes += 1;
        // The tool's arrays are large and touched here and there.
        if bytes >= HUGE && kind != AllocationKind::Tool {
            self.arena.prefer_huge_pages(offset, bytes);
        }
        Ok(GLOBAL_BASE + offset)
    }

    /// Frees the allocation that starts at `address`.
    ///
    /// # Errors
    /// [`MemoryError::NotAllocated`] when none does.
    pub fn free(&mut self, address: u64) -> Result<(), MemoryError> {
        let missing = MemoryError::NotAllocated(address);
        let offset = address.checked_sub(GLOBAL_BASE).ok_or(missing)?;
        let bytes = self.table.remove(offset).ok_or(missing)?;
        self.used -= bytes;
        self.changes += 1;
        self.arena.clear(offset, bytes);
        Ok(())
    }

    /// What device code prints: on hardware, too, it lies in a piece of device memory until the host takes it.
    pub fn console(&mut self) -> &mut Console {
        &mut self.console
    }

    /// Base address and size of the live allocation that holds `address`.
    pub fn allocation(&self, address: u64) -> Option<(u64, u64)> {
        let found = self.table.find(address.checked_sub(GLOBAL_BASE)?)?;
        Some((GLOBAL_BASE + found.offset, found.bytes))
    }

    /// Bytes that can still be allocated.
    pub fn available(&self) -> u64 {
        self.capacity - self.used
    }

    /// Bytes that there are in all.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Live allocations: address, size and owner, by ascending address.
    pub fn allocations(&self) -> impl Iterator<Item = (u64, u64, AllocationKind)> + '_ {
        self.table.live().iter().map(|a| (GLOBAL_BASE + a.offset, a.bytes, a.kind))
    }

    /// Copies device memory into `into`.
    ///
    /// # Errors
    /// [`MemoryError::OutOfBounds`] when the range is not inside one live allocation.
    pub fn read(&self, address: u64, into: &mut [u8]) -> Result<(), MemoryError> {
        let offset = self.range(address, into.len() as u64)?;
        self.arena.read(offset, into);
        Ok(())
    }

    /// Copies `from` into device memory.
    ///
    /// # Errors
    /// [`MemoryError::OutOfBounds`] when the range is not inside one live allocation.
    pub fn write(&mut self, address: u64, from: &[u8]) -> Result<(), MemoryError> {
        let offset = self.range(address, from.len() as u64)?;
        self.arena.write(offset, from);
        Ok(())
    }

    /// Repeats `pattern` over `bytes` bytes from `address` on; a last partial repetition is cut.
    ///
    /// # Errors
    /// [`MemoryError::OutOfBounds`] when the range is not inside one live allocation.
    pub fn fill(&mut self, address: u64, bytes: u64, pattern: &[u8]) -> Result<(), MemoryError> {
        let offset = self.range(address, bytes)?;
        self.arena.fill(offset, bytes, pattern);
        Ok(())
    }

    /// A hash of what the program and its modules hold, in order of address: contents, sizes and order of
    /// the allocations, not where the host put them. Two runs of one seed have the same.
    pub fn digest(&self) -> u64 {
        let mut hash = 0xcbf2_9ce4_8422_2325;
        let mut step = |word: u64| hash = (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
        for a in self.table.live().iter().filter(|a| a.kind != AllocationKind::Tool) {
            step(a.bytes);
            self.arena.words(a.offset, a.bytes, &mut step);
        }
        hash
    }

    /// The region that holds `address`, if it is allocated.
    pub(crate) fn region(&self, address: u64) -> Option<Region> {
        let found = self.table.find(address.checked_sub(GLOBAL_BASE)?)?;
        Some(Region {
            base: GLOBAL_BASE + found.offset,
            len: found.bytes,
            bias: (self.arena.base() as u64).wrapping_sub(GLOBAL_BASE),
            tool: found.kind == AllocationKind::Tool,
        })
    }

    /// Was `address` part of an allocation that has been freed and not been handed out again?
    pub(crate) fn was_freed(&self, address: u64) -> bool {
        address.checked_sub(GLOBAL_BASE).is_some_and(|offset| self.table.was_freed(offset))
    }

    /// The allocation that `address` misses by least, if by less than a megabyte.
    pub(crate) fn nearest(&self, address: u64) -> Option<Near> {
        let near = self.table.nearest(address.checked_sub(GLOBAL_BASE)?)?;
        Some(Near { base: near.base + GLOBAL_BASE, ..near })
    }

    fn range(&self, address: u64, bytes: u64) -> Result<u64, MemoryError> {
        let outside = MemoryError::OutOfBounds { address, bytes };
        let offset = address.checked_sub(GLOBAL_BASE).ok_or(outside)?;
        if bytes == 0 {
            return Ok(offset.min(self.arena.len()));
        }
        let found = self.table.find(offset).ok_or(outside)?;
        let last = offset.checked_add(bytes).ok_or(outside)?;
        if last <= found.offset + found.bytes { Ok(offset) } else { Err(outside) }
    }
}
