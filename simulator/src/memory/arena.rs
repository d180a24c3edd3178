//! A reserved range of host memory that backs global memory.

use std::cell::Cell;
use std::ops::Range;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::ptr;

use super::exports::{Exports, PAGE, PageError};
use crate::poison::{LIMIT, poison, unpoison};

/// A private anonymous mapping: reserved at once, committed page by page when touched, zero at first.
#[derive(Debug)]
pub(super) struct Arena {
    base: *mut u8,
    len: u64,
    /// Pages that other processes may have, too.
    exports: Option<Exports>,
    /// Bytes from the start behind which nothing was ever told to the sanitizer.
    marked: Cell<u64>,
}

// SAFETY: the arena owns its mapping; the pointer is not shared with anything thread-bound.
unsafe impl Send for Arena {}

const HUGE_PAGE: u64 = 2 << 20;

impl Arena {
    /// Reserves `len` bytes, rounded up to pages; None when the host will not.
    pub fn reserve(len: u64) -> Option<Arena> {
        Arena::map(ptr::null_mut(), len, 0)
    }

    /// Reserves `len` bytes at `address`; None when the host will not, or has something there already.
    pub fn reserve_at(address: u64, len: u64) -> Option<Arena> {
        let wanted = address as *mut u8;
        // An old kernel takes the address for a hint.
        Arena::map(wanted, len, libc::MAP_FIXED_NOREPLACE).filter(|arena| arena.base == wanted)
    }

    fn map(address: *mut u8, len: u64, flags: libc::c_int) -> Option<Arena> {
        let len = len.checked_next_multiple_of(PAGE)?;
        let size = usize::try_from(len).ok()?;
        // SAFETY: a fresh anonymous mapping that replaces nothing touches no existing memory.
        let base = unsafe {
            libc::mmap(
                address.cast(),
                size,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | flags,
                -1,
                0,
            )
        };
        let marked = size.min(LIMIT);
        let arena = (base != libc::MAP_FAILED).then(|| Arena {
            base: base.cast(),
            len,
            exports: None,
            marked: Cell::new(marked as u64),
        })?;
        poison(arena.base, marked);
        Some(arena)
    }

    pub fn base(&self) -> *mut u8 {
        self.base
    }

    pub fn len(&self) -> u64 {
        self.len
    }

    /// The host pointer of a range, which must lie inside.
    fn at(&self, offset: u64, bytes: u64) -> *mut u8 {
        assert!(offset.checked_add(bytes).is_some_and(|end| end <= self.len), "range inside the arena");
        // SAFETY: the offset is inside the mapping, as just checked.
        unsafe { self.base.add(offset as usize) }
    }

    /// Zeroes a range by writing to it.
    fn zero(&mut self, offset: u64, bytes: u64) {
        let to = self.at(offset, bytes);
        // SAFETY: `at` checked the range.
        unsafe { to.write_bytes(0, bytes as usize) };
    }

    /// Feeds the range to `step` in 8-byte words, four at a time, the last ones padded with zero.
    pub fn words(&self, offset: u64, bytes: u64, step: &mut impl FnMut([u64; 4])) {
        let from = self.at(offset, bytes);
        // SAFETY: `at` checked the range; a digest is taken between launches, when nobody writes.
        let from = unsafe { std::slice::from_raw_parts(from, bytes as usize) };
        let words = |bytes: &[u8; 32]| {
            std::array::from_fn(|at| {
                let word = bytes[8 * at..].first_chunk().expect("four words of eight bytes");
                u64::from_le_bytes(*word)
            })
        };
        let (whole, rest) = from.as_chunks();
        whole.iter().for_each(|bytes| step(words(bytes)));
        if !rest.is_empty() {
            let mut last = [0; 32];
            last[..rest.len()].copy_from_slice(rest);
            step(words(&last));
        }
    }

    /// Asks the host for huge pages under a range: fewer faults to commit it, fewer address translations when
    /// blocks are visited in random order. A wish; refusal changes nothing.
    pub fn prefer_huge_pages(&self, offset: u64, bytes: u64) {
        let (start, end) = (offset.next_multiple_of(PAGE), (offset + bytes) / PAGE * PAGE);
        if start < end {
            let pages = self.at(start, end - start);
            // SAFETY: whole pages of our own mapping; the advice does not change what they hold.
            unsafe { libc::madvise(pages.cast(), (end - start) as usize, libc::MADV_HUGEPAGE) };
        }
    }

    /// As [`Arena::prefer_huge_pages`], for a range that will be used densely: also for the huge pages that reach
    /// over its ends.
    pub fn expect_dense(&self, offset: u64, bytes: u64) {
        let base = self.base as u64;
        let start = ((base + offset) / HUGE_PAGE * HUGE_PAGE).max(base);
        let end = (base + offset + bytes).next_multiple_of(HUGE_PAGE).min(base + self.len);
        if start < end {
            self.prefer_huge_pages(start - base, end - start);
        }
    }

    /// A range belongs to an allocation now.
    pub fn opened(&self, offset: u64, bytes: u64) {
        // Behind that nothing is poisoned.
        let end = (offset + bytes).min(self.marked.get());
        unpoison(self.at(offset, bytes), end.saturating_sub(offset) as usize);
    }

    /// It does no longer.
    pub fn closed(&self, offset: u64, bytes: u64) {
        self.marked.set(self.marked.get().max(offset + bytes));
        poison(self.at(offset, bytes), bytes as usize);
    }

    /// Zeroes a range and gives its whole pages back to the host.
    pub fn clear(&mut self, offset: u64, bytes: u64) {
        self.clear_within(offset, bytes, offset..offset + bytes);
    }

    /// Zeroes a range and gives all its pages back to the host that lie in `dead`, a larger range of which nobody uses the rest.
    pub fn clear_within(&mut self, offset: u64, bytes: u64, dead: Range<u64>) {
        let stop = offset + bytes;
        let start = (offset / PAGE * PAGE).max(dead.start.next_multiple_of(PAGE));
        let end = stop.next_multiple_of(PAGE).min(dead.end / PAGE * PAGE);
        if start >= end {
            self.zero(offset, bytes);
            return;
        }
        self.zero(offset, start.saturating_sub(offset));
        self.zero(end.min(stop), stop.saturating_sub(end));
        self.end_exports(start..end);
        let pages = self.at(start, end - start);
        // SAFETY: whole pages of our own mapping; afterwards they read as zero.
        let failed = unsafe { libc::madvise(pages.cast(), (end - start) as usize, libc::MADV_DONTNEED) };
        if failed != 0 {
            self.zero(start, end - start);
        }
    }
}

/// Pages that several processes share.
impl Arena {
    /// Has the pages of these bytes lie in the arena's file, at their own places.
    pub fn export(&mut self, offset: u64, bytes: u64) -> Result<(), PageError> {
        let pages = offset / PAGE * PAGE..(offset + bytes).next_multiple_of(PAGE).min(self.len);
        let mut exports = match self.exports.take() {
            Some(exports) => exports,
            None => Exports::new(self.len)?,
        };
        let done = exports.missing(pages).into_iter().try_for_each(|missing| {
            let place = self.at(missing.start, missing.end - missing.start);
            // SAFETY: `at` checked the range; nobody writes to it meanwhile, as whoever does holds the memory.
            let held = unsafe { std::slice::from_raw_parts(place, (missing.end - missing.start) as usize) };
            exports.write(missing.start, held)?;
            let mapped = self.map_shared(missing.clone(), exports.as_fd(), missing.start);
            mapped.inspect_err(|_| exports.remove(&missing))
        });
        self.exports = Some(exports);
        done
    }

    /// The file that pages were exported to, if any were.
    pub fn export_file(&self) -> Option<&OwnedFd> {
        self.exports.as_ref().map(Exports::file)
    }

    /// Puts pages of a file in the place of pages of the arena.
    pub fn map_shared(&self, pages: Range<u64>, file: BorrowedFd<'_>, at: u64) -> Result<(), PageError> {
        self.remap(pages, libc::MAP_SHARED, file.as_raw_fd(), at)
    }

    /// Makes pages the arena's own again, and zero.
    pub fn take_back(&self, pages: Range<u64>) {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // Where the host has no room even for that, they stay what they are.
        let _ = self.remap(pages, flags, -1, 0);
    }

    fn remap(
        &self,
        pages: Range<u64>,
        flags: libc::c_int,
        file: libc::c_int,
        at: u64,
    ) -> Result<(), PageError> {
        let place = self.at(pages.start, pages.end - pages.start);
        let at = libc::off_t::try_from(at).map_err(|_| PageError)?;
        // SAFETY: whole pages of our own mapping, which nobody refers into by anything but their addresses.
        let mapped = unsafe {
            let bytes = (pages.end - pages.start) as usize;
            libc::mmap(
                place.cast(),
                bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                flags | libc::MAP_FIXED,
                file,
                at,
            )
        };
        if mapped == libc::MAP_FAILED { Err(PageError) } else { Ok(()) }
    }

    /// Pages that nobody uses any more are exported no longer.
    fn end_exports(&mut self, pages: Range<u64>) {
        let Some(mut exports) = self.exports.take() else { return };
        for there in exports.present(&pages) {
            self.take_back(there.clone());
            exports.remove(&there);
        }
        self.exports = Some(exports);
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        // To mark all of it, which is reserved for the most part, would take long.
        unpoison(self.base, self.marked.get() as usize);
        // SAFETY: the mapping is ours, and nothing refers into it once the arena is dropped.
        unsafe { libc::munmap(self.base.cast(), self.len as usize) };
    }
}
