//! Lists of accesses that a later one may race with: of a row or of a granule ([`super::rows`]).

use super::check::Check;
use super::links::{Links, Name};
use super::record::{COPY, Record, STRONG, WRITES};
use super::release::Reach;
use super::short::Short;
use crate::shadow::Bytes;

/// Records in a list above which one race is enough.
const LONG: usize = 80;

/// Records: older ones first.
#[derive(Debug, Default)]
pub(super) struct Lists {
    pub writes: Short,
    pub reads: Short,
}

impl Lists {
    /// A newer access is compared with what is kept, and kept itself. `seen`: strong writes that it, an atomic, has read,
    /// through other atomics, too.
    pub fn access(&mut self, new: &Record, check: &mut Check<'_>, seen: &[Name]) {
        let long = self.writes.len() + self.reads.len() > LONG;
        let mut left = new.mask;
        if compare_all(&mut self.writes, new, (long, &mut left), check, seen) {
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
        if compare_all(&mut self.reads, new, (long, &mut left), check, seen) {
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

    pub(super) fn forget(&mut self, gone: Bytes, links: &mut Links) {
        self.writes.iter_mut().chain(self.reads.iter_mut()).for_each(|record| record.mask &= !gone);
        drop_empty(&mut self.writes, links);
        self.reads.retain(|read| read.mask != 0);
    }
}

pub(super) fn drop_empty(writes: &mut Short, links: &mut Links) {
    writes.retain(|write| {
        if write.mask == 0 && write.link != 0 && write.is(STRONG) {
            links.close(write.link);
        }
        write.mask != 0
    });
}

/// Compares a newer access with records, the latest first; where there are many (`long`), only at bytes that have no race yet
/// (`left`). Whether nothing is left of one of them.
#[inline]
fn compare_all(
    records: &mut Short,
    new: &Record,
    (long, left): (bool, &mut Bytes),
    check: &mut Check<'_>,
    seen: &[Name],
) -> bool {
    let mut gone = false;
    for old in records.iter_mut().rev() {
        let at = old.mask & if long { *left } else { new.mask };
        if check.is_settled(old) {
            (old.mask, gone) = (0, true);
        } else if at != 0 {
            gone |= one(old, new, at, check, seen, left);
        }
    }
    gone
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
