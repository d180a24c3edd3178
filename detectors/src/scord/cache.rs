//! Where the metadata of an address lies.
//!
//! In full: a word for each four bytes, in pages that come when they are first asked for. Rows of 128 bytes that are accessed by one or two
//! bytes at a time have a word for each of these.
//!
//! In the cache (section IV-B): the memory is cut into stripes of 64 KiB, and 2 to the power of the tag's bits of them, one after the other,
//! share the metadata of one. The tag of an entry says which stripe it tells of. The paper's stripes are a sixteenth of the device's memory
//! each; here addresses are sparse, so they are as large as leaves neighbours apart.

use rustc_hash::FxHashMap;

use super::layout::Layout;

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
    words: Box<[u64]>,
    /// Rows whose metadata is elsewhere, a bit each.
    split: u64,
}

/// The metadata of a grid's global memory.
#[derive(Debug)]
pub(super) struct Metadata {
    places: FxHashMap<u64, u32>,
    pages: Vec<Page>,
    recent: Recent,
    /// Metadata of rows by one or two bytes: 128 words or 64.
    split: FxHashMap<u64, Box<[u64]>>,
    /// Bits of the tag, with the cache.
    tag_bits: Option<u32>,
    /// Bytes of words, and how many there may be.
    used: u64,
    most: u64,
    /// A row for bytes that there is no room for, and how often it was needed.
    nowhere: Box<[u64; WORDS]>,
    refused: u64,
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

    /// The row that an address is in, by pieces of at most so many bytes (as a power of two), if there is room. Else a row of bytes that
    /// nobody has accessed, by whole words.
    #[inline]
    pub fn row(&mut self, address: u64, shift: u32) -> Row<'_> {
        let (key, tag) = self.place(address);
        // Pages that a column's lanes are in are a power of two apart.
        let slot = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58) as usize;
        let (known, mut at) = self.recent[slot];
        if known != key {
            match self.find(key) {
                Some(found) => at = found,
                None => return self.nowhere(tag),
            }
            self.recent[slot] = (key, at);
        }
        let row = (address >> ROW_SHIFT) as usize & (PAGE_ROWS - 1);
        if (shift < 2 || self.pages[at as usize].split >> row & 1 != 0) && self.tag_bits.is_none() {
            return self.split_row(address >> ROW_SHIFT, at, row, shift);
        }
        let words = &mut self.pages[at as usize].words[row * WORDS..(row + 1) * WORDS];
        Row { words, shift: 2, tag }
    }

    #[cold]
    fn find(&mut self, key: u64) -> Option<u32> {
        if let Some(at) = self.places.get(&key) {
            return Some(*at);
        }
        if !self.take(PAGE_ROWS * WORDS) {
            return None;
        }
        self.pages.push(Page { key, words: vec![0; PAGE_ROWS * WORDS].into(), split: 0 });
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
        let whole = &page.words[row * WORDS..(row + 1) * WORDS];
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
    pub fn forget(&mut self, layout: &Layout, address: u64, bytes: u64) {
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
        layout: &Layout,
        (page, tag): (usize, u64),
        start: u64,
        (first, last): (u64, u64),
    ) {
        let page = &mut self.pages[page];
        let here = |at: u64, shift: u32| at <= last && at + ((1 << shift) - 1) >= first;
        for (index, word) in page.words.iter_mut().enumerate() {
            if here(start + 4 * index as u64, 2) && u64::from(layout.unpack(*word).tag) == tag {
                *word = 0;
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
        let pages = self.pages.iter_mut().flat_map(|page| page.words.iter_mut());
        let split = self.split.values_mut().flat_map(|row| row.iter_mut());
        pages.chain(split).filter(|word| **word != 0).for_each(|word| *word = with(*word));
    }

    /// Bytes of the metadata itself.
    pub fn words_bytes(&self) -> u64 {
        self.used
    }

    /// Bytes of what finds it.
    pub fn table_bytes(&self) -> u64 {
        let entry = size_of::<Page>() + size_of::<(u64, u32)>();
        (self.pages.len() * entry + self.split.len() * 32 + size_of::<Metadata>()) as u64
    }
}
