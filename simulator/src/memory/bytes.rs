//! Reading, writing, filling and copying memory from the host's side, each after a check of the whole range.
//!
//! A range may reach over several mappings that stand one behind the other; every other one lies inside one
//! allocation. Bytes move by raw pointers: the program may hold its own to the memory that it shares with the
//! device.

use std::ptr;

use super::{Memory, MemoryError};

/// Ranges of zeroes from this size on are given back to the host rather than written.
const LARGE: u64 = 64 << 20;

/// One end of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Endpoint {
    /// The host's own memory.
    Host(*mut u8),
    /// An address of the device's.
    Device(u64),
}

impl Memory {
    /// Refuses a range that device code could not read, or write to, from end to end.
    ///
    /// # Errors
    /// [`MemoryError::OutOfBounds`]
    pub fn check(&self, address: u64, bytes: u64, write: bool) -> Result<(), MemoryError> {
        let outside = MemoryError::OutOfBounds { address, bytes };
        let end = address.checked_add(bytes).ok_or(outside)?;
        let mut next = address;
        while next < end {
            let region = self.region(next, write).ok_or(outside)?;
            let until = region.base + region.len;
            // Allocations do not touch each other, but registered ranges may, by accident.
            if next != address && !self.continues(next) {
                return Err(outside);
            }
            next = until;
        }
        Ok(())
    }

    /// Whether a range may go on into what starts at this address.
    fn continues(&self, address: u64) -> bool {
        self.mappings.find(address).is_some()
    }

    /// Where the host finds `address`, and how many bytes from there on.
    fn piece(&self, address: u64) -> (*mut u8, u64) {
        let region = self.region_for(address, None).expect("the range was checked");
        (address.wrapping_add(region.bias) as *mut u8, region.base + region.len - address)
    }

    /// Copies device memory into `into`.
    ///
    /// # Errors
    /// [`MemoryError::OutOfBounds`] when the range is not inside one live allocation.
    pub fn read(&self, address: u64, into: &mut [u8]) -> Result<(), MemoryError> {
        self.check(address, into.len() as u64, false)?;
        let to = Endpoint::Host(into.as_mut_ptr());
        // SAFETY: the slice has as many bytes.
        unsafe { self.move_bytes(to, Endpoint::Device(address), into.len() as u64) };
        Ok(())
    }

    /// Copies `from` into device memory.
    ///
    /// # Errors
    /// [`MemoryError::OutOfBounds`] when the range is not inside one live allocation.
    pub fn write(&mut self, address: u64, from: &[u8]) -> Result<(), MemoryError> {
        self.check(address, from.len() as u64, true)?;
        let source = Endpoint::Host(from.as_ptr().cast_mut());
        // SAFETY: the slice has as many bytes, which are only read.
        unsafe { self.move_bytes(Endpoint::Device(address), source, from.len() as u64) };
        Ok(())
    }

    /// Copies `bytes` bytes from one end to the other. Where they overlap, the result is undefined in CUDA;
    /// here it is as if the source were read first, unless a range reaches over several mappings.
    ///
    /// # Errors
    /// [`MemoryError::OutOfBounds`] when a device range is not inside one live allocation; nothing is
    /// copied then.
    ///
    /// # Safety
    /// A host end points to as many bytes, which may be read, or written to.
    pub unsafe fn copy(&mut self, to: Endpoint, from: Endpoint, bytes: u64) -> Result<(), MemoryError> {
        if let Endpoint::Device(to) = to {
            self.check(to, bytes, true)?;
        }
        if let Endpoint::Device(from) = from {
            self.check(from, bytes, false)?;
        }
        // SAFETY: checked, and the caller's promise.
        unsafe { self.move_bytes(to, from, bytes) };
        Ok(())
    }

    /// # Safety
    /// Device ranges were checked; host ends point to as many bytes.
    unsafe fn move_bytes(&self, to: Endpoint, from: Endpoint, bytes: u64) {
        let place = |end: Endpoint, done: u64| match end {
            Endpoint::Host(pointer) => (pointer.wrapping_add(done as usize), bytes - done),
            Endpoint::Device(address) => self.piece(address + done),
        };
        let mut done = 0;
        while done < bytes {
            let ((to, room), (from, held)) = (place(to, done), place(from, done));
            let step = room.min(held).min(bytes - done);
            // SAFETY: both hold `step` bytes: the caller's promise, or the region that was found.
            unsafe { ptr::copy(from, to, step as usize) };
            done += step;
        }
    }

    /// Repeats `pattern` over `bytes` bytes from `address` on; a last partial repetition is cut.
    ///
    /// # Errors
    /// [`MemoryError::OutOfBounds`] when the range is not inside one live allocation.
    pub fn fill(&mut self, address: u64, bytes: u64, pattern: &[u8]) -> Result<(), MemoryError> {
        self.check(address, bytes, true)?;
        if pattern.is_empty() {
            return Ok(());
        }
        if bytes >= LARGE && pattern.iter().all(|byte| *byte == 0) && self.device.find(address).is_some() {
            // A program that clears gigabytes shall not need them.
            self.device.clear(address, bytes);
            return Ok(());
        }
        let mut done = 0;
        while done < bytes {
            let (to, room) = self.piece(address + done);
            let step = room.min(bytes - done);
            // SAFETY: the region holds as many bytes.
            unsafe { repeat(to, step as usize, pattern, (done % pattern.len() as u64) as usize) };
            done += step;
        }
        Ok(())
    }
}

/// Repeats `pattern`, starting with the byte `phase` of it.
///
/// # Safety
/// `to` points to `bytes` bytes that may be written to.
unsafe fn repeat(to: *mut u8, bytes: usize, pattern: &[u8], phase: usize) {
    // SAFETY: the caller's promise, for all of it.
    unsafe {
        if let [byte] = pattern {
            return to.write_bytes(*byte, bytes);
        }
        // Once by hand, then by doubling.
        let first = bytes.min(pattern.len());
        for index in 0..first {
            to.add(index).write(pattern[(phase + index) % pattern.len()]);
        }
        let mut done = first;
        while done < bytes {
            let step = done.min(bytes - done);
            ptr::copy_nonoverlapping(to, to.add(done), step);
            done += step;
        }
    }
}
