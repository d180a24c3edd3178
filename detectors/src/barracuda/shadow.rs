//! Shadow memory: the last write and the reads since, of each byte (section 4.3.3).
//!
//! It is kept by rows of 128 bytes, in marks: what lanes of one warp did at one time, with the bytes to which it applies. A
//! warp's access of consecutive words is one mark. Marks of writes never share a byte, as the last one is what counts. Reads that a
//! later read comes behind are dropped; a row that many read keeps them in a list, which is tidied up whenever it has
//! doubled. Global memory gets its rows in pages, on demand; shared memory when its block begins.

use rustc_hash::FxHashMap;

use super::mark::{Mark, ROW};

/// Rows of a page, as a power of two.
const PAGE: u32 = 7;
/// Reads of a list that are looked through at each further read.
const FEW: usize = 8;
/// The latest reads of a list, among which the same lanes' last one is looked for.
const LATE: usize = 40;
/// Writes of a list from which on they are kept by words.
const MANY: usize = 4;

/// A row's marks that have no place of their own.
#[derive(Clone, Debug, Default)]
pub(super) struct More {
    /// Writes of single words, by word.
    words: Option<Box<[Mark; 32]>>,
    /// All other writes.
    writes: Vec<Mark>,
    reads: Vec<Mark>,
    /// How many reads there are when it is time to tidy up.
    tidy_at: usize,
}

/// What is known of 128 bytes.
#[derive(Clone, Debug)]
pub(super) struct Row {
    write: Mark,
    read: Mark,
    more: Option<Box<More>>,
}

impl Row {
    pub const NONE: Row = Row { write: Mark::NONE, read: Mark::NONE, more: None };

    fn is_none(&self) -> bool {
        self.write.is_none() && self.read.is_none() && self.more.is_none()
    }

    /// Marks that its lists have room for.
    fn listed(&self) -> i64 {
        let words = |more: &More| if more.words.is_some() { 32 } else { 0 };
        self.more.as_ref().map_or(0, |more| (more.reads.len() + more.writes.len()) as i64 + words(more))
    }

    /// The writes that may share one of these bytes.
    #[inline]
    pub fn each_write(&self, bytes: u128, mut each: impl FnMut(&Mark)) {
        each(&self.write);
        let Some(more) = &self.more else { return };
        if let Some(words) = &more.words {
            words_of(bytes).for_each(|word| each(&words[word]));
        }
        more.writes.iter().for_each(each);
    }

    /// The reads.
    #[inline]
    pub fn each_read(&self, mut each: impl FnMut(&Mark)) {
        each(&self.read);
        if let Some(more) = &self.more {
            more.reads.iter().for_each(each);
        }
    }

    /// A read is the last one of its bytes, and those that it makes superfluous are forgotten: those of the same lanes, and those
    /// that come `before` it. `room` counts what there is still room for in lists; without any, it says no.
    #[inline]
    pub fn put_read(&mut self, mark: Mark, before: impl Fn(&Mark) -> bool, room: &mut i64) -> bool {
        let bytes = mark.bytes();
        if self.read.is_replaced_by(&mark) {
            self.read = mark;
            return true;
        }
        if let Some(more) = &mut self.more {
            let from = more.reads.len().saturating_sub(LATE);
            if let Some(own) = more.reads[from..].iter_mut().find(|old| old.is_replaced_by(&mark)) {
                *own = mark;
                return true;
            }
            more.forget_reads(bytes, &before, room);
        }
        if self.read.bytes() & bytes != 0 && before(&self.read) {
            self.read.clear(bytes);
        }
        if self.read.is_none() {
            self.read = mark;
            return true;
        }
        if *room <= 0 {
            return false;
        }
        *room -= 1;
        self.more.get_or_insert_default().reads.push(mark);
        true
    }

    /// A write is the last one of its bytes, and no read has come since.
    #[inline]
    pub fn put_write(&mut self, mark: Mark, room: &mut i64) {
        let bytes = mark.bytes();
        self.read.clear(bytes);
        self.write.clear(bytes);
        if let Some(more) = &mut self.more {
            if more.put_write(&mark, room) {
                return;
            }
            if more.is_none() {
                self.more = None;
            }
        }
        if self.write.is_none() {
            self.write = mark;
            return;
        }
        // Writes share no byte, so they are no more than the row has bytes.
        *room -= 1;
        self.more.get_or_insert_default().writes.push(mark);
    }

    /// Nothing is known of these bytes any more.
    fn forget(&mut self, bytes: u128) {
        self.read.clear(bytes);
        self.write.clear(bytes);
        if let Some(more) = &mut self.more {
            let words = more.words.iter_mut().flat_map(|words| words.iter_mut());
            more.reads.iter_mut().chain(&mut more.writes).chain(words).for_each(|mark| mark.clear(bytes));
        }
    }
}

impl More {
    fn is_none(&self) -> bool {
        self.reads.is_empty() && self.writes.is_empty() && self.words.is_none()
    }

    /// Forgets what a write makes superfluous, and keeps it where that is by words.
    fn put_write(&mut self, mark: &Mark, room: &mut i64) -> bool {
        let bytes = mark.bytes();
        for list in [&mut self.reads, &mut self.writes] {
            let count = list.len();
            list.retain_mut(|old| {
                old.clear(bytes);
                !old.is_none()
            });
            *room += (count - list.len()) as i64;
        }
        if self.reads.is_empty() {
            self.tidy_at = 0;
        }
        let word = mark.word();
        if self.words.is_none() && word.is_some() && self.writes.len() >= MANY {
            self.sort_by_words(room);
        }
        let Some(words) = &mut self.words else { return false };
        let Some(word) = word else {
            words_of(bytes).for_each(|word| words[word].clear(bytes));
            if bytes == u128::MAX {
                self.words = None;
                *room += 32;
            }
            return false;
        };
        words[word].clear(bytes);
        let free = words[word].is_none();
        if free {
            words[word] = *mark;
        }
        free
    }

    fn sort_by_words(&mut self, room: &mut i64) {
        let mut words = Box::new([Mark::NONE; 32]);
        self.writes.retain(|mark| match mark.word() {
            Some(word) if words[word].is_none() => {
                words[word] = *mark;
                *room += 1;
                false
            }
            _ => true,
        });
        *room -= 32;
        self.words = Some(words);
    }

    fn forget_reads(&mut self, bytes: u128, before: impl Fn(&Mark) -> bool, room: &mut i64) {
        let count = self.reads.len();
        if count > FEW && count < self.tidy_at {
            return;
        }
        self.reads.retain_mut(|old| {
            if old.bytes() & bytes != 0 && before(old) {
                old.clear(bytes);
            }
            !old.is_none()
        });
        if self.reads.len() > FEW {
            self.drop_own_past();
        }
        *room += (count - self.reads.len()) as i64;
        self.tidy_at = self.reads.len() * 2;
    }

    /// Of reads of the same bytes by the same lanes only the last one stays.
    fn drop_own_past(&mut self) {
        self.reads.sort_by_key(|mark| (mark.lanes_key(), std::cmp::Reverse(mark.clock)));
        let (mut key, mut later, mut later_plain) = (None, 0, 0);
        self.reads.retain_mut(|mark| {
            if key != Some(mark.lanes_key()) {
                (key, later, later_plain) = (Some(mark.lanes_key()), 0, 0);
            }
            let bytes = mark.bytes();
            mark.clear(if mark.what.atomic() { later } else { later_plain });
            later |= bytes;
            later_plain |= if mark.what.atomic() { 0 } else { bytes };
            !mark.is_none()
        });
    }
}

/// The words of a row that these bytes are in.
#[inline]
fn words_of(mut bytes: u128) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        if bytes == 0 {
            return None;
        }
        let word = bytes.trailing_zeros() / 4;
        bytes &= !(0xf << (word * 4));
        Some(word as usize)
    })
}

/// The shadow of a memory that begins at 0 and is not large.
#[derive(Debug, Default)]
pub(super) struct Flat {
    rows: Vec<Row>,
    touched: bool,
}

impl Flat {
    /// A new memory of so many bytes; says how many marks the lists of the old one held.
    pub fn begin(&mut self, bytes: u32) -> i64 {
        let rows = u64::from(bytes).div_ceil(ROW) as usize;
        let listed = self.listed();
        if self.touched {
            self.rows.fill_with(|| Row::NONE);
        }
        self.rows.resize_with(rows, || Row::NONE);
        self.touched = false;
        listed
    }

    /// Marks that its lists hold.
    pub fn listed(&self) -> i64 {
        if self.touched { self.rows.iter().map(Row::listed).sum() } else { 0 }
    }

    /// A row, if it is there.
    #[inline]
    pub fn row(&mut self, number: u64) -> Option<&mut Row> {
        self.touched = true;
        self.rows.get_mut(usize::try_from(number).ok()?)
    }

    /// Forgets bytes.
    pub fn forget(&mut self, address: u64, bytes: u64) {
        let Some(last) = bytes.checked_sub(1).and_then(|more| address.checked_add(more)) else { return };
        let first = address / ROW;
        for (row, number) in self.rows.iter_mut().skip(first as usize).zip(first..=last / ROW) {
            row.forget(within(number, address, last));
        }
    }

    pub fn bytes(&self) -> u64 {
        (self.rows.len() * size_of::<Row>()) as u64
    }
}

type Page = [Row; 1 << PAGE];

/// The shadow of global memory.
#[derive(Debug, Default)]
pub(super) struct Paged {
    numbers: FxHashMap<u64, u32>,
    pages: Vec<(u64, Box<Page>)>,
    /// Pages that were found last: number and place.
    recent: Recent,
}

#[derive(Debug)]
struct Recent([(u64, u32); 64]);

impl Default for Recent {
    fn default() -> Recent {
        Recent([(u64::MAX, 0); 64])
    }
}

impl Paged {
    /// A row, which is made if it is not there.
    #[inline]
    pub fn row(&mut self, number: u64) -> &mut Row {
        let page = number >> PAGE;
        let slot = page as usize & 63;
        let (known, mut at) = self.recent.0[slot];
        if known != page {
            at = self.find(page);
            self.recent.0[slot] = (page, at);
        }
        &mut self.pages[at as usize].1[number as usize & ((1 << PAGE) - 1)]
    }

    #[cold]
    fn find(&mut self, page: u64) -> u32 {
        let pages = &mut self.pages;
        *self.numbers.entry(page).or_insert_with(|| {
            pages.push((page, Box::new([const { Row::NONE }; 1 << PAGE])));
            // Pages of 16 KiB: there are fewer than 2^32 of them in any host memory.
            (pages.len() - 1) as u32
        })
    }

    /// Forgets bytes.
    pub fn forget(&mut self, address: u64, bytes: u64) {
        let Some(last) = bytes.checked_sub(1).and_then(|more| address.checked_add(more)) else { return };
        let bits = u64::from(PAGE) + u64::from(ROW.trailing_zeros());
        for (page, rows) in &mut self.pages {
            if *page < address >> bits || *page > last >> bits {
                continue;
            }
            for (index, row) in rows.iter_mut().enumerate() {
                let start = (*page << bits) + index as u64 * ROW;
                if start > last || start + (ROW - 1) < address || row.is_none() {
                    continue;
                }
                row.forget(within(start / ROW, address, last));
            }
        }
    }

    /// Marks that its lists hold.
    pub fn listed(&self) -> i64 {
        self.pages.iter().flat_map(|(_, rows)| rows.iter()).map(Row::listed).sum()
    }

    pub fn bytes(&self) -> u64 {
        (self.pages.len() * size_of::<Page>()) as u64
    }
}

/// The bytes of a row that are between two addresses, both included; one is at least.
fn within(row: u64, first: u64, last: u64) -> u128 {
    let start = row * ROW;
    let from = first.saturating_sub(start) as u32;
    let to = (last - start).min(ROW - 1) as u32;
    span(from, to - from + 1)
}

/// So many bytes of a row, from this one on; one at least.
#[inline]
pub(super) fn span(from: u32, count: u32) -> u128 {
    (u128::MAX >> (128 - count)) << from
}
