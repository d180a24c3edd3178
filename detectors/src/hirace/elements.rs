//! Where the pages of shadow words are. They come when an element of theirs is first accessed.

use bugaroo_semantics::event::WhoseBytes;

use super::page::{Index, Page, Words};
use super::sizes::{GROUP, PAGE, PAGE_SHIFT, span_shift};
use crate::table::Table;

/// The largest element, as a power of two.
const LARGEST: u32 = 3;
/// The smallest element with which a page is a whole one, as a power of two. With smaller ones it is in parts.
const WHOLE: u32 = 2;
/// Parts that a page has at most.
const PARTS: usize = 4;
/// Pages of a block's shared memory, as a power of two.
const SHARED_SHIFT: u32 = 6;
/// Numbers of pages of shared memory begin here, behind all of global memory.
const SHARED: u64 = 1 << 60;

/// The words of a grid.
#[derive(Debug, Default)]
pub(super) struct Elements {
    indices: Table<Index, 4>,
    /// Of pages in parts.
    parts: Table<[Index; PARTS], 2>,
    spare_parts: Vec<u32>,
    /// Places of parts.
    part_places: u32,
    words: Words,
    /// Numbers of global pages that have been accessed.
    global: Vec<u64>,
    /// By slot: pages of shared memory that have been accessed, a bit each.
    shared: Vec<u64>,
}

/// Room for words: what all grids may take together, and what ended grids have left.
#[derive(Debug)]
pub(super) struct Room {
    spare: Vec<Elements>,
    /// Words in use, at most.
    used: u64,
    /// Words that may be in use.
    most: u64,
    /// Accesses of elements that got none.
    pub refused: u64,
}

impl Room {
    pub fn new(most_bytes: u64) -> Room {
        Room { spare: Vec::new(), used: 0, most: most_bytes / size_of::<u64>() as u64, refused: 0 }
    }

    /// Bytes that are kept for grids to come.
    pub fn bytes(&self) -> u64 {
        self.spare.iter().map(Elements::bytes).sum()
    }

    /// Elements that nobody has accessed, of a grid with so many slots for blocks.
    pub fn elements(&mut self, slots: u32) -> Elements {
        let mut elements = self.spare.pop().unwrap_or_default();
        elements.shared.resize(slots as usize, 0);
        elements
    }

    /// A grid needs these no more.
    pub fn give_back(&mut self, mut elements: Elements) {
        elements.clear(self);
        self.spare.push(elements);
    }

    fn take(&mut self, words: u64) -> bool {
        let fits = self.used + words <= self.most;
        if fits {
            self.used += words;
        } else {
            self.refused += 1;
        }
        fits
    }
}

/// Words of a page's elements of so many bytes (as a power of two), all parts together.
fn words_of(shift: u32) -> u64 {
    1 << (PAGE_SHIFT - shift)
}

/// The number of a page; None where a block has no such memory.
#[inline(always)]
fn number(memory: WhoseBytes, address: u64) -> Option<u64> {
    let page = address >> PAGE_SHIFT;
    match memory {
        WhoseBytes::Global => Some(page),
        WhoseBytes::Shared(slot) => {
            (page >> SHARED_SHIFT == 0).then(|| SHARED | u64::from(slot) << SHARED_SHIFT | page)
        }
    }
}

/// Which part of a page an address is in.
#[inline(always)]
fn part(address: u64, shift: u32) -> usize {
    ((address & (PAGE - 1)) >> span_shift(shift)) as usize % PARTS
}

impl Elements {
    /// The page with an address, for accesses of elements of at least so many bytes (as a power of two). None where there is no room.
    #[inline(always)]
    pub fn page(&mut self, memory: WhoseBytes, address: u64, size: u32, room: &mut Room) -> Option<Page<'_>> {
        let number = number(memory, address)?;
        // Beyond all sizes where nobody has accessed it.
        if self.indices.at(number).size.wrapping_sub(1) > size && !self.make(number, size, room) {
            return None;
        }
        Some(self.there(number, address))
    }

    /// The page with an address, if it is one of elements of at most so many bytes and is found without looking for it. None of pages
    /// in parts.
    #[inline(always)]
    pub fn at_hand(&mut self, memory: WhoseBytes, address: u64, bytes: u32) -> Option<Page<'_>> {
        let index = self.indices.near(number(memory, address)?)?;
        (index.size > WHOLE && 1 << (index.size - 1) <= bytes).then(|| Page::new(index, &mut self.words))
    }

    /// The page of this number that has the address, or the part of it. Somebody has accessed it.
    #[inline(always)]
    fn there(&mut self, number: u64, address: u64) -> Page<'_> {
        let index = self.indices.at(number);
        if index.size <= WHOLE {
            let (place, shift) = (index.place, index.size.wrapping_sub(1));
            return Page::new(&mut self.parts.at(u64::from(place))[part(address, shift)], &mut self.words);
        }
        Page::new(index, &mut self.words)
    }

    /// Makes the page of this number one of elements of so many bytes (as a power of two). It is not there, or they are larger. Whether
    /// there is room.
    #[cold]
    #[inline(never)]
    fn make(&mut self, number: u64, size: u32, room: &mut Room) -> bool {
        let shift = size.min(LARGEST);
        let old = self.indices.at(number).size;
        if !room.take(words_of(shift) - old.checked_sub(1).map_or(0, words_of)) {
            return false;
        }
        if old == 0 {
            match number.checked_sub(SHARED) {
                None => self.global.push(number),
                Some(shared) => {
                    self.shared[(shared >> SHARED_SHIFT) as usize] |=
                        1 << (shared & ((1 << SHARED_SHIFT) - 1));
                }
            }
            self.begin(number, shift);
        } else {
            self.split(number, old - 1, shift);
        }
        true
    }

    /// A page of elements of so many bytes (as a power of two) that nobody has accessed.
    fn begin(&mut self, number: u64, shift: u32) {
        let place = if shift < WHOLE {
            self.spare_parts.pop().unwrap_or_else(|| {
                self.part_places += 1;
                self.part_places
            })
        } else {
            0
        };
        if place != 0 {
            self.parts.at(u64::from(place)).iter_mut().for_each(|part| part.size = shift + 1);
        }
        let index = self.indices.at(number);
        (index.size, index.place) = (shift + 1, place);
    }

    /// Makes a page one that nobody has accessed. Answers the size that it had.
    fn end(&mut self, number: u64) -> u32 {
        let index = self.indices.at(number);
        let (size, parts) = (index.size, index.place);
        index.clear(&mut self.words);
        if (1..=WHOLE).contains(&size) {
            self.parts.at(u64::from(parts)).iter_mut().for_each(|part| part.clear(&mut self.words));
            self.spare_parts.push(parts);
        }
        size
    }

    /// Makes elements smaller.
    fn split(&mut self, number: u64, old: u32, new: u32) {
        let bytes = |shift: u32| (0..PAGE).step_by(1 << shift);
        let before: Vec<u64> = bytes(old)
            .map(|byte| {
                let page = self.there(number, byte);
                let element = page.element(byte);
                page.word(element)
            })
            .collect();
        self.end(number);
        self.begin(number, new);
        for byte in bytes(new).step_by(GROUP) {
            let words = std::array::from_fn(|at| before[(byte as usize + (at << new)) >> old]);
            let mut page = self.there(number, byte);
            let group = page.element(byte) / GROUP;
            page.put_group(group, &words);
        }
    }

    /// Makes these bytes untouched.
    pub fn forget(&mut self, memory: WhoseBytes, address: u64, bytes: u64) {
        let end = address.saturating_add(bytes);
        // There may be far fewer pages than the range has room for.
        if memory == WhoseBytes::Global && bytes >> PAGE_SHIFT > self.global.len() as u64 {
            for at in 0..self.global.len() {
                let first = self.global[at] << PAGE_SHIFT;
                self.forget_there(memory, address.max(first), end.min(first.saturating_add(PAGE)));
            }
        } else {
            self.forget_there(memory, address, end);
        }
    }

    /// The same, from one address to another, page by page.
    fn forget_there(&mut self, memory: WhoseBytes, mut at: u64, end: u64) {
        while at < end {
            let next = (at | (PAGE - 1)).saturating_add(1).min(end);
            let there = |number: &u64| self.indices.existing(*number).is_some_and(|index| index.size != 0);
            if let Some(number) = number(memory, at).filter(there) {
                let mut byte = at;
                while byte < next {
                    let mut page = self.there(number, byte);
                    let stop = page.end(byte).min(next);
                    let (from, to) = (page.element(byte), page.element(stop - 1));
                    page.forget(from, to);
                    byte = stop;
                }
            }
            if next <= at {
                return;
            }
            at = next;
        }
    }

    /// Makes all of a slot's shared memory untouched.
    #[inline]
    pub fn clear_shared(&mut self, slot: u32, room: &mut Room) {
        let Some(pages) = self.shared.get_mut(slot as usize) else { return };
        let mut left = std::mem::take(pages);
        while left != 0 {
            let page = u64::from(left.trailing_zeros());
            left &= left - 1;
            let size = self.end(SHARED | u64::from(slot) << SHARED_SHIFT | page);
            room.used -= words_of(size - 1);
        }
    }

    /// Makes all of it untouched.
    fn clear(&mut self, room: &mut Room) {
        for number in std::mem::take(&mut self.global) {
            let size = self.end(number);
            room.used -= words_of(size - 1);
        }
        for slot in 0..self.shared.len() as u32 {
            self.clear_shared(slot, room);
        }
    }

    /// Bytes of all pages that are in use, with their words and those that are kept for others.
    pub fn bytes(&self) -> u64 {
        let shared: u32 = self.shared.iter().map(|pages| pages.count_ones()).sum();
        let pages = self.global.len() as u64 + u64::from(shared) + u64::from(self.part_places) * PARTS as u64;
        pages * size_of::<Index>() as u64 + self.words.bytes()
    }
}

#[cfg(test)]
mod tests;
