//! Messages of granules, in coherence order.
//!
//! A chain is what has been written to a granule and may still be read: from its last message in coherence order to
//! the first, and behind that the base, what stood there before. All chains lie in one pool.
//!
//! What is forgotten: of more than [`MOST`] messages the first become part of the base. A thread that could
//! still have read one of them reads a later one instead. Their release entries stay with the base.

use crate::model::fetch::fetch;
use bugaroo_semantics::clocks::release::{self as entry, Entries};
use bugaroo_semantics::scope::{Strength, ThreadKey};

/// Messages that a granule keeps.
pub const MOST: u32 = 8;
/// Messages of a block of the pool.
const BLOCK: u32 = 1 << 10;
/// End of a chain.
pub const NONE: u32 = u32::MAX;

/// A store of all four bytes of a granule.
#[derive(Clone, Copy, Debug)]
pub struct Store {
    pub time: u64,
    pub value: u32,
    /// What the program calls the instruction.
    pub origin: u32,
}

/// One write.
#[derive(Clone, Debug)]
// One line of the host's cache.
#[repr(align(64))]
pub struct Message {
    /// When it was made: no two accesses have the same, and what a release hands over is told by it. It
    /// does not grow along a chain: a store may come early in coherence order.
    pub time: u64,
    pub by: Author,
    pub strength: Strength,
    pub bits: Bits,
    pub links: Links,
    pub state: MessageState,
    pub entries: Entries,
    /// The first thread that a strong read has made know it, and the time (observation order); nobody, where there is none.
    observer: ThreadKey,
    observed: u64,
    /// The others: few messages have any.
    #[expect(clippy::box_collection, reason = "a list of its own would not fit into the line")]
    others: Option<Box<Vec<(ThreadKey, u64)>>>,
}

const _: () = assert!(size_of::<Message>() == 64);

/// Who wrote a message.
#[derive(Clone, Copy, Debug)]
pub struct Author {
    pub thread: ThreadKey,
    /// What the program calls the instruction.
    pub origin: u32,
}

/// What a message wrote.
#[derive(Clone, Copy, Debug)]
pub struct Bits {
    pub value: u32,
    /// The bits that it wrote.
    pub mask: u32,
}

/// Where a message is in its chain.
#[derive(Clone, Copy, Debug)]
pub struct Links {
    /// The next one towards the base.
    pub older: u32,
    /// The next one away from it.
    pub newer: u32,
}

/// What is particular about a message.
#[derive(Clone, Copy, Debug, Default)]
pub struct MessageState {
    /// Nothing may come between it and the next one towards the base: an atomic has read that.
    pub attached: bool,
    /// What stood there first, or has been forgotten.
    pub base: bool,
    /// For the base: something has been forgotten, so that it must not be read where anything else can be.
    pub forgotten: bool,
}

/// What a message counts for where memory is reckoned, for the bound to bite where it always has.
pub const BYTES: usize = 56;

impl Message {
    /// What stood in a granule before anything that is kept.
    fn base(value: u32) -> Message {
        Message {
            time: 0,
            by: Author { thread: ThreadKey::NOBODY, origin: u32::MAX },
            strength: Strength::Weak,
            bits: Bits { value, mask: u32::MAX },
            links: Links { older: NONE, newer: NONE },
            state: MessageState { base: true, ..MessageState::default() },
            entries: None,
            observer: ThreadKey::NOBODY,
            observed: 0,
            others: None,
        }
    }

    /// A write at a time, by an instruction, of the bits of a mask.
    #[inline]
    pub fn new(
        thread: ThreadKey,
        strength: Strength,
        (time, origin): (u64, u32),
        (value, mask): (u32, u32),
        entries: Entries,
    ) -> Message {
        let (by, bits) = (Author { thread, origin }, Bits { value: value & mask, mask });
        Message { time, by, strength, bits, state: MessageState::default(), entries, ..Message::base(0) }
    }

    /// A store of all four bytes that hands nothing over.
    pub fn plain(thread: ThreadKey, strength: Strength, store: Store) -> Message {
        let Store { time, value, origin } = store;
        Message::new(thread, strength, (time, origin), (value, u32::MAX), None)
    }

    /// Whether a strong read of this thread has seen it.
    #[inline]
    pub fn observed_by(&self, thread: ThreadKey) -> bool {
        self.observers().any(|observer| observer.0 == thread)
    }

    /// Threads that strong reads have made know it, each with the time.
    #[inline]
    pub fn observers(&self) -> impl Iterator<Item = (ThreadKey, u64)> {
        let first = (self.observer != ThreadKey::NOBODY).then_some((self.observer, self.observed));
        first.into_iter().chain(self.others.iter().flat_map(|others| others.iter().copied()))
    }
}

/// The chain of one granule.
#[derive(Clone, Copy, Debug)]
pub struct Chain {
    /// The last message in coherence order.
    pub last: u32,
    /// What stands under the first.
    base: u32,
    /// Messages, without the base.
    pub length: u32,
}

/// All chains' messages.
#[derive(Debug)]
pub struct Chains {
    /// In blocks, so that growing moves nothing.
    pool: Vec<Box<[Message]>>,
    free: u32,
    /// Messages in use.
    used: usize,
    observers: usize,
}

impl Default for Chains {
    fn default() -> Chains {
        Chains { pool: Vec::new(), free: NONE, used: 0, observers: 0 }
    }
}

impl Chains {
    #[inline]
    pub fn message(&self, index: u32) -> &Message {
        &self.pool[(index / BLOCK) as usize][(index % BLOCK) as usize]
    }

    pub fn message_mut(&mut self, index: u32) -> &mut Message {
        &mut self.pool[(index / BLOCK) as usize][(index % BLOCK) as usize]
    }

    /// Somebody is about to look at a chain.
    #[inline(always)]
    pub fn fetch(&self, chain: &Chain) {
        fetch(self.message(chain.last));
        let first = self.message(chain.base).links.newer;
        // One more, and the first becomes part of the base.
        if chain.length >= MOST && first != NONE {
            fetch(self.message(first));
        }
    }

    /// Bytes of all messages, without the release entries.
    pub fn bytes(&self) -> usize {
        self.used * BYTES + self.observers * size_of::<(ThreadKey, u64)>()
    }

    fn allocate(&mut self, message: Message) -> u32 {
        if self.free == NONE {
            let first = self.pool.len() as u32 * BLOCK;
            let linked = |index: u32| {
                let older = if index + 1 == BLOCK { NONE } else { first + index + 1 };
                Message { links: Links { older, newer: NONE }, ..Message::base(0) }
            };
            self.pool.push((0..BLOCK).map(linked).collect());
            self.free = first;
        }
        let index = self.free;
        let place = self.message_mut(index);
        let next = place.links.older;
        *place = message;
        self.free = next;
        self.used += 1;
        index
    }

    fn release(&mut self, index: u32) {
        let next = self.free;
        let message = self.message_mut(index);
        message.entries = None;
        message.links.older = next;
        let first = std::mem::replace(&mut message.observer, ThreadKey::NOBODY) != ThreadKey::NOBODY;
        let others = message.others.take().map_or(0, |others| others.len());
        self.observers -= usize::from(first) + others;
        self.free = index;
        self.used -= 1;
    }

    /// A chain of the base alone, for a granule that held `value`.
    pub fn open(&mut self, value: u32) -> Chain {
        let base = self.allocate(Message::base(value));
        Chain { last: base, base, length: 0 }
    }

    /// Puts a message after `before` in coherence order, `before` being the one that shall follow it, or
    /// `NONE` for the end.
    /// Answers time and bits of the message that has become part of the base, if one has.
    pub fn insert(&mut self, chain: &mut Chain, mut message: Message, before: u32) -> Option<(u64, u32)> {
        message.links.older = if before == NONE { chain.last } else { self.message(before).links.older };
        message.links.newer = before;
        let older = message.links.older;
        let index = self.allocate(message);
        chain.length += 1;
        self.message_mut(older).links.newer = index;
        if before == NONE {
            chain.last = index;
        } else {
            self.message_mut(before).links.older = index;
        }
        (chain.length > MOST).then(|| {
            chain.length -= 1;
            self.forget_first(chain.base)
        })
    }

    /// The first message of a chain, which has more, becomes part of the base.
    fn forget_first(&mut self, base: u32) -> (u64, u32) {
        let first = self.message(base).links.newer;
        let Message { time, bits: Bits { value, mask }, links: Links { newer, .. }, ref entries, .. } =
            *self.message(first);
        debug_assert!(newer != NONE, "a chain that is too long has more than one message");
        let entries = entry::both(&self.message(base).entries, entries);
        let base_message = self.message_mut(base);
        base_message.bits.value = base_message.bits.value & !mask | value & mask;
        base_message.state.forgotten = true;
        base_message.entries = entries;
        base_message.links.newer = newer;
        self.message_mut(newer).links.older = base;
        self.release(first);
        (time, mask)
    }

    /// All but the last value becomes part of the base: what came before cannot be read any more.
    pub fn collapse(&mut self, chain: &mut Chain) {
        let value = self.value(chain.last, u32::MAX);
        let (mut entries, mut index) = (None, chain.last);
        while index != NONE {
            entries = entry::both(&self.message(index).entries, &entries);
            index = self.message(index).links.older;
        }
        self.drop_chain(*chain);
        *chain = self.open(value);
        let base = self.message_mut(chain.last);
        base.entries = entries;
        base.state.forgotten = true;
    }

    /// The bytes of `mask` as they are at a message: of each, the last at or before it.
    pub fn value(&self, mut index: u32, mask: u32) -> u32 {
        let (mut value, mut wanted) = (0, mask);
        loop {
            let message = self.message(index);
            value |= message.bits.value & message.bits.mask & wanted;
            wanted &= !message.bits.mask;
            if wanted == 0 {
                return value;
            }
            index = message.links.older;
        }
    }

    /// A strong read of a thread has made it know a message.
    pub fn observe(&mut self, index: u32, thread: ThreadKey, time: u64) {
        let message = self.message_mut(index);
        if message.observer == ThreadKey::NOBODY {
            (message.observer, message.observed) = (thread, time);
        } else {
            message.others.get_or_insert_default().push((thread, time));
        }
        self.observers += 1;
    }

    /// Frees the messages of a chain.
    pub fn drop_chain(&mut self, chain: Chain) {
        let mut index = chain.last;
        while index != NONE {
            let older = self.message(index).links.older;
            self.release(index);
            index = older;
        }
    }
}
