//! A warp's buffers: the entries of its lanes, and how far each is with them.
//!
//! In lockstep all entries are the first lane's.

use super::buffers::{Entry, Phase};
use super::rows::{Planes, Rows};
use super::{SPACES, Space};
use crate::alu::words;
use crate::exec::lanes;
use crate::model::fetch::fetch;
use crate::model::targets::Targets;

/// A warp slot.
#[derive(Clone, Debug, Default)]
pub(super) struct Warp {
    /// Lanes with entries.
    pub loaded: u32,
    pub drains: Drains,
    /// Those with strong entries.
    pub has_strong: u32,
    /// By space and lane.
    pub entries: [[u32; 32]; 2],
    /// Strong ones of both.
    strong: [u32; 32],
    /// Hooks called since there are strong ones.
    pub calls: [u8; 32],
    pub rows: [Rows; 2],
}

/// How far lanes are that drain entries.
#[derive(Clone, Debug, Default)]
pub(super) struct Drains {
    /// Lanes that have a phase.
    pub draining: u32,
    /// Lanes that have begun to empty a buffer.
    pub emptying: u32,
    pub phase: [Phase; 32],
    /// Slots of its CTA that leave before a lane's own entries do, in the phase of that name.
    pub leaving: [u32; 32],
    /// Entries of the buffer that is being emptied which are out already.
    pub out: [u8; 32],
}

impl Warp {
    /// Its entries are about to be needed, and new ones to be pushed. With hundreds of warps that take turns at random, what is kept of one
    /// has left the processor's nearest cache by the time of its next turn.
    pub fn fetch(&self) {
        fetch(&self.loaded);
        fetch(&self.calls);
        for space in SPACES {
            let entries = &self.entries[space as usize];
            (entries.first().into_iter().chain(entries.get(16)).chain(entries.last()))
                .for_each(|at| fetch(at));
            self.rows[space as usize].fetch();
        }
    }

    /// Entries are about to be looked for, lane by lane.
    pub fn enlist(&mut self) {
        self.rows.iter_mut().for_each(Rows::enlist);
    }

    /// A lane's entry that has some of these bytes, the oldest where there are several. (Where one has all of them, there is
    /// no other.)
    pub fn overlapping(&self, lane: usize, space: Space, address: u64, bytes: u32) -> Option<Entry> {
        let rows = &self.rows[space as usize];
        rows.find(lane, address, bytes).map(|row| rows.entry(row, lane))
    }

    /// The row of a lane's entry that has just these bytes.
    pub fn exact(&self, lane: usize, space: Space, address: u64, bytes: u32) -> Option<usize> {
        let rows = &self.rows[space as usize];
        let row = rows.find(lane, address, bytes)?;
        (rows.address(row, lane) == address && u32::from(rows.rows[row].bytes) == bytes).then_some(row)
    }

    pub fn take_newest(&mut self, lane: usize, space: Space) -> Option<Entry> {
        let row = self.rows[space as usize].newest(lane)?;
        Some(self.take(lane, space, row))
    }

    /// Takes the oldest of those that have some of these bytes.
    pub fn take_overlapping(&mut self, lane: usize, space: Space, address: u64, bytes: u32) -> Option<Entry> {
        let row = self.rows[space as usize].find(lane, address, bytes)?;
        Some(self.take(lane, space, row))
    }

    /// Takes the oldest of the strong ones, first of global ones.
    pub fn take_strong(&mut self, lane: usize) -> Option<Entry> {
        if self.has_strong >> lane & 1 == 0 {
            return None;
        }
        let find = |space: Space| Some((space, self.rows[space as usize].oldest_strong(lane)?));
        let (space, row) = SPACES.into_iter().find_map(find)?;
        Some(self.take(lane, space, row))
    }

    #[inline(always)]
    fn take(&mut self, lane: usize, space: Space, row: usize) -> Entry {
        let entry = self.take_from(lane, space, row);
        self.rows[space as usize].tidy();
        entry
    }

    /// Takes a lane's entry out of a row. Rows keep their numbers until they are tidied.
    #[inline(always)]
    pub fn take_from(&mut self, lane: usize, space: Space, row: usize) -> Entry {
        let entry = self.rows[space as usize].take(row, lane);
        self.entries[space as usize][lane] -= 1;
        if entry.strong {
            self.strong_went(lane);
        }
        entry
    }

    /// A lane has a strong entry less.
    #[inline(always)]
    pub fn strong_went(&mut self, lane: usize) {
        self.strong[lane] -= 1;
        if self.strong[lane] == 0 {
            self.calls[lane] = 0;
            self.has_strong &= !(1 << lane);
        }
    }

    /// Whether a lane has no entries left.
    pub fn is_empty(&self, lane: usize) -> bool {
        self.entries[0][lane] | self.entries[1][lane] == 0
    }

    /// Keeps what these lanes store, which have no entry of these bytes.
    #[inline(always)]
    pub fn push(
        &mut self,
        space: Space,
        (targets, bytes): (&Targets, u32),
        (among, strong): (u32, bool),
        values: &Planes<'_>,
        numbers: Option<&[u32; 32]>,
    ) {
        self.rows[space as usize].push(targets, bytes, (among, strong), values, numbers);
        for (lane, entries) in self.entries[space as usize].iter_mut().enumerate() {
            *entries += among >> lane & 1;
        }
        self.loaded |= among;
        if strong {
            self.grown_strong(among);
        }
    }

    /// Gives entries of these lanes, which have just these bytes, their new values.
    #[inline(always)]
    pub fn replace(
        &mut self,
        (space, row): (Space, usize),
        (among, strong): (u32, bool),
        values: &Planes<'_>,
        numbers: Option<&[u32; 32]>,
    ) {
        let rows = &mut self.rows[space as usize];
        let weak = !rows.rows[row].strong;
        rows.replace(row, among, strong, (values, numbers));
        if strong {
            self.grown_strong(among & weak);
        }
    }

    /// These lanes have a strong entry more.
    #[inline(always)]
    fn grown_strong(&mut self, among: u32) {
        self.has_strong |= among;
        for (lane, strong) in self.strong.iter_mut().enumerate() {
            *strong += among >> lane & 1;
        }
    }

    /// A hook has been called for these lanes: strong stores have grown older.
    #[inline(always)]
    pub fn count_calls(&mut self, among: u32) {
        let among = among & self.has_strong;
        if among != 0 {
            words::count_bytes(among, &mut self.calls);
        }
    }

    /// Those of these lanes whose strong stores have been held for so many calls.
    #[inline(always)]
    pub fn over(&self, among: u32, calls: u8) -> u32 {
        let among = among & self.has_strong;
        if among == 0 { 0 } else { words::bytes_at_least(calls, &self.calls) & among }
    }

    /// Those of these lanes that have so many entries.
    #[inline(always)]
    pub fn full(&self, among: u32, space: Space, capacity: u32) -> u32 {
        // A lane has one entry in a row at most.
        if self.rows[space as usize].masks.len() < capacity as usize {
            return 0;
        }
        words::at_least(capacity, &self.entries[space as usize]) & among
    }

    /// Lanes that have an entry of these bytes of the space.
    pub fn has(&self, space: Space, address: u64, bytes: u32) -> bool {
        lanes(self.loaded).any(|lane| self.rows[space as usize].find(lane, address, bytes).is_some())
    }

    /// Bytes of the host's memory.
    pub fn bytes(&self) -> u64 {
        size_of::<Warp>() as u64 + self.rows.iter().map(Rows::bytes).sum::<u64>()
    }
}
