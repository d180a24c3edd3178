//! A range of device addresses with host memory behind it, from which allocations are cut.

use std::os::fd::{BorrowedFd, OwnedFd};

use super::AllocationKind;
use super::arena::Arena;
use super::exports::PageError;
use super::table::{ALIGNMENT, Allocation, Table};
use crate::address::{GLOBAL_BASE, HOST_VISIBLE_BASE};
use crate::fault::Near;

/// Allocations from this size on ask for huge pages: smaller ones would commit more than they use.
const HUGE: u64 = 4 << 20;
/// Address space for memory that host and device share, and what is tried where the host refuses it.
const HOST_VISIBLE_SPANS: [u64; 3] = [64 << 30, 8 << 30, 1 << 30];

/// A range, its host memory, and what is allocated in it.
#[derive(Debug)]
pub(super) struct Segment {
    arena: Arena,
    table: Table,
    /// The device address of the arena's first byte.
    base: u64,
}

/// A live allocation of a segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    pub base: u64,
    pub bytes: u64,
    pub kind: AllocationKind,
    /// Its first byte in the host's memory.
    pub host: *mut u8,
}

impl Segment {
    /// Memory that only the device reaches: its addresses are the same in every run, and none of the host's.
    pub fn device(span: u64) -> Option<Segment> {
        let arena = Arena::reserve(span)?;
        let table = Table::new(arena.len());
        Some(Segment { arena, table, base: GLOBAL_BASE })
    }

    /// Memory that host and device reach by the same addresses: those of [`HOST_VISIBLE_BASE`], so that they are
    /// the same in every run, unless something else of the process is there already.
    pub fn host_visible() -> Option<Segment> {
        let fixed = Arena::reserve_at(HOST_VISIBLE_BASE, HOST_VISIBLE_SPANS[0]);
        let arena = fixed.or_else(|| HOST_VISIBLE_SPANS.iter().find_map(|span| Arena::reserve(*span)))?;
        let table = Table::new(arena.len());
        let base = arena.base() as u64;
        Some(Segment { arena, table, base })
    }

    fn offset(&self, address: u64) -> Option<u64> {
        address.checked_sub(self.base).filter(|offset| *offset < self.arena.len())
    }

    /// Whether an address is one of the range, allocated or not.
    pub fn covers(&self, address: u64) -> bool {
        self.offset(address).is_some()
    }

    /// Whether any of the addresses from `start` to `end` is one of the range.
    pub fn overlaps(&self, start: u64, end: u64) -> bool {
        start < self.base + self.arena.len() && self.base < end
    }

    /// Cuts out an allocation; its address.
    pub fn alloc(&mut self, bytes: u64, align: u64, kind: AllocationKind) -> Option<u64> {
        let offset = self.table.insert(bytes, align.max(ALIGNMENT).next_power_of_two(), kind)?;
        self.arena.opened(offset, bytes);
        // The tool's arrays are large and touched here and there.
        if bytes >= HUGE && kind != AllocationKind::Tool {
            self.arena.prefer_huge_pages(offset, bytes);
        }
        Some(self.base + offset)
    }

    /// See [`super::Memory::expect_dense`].
    pub fn expect_dense(&self, address: u64, bytes: u64) {
        if let Some(offset) = self.offset(address) {
            self.arena.expect_dense(offset, bytes.min(self.arena.len() - offset));
        }
    }

    /// Frees the allocation that starts at `address`; its size.
    pub fn free(&mut self, address: u64) -> Option<u64> {
        let offset = self.offset(address)?;
        let (bytes, dead) = self.table.remove(offset)?;
        self.arena.clear_within(offset, bytes, dead);
        self.arena.closed(offset, bytes);
        Some(bytes)
    }

    /// Has an allocation's pages lie in a file; where in that it begins.
    pub fn export(&mut self, address: u64, bytes: u64) -> Result<u64, PageError> {
        let offset = self.offset(address).ok_or(PageError)?;
        self.arena.export(offset, bytes)?;
        Ok(offset)
    }

    /// That file.
    pub fn export_file(&self) -> Option<&OwnedFd> {
        self.arena.export_file()
    }

    /// Puts pages of a file in the place of an allocation's, which has its pages for itself.
    pub fn put(&self, address: u64, bytes: u64, file: BorrowedFd<'_>, at: u64) -> Result<(), PageError> {
        let offset = self.offset(address).ok_or(PageError)?;
        self.arena.map_shared(offset..offset + bytes, file, at)
    }

    /// Undoes [`Self::put`].
    pub fn take_back(&self, address: u64, bytes: u64) {
        if let Some(offset) = self.offset(address) {
            self.arena.take_back(offset..offset + bytes);
        }
    }

    fn held(&self, allocation: &Allocation) -> Held {
        let Allocation { offset, bytes, kind } = *allocation;
        Held { base: self.base + offset, bytes, kind, host: self.arena.base().wrapping_add(offset as usize) }
    }

    /// The live allocation that holds `address`.
    pub fn find(&self, address: u64) -> Option<Held> {
        Some(self.held(self.table.find(self.offset(address)?)?))
    }

    /// Live allocations by ascending address.
    pub fn live(&self) -> impl Iterator<Item = Held> + '_ {
        self.table.live().iter().map(|allocation| self.held(allocation))
    }

    /// Was `address` part of an allocation that has been freed and not been handed out again?
    pub fn was_freed(&self, address: u64) -> bool {
        self.offset(address).is_some_and(|offset| self.table.was_freed(offset))
    }

    /// The allocation that `address` misses by least, if by less than a megabyte.
    pub fn nearest(&self, address: u64) -> Option<Near> {
        let near = self.table.nearest(self.offset(address)?)?;
        Some(Near { base: near.base + self.base, ..near })
    }

    /// Zeroes a range inside one live allocation and gives its whole pages back to the host.
    pub fn clear(&mut self, address: u64, bytes: u64) {
        self.arena.clear(address - self.base, bytes);
    }

    /// Feeds an allocation to `step` in 8-byte words, four at a time, the last ones padded with zero.
    pub fn words(&self, held: &Held, step: &mut impl FnMut([u64; 4])) {
        self.arena.words(held.base - self.base, held.bytes, step);
    }
}
