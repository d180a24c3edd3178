//! Where the metadata of an address lies.
//!
//! In full: a word for each four bytes, in pages that come when they are first asked for. Of a row of 128 bytes whose words are all the same,
//! as a warp leaves them that accesses all of it, one is kept. Rows that are accessed by one or two bytes at a time have a word for each
//! of these.
//!
//! In the cache (section IV-B): the memory is cut into stripes of 64 KiB, and 2 to the power of the tag's bits of them, one after the other,
//! share the metadata of one. The tag of an entry says which stripe it tells of. The paper's stripes are a sixteenth of the device's memory
//! each; here addresses are sparse, so they are as large as leaves neighbours apart.

use rustc_hash::FxHashMap;

use super::layout::EntryLayout;
use crate::slabs::Slabs;

const ROW_SHIFT: u32 = 7;
const ROW: u64 = 1 << ROW_SHIFT;
/// Rows of a page, as a power of two.
const PAGE_SHIFT: u32 = 6;
const PAGE_ROWS: usize = 1 << PAGE_SHIFT;
/// Bytes that a page tells of, as a power of two.
const SPAN_SHIFT: u32 = ROW_SHIFT + PAGE_SHIFT;
/// Bytes of a stripe, as a power of two.
const STRIPE_SHIFT: u32 = 16;
/// Words of a row.
const WORDS: usize = 32;

/// A page that the last look-ups found: which, and where.
type Recent = [(u64, u32); 64];

#[derive(Debug)]
struct Page {
    key: u64,
    /// By row: the word that all of them are, where they are. With the cache there are none.
    same: Box<[u64]>,
    /// Rows of which all words are kept, a bit each.
    kept: u64,
    /// Where these are, if there are any.
    place: u32,
    /// Rows whose metadata is elsewhere, a bit each.
    split: u64,
}

/// Room for pages' words.
type Words = Slabs<{ PAGE_ROWS * WORDS }>;

impl Page {
    /// Keeps all words of a row.
    #[inline]
    fn keep(&mut self, row: usize, words: &mut Words) {
        if self.kept >> row & 1 == 0 {
            if self.kept == 0 {
                self.place = words.take();
            }
            self.kept |= 1 << row;
            let same = self.same[row];
            words.at_mut(self.place)[row * WORDS..][..WORDS].fill(same);
        }
    }

    /// Makes all words of a row this one, of which one is kept, if that may be.
    fn put_same(&mut self, row: usize, word: u64, words: &mut Words) -> bool {
        let Some(same) = self.same.get_mut(row) else { return false };
        *same = word;
        if self.kept >> row & 1 != 0 {
            self.kept &= !(1 << row);
            if self.kept == 0 {
                words.give_back(self.place);
            }
        }
        true
    }

    /// All words of a row.
    fn row(&self, row: usize, words: &Words) -> [u64; WORDS] {
        std::array::from_fn(|at| match self.kept >> row & 1 {
            0 => self.same[row],
            _ => words.at(self.place)[row * WORDS + at],
        })
    }
}

/// The metadata of a grid's global memory.
#[derive(Debug)]
pub(super) struct Metadata {
    places: FxHashMap<u64, u32>,
    pages: Vec<Page>,
    words: Words,
    recent: Recent,
    /// Metadata of rows by one or two bytes: 128 words or 64.
    split: FxHashMap<u64, Box<[u64]>>,
    /// Bits of the tag, with the cache.
    tag_bits: Option<u32>,
    /// Bytes of words if all were kept, and how many there may be.
    used: u64,
    most: u64,
    /// A row for bytes that there is no room for, and how often it was needed.
    nowhere: Box<[u64; WORDS]>,
    refused: u64,
}

/// The row of its page that an address is in.
#[inline]
fn row_of(address: u64) -> usize {
    (address >> ROW_SHIFT) as usize & (PAGE_ROWS - 1)
}

/// The metadata of a row.
pub(super) struct Row<'a> {
    pub words: &'a mut [u64],
    /// Bytes of a word's piece of memory, as a power of two.
    pub shift: u32,
    /// The tag that an entry of these bytes has.
    pub tag: u32,
}

impl Metadata {
    /// Of memory that nobody has accessed; `most`: bytes that words may take.
    pub fn new(tag_bits: Option<u32>, most: Option<u64>) -> Metadata {
        Metadata {
            places: FxHashMap::default(),
            pages: Vec::new(),
            words: Words::default(),
            recent: [(u64::MAX, 0); 64],
            split: FxHashMap::default(),
            tag_bits,
            used: 0,
            most: most.unwrap_or(u64::MAX),
            nowhere: Box::new([0; WORDS]),
            refused: 0,
        }
    }

    /// The page and the tag of an address.
    #[inline]
    fn place(&self, address: u64) -> (u64, u32) {
        match self.tag_bits {
            None => (address >> SPAN_SHIFT, 0),
            Some(bits) => {
                let tag = address >> STRIPE_SHIFT & ((1 << bits) - 1);
                let stripe = address >> STRIPE_SHIFT >> bits;
                let within = address & ((1 << STRIPE_SHIFT) - 1);
                ((stripe << (STRIPE_SHIFT - SPAN_SHIFT)) | within >> SPAN_SHIFT, tag as u32)
            }
        }
    }

    /// Where the page is that an address is in, if there is room, and the address's tag.
    #[inline]
    fn page(&mut self, address: u64) -> (Option<u32>, u32) {
        let (key, tag) = self.place(address);
        // Pages that a column's lanes are in are a power of two apart.
        let slot = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58) as usize;
        let (known, at) = self.recent[slot];
        if known == key {
            return (Some(at), tag);
        }
        let found = self.find(key);
        if let Some(at) = found {
            self.recent[slot] = (key, at);
        }
        (found, tag)
    }

    /// The word that all pieces are of the row that an address is in. None where they are not, or may not be.
    #[inline]
    pub fn same(&mut self, address: u64) -> Option<&mut u64> {
        let at = self.page(address).0?;
        let page = &mut self.pages[at as usize];
        let row = row_of(address);
        if (page.kept | page.split) >> row & 1 != 0 {
            return None;
        }
        page.same.get_mut(row)
    }

    /// The row that an address is in, by pieces of at most so many bytes (as a power of two), if there is room. Else a row of bytes that
    /// nobody has accessed, by whole words.
    #[inline]
    pub fn row(&mut self, address: u64, shift: u32) -> Row<'_> {
        let (Some(at), tag) = self.page(address) else { return self.nowhere(self.place(address).1) };
        let row = row_of(address);
        let page = &mut self.pages[at as usize];
        if (shift < 2 || page.split >> row & 1 != 0) && self.tag_bits.is_none() {
            return self.split_row(address >> ROW_SHIFT, at, row, shift);
        }
        page.keep(row, &mut self.words);
        let words = &mut self.words.at_mut(page.place)[row * WORDS..(row + 1) * WORDS];
        Row { words, shift: 2, tag }
    }

    /// All words of the row that an address is in have become the same: one is enough from here on.
    #[inline]
    pub fn settle(&mut self, address: u64) {
        let row = row_of(address);
        let Some(page) = self.page(address).0.map(|at| &mut self.pages[at as usize]) else { return };
        if page.kept >> row & 1 != 0 {
            let word = self.words.at(page.place)[row * WORDS];
            page.put_same(row, word, &mut self.words);
        }
    }

    #[cold]
    fn find(&mut self, key: u64) -> Option<u32> {
        if let Some(at) = self.places.get(&key) {
            return Some(*at);
        }
        let same_words = if self.tag_bits.is_none() { PAGE_ROWS } else { 0 };
        if !self.take(PAGE_ROWS * WORDS + same_words) {
            return None;
        }
        let (same, kept, place) = match self.tag_bits {
            None => (vec![0; same_words].into(), 0, 0),
            Some(_) => (Box::default(), u64::MAX, self.words.take()),
        };
        self.pages.push(Page { key, same, kept, place, split: 0 });
        // Pages of 16 KiB: there are fewer than 2^32 of them in any host memory.
        let at = (self.pages.len() - 1) as u32;
        self.places.insert(key, at);
        Some(at)
    }

    /// Takes room for so many words, if there is any.
    fn take(&mut self, words: usize) -> bool {
        let bytes = (words * size_of::<u64>()) as u64;
        let fits = bytes <= self.most.saturating_sub(self.used);
        if fits {
            self.used += bytes;
        }
        fits
    }

    #[cold]
    fn nowhere(&mut self, tag: u32) -> Row<'_> {
        self.refused += 1;
        self.nowhere.fill(0);
        Row { words: &mut *self.nowhere, shift: 2, tag }
    }

    /// How often there was no room since the last call.
    pub fn take_refused(&mut self) -> u64 {
        std::mem::take(&mut self.refused)
    }

    /// A row by one or two bytes. Parts of what was one piece are as it was.
    fn split_row(&mut self, number: u64, page: u32, row: usize, shift: u32) -> Row<'_> {
        let (had, wanted) = (self.split.get(&number).map_or(0, |split| split.len()), (ROW >> shift) as usize);
        if wanted.max(WORDS) > had && !self.take(wanted.max(WORDS) - had) {
            return self.nowhere(0);
        }
        let page = &mut self.pages[page as usize];
        page.split |= 1 << row;
        let whole = page.row(row, &self.words);
        let split = self.split.entry(number).or_insert_with(|| whole.into());
        let mut now = (ROW as usize / split.len()).trailing_zeros();
        if shift < now {
            let parts = 1 << (now - shift);
            *split = split.iter().flat_map(|word| std::iter::repeat_n(*word, parts)).collect();
            now = shift;
        }
        Row { words: split, shift: now, tag: 0 }
    }

    /// Nothing is known of these bytes any more: what an entry tells of in part, too.
    pub fn forget(&mut self, layout: &EntryLayout, address: u64, bytes: u64) {
        let Some(last) = bytes.checked_sub(1).and_then(|more| address.checked_add(more)) else { return };
        let tags = 1 << self.tag_bits.unwrap_or(0);
        for page in 0..self.pages.len() {
            for tag in 0..tags {
                let start = self.start(self.pages[page].key, tag);
                if start > last || start + ((1 << SPAN_SHIFT) - 1) < address {
                    continue;
                }
                self.forget_page(layout, (page, tag), start, (address, last));
            }
        }
    }

    /// The first byte that a page tells of under a tag.
    fn start(&self, key: u64, tag: u64) -> u64 {
        match self.tag_bits {
            None => key << SPAN_SHIFT,
            Some(bits) => {
                let pages = STRIPE_SHIFT - SPAN_SHIFT;
                let (stripe, page) = (key >> pages, key & ((1 << pages) - 1));
                (stripe << bits | tag) << STRIPE_SHIFT | page << SPAN_SHIFT
            }
        }
    }

    fn forget_page(
        &mut self,
        layout: &EntryLayout,
        (page, tag): (usize, u64),
        start: u64,
        (first, last): (u64, u64),
    ) {
        let page = &mut self.pages[page];
        let here = |at: u64, shift: u32| at <= last && at + ((1 << shift) - 1) >= first;
        for row in 0..PAGE_ROWS {
            let start = start + row as u64 * ROW;
            if !here(start, ROW_SHIFT) {
                continue;
            }
            let all = start >= first && start + (ROW - 1) <= last;
            if all && page.put_same(row, 0, &mut self.words) {
                continue;
            }
            page.keep(row, &mut self.words);
            let words = &mut self.words.at_mut(page.place)[row * WORDS..][..WORDS];
            for (index, word) in words.iter_mut().enumerate() {
                if here(start + 4 * index as u64, 2) && u64::from(layout.unpack(*word).tag) == tag {
                    *word = 0;
                }
            }
        }
        for row in (0..PAGE_ROWS as u32).filter(|row| page.split >> row & 1 != 0) {
            let row = start + u64::from(row) * ROW;
            let Some(split) = self.split.get_mut(&(row >> ROW_SHIFT)) else { continue };
            let shift = (ROW as usize / split.len()).trailing_zeros();
            for (index, word) in split.iter_mut().enumerate() {
                if here(row + ((index as u64) << shift), shift) {
                    *word = 0;
                }
            }
        }
    }

    /// Every word that is not as new becomes another.
    pub fn change(&mut self, with: impl Fn(u64) -> u64) {
        let change = |word: &mut u64| {
            if *word != 0 {
                *word = with(*word);
            }
        };
        for page in &mut self.pages {
            page.same.iter_mut().for_each(change);
            for row in (0..PAGE_ROWS).filter(|row| page.kept >> row & 1 != 0) {
                self.words.at_mut(page.place)[row * WORDS..][..WORDS].iter_mut().for_each(change);
            }
        }
        self.split.values_mut().flat_map(|row| row.iter_mut()).for_each(change);
    }

    /// Bytes of the metadata itself.
    pub fn words_bytes(&self) -> u64 {
        let same: usize = self.pages.iter().map(|page| size_of_val(&*page.same)).sum();
        let split: usize = self.split.values().map(|split| size_of_val(&**split)).sum();
        self.words.bytes() + (same + split) as u64
    }

    /// Bytes of what finds it.
    pub fn table_bytes(&self) -> u64 {
        let entry = size_of::<Page>() + size_of::<(u64, u32)>();
        (self.pages.len() * entry + self.split.len() * 32 + size_of::<Metadata>()) as u64
    }
}
