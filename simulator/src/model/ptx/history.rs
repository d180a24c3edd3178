//! What was written to recently written locations, in coherence order.
//!
//! A location is a granule of four bytes. Memory itself holds the last value of each; only a granule with
//! messages that not every thread knows has a history here. Messages lie in one pool and are chained from the
//! last in coherence order to the first; a chain ends in the base, what stood there before.
//!
//! What is forgotten: of more than [`MOST`] messages the first become part of the base. A thread that could
//! still have read one of them reads a later one instead. Their release entries stay with the base.

use rustc_hash::FxHashMap;

use super::entry::{self, Entries, Entry};
use super::scope::{Strength, ThreadKey};

/// Messages that a granule keeps.
pub const MOST: u32 = 8;
/// End of a chain.
pub const NONE: u32 = u32::MAX;

#[derive(Clone, Debug)]
pub struct Message {
    /// When it was made: no two accesses have the same, and what a release hands over is told by it. It
    /// does not grow along a chain: a store may come early in coherence order.
    pub time: u64,
    pub thread: ThreadKey,
    pub strength: Strength,
    pub value: u32,
    /// The bits that it wrote.
    pub mask: u32,
    /// The next one towards the base.
    pub older: u32,
    /// Nothing may come between it and the next one towards the base: an atomic has read that.
    pub attached: bool,
    /// What stood there first, or has been forgotten.
    pub base: bool,
    /// For the base: something has been forgotten, so that it must not be read where anything else can be.
    pub forgotten: bool,
    /// What the program calls the instruction that wrote it.
    pub origin: u32,
    pub entries: Entries,
}

/// The chain of one granule.
#[derive(Clone, Copy, Debug)]
pub struct Chain {
    /// The last message in coherence order.
    pub last: u32,
    /// Messages, without the base.
    pub length: u32,
}

#[derive(Default, Debug)]
pub struct Histories {
    chains: FxHashMap<u64, Chain>,
    pool: Vec<Message>,
    free: u32,
    free_count: u32,
}

impl Histories {
    pub fn new() -> Histories {
        Histories { free: NONE, ..Histories::default() }
    }

    #[inline]
    pub fn chain(&self, granule: u64) -> Option<Chain> {
        self.chains.get(&granule).copied()
    }

    #[inline]
    pub fn message(&self, index: u32) -> &Message {
        &self.pool[index as usize]
    }

    pub fn message_mut(&mut self, index: u32) -> &mut Message {
        &mut self.pool[index as usize]
    }

    /// Granules that have a history.
    pub fn len(&self) -> usize {
        self.chains.len()
    }

    /// Bytes that the histories hold, without the release entries.
    pub fn bytes(&self) -> usize {
        self.pool.capacity() * size_of::<Message>()
            + self.chains.capacity() * size_of::<(u64, Chain)>() * 8 / 7
    }

    fn allocate(&mut self, message: Message) -> u32 {
        if self.free == NONE {
            self.pool.push(message);
            return self.pool.len() as u32 - 1;
        }
        let index = self.free;
        self.free = self.pool[index as usize].older;
        self.free_count -= 1;
        self.pool[index as usize] = message;
        index
    }

    fn release(&mut self, index: u32) {
        let message = &mut self.pool[index as usize];
        message.entries = None;
        message.older = self.free;
        self.free = index;
        self.free_count += 1;
    }

    /// A history for a granule that had none and holds `value`.
    pub fn open(&mut self, granule: u64, value: u32) -> Chain {
        let base = self.allocate(Message {
            time: 0,
            thread: ThreadKey::NOBODY,
            strength: Strength::Weak,
            value,
            mask: u32::MAX,
            older: NONE,
            attached: false,
            base: true,
            forgotten: false,
            origin: u32::MAX,
            entries: None,
        });
        let chain = Chain { last: base, length: 0 };
        self.chains.insert(granule, chain);
        chain
    }

    /// Puts a message after `before` in coherence order, `before` being the one that shall follow it, or
    /// `NONE` for the end. Returns its place.
    pub fn insert(&mut self, granule: u64, mut message: Message, before: u32) -> u32 {
        let chain = self.chains[&granule];
        message.older = if before == NONE { chain.last } else { self.message(before).older };
        let index = self.allocate(message);
        let chain = self.chains.get_mut(&granule).expect("it was read above");
        chain.length += 1;
        if before == NONE {
            chain.last = index;
        } else {
            self.pool[before as usize].older = index;
        }
        if chain.length > MOST {
            chain.length -= 1;
            let last = chain.last;
            self.forget_first(last);
        }
        index
    }

    /// The first message of a chain becomes part of the base.
    fn forget_first(&mut self, last: u32) {
        let (mut newer, mut first) = (NONE, last);
        while !self.message(self.message(first).older).base {
            newer = first;
            first = self.message(first).older;
        }
        debug_assert!(newer != NONE, "a chain that is too long has more than one message");
        let base = self.message(first).older;
        let Message { value, mask, entries, .. } = self.message(first).clone();
        let base_message = self.message_mut(base);
        base_message.value = base_message.value & !mask | value & mask;
        base_message.forgotten = true;
        if let Some(entries) = entries {
            let mut all: Vec<Entry> = base_message.entries.take().map_or_else(Vec::new, |list| list.to_vec());
            for entry in entries.iter() {
                entry::add(&mut all, entry.clone());
            }
            entry::bound(&mut all, |granule, a, b| self.later(granule, a, b));
            self.message_mut(base).entries = Some(std::rc::Rc::new(all));
        }
        self.message_mut(newer).older = base;
        self.release(first);
    }

    /// The bytes of `mask` as they are at a message: of each, the last at or before it.
    pub fn value(&self, mut index: u32, mask: u32) -> u32 {
        let (mut value, mut wanted) = (0, mask);
        loop {
            let message = self.message(index);
            value |= message.value & message.mask & wanted;
            wanted &= !message.mask;
            if wanted == 0 {
                return value;
            }
            index = message.older;
        }
    }

    /// Which of two messages of a granule is later in coherence order; one that is not kept any more is the
    /// earlier.
    pub fn later(&self, granule: u64, a: u64, b: u64) -> u64 {
        let Some(chain) = self.chain(granule) else { return a.max(b) };
        let mut index = chain.last;
        while index != NONE {
            let message = self.message(index);
            if message.time == a || message.time == b {
                return message.time;
            }
            index = message.older;
        }
        a.max(b)
    }

    /// Drops the history of a granule.
    pub fn close(&mut self, granule: u64) {
        let Some(chain) = self.chains.remove(&granule) else { return };
        let mut index = chain.last;
        while index != NONE {
            let older = self.message(index).older;
            self.release(index);
            index = older;
        }
    }

    /// Drops the histories of which every thread knows everything, all messages up to `floor` being known.
    pub fn sweep(&mut self, floor: u64) {
        let mut chains = std::mem::take(&mut self.chains);
        chains.retain(|_, chain| {
            let last = self.message(chain.last);
            let entries = last.entries.as_ref();
            let keep =
                last.time > floor || entries.is_some_and(|list| list.iter().any(|entry| entry.time > floor));
            if !keep {
                let mut index = chain.last;
                while index != NONE {
                    let older = self.message(index).older;
                    self.release(index);
                    index = older;
                }
            }
            keep
        });
        self.chains = chains;
    }
}
