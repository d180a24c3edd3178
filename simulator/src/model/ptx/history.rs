//! What was written to locations and is not known to all.
//!
//! Memory itself holds the last value of each granule; only a granule with messages that somebody might not know has a
//! history here. Granules lie in rows of 32, as a warp touches them. A granule that one plain store of all four
//! bytes has touched takes 24 bytes, as most do; where one thread alone has written, its stores are a run ([`super::runs`]); everything
//! else is a chain of messages ([`super::chains`]).

use std::cell::Cell;
use std::num::NonZeroU64;

use rustc_hash::FxHashMap;

use super::chains::{Author, Bits, Chain, Chains, MOST, Message, NONE, Store};
use super::kept::{Kept, Several, Single};
use super::row::Row;
use super::runs::{Run, Runs};
use bugaroo_semantics::location::{Location, MemorySpace};
use bugaroo_semantics::scope::{Strength, ThreadKey};

/// All histories of a launch.
#[derive(Debug)]
pub struct Histories {
    rows: Vec<Row>,
    free_rows: Vec<u32>,
    /// Rows of global memory, by address in rows.
    global: FxHashMap<u64, u32>,
    /// Rows of each CTA slot's shared memory, by offset in rows.
    shared: Vec<Vec<u32>>,
    /// Rows that were looked up last, by the lower bits of their offsets.
    last: [Cell<(Location, u32)>; REMEMBERED],
    granules: usize,
    /// Bytes of the rows' lists.
    listed: usize,
    /// The messages of chains.
    pub chains: Chains,
    /// The stores of runs.
    pub runs: Runs,
}

/// Rows whose places are remembered.
const REMEMBERED: usize = 64;
/// A location that is in no row.
const NOWHERE: Location = Location { space: MemorySpace::Global, block: 0, offset: u64::MAX };

impl Histories {
    /// No history at all.
    pub fn new() -> Histories {
        Histories {
            rows: Vec::new(),
            free_rows: Vec::new(),
            global: FxHashMap::default(),
            shared: Vec::new(),
            last: [const { Cell::new((NOWHERE, NONE)) }; REMEMBERED],
            granules: 0,
            listed: 0,
            chains: Chains::default(),
            runs: Runs::default(),
        }
    }

    /// Granules that have a history.
    pub fn len(&self) -> usize {
        self.granules
    }

    /// Bytes that the histories hold, without the release entries.
    pub fn bytes(&self) -> usize {
        let shared: usize = self.shared.iter().map(|rows| rows.capacity() * size_of::<u32>()).sum();
        self.rows.capacity() * size_of::<Row>()
            + self.listed
            + self.global.capacity() * size_of::<(u64, u32)>() * 8 / 7
            + shared
            + self.chains.bytes()
            // As many bytes as they would take as chains, which is more: the bound bites where it always has.
            + self.runs.used() * super::chains::BYTES
    }

    #[inline(always)]
    fn row(&self, row: Location) -> u32 {
        let (last, index) = self.last[row.offset as usize % REMEMBERED].get();
        if last == row { index } else { self.look_up(row) }
    }

    #[inline(never)]
    fn look_up(&self, row: Location) -> u32 {
        let index = match row.space {
            MemorySpace::Global => self.global.get(&row.offset).copied().unwrap_or(NONE),
            MemorySpace::Shared => {
                let rows = self.shared.get(row.block as usize);
                rows.and_then(|rows| rows.get(row.offset as usize)).copied().unwrap_or(NONE)
            }
        };
        self.last[row.offset as usize % REMEMBERED].set((row, index));
        index
    }

    /// Whether nothing is kept of a row.
    #[inline]
    pub fn is_empty_row(&self, row: Location) -> bool {
        let row = self.row(row);
        row == NONE || self.rows[row as usize].is_empty()
    }

    /// What is kept of a granule.
    #[inline(always)]
    pub fn kept(&self, location: Location) -> Option<Kept> {
        if self.granules == 0 {
            return None;
        }
        let row = self.row(location.row());
        if row == NONE {
            return None;
        }
        let (row, bit) = (&self.rows[row as usize], location.place_in_row());
        row.get(bit).copied()
    }

    /// Somebody is about to look at a granule.
    #[inline(always)]
    pub fn fetch(&self, location: Location) {
        match self.kept(location) {
            Some(Kept::Several(Several::Run(run))) => self.runs.fetch(&run),
            Some(Kept::Several(Several::Chain(chain))) => self.chains.fetch(&chain),
            _ => {}
        }
    }

    fn kept_mut(&mut self, location: Location) -> Option<&mut Kept> {
        let row = self.row(location.row());
        if row == NONE {
            return None;
        }
        self.rows[row as usize].get_mut(location.place_in_row())
    }

    /// Keeps something of a granule, in place of what was kept of it.
    pub fn keep(&mut self, location: Location, kept: Kept) {
        let row = self.row_for(location.row(), 0);
        let (row, bit) = (&mut self.rows[row as usize], location.place_in_row());
        if let Some(old) = row.get_mut(bit) {
            *old = kept;
            return;
        }
        let before = row.bytes();
        row.insert(bit, kept);
        self.granules += 1;
        self.listed += row.bytes() - before;
    }

    fn new_row(&mut self, place: Location) -> u32 {
        let row = self.free_rows.pop().unwrap_or_else(|| {
            self.rows.push(Row::default());
            self.rows.len() as u32 - 1
        });
        match place.space {
            MemorySpace::Global => {
                self.global.insert(place.offset, row);
            }
            MemorySpace::Shared => {
                let (block, offset) = (place.block as usize, place.offset as usize);
                if self.shared.len() <= block {
                    self.shared.resize_with(block + 1, Vec::new);
                }
                if self.shared[block].len() <= offset {
                    self.shared[block].resize(offset + 1, NONE);
                }
                self.shared[block][offset] = row;
            }
        }
        row
    }

    /// The chain of a granule. One message that stood by itself, and a run, become a chain.
    pub fn chain(&mut self, location: Location) -> Option<Chain> {
        let chain = match self.kept(location)? {
            Kept::Several(Several::Chain(chain)) => return Some(chain),
            Kept::Single(single) => {
                let mut chain = self.chains.open(single.base);
                let Single { time, value, thread, origin, .. } = single;
                let store = Store { time: time.get(), value, origin };
                self.chains.insert(&mut chain, Message::plain(thread, Strength::Weak, store), NONE);
                chain
            }
            Kept::Several(Several::Run(run)) => self.chain_of_run(run),
        };
        self.keep(location, Kept::Several(Several::Chain(chain)));
        Some(chain)
    }

    #[cold]
    fn chain_of_run(&mut self, run: Run) -> Chain {
        let (base, forgotten) = self.runs.base(&run);
        let mut chain = self.chains.open(base);
        self.chains.message_mut(chain.last).state.forgotten = forgotten;
        let strength = self.runs.strength(&run);
        for store in self.runs.stores(&run) {
            self.chains.insert(&mut chain, Message::plain(run.thread, strength, store), NONE);
        }
        self.runs.release(&run);
        chain
    }

    /// The number of a row of granules, of which more are about to be kept: so many.
    #[inline]
    pub fn row_for(&mut self, place: Location, more: u32) -> u32 {
        let mut row = self.row(place);
        if row == NONE {
            row = self.new_row(place);
            self.last[place.offset as usize % REMEMBERED].set((place, row));
        }
        if self.rows[row as usize].lacks_room(more) {
            let before = self.rows[row as usize].bytes();
            self.rows[row as usize].make_room();
            self.listed += self.rows[row as usize].bytes() - before;
        }
        row
    }

    /// Adds a store of all four bytes that hands nothing over behind all others, where these are its thread's own; answers whether it
    /// has. `row`: see [`Self::row_for`]. `base`: what stands there where there is no history.
    #[inline]
    pub fn add_store(
        &mut self,
        (row, bit): (u32, u32),
        base: impl FnOnce() -> u32,
        (thread, strength): (ThreadKey, Strength),
        store: Store,
    ) -> bool {
        let row = &mut self.rows[row as usize];
        let Some(kept) = row.get_mut(bit) else {
            let kept = match NonZeroU64::new(store.time) {
                Some(time) if strength == Strength::Weak => {
                    let Store { value, origin, .. } = store;
                    Kept::Single(Single { time, base: base(), value, thread, origin })
                }
                _ => Kept::Several(Several::Run(self.runs.open(base(), thread, strength, store))),
            };
            let before = row.bytes();
            row.insert(bit, kept);
            self.listed += row.bytes() - before;
            self.granules += 1;
            return true;
        };
        match kept {
            Kept::Several(Several::Run(run)) if run.thread == thread => self.runs.push(run, strength, store),
            Kept::Single(single) if single.thread == thread && strength == Strength::Weak => {
                let Single { time, base, value, origin, .. } = *single;
                let first = Store { time: time.get(), value, origin };
                let mut run = self.runs.open(base, thread, strength, first);
                let goes = self.runs.push(&mut run, strength, store);
                if goes {
                    *kept = Kept::Several(Several::Run(run));
                } else {
                    self.runs.release(&run);
                }
                goes
            }
            _ => false,
        }
    }

    /// Keeps the one message of each of these granules of a row, if nothing is kept of any of them: answers for which it does.
    #[inline]
    pub fn add_fresh(
        &mut self,
        place: Location,
        granules: u32,
        single: impl FnMut(usize) -> Option<Single>,
    ) -> u32 {
        let count = granules.count_ones();
        let row = self.row_for(place, count);
        let done = self.rows[row as usize].insert_all(granules, single);
        self.granules += done.count_ones() as usize;
        done
    }

    /// The chain of a granule as it is: none where there is no chain.
    pub fn chain_as_is(&self, location: Location) -> Option<Chain> {
        match self.kept(location)? {
            Kept::Several(Several::Chain(chain)) => Some(chain),
            _ => None,
        }
    }

    /// Whether as many messages are kept of a granule as can be.
    pub fn is_full(&self, location: Location) -> bool {
        match self.kept(location) {
            Some(Kept::Several(Several::Chain(chain))) => chain.length >= MOST,
            Some(Kept::Several(Several::Run(run))) => self.runs.length(&run) >= MOST,
            _ => false,
        }
    }

    /// The last value of a granule, if it has a history.
    pub fn last_value(&self, location: Location) -> Option<u32> {
        self.kept(location).map(|kept| self.last_of(&kept))
    }

    /// The last value of a granule of which this is kept.
    #[inline]
    pub fn last_of(&self, kept: &Kept) -> u32 {
        match kept {
            Kept::Single(single) => single.value,
            Kept::Several(Several::Run(run)) => run.value,
            Kept::Several(Several::Chain(chain)) => self.chains.value(chain.last, u32::MAX),
        }
    }

    /// Adds a message to a granule, which held `value` if it has no history: before another one, or last with `NONE`.
    /// Answers as [`Chains::insert`].
    pub fn insert(
        &mut self,
        location: Location,
        value: impl FnOnce() -> u32,
        message: Message,
        before: u32,
    ) -> Option<(u64, u32)> {
        match self.chain(location) {
            Some(mut chain) => {
                let absorbed = self.chains.insert(&mut chain, message, before);
                if let Some(kept) = self.kept_mut(location) {
                    *kept = Kept::Several(Several::Chain(chain));
                }
                absorbed
            }
            None => {
                let base = value();
                let plain = message.strength == Strength::Weak && message.bits.mask == u32::MAX;
                if plain && let Some(time) = NonZeroU64::new(message.time) {
                    let Message { by: Author { thread, origin }, bits: Bits { value, .. }, .. } = message;
                    self.keep(location, Kept::Single(Single { time, base, value, thread, origin }));
                    return None;
                }
                let mut chain = self.chains.open(base);
                self.chains.insert(&mut chain, message, NONE);
                self.keep(location, Kept::Several(Several::Chain(chain)));
                None
            }
        }
    }

    /// Drops the history of a granule.
    pub fn close(&mut self, location: Location) {
        let Some(kept) = self.kept(location) else { return };
        kept.release(&mut self.chains, &mut self.runs);
        let (row, bit) = (self.row(location.row()), location.place_in_row());
        self.rows[row as usize].remove(bit);
        self.granules -= 1;
    }

    /// Drops what is kept of a slot's shared memory.
    pub fn close_block(&mut self, block: u32) {
        let Some(places) = self.shared.get_mut(block as usize) else { return };
        let mut places = std::mem::take(places);
        self.last.iter().for_each(|last| last.set((NOWHERE, NONE)));
        for row in &mut places {
            if *row != NONE {
                self.close_row(*row);
                *row = NONE;
            }
        }
        self.shared[block as usize] = places;
    }

    fn close_row(&mut self, index: u32) {
        // The list's memory serves the next row.
        let row = &mut self.rows[index as usize];
        self.granules -= row.len();
        row.each(|kept| kept.release(&mut self.chains, &mut self.runs));
        row.clear();
        self.free_rows.push(index);
    }

    /// Goes through all histories and drops those that `keep` doesn't want; `keep` may change them.
    pub fn retain(&mut self, mut keep: impl FnMut(&mut Chains, &Runs, &mut Kept) -> bool) {
        self.last.iter().for_each(|last| last.set((NOWHERE, NONE)));
        for row in &mut self.rows {
            if row.is_empty() {
                continue;
            }
            let (count, bytes) = (row.len(), row.bytes());
            row.retain(|kept| {
                let keeps = keep(&mut self.chains, &self.runs, kept);
                if !keeps {
                    kept.release(&mut self.chains, &mut self.runs);
                }
                keeps
            });
            self.granules -= count - row.len();
            self.listed -= bytes - row.bytes();
        }
        let (rows, free) = (&self.rows, &mut self.free_rows);
        let mut empty = |row: u32| {
            let is_empty = row != NONE && rows[row as usize].is_empty();
            if is_empty {
                free.push(row);
            }
            is_empty
        };
        for places in &mut self.shared {
            for row in places {
                if empty(*row) {
                    *row = NONE;
                }
            }
        }
        // The order in which rows are freed follows their numbers, not the table's.
        let mut gone: Vec<(u64, u32)> = self
            .global
            .iter()
            .map(|(key, row)| (*key, *row))
            .filter(|(_, row)| rows[*row as usize].is_empty())
            .collect();
        gone.sort_unstable();
        for (key, row) in gone {
            self.global.remove(&key);
            free.push(row);
        }
    }
}

#[cfg(test)]
mod tests;
