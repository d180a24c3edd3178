//! Copies are checked and done.

use std::ffi::c_void;

use bugaroo_cuda_abi::CUdeviceptr;

use crate::error::{CallResult, Status};
use crate::objects::transfer::{CopyPlace, CopySide, Transfer};
use crate::objects::work::{Act, Work};
use crate::places::not_null;
use crate::state::Gpu;

impl Transfer {
    /// A copy of consecutive bytes.
    pub fn line(to: CopyPlace, from: CopyPlace, bytes: usize) -> Transfer {
        Transfer { to: CopySide::line(to), from: CopySide::line(from), width: bytes, height: 1, depth: 1 }
    }

    /// Nothing is to be copied.
    pub fn is_empty(&self) -> bool {
        self.width == 0 || self.height == 0 || self.depth == 0
    }

    /// Neither side is the program's own memory; page-locked and managed memory are not.
    pub fn is_on_device(&self) -> bool {
        matches!((self.to.start, self.from.start), (CopyPlace::Device(_), CopyPlace::Device(_)))
    }

    /// Bytes in all.
    pub fn bytes(&self) -> u64 {
        (self.width as u64).saturating_mul(self.height as u64).saturating_mul(self.depth as u64)
    }

    /// Bytes from the first to the last that a side touches.
    fn span(&self, side: &CopySide) -> Option<usize> {
        let slices = (self.depth - 1).checked_mul(side.slice)?;
        (self.height - 1).checked_mul(side.pitch)?.checked_add(slices)?.checked_add(self.width)
    }

    /// Refuses what cannot be copied, before anything is.
    ///
    /// # Errors
    /// `InvalidValue` for rows that overlap, a null host pointer, or a device range that is not inside
    /// one allocation.
    pub fn check(&self, gpu: &Gpu) -> CallResult {
        if self.is_empty() {
            return Ok(());
        }
        for (side, write) in [(&self.to, true), (&self.from, false)] {
            // A pitch of 0 stands for rows without gaps where there is but one.
            if (self.height > 1 && side.pitch < self.width) || (self.depth > 1 && side.slice < side.pitch) {
                return Err(Status::InvalidValue);
            }
            let span = self.span(side).ok_or(Status::InvalidValue)?;
            match side.start {
                CopyPlace::Device(start) => gpu.check_range(start, span, write)?,
                CopyPlace::Host(start) => gpu.check_host_range(start, span, write)?,
            }
        }
        Ok(())
    }

    /// Copies, and counts device time. Asks again for what may have been freed since the check.
    ///
    /// # Errors
    /// As [`Self::check`]; nothing is copied then.
    ///
    /// # Safety
    /// Host sides hold what is copied, and nobody else uses it meanwhile.
    pub unsafe fn execute(&self, gpu: &mut Gpu) -> CallResult {
        self.check(gpu)?;
        if self.is_empty() {
            return Ok(());
        }
        gpu.running.clock.moved(self.bytes());
        gpu.tell_transfer(self);
        for z in 0..self.depth {
            for y in 0..self.height {
                let (to, from) = (self.to.row(y, z).end(), self.from.row(y, z).end());
                // SAFETY: the caller's promise.
                let copied = unsafe { gpu.memory.copy(to, from, self.width as u64) };
                copied.map_err(|_| Status::InvalidValue)?;
            }
        }
        Ok(())
    }
}

impl Gpu {
    /// Sorts an address of the unified address space out: the device's, or the program's own.
    pub fn place(&self, address: u64) -> CopyPlace {
        if self.memory.covers(address) || self.memory.covers_host_visible(address) {
            CopyPlace::Device(address)
        } else {
            CopyPlace::Host(address as *mut c_void)
        }
    }

    /// Refuses a device range that is not inside one allocation, or that the device may not write to.
    ///
    /// # Errors
    /// `InvalidValue`
    pub fn check_range(&self, address: CUdeviceptr, bytes: usize, write: bool) -> CallResult {
        self.memory.check(address, bytes as u64, write).map_err(|_| Status::InvalidValue)
    }

    /// Refuses a host range that is null, one of the device's, or not inside one page-locked allocation
    /// although it starts where those are.
    fn check_host_range(&self, start: *mut c_void, bytes: usize, write: bool) -> CallResult {
        not_null(start)?;
        let address = start as u64;
        let end = address.checked_add(bytes as u64).ok_or(Status::InvalidValue)?;
        if self.memory.covers(address) || self.memory.covers(end - 1) {
            return Err(Status::InvalidValue);
        }
        if self.memory.covers_host_visible(address) {
            self.check_range(address, bytes, write)
        } else {
            Ok(())
        }
    }
}

/// How a copy behaves towards the host (CUDA Driver API, "API synchronization behavior").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// It is done when the stream gets there.
    Later,
    /// The same, but the host's side is read at the call.
    Staged,
    /// It is done when the call returns.
    Now,
}

impl Transfer {
    /// How this copy behaves. `asynchronous` says whether the function is.
    pub fn manner(&self, gpu: &Gpu, asynchronous: bool) -> Manner {
        let pageable = |side: &CopySide| match side.start {
            CopyPlace::Host(address) => !gpu.is_host_visible(address as u64),
            CopyPlace::Device(_) => false,
        };
        // By the generic functions page-locked and managed memory counts as the device's.
        let on_device = |side: &CopySide| match side.start {
            CopyPlace::Host(_) => false,
            CopyPlace::Device(address) => !gpu.is_host_visible(address),
        };
        if self.is_empty() || (on_device(&self.to) && on_device(&self.from)) {
            Manner::Later
        } else if !asynchronous || pageable(&self.to) {
            Manner::Now
        } else if !pageable(&self.from) {
            Manner::Later
        } else if self.height == 1 && self.depth == 1 {
            Manner::Staged
        } else {
            Manner::Now
        }
    }

    /// The copy as work, with what it reads of the host taken now.
    ///
    /// # Safety
    /// The host's side holds what is read.
    pub unsafe fn staged(self) -> Work {
        let CopyPlace::Host(from) = self.from.start else { return Work::Copy(self) };
        // SAFETY: not null as was checked, and the caller vouches for the rest.
        let taken = unsafe { std::slice::from_raw_parts(from.cast_const().cast::<u8>(), self.width) };
        Work::Act(Act::Staged { copy: self, taken: taken.into() })
    }
}
