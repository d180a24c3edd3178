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
use super::links::{Links, Name};
use super::record::{COPY, Record, STRONG, WRITES};
use super::release::Reach;
use super::short::Short;
use crate::shadow::Bytes;

/// Records in a list above which one race is enough.
const LONG: usize = 80;
/// Narrow records in a row above which it is kept by granules, if so many of them write.
const NARROW: usize = 36;
/// And in any case. Reads are compared with writes alone: many cost little.
const MANY: usize = 72;
/// Sets of granules that are kept for rows to come.
const SPARE: usize = 64;

/// Records: older ones first.
#[derive(Debug, Default)]
pub(super) struct Lists {
    pub writes: Short,
    pub reads: Short,
}

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

impl Lists {
    /// A newer access is compared with what is kept, and kept itself. `seen`: strong writes that it, an atomic, has read,
    /// through other atomics, too.
    pub fn access(&mut self, new: &Record, check: &mut Check<'_>, seen: &[Name]) {
        let long = self.writes.len() + self.reads.len() > LONG;
        let mut left = new.mask;
        let mut gone = false;
        for old in self.writes.iter_mut().rev() {
            let at = old.mask & if long { left } else { new.mask };
            if check.is_settled(old) {
                (old.mask, gone) = (0, true);
            } else if at != 0 {
                gone |= one(old, new, at, check, seen, &mut left);
            }
        }
        if gone {
            drop_empty(&mut self.writes, check.links);
        }
        if !new.is(WRITES) {
            if self.reads.first().is_some_and(|first| check.is_settled(first)) {
                self.reads.retain(|read| !check.is_settled(read));
            }
            self.older_grids(new, check);
            self.add_read(new);
            return;
        }
        gone = false;
        for old in self.reads.iter_mut().rev() {
            let at = old.mask & if long { left } else { new.mask };
            if check.is_settled(old) {
                (old.mask, gone) = (0, true);
            } else if at != 0 {
                gone |= one(old, new, at, check, seen, &mut left);
            }
        }
        if gone {
            self.reads.retain(|read| read.mask != 0);
        }
        self.writes.push(*new);
    }

    /// An atomic that is kept here turns out to have read these writes: what it dominates goes, as in [`Self::access`].
    pub fn has_seen(&mut self, new: &Record, check: &mut Check<'_>, seen: &[Name]) {
        let its = |record: &&Record| record.is(STRONG) && record.link == new.link;
        let Some(kept) = self.writes.iter().find(its).copied() else { return };
        let (mut left, mut gone) = (kept.mask, false);
        for old in self.writes.iter_mut() {
            let at = old.mask & kept.mask;
            let is_seen = old.link != new.link && seen.iter().any(|name| name.0 == old.link);
            if at != 0 && is_seen && old.is(STRONG) && check.excused(old, new) {
                gone |= one(old, &kept, at, check, seen, &mut left);
            }
        }
        if gone {
            drop_empty(&mut self.writes, check.links);
        }
    }

    /// A grid's first read here stands for those of grids that it comes behind: else each launch would leave its own.
    fn older_grids(&mut self, new: &Record, check: &Check<'_>) {
        if new.is(STRONG) || self.reads.last().is_none_or(|last| last.grid == new.grid) {
            return;
        }
        for old in self.reads.iter_mut() {
            if old.grid != new.grid && old.mask & new.mask != 0 && check.works.ordered(old.grid, new.grid) {
                old.mask &= !new.mask;
            }
        }
        self.reads.retain(|read| read.mask != 0);
    }

    fn add_read(&mut self, new: &Record) {
        for old in self.reads.iter_mut().rev().take(4) {
            if old.grid != new.grid || old.cta != new.cta || old.flags != new.flags || old.shape != new.shape
            {
                continue;
            }
            // The same threads again.
            if old.same_threads(new) && old.mask & !new.mask == 0 {
                *old = *new;
                return;
            }
            let alike = old.time == new.time && old.kind == new.kind && old.lanes == new.lanes;
            if alike && old.flags & COPY == 0 && old.base == new.base {
                if new.lanes != 0 && old.mask == new.mask {
                    old.warps |= new.warps;
                    return;
                }
                if old.warps == new.warps {
                    old.mask |= new.mask;
                    return;
                }
            }
        }
        self.reads.push(*new);
        if self.reads.len() > 32 && self.reads.len() >= self.reads.prune as usize {
            self.prune_reads();
            self.reads.prune = (self.reads.len() * 2) as u32;
        }
    }

    /// Drops reads that later ones of the same threads stand for.
    fn prune_reads(&mut self) {
        let mut order: Vec<u32> = (0..self.reads.len() as u32).collect();
        let reads = &mut self.reads;
        let who = |read: &Record| {
            (read.grid, read.cta, read.lanes, read.warps, read.base, read.shape, read.flags, read.mask)
        };
        order.sort_by_key(|at| (who(&reads[*at as usize]), *at));
        for pair in order.windows(2) {
            let (old, new) = (reads[pair[0] as usize], reads[pair[1] as usize]);
            if who(&old) == who(&new) && old.same_threads(&new) {
                reads[pair[0] as usize].mask = 0;
            }
        }
        self.reads.retain(|read| read.mask != 0);
    }

    fn forget(&mut self, gone: Bytes, links: &mut Links) {
        self.writes.iter_mut().chain(self.reads.iter_mut()).for_each(|record| record.mask &= !gone);
        drop_empty(&mut self.writes, links);
        self.reads.retain(|read| read.mask != 0);
    }
}

fn drop_empty(writes: &mut Short, links: &mut Links) {
    writes.retain(|write| {
        if write.mask == 0 && write.link != 0 && write.is(STRONG) {
            links.close(write.link);
        }
        write.mask != 0
    });
}

/// Compares one pair. Whether nothing is left of the older record.
#[inline]
fn one(
    old: &mut Record,
    new: &Record,
    at: Bytes,
    check: &mut Check<'_>,
    seen: &[Name],
    left: &mut Bytes,
) -> bool {
    let excused = check.excused(old, new);
    let strong = new.is(STRONG);
    let may_dominate = new.is(WRITES)
        && (!strong
            || (old.is(STRONG)
                && old.size() == new.size()
                && new.reach() <= old.reach()
                && old.grid == new.grid));
    if excused && !may_dominate {
        return false;
    }
    // What an atomic has read need not be ordered before the atomic itself, but is so before all that is behind it.
    let seen =
        old.is(WRITES) && old.is(STRONG) && old.link != 0 && seen.iter().any(|name| name.0 == old.link);
    let mut ordered = at;
    if !(seen && excused) {
        let compared = check.compare(old, new, at, excused);
        *left &= !compared.racy;
        if !seen {
            ordered = compared.ordered;
        }
    }
    if !may_dominate || ordered == 0 {
        return false;
    }
    if strong && old.cta != new.cta {
        // Whoever is morally strong to the newer one in its CTA only may race with the older one.
        if ordered != old.mask {
            return false;
        }
        let cluster = check.grid.map_or(1, |grid| grid.cluster);
        let Some(other) = old.warps.checked_sub(1) else {
            old.warps = new.cta.saturating_add(1);
            return false;
        };
        let apart = Reach::between(other, new.cta, cluster);
        if apart == Reach::Cta || Reach::between(old.cta, new.cta, cluster) > apart {
            return false;
        }
    }
    old.mask &= !ordered;
    old.mask == 0
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
