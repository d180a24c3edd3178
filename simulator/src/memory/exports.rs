//! The pages of a range that lie in a file which other processes map ([`super::interprocess`]).

use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{FallocateFlags, MemfdFlags, fallocate, ftruncate, memfd_create};
use rustix::io::pwrite;

/// Bytes of a page of the host's.
pub(super) const PAGE: u64 = 4096;

/// The host refuses to share pages between processes.
#[derive(Clone, Copy, Debug)]
pub(super) struct PageError;

/// Where an exported allocation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exported {
    /// First of its bytes in the file.
    pub offset: u64,
    /// In bytes.
    pub bytes: u64,
}

impl Exported {
    /// Its first page in the file.
    pub(super) fn first_page(&self) -> u64 {
        self.offset / PAGE * PAGE
    }

    /// How far into that it begins.
    pub(super) fn within(&self) -> u64 {
        self.offset % PAGE
    }
}

/// The file, and which of the range's pages lie there.
#[derive(Debug)]
pub(super) struct Exports {
    file: OwnedFd,
    /// Apart from each other, by their places in the range.
    pages: Vec<Range<u64>>,
}

impl Exports {
    /// A file for a range of so many bytes.
    pub fn new(bytes: u64) -> Result<Exports, PageError> {
        let file = memfd_create("bugaroo-device-memory", MemfdFlags::CLOEXEC).map_err(|_| PageError)?;
        ftruncate(&file, bytes).map_err(|_| PageError)?;
        Ok(Exports { file, pages: Vec::new() })
    }

    pub fn file(&self) -> &OwnedFd {
        &self.file
    }

    /// The parts of these pages that do not lie in the file.
    pub fn missing(&self, wanted: Range<u64>) -> Vec<Range<u64>> {
        let mut missing = vec![wanted];
        for there in &self.pages {
            missing = missing.iter().flat_map(|range| without(range, there)).collect();
        }
        missing
    }

    /// The parts of these pages that do.
    pub fn present(&self, wanted: &Range<u64>) -> Vec<Range<u64>> {
        let both = |there: &Range<u64>| wanted.start.max(there.start)..wanted.end.min(there.end);
        self.pages.iter().map(both).filter(|range| !range.is_empty()).collect()
    }

    /// Writes pages to the file, and counts them as there. What is zero already is not written.
    pub fn write(&mut self, at: u64, bytes: &[u8]) -> Result<(), PageError> {
        for (page, from) in bytes.chunks(PAGE as usize).zip((at..).step_by(PAGE as usize)) {
            if page.iter().any(|byte| *byte != 0) {
                let wrote = pwrite(&self.file, page, from).map_err(|_| PageError)?;
                if wrote != page.len() {
                    return Err(PageError);
                }
            }
        }
        self.pages.push(at..at + bytes.len() as u64);
        Ok(())
    }

    /// Pages lie there no more; in the file they are zero.
    pub fn remove(&mut self, gone: &Range<u64>) {
        self.pages = self.pages.iter().flat_map(|range| without(range, gone)).collect();
        let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        // Where it cannot be, others see what was there.
        let _ = fallocate(self.file.as_fd(), hole, gone.start, gone.end - gone.start);
    }

    pub fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// What is left of a range without another one.
fn without(range: &Range<u64>, gone: &Range<u64>) -> impl Iterator<Item = Range<u64>> + use<> {
    let before = range.start..range.end.min(gone.start);
    let behind = range.start.max(gone.end)..range.end;
    [before, behind].into_iter().filter(|range| !range.is_empty())
}
