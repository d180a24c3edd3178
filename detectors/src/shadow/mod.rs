//! Shadow memory: something kept for every row of 128 bytes that has been touched, in pages that come when they are first
//! asked for.

use bugaroo_semantics::event::{Range, WhoseBytes, WorkId};
use rustc_hash::FxHashMap;

/// Bytes of a row, as a power of two.
pub const ROW_SHIFT: u32 = 7;
/// Bytes of a row.
pub const ROW: u64 = 1 << ROW_SHIFT;
/// Rows of a page, as a power of two.
const PAGE_SHIFT: u32 = 6;
/// Rows of a page.
pub const PAGE: usize = 1 << PAGE_SHIFT;
const NOWHERE: u64 = u64::MAX;
/// No space at all.
const NO_SPACE: ((WorkId, u32), u32) = ((WorkId::MAX, u32::MAX), u32::MAX);

/// A row's bytes, one bit each.
pub type Bytes = u128;

/// The bits of the bytes `from..to` of a row.
#[inline]
pub fn bytes(from: u32, to: u32) -> Bytes {
    debug_assert!(from < to && to <= 128);
    (u128::MAX >> (128 - (to - from))) << from
}

/// Rows by number, in pages.
#[derive(Debug)]
struct Space<R> {
    places: FxHashMap<u64, u32>,
    pages: Vec<Box<[R; PAGE]>>,
    last: (u64, u32),
}

impl<R> Default for Space<R> {
    fn default() -> Space<R> {
        Space { places: FxHashMap::default(), pages: Vec::new(), last: (NOWHERE, 0) }
    }
}

impl<R: Default> Space<R> {
    #[inline]
    fn row(&mut self, row: u64, new: impl FnOnce(u64, &mut [R; PAGE])) -> &mut R {
        let page = row >> PAGE_SHIFT;
        if self.last.0 != page {
            self.last = (page, self.page(page, new));
        }
        &mut self.pages[self.last.1 as usize][row as usize & (PAGE - 1)]
    }

    fn page(&mut self, page: u64, new: impl FnOnce(u64, &mut [R; PAGE])) -> u32 {
        if let Some(place) = self.places.get(&page) {
            return *place;
        }
        let mut rows = Box::new(std::array::from_fn(|_| R::default()));
        new(page << PAGE_SHIFT, &mut rows);
        self.pages.push(rows);
        let place = (self.pages.len() - 1) as u32;
        self.places.insert(page, place);
        place
    }

    fn existing(&mut self, row: u64) -> Option<&mut R> {
        let place = *self.places.get(&(row >> PAGE_SHIFT))?;
        Some(&mut self.pages[place as usize][row as usize & (PAGE - 1)])
    }

    fn each(&mut self, mut visit: impl FnMut(&mut R)) {
        self.pages.iter_mut().for_each(|page| page.iter_mut().for_each(&mut visit));
    }
}

/// The shadow of all memories.
#[derive(Debug)]
pub struct Shadow<R> {
    global: Space<R>,
    /// By grid and slot of the CTA: which of the spaces.
    shared: FxHashMap<(WorkId, u32), u32>,
    spaces: Vec<Space<R>>,
    /// Those of blocks that have ended.
    spare: Vec<u32>,
    /// The one that was asked for last.
    last: ((WorkId, u32), u32),
}

impl<R> Default for Shadow<R> {
    fn default() -> Shadow<R> {
        Shadow {
            global: Space::default(),
            shared: FxHashMap::default(),
            spaces: Vec::new(),
            spare: Vec::new(),
            last: NO_SPACE,
        }
    }
}

impl<R: Default> Shadow<R> {
    /// The row of a number (an address without its lowest [`ROW_SHIFT`] bits). `new` is given each page of global memory that is new, with
    /// the number of its first row.
    #[inline]
    pub fn row(
        &mut self,
        grid: WorkId,
        memory: WhoseBytes,
        row: u64,
        new: impl FnOnce(u64, &mut [R; PAGE]),
    ) -> &mut R {
        match memory {
            WhoseBytes::Global => self.global.row(row, new),
            WhoseBytes::Shared(slot) => {
                if self.last.0 != (grid, slot) || self.last == NO_SPACE {
                    self.last = ((grid, slot), self.space(grid, slot));
                }
                self.spaces[self.last.1 as usize].row(row, |_, _| ())
            }
        }
    }

    fn space(&mut self, grid: WorkId, slot: u32) -> u32 {
        let (spare, spaces) = (&mut self.spare, &mut self.spaces);
        *self.shared.entry((grid, slot)).or_insert_with(|| {
            spare.pop().unwrap_or_else(|| {
                spaces.push(Space::default());
                (spaces.len() - 1) as u32
            })
        })
    }

    /// Forgets a slot's shared memory; `clean` makes a row as new, and may keep its room.
    pub fn end_shared(&mut self, grid: WorkId, slot: u32, clean: impl FnMut(&mut R)) {
        if let Some(space) = self.shared.remove(&(grid, slot)) {
            self.last = NO_SPACE;
            self.spaces[space as usize].each(clean);
            self.spare.push(space);
        }
    }

    /// Goes through the rows of global memory that a range touches and are there, with their numbers and the bytes in
    /// question.
    pub fn each_global(&mut self, range: Range, mut visit: impl FnMut(u64, &mut R, Bytes)) {
        if range.bytes == 0 {
            return;
        }
        let last = range.address.saturating_add(range.bytes - 1);
        let (first_row, last_row) = (range.address >> ROW_SHIFT, last >> ROW_SHIFT);
        let mut one = |space: &mut Space<R>, row: u64| {
            let from = if row == first_row { range.address & (ROW - 1) } else { 0 };
            let to = if row == last_row { last & (ROW - 1) } else { ROW - 1 };
            if let Some(there) = space.existing(row) {
                visit(row, there, bytes(from as u32, to as u32 + 1));
            }
        };
        if (last_row - first_row) >> PAGE_SHIFT > self.global.places.len() as u64 {
            let mut rows: Vec<u64> = self.global.places.keys().map(|page| page << PAGE_SHIFT).collect();
            rows.sort_unstable();
            for first in rows {
                let page = first..first + PAGE as u64;
                page.filter(|row| (first_row..=last_row).contains(row))
                    .for_each(|row| one(&mut self.global, row));
            }
        } else {
            (first_row..=last_row).for_each(|row| one(&mut self.global, row));
        }
    }

    /// Goes through all rows.
    pub fn each(&self, mut visit: impl FnMut(&R)) {
        let spaces = std::iter::once(&self.global).chain(&self.spaces);
        spaces.for_each(|space| space.pages.iter().for_each(|page| page.iter().for_each(&mut visit)));
    }

    /// Bytes of the pages, without what rows hold besides.
    pub fn held(&self) -> u64 {
        let of = |space: &Space<R>| (space.pages.len() * PAGE * size_of::<R>()) as u64;
        of(&self.global) + self.spaces.iter().map(of).sum::<u64>()
    }
}
