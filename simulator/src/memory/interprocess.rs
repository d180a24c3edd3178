//! Device memory that several processes of one program share (CUDA Driver API, `cuIpcGetMemHandle`).
//!
//! What is exported goes to a file without a name, at the place that it has in the device's range, and the same pages of the file then
//! stand where the pages of the range were. Another process maps these pages of the file into its own range. So code of both reaches the
//! same bytes by plain accesses.
//!
//! Pages hold more than one small allocation: a neighbour of an exported one lies in the file, too, but nobody else has an allocation
//! there. **What it can miss:** an overrun of imported memory that stays in its first or last page. Memory that its owner frees
//! while others have it imported reads as zero there; hardware makes no promise.

use std::os::fd::{BorrowedFd, OwnedFd};

use super::exports::{Exported, PAGE, PageError};
use super::{AllocationKind, Memory, MemoryError};

impl Memory {
    /// Exports the allocation of device memory that starts at `address`.
    ///
    /// # Errors
    /// [`MemoryError::NotAllocated`] when none does; [`MemoryError::Sharing`] when the host refuses.
    pub fn export(&mut self, address: u64) -> Result<Exported, MemoryError> {
        let held = self.device.find(address).filter(|held| held.base == address);
        let held = held.ok_or(MemoryError::NotAllocated(address))?;
        let offset = self.device.export(address, held.bytes).map_err(|PageError| MemoryError::Sharing)?;
        Ok(Exported { offset, bytes: held.bytes })
    }

    /// The file that exported memory is in, if any was.
    pub fn export_file(&self) -> Option<&OwnedFd> {
        self.device.export_file()
    }

    /// Imports what another process has exported to this file; its first address here. It does not count against the capacity, and is no
    /// part of a digest.
    ///
    /// # Errors
    /// [`MemoryError::OutOfMemory`] where the range has no room; [`MemoryError::Sharing`] when the host refuses.
    pub fn import(&mut self, file: BorrowedFd<'_>, exported: Exported) -> Result<u64, MemoryError> {
        let bytes =
            exported.within().checked_add(exported.bytes).and_then(|end| end.checked_next_multiple_of(PAGE));
        let bytes = bytes.ok_or(MemoryError::Sharing)?;
        let full = MemoryError::OutOfMemory { bytes, available: self.available() };
        self.changes += 1;
        let first = self.device.alloc(bytes, PAGE, AllocationKind::Imported).ok_or(full)?;
        if self.device.put(first, bytes, file, exported.first_page()).is_err() {
            self.device.free(first);
            return Err(MemoryError::Sharing);
        }
        Ok(first + exported.within())
    }

    /// Gives imported memory back, by the address that [`Self::import`] gave.
    ///
    /// # Errors
    /// [`MemoryError::NotAllocated`] when none is imported there.
    pub fn end_import(&mut self, address: u64) -> Result<(), MemoryError> {
        let missing = MemoryError::NotAllocated(address);
        let held =
            self.device.find(address).filter(|held| held.kind == AllocationKind::Imported).ok_or(missing)?;
        self.changes += 1;
        self.device.take_back(held.base, held.bytes);
        self.device.free(held.base);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
