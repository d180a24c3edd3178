//! Threads' own buffers: lists of entries in one pool, newest first.

use super::Space;

/// A delayed store. Entries of one thread never overlap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Entry {
    /// Generic address.
    pub address: u64,
    /// The bytes, low ones first.
    pub value: [u64; 2],
    /// The next older entry of the thread, plus one; 0 for none.
    older: u32,
    pub bytes: u8,
    pub strong: bool,
}

impl Entry {
    pub fn new(address: u64, bytes: u32, value: u128, strong: bool) -> Entry {
        let value = [value as u64, (value >> 64) as u64];
        Entry { address, value, older: 0, bytes: bytes as u8, strong }
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

/// A thread.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Thread {
    /// Newest entry by space, plus one; 0 for none.
    newest: [u32; 2],
    pub entries: [u16; 2],
    /// Strong ones of both.
    pub strong: u16,
    /// Hooks called since there are strong ones.
    pub calls: u8,
    pub phase: Phase,
    /// Slots of its CTA that leave before its own entries do, in the phase of that name.
    pub leaving: u8,
    /// Entries of the buffer that is being emptied which are out already.
    pub out: u8,
}

/// The entries of all threads.
#[derive(Debug, Default)]
pub(super) struct Pool {
    entries: Vec<Entry>,
    /// First of the unused ones, plus one.
    unused: u32,
}

impl Pool {
    pub fn push(&mut self, thread: &mut Thread, space: Space, entry: Entry) {
        let entry = Entry { older: thread.newest[space as usize], ..entry };
        let at = if self.unused == 0 {
            self.entries.push(entry);
            self.entries.len() as u32
        } else {
            let at = self.unused;
            let place = &mut self.entries[at as usize - 1];
            self.unused = place.older;
            *place = entry;
            at
        };
        thread.newest[space as usize] = at;
        thread.entries[space as usize] += 1;
        thread.strong += u16::from(entry.strong);
    }

    /// The entries, newest first.
    pub fn each(&self, thread: &Thread, space: Space) -> impl Iterator<Item = &Entry> {
        let mut next = thread.newest[space as usize];
        std::iter::from_fn(move || {
            let entry = self.entries.get(next.checked_sub(1)? as usize)?;
            next = entry.older;
            Some(entry)
        })
    }

    /// The entry that has just these bytes.
    pub fn exact(&mut self, thread: &Thread, space: Space, address: u64, bytes: u32) -> Option<&mut Entry> {
        let mut next = thread.newest[space as usize];
        while next != 0 {
            let entry = &self.entries[next as usize - 1];
            if entry.address == address && u32::from(entry.bytes) == bytes {
                return Some(&mut self.entries[next as usize - 1]);
            }
            next = entry.older;
        }
        None
    }

    pub fn take_newest(&mut self, thread: &mut Thread, space: Space) -> Option<Entry> {
        self.take_first(thread, space, |_| true)
    }

    /// Takes the oldest of those that are chosen out.
    pub fn take_oldest(
        &mut self,
        thread: &mut Thread,
        space: Space,
        chosen: impl Fn(&Entry) -> bool,
    ) -> Option<Entry> {
        let count = self.each(thread, space).filter(|entry| chosen(entry)).count();
        let skipped = std::cell::Cell::new(count.checked_sub(1)?);
        self.take_first(thread, space, |entry| {
            chosen(entry) && skipped.replace(skipped.get().saturating_sub(1)) == 0
        })
    }

    /// Takes the newest of those that are chosen out.
    fn take_first(
        &mut self,
        thread: &mut Thread,
        space: Space,
        chosen: impl Fn(&Entry) -> bool,
    ) -> Option<Entry> {
        let mut newer = 0;
        let mut next = thread.newest[space as usize];
        while next != 0 {
            let entry = self.entries[next as usize - 1];
            if chosen(&entry) {
                match newer {
                    0 => thread.newest[space as usize] = entry.older,
                    newer => self.entries[newer as usize - 1].older = entry.older,
                }
                self.entries[next as usize - 1].older = self.unused;
                self.unused = next;
                thread.entries[space as usize] -= 1;
                thread.strong -= u16::from(entry.strong);
                if thread.strong == 0 {
                    thread.calls = 0;
                }
                return Some(entry);
            }
            newer = next;
            next = entry.older;
        }
        None
    }

    pub fn bytes(&self) -> u64 {
        (self.entries.len() * size_of::<Entry>()) as u64
    }
}
