//! What the shadow keeps of a row of 128 bytes: accesses that a later one may race with and no other stands for.
//!
//! A row is one list of records, each for the bytes that a warp's instruction touched: a coalesced access is one record. Where
//! many narrow accesses meet, and where accesses are strong, the row is kept by granules of four bytes.
//!
//! A record goes when a newer one *dominates* it: it is ordered before the newer one, and all that would race with it
//! would race with the newer one, or be ordered behind both. A weak write dominates everything before it, a weak read all reads before
//! it; a strong write strong accesses of the same CTA that reach as far or farther. Of a strong access of another CTA, two
//! that would dominate it but for that do, if who is morally strong to both is to it, too.

use super::cell::Cell;
use super::check::Check;
use super::links::Links;
use super::lists::{Lists, drop_empty};
use super::record::{Record, WRITES};
use crate::shadow::Bytes;

/// Narrow records in a row above which it is kept by granules, if so many of them write.
const NARROW: usize = 36;
/// And in any case. Reads are compared with writes alone: many cost little.
const MANY: usize = 72;
/// Sets of granules that are kept for rows to come.
const SPARE: usize = 64;

/// The granules of a row.
pub(super) type Cells = Box<[Cell; 32]>;
/// Sets of granules that nothing is in.
pub(super) type Spare = Vec<Cells>;

/// A row.
#[derive(Debug, Default)]
pub(super) struct Row {
    pub lists: Lists,
    pub cells: Option<Cells>,
}

/// The bytes of a granule.
#[inline]
pub(super) fn granule(index: u32) -> Bytes {
    0xf << (index * 4)
}

impl Row {
    /// An access that is not strong. `visible`: where it has written what memory holds now.
    #[inline]
    pub fn plain(&mut self, new: &Record, check: &mut Check<'_>, visible: Bytes, spare: &mut Spare) {
        let Some(cells) = &mut self.cells else {
            self.lists.access(new, check, &[]);
            let writes = self.lists.writes.len();
            if writes > NARROW || writes + self.lists.reads.len() > MANY {
                self.maybe_split(spare);
            }
            return;
        };
        let mut left = new.mask;
        let mut alone = new.mask == Bytes::MAX && new.is(WRITES);
        while left != 0 {
            let index = left.trailing_zeros() / 4;
            let mask = new.mask & granule(index);
            left &= !granule(index);
            let cell = &mut cells[index as usize];
            cell.lists().access(&Record { mask, ..*new }, check, &[]);
            if visible & mask != 0
                && new.is(WRITES)
                && let Some(messages) = cell.messages()
            {
                messages.overwrite(visible & mask);
            }
            alone = alone
                && cell.messages().is_none()
                && cell.lists().writes.len() == 1
                && cell.lists().reads.is_empty();
        }
        if alone {
            cells.iter_mut().for_each(|cell| {
                cell.lists().writes.retain(|_| false);
                cell.lists().reads.prune = 0;
            });
            if let Some(cells) = self.cells.take().filter(|_| spare.len() < SPARE) {
                spare.push(cells);
            }
            self.lists.writes.push(*new);
        }
    }

    fn maybe_split(&mut self, spare: &mut Spare) {
        let narrow = |record: &&Record| record.mask.count_ones() <= 8;
        let all = self.lists.writes.iter().chain(self.lists.reads.iter());
        if all.filter(narrow).count() > NARROW {
            self.split(spare);
        }
    }

    /// Its granules, each by itself.
    pub fn split(&mut self, spare: &mut Spare) -> &mut [Cell; 32] {
        let lists = &mut self.lists;
        self.cells.get_or_insert_with(|| {
            let new = || Box::new(std::array::from_fn(|_| Cell::default()));
            let mut cells = spare.pop().unwrap_or_else(new);
            let lists = std::mem::take(lists);
            let mut spread = |record: &Record, write: bool| {
                let mut left = record.mask;
                while left != 0 {
                    let index = left.trailing_zeros() / 4;
                    left &= !granule(index);
                    let part = Record { mask: record.mask & granule(index), ..*record };
                    let lists = cells[index as usize].lists();
                    let list = if write { &mut lists.writes } else { &mut lists.reads };
                    list.push(part);
                }
            };
            lists.writes.iter().for_each(|record| spread(record, true));
            lists.reads.iter().for_each(|record| spread(record, false));
            cells
        })
    }

    /// Forgets everything: as new.
    pub fn end(&mut self, links: &mut Links, spare: &mut Spare) {
        if !self.lists.writes.is_empty() {
            self.lists.writes.iter_mut().for_each(|record| record.mask = 0);
            drop_empty(&mut self.lists.writes, links);
        }
        self.lists.reads.retain(|_| false);
        let Some(mut cells) = self.cells.take() else { return };
        for cell in cells.iter_mut() {
            cell.lists().forget(Bytes::MAX, links);
            cell.lists().reads.prune = 0;
            *cell.messages() = None;
        }
        if spare.len() < SPARE {
            spare.push(cells);
        }
    }

    /// Forgets what happened to these bytes.
    pub fn forget(&mut self, gone: Bytes, links: &mut Links) {
        self.lists.forget(gone, links);
        if let Some(cells) = &mut self.cells {
            for cell in cells.iter_mut() {
                cell.lists().forget(gone, links);
                if let Some(messages) = cell.messages() {
                    messages.all.retain(|message| message.mask & gone == 0);
                    messages.lost = None;
                    messages.lost_up_to = 0;
                    messages.stamp = None;
                }
            }
        }
    }

    /// Host memory of what it holds, about.
    pub fn held(&self) -> u64 {
        let lists = |lists: &Lists| (lists.writes.held() + lists.reads.held()) as u64;
        let cell = |cell: &Cell| {
            let (own, messages) = cell.held();
            lists(own) + size_of::<Cell>() as u64 + messages as u64
        };
        lists(&self.lists) + self.cells.as_ref().map_or(0, |cells| cells.iter().map(cell).sum())
    }
}
