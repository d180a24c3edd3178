//! Virtual memory management: address ranges reserved apart from the memory behind them (CUDA Driver API,
//! "Virtual Memory Management").
//!
//! A chunk is memory of the device without an address of its own; mapped into a reserved range, at one
//! place or several, it can be reached there as far as access was granted. Reserved addresses lie in a
//! window of their own and are the same in every run; one that is given back is handed out again only when
//! the window's end has been reached.

use std::collections::BTreeMap;

use super::MemoryError;
use super::granted::{Granted, MappingAccess};
use crate::address::{VIRTUAL_BASE, VIRTUAL_END};

/// What chunks, ranges and mappings are multiples of.
pub const GRANULARITY: u64 = 2 << 20;

/// A part of a chunk that stands in a reserved range.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mapping {
    pub start: u64,
    pub bytes: u64,
    /// The chunk, by its place in the device's heap.
    pub chunk: u64,
    /// Where in the chunk it begins.
    pub offset: u64,
    pub access: Granted,
}

/// How often a chunk is in use.
#[derive(Clone, Copy, Debug)]
struct Chunk {
    bytes: u64,
    handles: u32,
    mappings: u32,
}

/// Chunks, ranges and mappings.
#[derive(Debug)]
pub(super) struct Mappings {
    /// By their place in the device's heap.
    chunks: BTreeMap<u64, Chunk>,
    /// First address to size.
    reserved: BTreeMap<u64, u64>,
    /// By first address.
    mapped: BTreeMap<u64, Mapping>,
    /// Everything from here on has never been reserved.
    fresh: u64,
}

impl Mappings {
    pub fn new() -> Mappings {
        let (chunks, reserved, mapped) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Mappings { chunks, reserved, mapped, fresh: VIRTUAL_BASE }
    }

    /// Nothing overlaps the range, and it lies in the window.
    fn is_free(&self, start: u64, bytes: u64) -> bool {
        let Some(end) = start.checked_add(bytes) else { return false };
        let before = self.reserved.range(..end).next_back();
        start >= VIRTUAL_BASE && end <= VIRTUAL_END && before.is_none_or(|(other, len)| other + len <= start)
    }

    /// Reserves a range: at `wish` if that is free, else where there is room.
    pub fn reserve(&mut self, bytes: u64, align: u64, wish: u64) -> Option<u64> {
        let align = align.max(GRANULARITY);
        let wished = (wish.is_multiple_of(align) && self.is_free(wish, bytes)).then_some(wish);
        let start = wished.or_else(|| {
            let ends = self.reserved.iter().map(|(start, len)| start + len);
            let mut candidates = std::iter::once(self.fresh).chain([VIRTUAL_BASE]).chain(ends);
            candidates.find_map(|from| {
                let start = from.checked_next_multiple_of(align)?;
                self.is_free(start, bytes).then_some(start)
            })
        })?;
        self.reserved.insert(start, bytes);
        self.fresh = self.fresh.max(start + bytes);
        Some(start)
    }

    /// Gives a range back, in which nothing is mapped any more.
    pub fn unreserve(&mut self, start: u64, bytes: u64) -> Result<(), MemoryError> {
        let wrong = MemoryError::NotAllocated(start);
        if self.reserved.get(&start) != Some(&bytes) || self.inside(start, bytes).next().is_some() {
            return Err(wrong);
        }
        self.reserved.remove(&start);
        Ok(())
    }

    /// Mappings that start in a range.
    fn inside(&self, start: u64, bytes: u64) -> impl Iterator<Item = &Mapping> {
        self.mapped.range(start..start.saturating_add(bytes)).map(|(_, mapping)| mapping)
    }

    /// Takes a new chunk in, with one handle.
    pub fn add_chunk(&mut self, chunk: u64, bytes: u64) {
        self.chunks.insert(chunk, Chunk { bytes, handles: 1, mappings: 0 });
    }

    /// Another handle of a chunk.
    pub fn retain(&mut self, chunk: u64) -> bool {
        let found = self.chunks.get_mut(&chunk);
        found.map(|chunk| chunk.handles += 1).is_some()
    }

    /// One handle less. Whether the chunk is in use no more; None when it has no handle.
    pub fn release(&mut self, chunk: u64) -> Option<bool> {
        let found = self.chunks.get_mut(&chunk)?;
        found.handles = found.handles.checked_sub(1)?;
        Some(self.drop_unused(chunk))
    }

    fn drop_unused(&mut self, chunk: u64) -> bool {
        let unused = self.chunks.get(&chunk).is_some_and(|chunk| chunk.handles == 0 && chunk.mappings == 0);
        if unused {
            self.chunks.remove(&chunk);
        }
        unused
    }

    /// Maps `bytes` bytes of a chunk from `offset` on.
    pub fn map(&mut self, start: u64, bytes: u64, chunk: u64, offset: u64) -> Result<(), MemoryError> {
        let outside = MemoryError::OutOfBounds { address: start, bytes };
        let reserved = self.reserved.range(..=start).next_back().ok_or(outside)?;
        let end = start.checked_add(bytes).ok_or(outside)?;
        let before = self.mapped.range(..end).next_back();
        let taken = before.is_some_and(|(_, other)| other.start + other.bytes > start);
        if bytes == 0 || end > reserved.0 + reserved.1 || taken {
            return Err(outside);
        }
        let found = self.chunks.get_mut(&chunk).ok_or(MemoryError::NotAllocated(chunk))?;
        if offset.checked_add(bytes).is_none_or(|end| end > found.bytes) {
            return Err(outside);
        }
        found.mappings += 1;
        self.mapped.insert(start, Mapping { start, bytes, chunk, offset, access: Granted::default() });
        Ok(())
    }

    /// Whether whole mappings, one behind the other, make the range up.
    fn is_whole(&self, start: u64, bytes: u64) -> bool {
        let mut next = start;
        for mapping in self.inside(start, bytes) {
            if mapping.start != next {
                return false;
            }
            next += mapping.bytes;
        }
        bytes > 0 && next - start == bytes
    }

    /// Unmaps what is mapped in a range, which must be whole mappings. The chunks that are in use no more.
    pub fn unmap(&mut self, start: u64, bytes: u64) -> Result<Vec<u64>, MemoryError> {
        if !self.is_whole(start, bytes) {
            return Err(MemoryError::OutOfBounds { address: start, bytes });
        }
        let gone: Vec<Mapping> = self.inside(start, bytes).copied().collect();
        let mut unused = Vec::new();
        for mapping in gone {
            self.mapped.remove(&mapping.start);
            if let Some(chunk) = self.chunks.get_mut(&mapping.chunk) {
                chunk.mappings -= 1;
            }
            if self.drop_unused(mapping.chunk) {
                unused.push(mapping.chunk);
            }
        }
        Ok(unused)
    }

    /// Grants a device access to a range, which must be whole mappings.
    pub fn set_access(
        &mut self,
        (start, bytes): (u64, u64),
        device: u32,
        access: MappingAccess,
    ) -> Result<(), MemoryError> {
        if !self.is_whole(start, bytes) {
            return Err(MemoryError::OutOfBounds { address: start, bytes });
        }
        for (_, mapping) in self.mapped.range_mut(start..start + bytes) {
            mapping.access.set(device, access);
        }
        Ok(())
    }

    /// The mapping that holds `address`.
    pub fn find(&self, address: u64) -> Option<Mapping> {
        let (_, found) = self.mapped.range(..=address).next_back()?;
        (address - found.start < found.bytes).then_some(*found)
    }
}
