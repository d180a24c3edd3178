//! Threads' own buffers: lists of entries in one pool, newest first.
//!
//! Most accesses have nothing to do with any entry of their thread: a filter of 64 bits says so without a look at the list.
//! A list that has become long is also found by address, through one table for all threads: kernels that store to another place
//! with every turn of a loop and load in between would look at hundreds of entries for each access else. Short ones, which
//! most are, are walked and cost nothing for it.

use super::Space;

/// Entries of a thread's buffer from which on it is looked up by address.
const LONG: u16 = 12;
/// Bytes, as a power of two, for which there is one list in the table. Stores are aligned to their size and have at most
/// sixteen bytes, so no entry has bytes of two.
pub(super) const LINE: u32 = 4;
/// Owner of an entry that is not in the table.
const NOBODY: u32 = u32::MAX;

/// A delayed store. Entries of one thread never overlap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Entry {
    /// Generic address.
    pub address: u64,
    /// The bytes, low ones first.
    pub value: [u64; 2],
    pub bytes: u8,
    pub strong: bool,
    /// What it is called by whoever looks on ([`crate::model::notes`]); 0 where nobody does.
    pub number: u32,
}

impl Entry {
    #[inline(always)]
    pub fn new(address: u64, bytes: u32, value: u128, strong: bool) -> Entry {
        let value = [value as u64, (value >> 64) as u64];
        Entry { address, value, bytes: bytes as u8, strong, number: 0 }
    }

    pub fn value(&self) -> u128 {
        u128::from(self.value[0]) | u128::from(self.value[1]) << 64
    }

    pub fn overlaps(&self, address: u64, bytes: u32) -> bool {
        overlap((self.address, self.bytes.into()), (address, bytes))
    }

    /// The bytes of a part, if it has all of them.
    pub fn part(&self, address: u64, bytes: u32) -> Option<u64> {
        part((self.address, self.bytes.into()), self.value(), (address, bytes))
    }
}

/// Do two ranges of bytes have one in common?
pub(super) fn overlap(a: (u64, u32), b: (u64, u32)) -> bool {
    a.0 < b.0 + u64::from(b.1) && b.0 < a.0 + u64::from(a.1)
}

/// The bytes of `part`, at most eight, if the range has all of them.
pub(super) fn part(range: (u64, u32), value: u128, part: (u64, u32)) -> Option<u64> {
    let inside = range.0 <= part.0 && part.0 + u64::from(part.1) <= range.0 + u64::from(range.1);
    inside.then(|| (value >> (8 * (part.0 - range.0))) as u64)
}

/// Where a thread stands in draining everything for the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Phase {
    /// It drains nothing.
    #[default]
    Idle,
    /// What its CTA held when it began, as far as that is still held, goes first.
    Leaving,
    /// Its own entries go.
    Emptying,
}

/// A line's mark in the filter of a thread.
pub(super) fn mark(line: u64) -> u64 {
    1 << (line.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58)
}

/// A thread.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Thread {
    /// Which it is.
    number: u32,
    /// Newest entry by space, plus one; 0 for none.
    newest: [u32; 2],
    /// Oldest entry by space, plus one; 0 for none.
    oldest: [u32; 2],
    /// Are its entries in the table, by space?
    listed: [bool; 2],
    /// Marks of the lines of which there are or were entries since there was none, by space.
    lines: [u64; 2],
    pub entries: [u16; 2],
    /// Strong ones of both.
    pub strong: u16,
    /// Hooks called since there are strong ones.
    pub calls: u8,
    pub phase: Phase,
    /// Slots of its CTA that leave before its own entries do, in the phase of that name.
    pub leaving: u32,
    /// Entries of the buffer that is being emptied which are out already.
    pub out: u8,
}

impl Thread {
    pub fn new(number: u32) -> Thread {
        Thread { number, ..Thread::default() }
    }

    /// Whose entry it is, in the table.
    fn owner(&self, space: Space) -> u32 {
        self.number * 2 + space as u32
    }
}

/// An entry in its lists. Links are a place plus one; 0 for none.
#[derive(Clone, Copy, Debug)]
struct Node {
    entry: Entry,
    /// The next older entry of the thread; of an unused node, the next unused one.
    older: u32,
    /// The next newer entry of the thread.
    newer: u32,
    /// The next of the same bucket.
    next: u32,
    /// The thread and the space, when it is in the table.
    owner: u32,
    /// When it came.
    born: u64,
}

/// The entries of all threads.
#[derive(Debug, Default)]
pub(super) struct Pool {
    nodes: Vec<Node>,
    /// First of the unused ones, plus one.
    unused: u32,
    /// How many have come.
    born: u64,
    /// Of long lists: the first of each bucket, plus one. Its length is a power of two, or 0.
    buckets: Vec<u32>,
    /// Entries in the table.
    listed: usize,
}

impl Pool {
    #[inline(always)]
    pub fn push(&mut self, thread: &mut Thread, space: Space, entry: Entry) {
        let older = thread.newest[space as usize];
        self.born += 1;
        let node = Node { entry, older, newer: 0, next: 0, owner: NOBODY, born: self.born };
        let at = if self.unused == 0 {
            self.nodes.push(node);
            self.nodes.len() as u32
        } else {
            let at = self.unused;
            let place = &mut self.nodes[at as usize - 1];
            self.unused = place.older;
            *place = node;
            at
        };
        match older {
            0 => thread.oldest[space as usize] = at,
            older => self.nodes[older as usize - 1].newer = at,
        }
        thread.newest[space as usize] = at;
        thread.entries[space as usize] += 1;
        thread.lines[space as usize] |= mark(entry.address >> LINE);
        thread.strong += u16::from(entry.strong);
        if thread.entries[space as usize] >= LONG || thread.listed[space as usize] {
            self.list_newest(thread, space);
        }
    }

    /// Puts the newest entry of a long list into the table, and all others where that is not done yet.
    #[inline(never)]
    fn list_newest(&mut self, thread: &mut Thread, space: Space) {
        let newest = thread.newest[space as usize];
        if thread.listed[space as usize] {
            self.list(newest, thread.owner(space));
            return;
        }
        thread.listed[space as usize] = true;
        let mut next = newest;
        while next != 0 {
            self.list(next, thread.owner(space));
            next = self.nodes[next as usize - 1].older;
        }
    }

    /// The entries, newest first.
    #[cfg(test)]
    pub fn each(&self, thread: &Thread, space: Space) -> impl Iterator<Item = &Entry> {
        let mut next = thread.newest[space as usize];
        std::iter::from_fn(move || {
            let node = self.nodes.get(next.checked_sub(1)? as usize)?;
            next = node.older;
            Some(&node.entry)
        })
    }

    /// The entry that has some of these bytes, the oldest where there are several. (Where one has all of them, there is no
    /// other.)
    pub fn overlapping(&self, thread: &Thread, space: Space, address: u64, bytes: u32) -> Option<&Entry> {
        let at = self.find(thread, space, address, bytes);
        (at != 0).then(|| &self.nodes[at as usize - 1].entry)
    }

    /// The entry that has just these bytes.
    pub fn exact(&mut self, thread: &Thread, space: Space, address: u64, bytes: u32) -> Option<&mut Entry> {
        let at = self.find(thread, space, address, bytes);
        let entry = &mut self.nodes.get_mut(at.checked_sub(1)? as usize)?.entry;
        (entry.address == address && u32::from(entry.bytes) == bytes).then_some(entry)
    }

    pub fn take_newest(&mut self, thread: &mut Thread, space: Space) -> Option<&Entry> {
        self.take(thread, space, thread.newest[space as usize])
    }

    /// Takes the oldest of those that have some of these bytes.
    pub fn take_overlapping(
        &mut self,
        thread: &mut Thread,
        space: Space,
        address: u64,
        bytes: u32,
    ) -> Option<&Entry> {
        self.take(thread, space, self.find(thread, space, address, bytes))
    }

    /// Takes the oldest of the strong ones.
    pub fn take_strong(&mut self, thread: &mut Thread, space: Space) -> Option<&Entry> {
        let mut at = thread.oldest[space as usize];
        while at != 0 && !self.nodes[at as usize - 1].entry.strong {
            at = self.nodes[at as usize - 1].newer;
        }
        self.take(thread, space, at)
    }

    /// The oldest that has some of these bytes: its place plus one, or 0.
    fn find(&self, thread: &Thread, space: Space, address: u64, bytes: u32) -> u32 {
        let lines = address >> LINE..=(address + u64::from(bytes.max(1)) - 1) >> LINE;
        if !lines.clone().any(|line| thread.lines[space as usize] & mark(line) != 0) {
            return 0;
        }
        if !thread.listed[space as usize] {
            let mut at = thread.oldest[space as usize];
            while at != 0 {
                let node = &self.nodes[at as usize - 1];
                if node.entry.overlaps(address, bytes) {
                    break;
                }
                at = node.newer;
            }
            return at;
        }
        let owner = thread.owner(space);
        let (mut found, mut born) = (0, u64::MAX);
        for line in lines {
            let mut at = self.buckets[self.bucket(owner, line)];
            while at != 0 {
                let node = &self.nodes[at as usize - 1];
                if node.owner == owner && node.born < born && node.entry.overlaps(address, bytes) {
                    (found, born) = (at, node.born);
                }
                at = node.next;
            }
        }
        found
    }

    /// Takes an entry out, by its place plus one; None for 0. It stays where it is until the next is pushed: copies of what
    /// was just written in parts make the processor wait.
    fn take(&mut self, thread: &mut Thread, space: Space, at: u32) -> Option<&Entry> {
        let index = at.checked_sub(1)? as usize;
        let Node { older, newer, owner, .. } = *self.nodes.get(index)?;
        match newer {
            0 => thread.newest[space as usize] = older,
            newer => self.nodes[newer as usize - 1].older = older,
        }
        match older {
            0 => thread.oldest[space as usize] = newer,
            older => self.nodes[older as usize - 1].newer = newer,
        }
        if owner != NOBODY {
            self.unlist(at);
        }
        self.nodes[index].older = self.unused;
        self.unused = at;
        thread.entries[space as usize] -= 1;
        if thread.entries[space as usize] == 0 {
            thread.listed[space as usize] = false;
            thread.lines[space as usize] = 0;
        }
        let entry = &self.nodes[index].entry;
        thread.strong -= u16::from(entry.strong);
        if thread.strong == 0 {
            thread.calls = 0;
        }
        Some(entry)
    }

    /// The bucket of an owner's line.
    fn bucket(&self, owner: u32, line: u64) -> usize {
        // All bits of both matter to the low ones.
        let mixed = (line ^ u64::from(owner).rotate_right(24)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mixed = (mixed ^ (mixed >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
        (mixed >> 32) as usize & (self.buckets.len() - 1)
    }

    /// Puts an entry into the table.
    fn list(&mut self, at: u32, owner: u32) {
        self.nodes[at as usize - 1].owner = owner;
        self.listed += 1;
        if self.listed <= self.buckets.len() {
            self.link(at);
            return;
        }
        let length = (2 * self.buckets.len()).max(1024);
        self.buckets.clear();
        self.buckets.resize(length, 0);
        for at in 1..=self.nodes.len() as u32 {
            if self.nodes[at as usize - 1].owner != NOBODY {
                self.link(at);
            }
        }
    }

    fn link(&mut self, at: u32) {
        let node = &self.nodes[at as usize - 1];
        let bucket = self.bucket(node.owner, node.entry.address >> LINE);
        self.nodes[at as usize - 1].next = self.buckets[bucket];
        self.buckets[bucket] = at;
    }

    /// Takes an entry out of the table.
    fn unlist(&mut self, at: u32) {
        let node = self.nodes[at as usize - 1];
        let bucket = self.bucket(node.owner, node.entry.address >> LINE);
        if self.buckets[bucket] == at {
            self.buckets[bucket] = node.next;
        } else {
            let mut before = self.buckets[bucket];
            // It is in the list of its bucket, so this ends at it.
            while self.nodes[before as usize - 1].next != at {
                before = self.nodes[before as usize - 1].next;
            }
            self.nodes[before as usize - 1].next = node.next;
        }
        self.nodes[at as usize - 1].owner = NOBODY;
        self.listed -= 1;
    }

    pub fn bytes(&self) -> u64 {
        (size_of_val(&self.nodes[..]) + size_of_val(&self.buckets[..])) as u64
    }
}
