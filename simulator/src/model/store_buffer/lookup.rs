//! Which rows of a warp have entries of certain bytes.
//!
//! Only bytes that a lane has stored itself concern it, so two rows whose lanes are the same step apart meet in all lanes or in
//! none: their bases say which. So a row with a step is found by step and base, as one thing, in a table that all steps share. Rows
//! without a step are in it lane by lane. For each step the table remembers between which addresses its rows lie, so that accesses to
//! other arrays need no look at it at all; what accesses with another step between these addresses asks lane by lane.
//!
//! It misses nothing, and answers for all lanes at once only where that is all there is to say ([`Rows::look`]).
//!
//! A few rows are not worth a table; they are walked. Rows come into it when there is something to be found ([`Rows::enlist`]): mostly nobody
//! reads what a warp has just stored before it drains. What is taken out stays in the table until its row goes.
//!
//! The table is by *line*: as many bytes as the widest entry has, so that each entry lies in one. Wider lines would gather rows
//! that have nothing to do with each other, where lanes are further apart than their turns.

use smallvec::SmallVec;

use super::rows::{Row, Rows};
use super::table::{FEW, apart, of_lane};
use crate::exec::lanes;
use crate::model::targets::{Targets, overlap};

/// Rows up to which all are looked at.
const SHORT: usize = 8;
/// Entries that an access meets: a row, lanes, and how far behind a lane's entry its access begins.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hit {
    pub row: u32,
    pub lanes: u32,
    pub behind: u64,
}

/// All entries that an access meets, one of a lane at most.
#[derive(Clone, Debug, Default)]
pub(super) struct Hits {
    /// No lane is in two, so there is room for all in place.
    list: SmallVec<[Hit; 32]>,
    pub lanes: u32,
}

impl Hits {
    #[inline(always)]
    fn add(&mut self, row: usize, lanes: u32, behind: u64) -> Option<()> {
        if self.lanes & lanes != 0 {
            return None;
        }
        self.list.push(Hit { row: row as u32, lanes, behind });
        self.lanes |= lanes;
        Some(())
    }

    pub fn each(&self) -> &[Hit] {
        &self.list
    }
}

impl Rows {
    /// Puts rows into the table that are not in it yet, if there are more than a few: something is about to be found.
    #[inline(always)]
    pub fn enlist(&mut self) {
        if self.rows.len() > SHORT && self.rows.len() != self.table.listed {
            self.enlist_all();
        }
    }

    #[inline(never)]
    fn enlist_all(&mut self) {
        if self.table.heads.is_empty() {
            self.relist(FEW);
            return;
        }
        let first = self.table.listed;
        self.table.listed = self.rows.len();
        for row in first..self.rows.len() {
            // All may have been listed anew meanwhile.
            if self.rows[row].bucket.linked == 0 {
                self.list(row);
            }
        }
    }

    fn relist(&mut self, buckets: usize) {
        self.table.heads.clear();
        self.table.heads.resize(buckets, 0);
        (self.table.nodes, self.table.listed) = (0, self.rows.len());
        let widest = self.rows.iter().map(|row| u32::from(row.bytes).next_power_of_two()).max();
        self.table.line = self.table.line.max(widest.unwrap_or(1).trailing_zeros());
        self.rows.iter_mut().for_each(|row| row.bucket.linked = 0);
        for row in 0..self.rows.len() {
            // It may want more buckets, and have listed all then.
            if self.rows[row].bucket.linked == 0 {
                self.list(row);
            }
        }
    }

    fn list(&mut self, row: usize) {
        let mask = self.masks[row];
        let scattered = self.rows[row].scattered != 0;
        let nodes = if scattered { mask.count_ones() } else { u32::from(mask != 0) };
        let needed = 2 * (self.table.nodes + nodes as usize);
        if needed > self.table.heads.len() || !self.table.has_room(self.rows[row].bytes) {
            self.relist(needed.next_power_of_two().max(FEW) * 2);
            return;
        }
        self.table.nodes += nodes as usize;
        self.rows[row].bucket.linked = mask;
        let node = (row as u32) << 5;
        if !scattered && mask != 0 {
            let bucket = self.table.bucket(self.rows[row].step, self.table.line(self.rows[row].base));
            self.rows[row].bucket.next = std::mem::replace(&mut self.table.heads[bucket], node + 1);
            return;
        }
        for lane in lanes(mask) {
            let bucket = self.table.bucket(of_lane(lane), self.table.line(self.address(row, lane)));
            let node = node + lane as u32 + 1;
            *self.link(row, lane) = std::mem::replace(&mut self.table.heads[bucket], node);
        }
    }

    /// Takes the last row out of the table, if it is in it: then it is the first of each bucket.
    pub fn delist(&mut self) {
        let Some(&row) = self.rows.last() else { return };
        let at = self.rows.len() - 1;
        if at >= self.table.listed {
            return;
        }
        self.table.listed = at;
        self.rows[at].bucket.linked = 0;
        if row.bucket.linked == 0 {
            return;
        }
        if row.scattered == 0 {
            let bucket = self.table.bucket(row.step, self.table.line(row.base));
            self.table.heads[bucket] = row.bucket.next;
            self.table.nodes -= 1;
            return;
        }
        // In the opposite order: two lanes may be in the same bucket.
        for lane in (0..32).rev().filter(|lane| row.bucket.linked >> lane & 1 != 0) {
            let bucket = self.table.bucket(of_lane(lane), self.table.line(self.address(at, lane)));
            self.table.heads[bucket] = self.linked(at, lane);
            self.table.nodes -= 1;
        }
    }

    /// Calls for the rows of a step whose bytes in the place of lane 0 meet these, newest first in each line, until told to stop:
    /// then it answers None.
    #[inline(always)]
    fn of_step(
        &self,
        step: u64,
        (base, bytes): (u64, u32),
        mut found: impl FnMut(usize, &Row) -> Option<()>,
    ) -> Option<()> {
        for line in self.table.lines(base, bytes) {
            let mut next = self.table.heads[self.table.bucket(step, line)];
            while next != 0 {
                let (at, lane) = ((next - 1) as usize >> 5, (next - 1) as usize & 31);
                let row = &self.rows[at];
                if row.scattered != 0 {
                    next = self.linked(at, lane);
                    continue;
                }
                next = row.bucket.next;
                if row.step == step && overlap((row.base, row.bytes.into()), (base, bytes)) {
                    found(at, row)?;
                }
            }
        }
        Some(())
    }

    /// As [`Self::of_step`], for rows without a step: those of whose entries a lane's meets these bytes.
    #[inline(always)]
    fn of_lane(
        &self,
        of: usize,
        (address, bytes): (u64, u32),
        mut found: impl FnMut(usize) -> Option<()>,
    ) -> Option<()> {
        for line in self.table.lines(address, bytes) {
            let mut next = self.table.heads[self.table.bucket(of_lane(of), line)];
            while next != 0 {
                let (at, lane) = ((next - 1) as usize >> 5, (next - 1) as usize & 31);
                let row = &self.rows[at];
                if row.scattered == 0 {
                    next = row.bucket.next;
                    continue;
                }
                next = self.linked(at, lane);
                let own = lane == of && self.masks[at] >> of & 1 != 0;
                if own && overlap((self.address(at, of), row.bytes.into()), (address, bytes)) {
                    found(at)?;
                }
            }
        }
        Some(())
    }

    /// The row of the oldest of a lane's entries that have some of these bytes.
    pub fn find(&self, lane: usize, address: u64, bytes: u32) -> Option<usize> {
        let hull = (address, address.saturating_add(u64::from(bytes.max(1) - 1)));
        if self.table.is_far(hull) {
            return None;
        }
        let has = |row: &usize| self.masks[*row] >> lane & 1 != 0;
        let not_listed = || {
            let meets = |row: &usize| {
                overlap((self.address(*row, lane), self.rows[*row].bytes.into()), (address, bytes))
            };
            (self.table.listed..self.rows.len()).filter(has).find(meets)
        };
        if self.table.listed == 0 {
            return not_listed();
        }
        let mut oldest = usize::MAX;
        for step in self.table.near(hull) {
            let base = address.wrapping_sub(step.wrapping_mul(lane as u64));
            let _ = self.of_step(step, (base, bytes), |row, _| {
                oldest = if has(&row) { oldest.min(row) } else { oldest };
                Some(())
            });
        }
        if !apart(self.table.loose, hull) {
            let _ = self.of_lane(lane, (address, bytes), |row| {
                oldest = oldest.min(row);
                Some(())
            });
        }
        if oldest == usize::MAX { not_listed() } else { Some(oldest) }
    }

    /// Whether entries have just the bytes of the access that meets them.
    #[inline(always)]
    pub fn is_exact(&self, hit: &Hit, bytes: u32) -> bool {
        hit.behind == 0 && u32::from(self.rows[hit.row as usize].bytes) == bytes
    }

    /// Finds all entries of these lanes that their access meets. None: they are to be asked for lane by lane.
    #[inline(always)]
    pub fn look(&mut self, targets: &Targets, bytes: u32, lanes: u32, hits: &mut Hits) -> Option<()> {
        if self.masks.is_empty() {
            return Some(());
        }
        let hull = targets.hull(lanes, bytes);
        if self.table.is_far(hull) {
            return Some(());
        }
        self.enlist();
        let listed = self.table.listed;
        for (row, mask) in self.masks[listed..].iter().enumerate().filter(|(_, mask)| *mask & lanes != 0) {
            self.compare(listed + row, targets, bytes, mask & lanes, hits)?;
        }
        if listed == 0 {
            return Some(());
        }
        for step in self.table.near(hull) {
            if targets.step == Some(step) {
                self.of_step(step, (targets.base, bytes), |at, row| match self.masks[at] & lanes {
                    0 => Some(()),
                    among => hits.add(at, among, targets.base.wrapping_sub(row.base)),
                })?;
            } else {
                self.miss(targets, lanes, |lane, address| {
                    let base = address.wrapping_sub(step.wrapping_mul(lane as u64));
                    let none = |row: usize| (self.masks[row] >> lane & 1 == 0).then_some(());
                    self.of_step(step, (base, bytes), |row, _| none(row))
                })?;
            }
        }
        if !apart(self.table.loose, hull) {
            self.miss(targets, lanes, |lane, address| self.of_lane(lane, (address, bytes), |_| None))?;
        }
        Some(())
    }

    /// None if there is something for one of the lanes.
    #[inline(always)]
    fn miss(&self, targets: &Targets, among: u32, none: impl Fn(usize, u64) -> Option<()>) -> Option<()> {
        lanes(among).try_for_each(|lane| none(lane, targets.address(lane)))
    }

    /// What these lanes of a row have to do with an access.
    #[inline(always)]
    fn compare(&self, row: usize, targets: &Targets, bytes: u32, among: u32, hits: &mut Hits) -> Option<()> {
        let Row { base, step, scattered, bytes: others, .. } = &self.rows[row];
        if *scattered == 0 && targets.step == Some(*step) {
            let met = overlap((*base, (*others).into()), (targets.base, bytes));
            return if met { hits.add(row, among, targets.base.wrapping_sub(*base)) } else { Some(()) };
        }
        self.compare_each(row, targets, bytes, among, hits)
    }

    /// The same, where lanes are not the same step apart.
    #[inline(never)]
    fn compare_each(
        &self,
        row: usize,
        targets: &Targets,
        bytes: u32,
        among: u32,
        hits: &mut Hits,
    ) -> Option<()> {
        let own = self.targets(row);
        let met = own.meet(targets, (self.rows[row].bytes.into(), bytes), among);
        if met == 0 {
            return Some(());
        }
        // With two steps, or none, lanes may meet in different ways: only the simple one is done at once.
        let same = lanes(met).all(|lane| own.address(lane) == targets.address(lane));
        same.then(|| hits.add(row, met, 0))?
    }
}
