//! Histories that one thread has made alone: stores of whole granules, all weak or all of one strength, that hand nothing over.
//!
//! Most granules that are written more than once are written by one thread, and read by others late or never. Such a history lies in
//! two lines of the host's cache, where a chain of messages ([`super::chains`]) takes one or two for each. It becomes a chain
//! when anything else is to be kept of the granule, or when somebody reads it who does not know its end.

use bugaroo_semantics::scope::{Strength, ThreadKey};

use super::chains::{MOST, NONE, Store};
use crate::model::fetch::fetch;

/// Runs of a block of the pool.
const BLOCK: u32 = 1 << 8;
/// Messages of a run, as many as a chain keeps.
const LONGEST: usize = MOST as usize;

const _: () = assert!(LONGEST.is_power_of_two() && size_of::<Stores>() == 128);

/// A run, as its granule knows it.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    at: u32,
    /// What was stored last.
    pub value: u32,
    /// Whose stores they are.
    pub thread: ThreadKey,
}

/// What a run holds; its stores lie in a ring.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Stores {
    /// Times, as distances from the epoch.
    times: [u32; LONGEST],
    values: [u32; LONGEST],
    origins: [u32; LONGEST],
    epoch: u64,
    /// What stands under the first; of a free one, the next free one.
    base: u32,
    strength: Strength,
    /// The base has taken up what has been forgotten.
    forgotten: bool,
    first: u8,
    length: u8,
}

impl Stores {
    fn store(&self, index: usize) -> Store {
        let at = (self.first as usize + index) % LONGEST;
        Store {
            time: self.epoch + u64::from(self.times[at]),
            value: self.values[at],
            origin: self.origins[at],
        }
    }
}

/// All runs' stores.
#[derive(Debug)]
pub struct Runs {
    /// In blocks, so that growing moves nothing.
    pool: Vec<Box<[Stores]>>,
    free: u32,
    /// Stores and bases in use.
    used: usize,
}

impl Default for Runs {
    fn default() -> Runs {
        Runs { pool: Vec::new(), free: NONE, used: 0 }
    }
}

impl Runs {
    #[inline]
    fn get(&self, run: &Run) -> &Stores {
        &self.pool[(run.at / BLOCK) as usize][(run.at % BLOCK) as usize]
    }

    #[inline]
    fn get_mut(&mut self, at: u32) -> &mut Stores {
        &mut self.pool[(at / BLOCK) as usize][(at % BLOCK) as usize]
    }

    /// Somebody is about to look at a run.
    #[inline(always)]
    pub fn fetch(&self, run: &Run) {
        let stores: *const Stores = self.get(run);
        fetch(stores);
        fetch(stores.cast::<u8>().wrapping_add(64));
    }

    /// Stores and bases of all runs.
    pub fn used(&self) -> usize {
        self.used
    }

    /// A run of one store, over what stood there before.
    pub fn open(&mut self, base: u32, thread: ThreadKey, strength: Strength, store: Store) -> Run {
        if self.free == NONE {
            let first = self.pool.len() as u32 * BLOCK;
            let linked = |index: u32| Stores {
                times: [0; LONGEST],
                values: [0; LONGEST],
                origins: [0; LONGEST],
                epoch: 0,
                base: if index + 1 == BLOCK { NONE } else { first + index + 1 },
                strength: Strength::Weak,
                forgotten: false,
                first: 0,
                length: 0,
            };
            self.pool.push((0..BLOCK).map(linked).collect());
            self.free = first;
        }
        let at = self.free;
        let stores = self.get_mut(at);
        let next = stores.base;
        stores.epoch = store.time;
        stores.times[0] = 0;
        stores.values[0] = store.value;
        stores.origins[0] = store.origin;
        (stores.base, stores.strength, stores.forgotten) = (base, strength, false);
        (stores.first, stores.length) = (0, 1);
        self.free = next;
        self.used += 2;
        Run { at, value: store.value, thread }
    }

    /// Adds a store of the run's thread behind all others; answers whether it can be kept here.
    #[inline]
    pub fn push(&mut self, run: &mut Run, strength: Strength, store: Store) -> bool {
        let stores = self.get_mut(run.at);
        let Ok(time) = u32::try_from(store.time - stores.epoch) else { return false };
        if stores.strength != strength {
            return false;
        }
        let full = stores.length as usize == LONGEST;
        if full {
            // As of chains, the first one becomes part of the base.
            stores.base = stores.values[stores.first as usize];
            stores.forgotten = true;
            stores.first = (stores.first + 1) % LONGEST as u8;
        } else {
            stores.length += 1;
        }
        let at = (stores.first as usize + stores.length as usize - 1) % LONGEST;
        stores.times[at] = time;
        stores.values[at] = store.value;
        stores.origins[at] = store.origin;
        self.used += usize::from(!full);
        run.value = store.value;
        true
    }

    /// When the last store was made.
    pub fn last_time(&self, run: &Run) -> u64 {
        let stores = self.get(run);
        stores.store(stores.length as usize - 1).time
    }

    pub fn length(&self, run: &Run) -> u32 {
        self.get(run).length.into()
    }

    pub fn strength(&self, run: &Run) -> Strength {
        self.get(run).strength
    }

    /// What stands under the first store, and whether it has taken up others.
    pub fn base(&self, run: &Run) -> (u32, bool) {
        let stores = self.get(run);
        (stores.base, stores.forgotten)
    }

    /// The stores, the oldest first.
    pub fn stores(&self, run: &Run) -> impl Iterator<Item = Store> + use<> {
        let stores = *self.get(run);
        (0..stores.length as usize).map(move |index| stores.store(index))
    }

    /// Frees a run.
    pub fn release(&mut self, run: &Run) {
        let next = self.free;
        let stores = self.get_mut(run.at);
        stores.base = next;
        let gone = stores.length as usize + 1;
        self.free = run.at;
        self.used -= gone;
    }
}
