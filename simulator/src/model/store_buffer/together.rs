//! A step of emptying the buffers of many lanes at once.
//!
//! It is as good as one lane after another where only the order differs in which different bytes are written within the step, as nobody sees
//! that. So the newest entries of all the lanes have to lie in a few rows that go to different places. That is what stores of
//! arrays look like.

use super::drain::Towards;
use super::rows::{Row, Rows};
use super::*;
use crate::model::targets::Targets;

/// Rows that the newest entries of lanes may be in.
const MOST_ROWS: usize = 6;
/// Lanes up to which it is as fast to go one by one.
const FEW_LANES: u32 = 2;
/// So far that lanes would come round the end of all addresses.
const FAR: u64 = 1 << 56;
/// Bytes of an entry: what most programs store.
const WORD: u8 = 4;

/// The newest entries of some lanes: those of one row.
#[derive(Clone, Copy, Debug, Default)]
struct Group {
    row: usize,
    lanes: u32,
    /// The first byte that they write, and the last.
    hull: (u64, u64),
    /// Where the first one is.
    host: *mut u8,
}

/// All of them.
#[derive(Debug, Default)]
struct Groups {
    list: [Group; MOST_ROWS],
    len: usize,
}

impl StoreBuffer {
    /// One step of [`Self::empty`] of both buffers, for each of these lanes, which have entries. None: nothing was done, and they are to go
    /// one by one.
    pub(super) fn empty_together(
        &mut self,
        at: &At,
        among: u32,
        towards: Towards,
        world: &mut World<'_>,
    ) -> Option<()> {
        if among.count_ones() <= FEW_LANES || self.given.lockstep || world.notes.is_some() {
            return None;
        }
        let warp = &mut self.warps[at.warp as usize];
        let global = warp.with_entries(among, Space::Global);
        // What may go to a slot of the CTA goes there by chance, lane by lane.
        let by_chance = match towards {
            Towards::Device => false,
            Towards::Cta => global != 0,
            Towards::Fence => true,
        };
        if by_chance || global != 0 && world.held.is_some() {
            return None;
        }
        let mut all = [Groups::default(), Groups::default()];
        for (space, lanes) in [(Space::Global, global), (Space::Shared, among & !global)] {
            let groups = &mut all[space as usize];
            warp.rows[space as usize].newest_of(lanes, groups)?;
            for group in &mut groups.list[..groups.len] {
                group.host = world.span(at.cta, group.hull)?;
            }
        }
        for space in SPACES {
            let groups = &all[space as usize];
            for group in &groups.list[..groups.len] {
                let rows = &warp.rows[space as usize];
                // SAFETY: the hull of these lanes, each of which stores a word, was found there.
                world.changed |= unsafe { rows.put(group) };
                let flushes = &mut self.counts.flushes[space as usize];
                warp.count_out(space, (group.lanes, group.lanes & rows.rows[group.row].strong), flushes);
                warp.rows[space as usize].take_all(group);
            }
            warp.rows[space as usize].tidy();
        }
        Some(())
    }
}

impl Rows {
    /// Finds the newest entries of these lanes. None: they are in too many rows, or some of their places overlap, or they are no words.
    fn newest_of(&self, lanes: u32, groups: &mut Groups) -> Option<()> {
        let mut left = lanes;
        for (at, mask) in self.masks.iter().enumerate().rev() {
            if left == 0 {
                break;
            }
            let these = mask & left;
            if these == 0 {
                continue;
            }
            let row = &self.rows[at];
            // Steps of addresses that are there are far less than that.
            let is_plain = row.bytes == WORD && row.step.cast_signed().unsigned_abs() < FAR;
            let to = groups.list.get_mut(groups.len).filter(|_| is_plain)?;
            let targets =
                if row.scattered == 0 { Targets::stepped(row.base, row.step) } else { self.targets(at) };
            let hull = targets.hull(these, WORD.into());
            let group = Group { row: at, lanes: these, hull, host: std::ptr::null_mut() };
            *to = group;
            if !groups.list[..groups.len].iter().all(|other| self.are_apart(&group, other)) {
                return None;
            }
            groups.len += 1;
            left &= !these;
        }
        Some(())
    }

    /// Whether two groups of a warp's lanes surely have no byte in common.
    fn are_apart(&self, group: &Group, other: &Group) -> bool {
        if group.hull.1 < other.hull.0 || other.hull.1 < group.hull.0 {
            return true;
        }
        let (one, two) = (&self.rows[group.row], &self.rows[other.row]);
        if one.step != two.step || one.step < WORD.into() || (one.scattered | two.scattered) != 0 {
            return false;
        }
        // Words are aligned, so that they are the same or apart: a lane's is the same as that of the lane so far on.
        let (distance, step) = (one.base.wrapping_sub(two.base).cast_signed(), one.step.cast_signed());
        let on = distance / step;
        if distance % step != 0 || on.abs() >= 32 {
            return true;
        }
        let met = if on >= 0 { group.lanes << on } else { group.lanes >> -on };
        met & other.lanes == 0
    }

    /// Writes entries to memory; whether it held something else.
    ///
    /// # Safety
    /// The group's hull is where it says.
    unsafe fn put(&self, group: &Group) -> bool {
        let Row { base, step, scattered, .. } = self.rows[group.row];
        let mut changed = 0;
        for lane in lanes(group.lanes) {
            let address = match scattered {
                0 => base.wrapping_add(step.wrapping_mul(lane as u64)),
                _ => self.address(group.row, lane),
            };
            let value = self.word(group.row, lane, 0);
            // SAFETY: the caller's promise: the lane's word lies in the hull. Memory of the host is not aligned as the device's.
            unsafe {
                let to = group.host.add(address.wrapping_sub(group.hull.0) as usize).cast::<u32>();
                changed |= to.read_unaligned() ^ value;
                to.write_unaligned(value);
            }
        }
        changed != 0
    }

    /// Takes entries out of a row, newest of their lanes; [`Self::tidy`] is to come next.
    fn take_all(&mut self, group: &Group) {
        self.lower(group.lanes, group.row);
        self.clear(group.row, group.lanes);
    }
}

impl Warp {
    /// Those of these lanes that have an entry of the space.
    fn with_entries(&self, among: u32, space: Space) -> u32 {
        self.full(among, space, 1)
    }

    /// An entry of each of these lanes goes, of which some are strong. `flushes`: how often buffers of each length were emptied.
    fn count_out(&mut self, space: Space, (among, strong): (u32, u32), flushes: &mut Vec<u64>) {
        let [own, others] = [space, space.other()].map(|space| space as usize);
        // Who empties a buffer has entries out.
        for lane in lanes(among & !self.drains.emptying) {
            let length = self.entries[own][lane] as usize;
            if flushes.len() <= length {
                flushes.resize(length + 1, 0);
            }
            flushes[length] += 1;
        }
        let (mut done, mut bare) = (0, 0);
        for lane in 0..32 {
            let goes = among >> lane & 1;
            let left = self.entries[own][lane] - goes;
            self.entries[own][lane] = left;
            let out = self.drains.out[lane];
            let more = if left == 0 { 0 } else { out.saturating_add(1) };
            self.drains.out[lane] = if goes == 0 { out } else { more };
            done |= u32::from(left == 0) << lane;
            bare |= u32::from(left | self.entries[others][lane] == 0) << lane;
        }
        self.drains.emptying = self.drains.emptying & !(among & done) | among & !done;
        self.loaded &= !(among & bare);
        lanes(strong).for_each(|lane| self.strong_went(lane));
    }
}
