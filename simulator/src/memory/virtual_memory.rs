//! Reserving addresses, making chunks, and mapping the ones to the others: [`super::mapping`] over the
//! device's heap.

use super::{AllocationKind, GRANULARITY, MappingAccess, Memory, MemoryError};

impl Memory {
    /// Reserves `bytes` addresses (a multiple of [`GRANULARITY`]) at a multiple of `align`, at `wish` where
    /// that is free.
    ///
    /// # Errors
    /// [`MemoryError::Reserve`] when there are no such addresses left.
    pub fn reserve_addresses(&mut self, bytes: u64, align: u64, wish: u64) -> Result<u64, MemoryError> {
        self.mappings.reserve(bytes, align, wish).ok_or(MemoryError::Reserve(bytes))
    }

    /// Gives reserved addresses back: a whole reservation, in which nothing is mapped.
    ///
    /// # Errors
    /// [`MemoryError::NotAllocated`] when it is not.
    pub fn release_addresses(&mut self, address: u64, bytes: u64) -> Result<(), MemoryError> {
        self.mappings.unreserve(address, bytes)
    }

    /// Makes a chunk of `bytes` bytes (a multiple of [`GRANULARITY`]), filled with zero, with one handle;
    /// answers its number.
    ///
    /// # Errors
    /// [`MemoryError::OutOfMemory`]
    pub fn make_chunk(&mut self, bytes: u64) -> Result<u64, MemoryError> {
        let chunk = self.alloc(bytes, GRANULARITY, AllocationKind::Chunk)?;
        self.mappings.add_chunk(chunk, bytes);
        Ok(chunk)
    }

    /// One more handle of a chunk.
    ///
    /// # Errors
    /// [`MemoryError::NotAllocated`] when there is no such chunk.
    pub fn retain_chunk(&mut self, chunk: u64) -> Result<(), MemoryError> {
        if self.mappings.retain(chunk) { Ok(()) } else { Err(MemoryError::NotAllocated(chunk)) }
    }

    /// One handle of a chunk less; without handle and mapping it is freed.
    ///
    /// # Errors
    /// [`MemoryError::NotAllocated`] when it has no handle.
    pub fn release_chunk(&mut self, chunk: u64) -> Result<(), MemoryError> {
        match self.mappings.release(chunk) {
            None => Err(MemoryError::NotAllocated(chunk)),
            Some(true) => self.free(chunk),
            Some(false) => Ok(()),
        }
    }

    /// Maps a part of a chunk to reserved addresses, without access.
    ///
    /// # Errors
    /// [`MemoryError::OutOfBounds`] when the addresses are not reserved or taken, or the part is not in the
    /// chunk; [`MemoryError::NotAllocated`] when there is no such chunk.
    pub fn map(&mut self, address: u64, bytes: u64, chunk: u64, offset: u64) -> Result<(), MemoryError> {
        self.mappings.map(address, bytes, chunk, offset)
    }

    /// Unmaps a range of whole mappings.
    ///
    /// # Errors
    /// [`MemoryError::OutOfBounds`] when it is not.
    pub fn unmap(&mut self, address: u64, bytes: u64) -> Result<(), MemoryError> {
        self.changes += 1;
        for chunk in self.mappings.unmap(address, bytes)? {
            self.free(chunk)?;
        }
        Ok(())
    }

    /// Says what code of a device may do with a range of whole mappings.
    ///
    /// # Errors
    /// [`MemoryError::OutOfBounds`] when it is not.
    pub fn set_access(
        &mut self,
        range: (u64, u64),
        device: u32,
        access: MappingAccess,
    ) -> Result<(), MemoryError> {
        self.changes += 1;
        self.mappings.set_access(range, device, access)
    }

    /// What code of a device may do at a mapped address, and the chunk that is mapped there.
    pub fn mapping(&self, address: u64, device: u32) -> Option<(MappingAccess, u64)> {
        self.mappings.find(address).map(|mapping| (mapping.access.of(device), mapping.chunk))
    }
}
