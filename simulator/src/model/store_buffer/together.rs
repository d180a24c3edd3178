//! A step of emptying the buffers of several lanes, row by row.
//!
//! A step takes rows from the newest on, as long as no lane has two of them. So what a warp has stored by one instruction drains in
//! one step, and so does what its lanes have stored on different branches. The newest entry of each lane comes first. Within a step
//! the lanes write one after another.

use super::rows::{Row, Rows};
use super::*;
use crate::alu::words;
use crate::model::fetch::{LINE, fetch};
use crate::model::targets::Targets;

/// So far that lanes would come round the end of all addresses.
const FAR: u64 = 1 << 56;
/// So many rows ahead of where they are written, their memory is fetched,
const AHEAD: usize = 4;
/// if their bytes lie this near to each other, by lines of the host's cache.
const NEAR: u64 = 1 << 10;

impl StoreBuffer {
    /// One step of emptying the buffers of these spaces, in their order, to memory. It empties some of these lanes' at least. Answers false
    /// when they were empty.
    pub(super) fn empty_rows(
        &mut self,
        at: &At,
        among: u32,
        spaces: &[Space],
        world: &mut World<'_>,
    ) -> bool {
        by_isa!(
            self.given.isa,
            StoreBuffer::empty_rows_body(self, at: &At, among: u32, spaces: &[Space], world: &mut World<'_>)
                -> bool
        )
    }

    #[inline(always)]
    fn empty_rows_body(&mut self, at: &At, among: u32, spaces: &[Space], world: &mut World<'_>) -> bool {
        let Some((first, is_all)) = self.warps[at.warp as usize].first_part(among, spaces) else {
            return false;
        };
        if !is_all {
            self.empty_parts(at, among, spaces, world);
        } else {
            self.write_part(at, &first, world);
            self.take_part(at, &first, among);
        }
        self.warp(at).rows.iter_mut().for_each(Rows::tidy);
        true
    }

    /// The same, where a step takes something out of several rows.
    #[inline(never)]
    fn empty_parts(&mut self, at: &At, among: u32, spaces: &[Space], world: &mut World<'_>) {
        let warp = &self.warps[at.warp as usize];
        let (mut parts, mut len, mut taken) = ([Part::default(); 32], 0, 0);
        'step: for space in spaces.iter().copied() {
            let mut end = usize::MAX;
            while let Some((row, lanes)) = warp.rows[space as usize].newest_of(among, end) {
                if lanes & taken != 0 {
                    break 'step;
                }
                parts[len] = Part { space, row, lanes };
                (len, taken, end) = (len + 1, taken | lanes, row);
            }
        }
        let parts = &parts[..len];
        for lane in lanes(taken) {
            if let Some(part) = parts.iter().find(|part| part.lanes >> lane & 1 != 0) {
                Self::write(at, &warp.rows[part.space as usize].entry(part.row, lane), world);
            }
        }
        parts.iter().for_each(|part| self.take_part(at, part, among));
    }

    /// Writes entries to memory.
    #[inline(always)]
    pub(super) fn write_part(&self, at: &At, part: &Part, world: &mut World<'_>) {
        let rows = &self.warps[at.warp as usize].rows[part.space as usize];
        // Whoever looks on is told of each entry, and what is held back from beyond the device is held entry by entry.
        let each = world.notes.is_some() || part.space == Space::Global && world.held.is_some();
        if each || !rows.put(part.row, part.lanes, at.cta, world) {
            lanes(part.lanes).for_each(|lane| Self::write(at, &rows.entry(part.row, lane), world));
        }
    }

    /// Takes entries out, the newest that are left of these lanes. Rows are to be tidied afterwards.
    #[inline(always)]
    fn take_part(&mut self, at: &At, part: &Part, among: u32) {
        let warp = &mut self.warps[at.warp as usize];
        let Part { space, row, lanes } = *part;
        let strong = lanes & warp.rows[space as usize].rows[row].strong;
        let flushes = &mut self.counts.flushes[space as usize];
        if warp.has_only(space, lanes) {
            warp.count_all_out((space, lanes), strong, flushes);
        } else {
            warp.count_out(space, (lanes, strong), flushes);
            warp.rows[space as usize].lower(among, row);
        }
        warp.rows[space as usize].clear(row, lanes);
    }
}

/// What a step takes out of a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub space: Space,
    pub row: usize,
    pub lanes: u32,
}

impl Default for Part {
    fn default() -> Part {
        Part { space: Space::Global, row: 0, lanes: 0 }
    }
}

impl Rows {
    /// Writes the entries of these lanes of a row to memory, if all of it is in one piece. Answers false when nothing was done.
    #[inline(always)]
    fn put(&self, row: usize, among: u32, cta: u32, world: &mut World<'_>) -> bool {
        let Row { bytes, base, step, scattered, .. } = self.rows[row];
        if scattered != 0 {
            let hull = self.targets(row).hull(among, bytes.into());
            let Some(host) = world.span(cta, hull) else { return false };
            return self.put_at((row, among), |lane| self.address(row, lane), hull.0, host, world);
        }
        let Some(hull) = self.hull(row, among) else { return false };
        let Some(host) = world.span(cta, hull) else { return false };
        let first = host.wrapping_add(base.wrapping_sub(hull.0) as usize);
        self.fetch_ahead(row, (base, first));
        if (bytes, step) == (4, 4)
            && let Some(words) = self.plane(row, 0)
        {
            // SAFETY: the hull of these lanes was found there.
            world.changed |= unsafe { words::write(among, words, first.cast()) };
            return true;
        }
        let address = |lane: usize| base.wrapping_add(step.wrapping_mul(lane as u64));
        self.put_at((row, among), address, hull.0, host, world)
    }

    /// A row is about to be written to memory, which the program may not have touched for long. Rows lie in one piece of memory mostly: that of
    /// the row at hand, which begins with lane 0 at this address and place. (It is as well if that is wrong.)
    #[inline(always)]
    fn fetch_ahead(&self, row: usize, (base, place): (u64, *mut u8)) {
        let Some(next) = row.checked_sub(AHEAD) else { return };
        let Row { bytes, base: other, step, scattered, .. } = self.rows[next];
        let reach = step.wrapping_mul(31).wrapping_add(bytes.into());
        if scattered != 0 || reach > NEAR {
            return;
        }
        let first = place.wrapping_add(other.wrapping_sub(base) as usize);
        let mut line = 0;
        while line < reach as usize {
            fetch(first.wrapping_add(line));
            line += LINE;
        }
    }

    /// The first byte that these lanes of a row with a step store to, and the last.
    #[inline(always)]
    fn hull(&self, row: usize, among: u32) -> Option<(u64, u64)> {
        let Row { bytes, base, step, .. } = self.rows[row];
        // Steps of addresses that are there are far less than that.
        let near = step.cast_signed().unsigned_abs() < FAR;
        near.then(|| Targets::stepped(base, step).hull(among, bytes.into()))
    }

    /// The same for a row whose lanes store at these addresses, the lowest of which is at this place.
    #[inline(always)]
    fn put_at(
        &self,
        (row, among): (usize, u32),
        address: impl Fn(usize) -> u64,
        lowest: u64,
        host: *mut u8,
        world: &mut World<'_>,
    ) -> bool {
        let at = |lane| host.wrapping_add(address(lane).wrapping_sub(lowest) as usize);
        // SAFETY: the hull of these lanes was found there, and each has so many bytes in it.
        world.changed |= unsafe {
            match (self.rows[row].bytes, self.plane(row, 0)) {
                (4, Some(words)) => write(among, at, |lane| words[lane]),
                (4, None) => write(among, at, |lane| self.word(row, lane, 0)),
                (8, _) => write(among, at, |lane| self.entry(row, lane).value[0]),
                (16, _) => write(among, at, |lane| self.entry(row, lane).value),
                _ => return false,
            }
        };
        true
    }
}

/// Writes a value of each of these lanes; answers whether there was another.
///
/// # Safety
/// `to` answers what is valid for a value's bytes.
#[inline(always)]
unsafe fn write<T: PartialEq>(among: u32, to: impl Fn(usize) -> *mut u8, value: impl Fn(usize) -> T) -> bool {
    let mut changed = false;
    for lane in lanes(among) {
        let (to, value) = (to(lane).cast::<T>(), value(lane));
        // SAFETY: the caller's promise. Memory of the host is not aligned as the device's.
        unsafe {
            changed |= to.read_unaligned() != value;
            to.write_unaligned(value);
        }
    }
    changed
}

impl Warp {
    /// What a step takes out of a row first, and whether that is all of the step.
    #[inline(always)]
    fn first_part(&self, among: u32, spaces: &[Space]) -> Option<(Part, bool)> {
        let of = |space: Space| Some((space, self.rows[space as usize].newest_of(among, usize::MAX)?));
        let mut parts = spaces.iter().filter_map(|space| of(*space));
        let (space, (row, lanes)) = parts.next()?;
        let next = self.rows[space as usize].newest_of(among, row).map(|(_, lanes)| lanes);
        let next = next.or_else(|| Some(parts.next()?.1.1));
        Some((Part { space, row, lanes }, next.is_none_or(|next| next & lanes != 0)))
    }

    /// Whether the warp has one row only, of just these lanes, as behind a barrier's short stretches; and no other lane has begun to empty.
    #[inline(always)]
    fn has_only(&self, space: Space, among: u32) -> bool {
        let other = &self.rows[space.other() as usize].masks;
        self.rows[space as usize].masks == [among] && other.is_empty() && self.drains.emptying & !among == 0
    }

    /// What [`Self::count_out`] does, where [`Self::has_only`] holds.
    #[inline(always)]
    fn count_all_out(&mut self, (space, among): (Space, u32), strong: u32, flushes: &mut Vec<u64>) {
        let begin = (among & !self.drains.emptying).count_ones();
        if begin != 0 {
            if flushes.len() < 2 {
                flushes.resize(2, 0);
            }
            flushes[1] += u64::from(begin);
        }
        self.entries[space as usize] = [0; 32];
        self.drains.out = [0; 32];
        self.drains.emptying = 0;
        self.loaded &= !among;
        lanes(strong).for_each(|lane| self.strong_went(lane));
    }

    /// An entry of each of these lanes goes, of which some are strong. `flushes`: how often buffers of each length were emptied.
    #[inline(always)]
    fn count_out(&mut self, space: Space, (among, strong): (u32, u32), flushes: &mut Vec<u64>) {
        // Who empties a buffer has entries out.
        for lane in lanes(among & !self.drains.emptying) {
            let length = self.entries[space as usize][lane] as usize;
            if flushes.len() <= length {
                flushes.resize(length + 1, 0);
            }
            flushes[length] += 1;
        }
        let left = self.less(space, (among, strong));
        let out = &mut self.drains.out;
        words::count_bytes(among & left, out);
        words::clear_bytes(among & !left, out);
        self.drains.emptying = self.drains.emptying & !among | among & left;
    }

    /// Each of these lanes has an entry less, of which some are strong. Answers which of them have others in that buffer.
    #[inline(always)]
    pub fn less(&mut self, space: Space, (among, strong): (u32, u32)) -> u32 {
        let entries = &mut self.entries[space as usize];
        for (lane, entries) in entries.iter_mut().enumerate() {
            *entries -= among >> lane & 1;
        }
        let left = words::at_least(1, entries) & among;
        let bare = among & !left;
        if bare != 0 {
            self.loaded &= !bare | words::at_least(1, &self.entries[space.other() as usize]);
        }
        lanes(strong).for_each(|lane| self.strong_went(lane));
        left
    }
}
