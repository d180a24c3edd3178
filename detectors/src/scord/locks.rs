//! The lock table of a warp, and the summary of the locks held (section IV-A, "Detecting races due to lock/unlock").
//!
//! A table is four entries and the place of the next one: which lock, its scope, whether it is valid, and whether it is active. The paper keeps
//! six bits of the lock's address, of which the summary is made. Here an entry has all of them: what opens a lock is any
//! exchange or strong store, and with six bits every sixty-fourth datum would.

/// Locks of a table.
pub const LOCKS: usize = 4;

const DEVICE: u64 = 1;
const VALID: u64 = 2;
const ACTIVE: u64 = 4;
/// Where the address begins. None needs the bits that are lost.
const ADDRESS: u32 = 3;

/// Six bits of a lock's address.
#[inline]
pub fn hash(address: u64) -> u32 {
    ((address >> 2).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58) as u32
}

/// The locks that a warp, or a lane, holds or is about to hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LockTable {
    entries: [u64; LOCKS],
    next: u8,
    /// A lock that no fence had made active has gone for another one.
    has_lost: bool,
}

impl LockTable {
    /// Whether it has no lock, active or not.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.entries == [0; LOCKS]
    }

    /// A compare-and-swap has taken the lock; a fence has to make it active. Says whether an active lock had to go for it.
    pub fn insert(&mut self, lock: u64, device: bool) -> bool {
        let next = usize::from(self.next) % LOCKS;
        let find = |fits: &dyn Fn(u64) -> bool| {
            let mut circle = (0..LOCKS).map(|more| (next + more) % LOCKS);
            circle.find(|index| fits(self.entries[*index]))
        };
        // The next place in the circle that is free, or else is of what need be no lock: programs claim what they work on by the same instruction.
        let free = find(&|entry| entry == 0);
        let pending = find(&|entry| entry & ACTIVE == 0);
        let index = free.or(pending).unwrap_or(next);
        self.has_lost |= free.is_none() && pending.is_some();
        self.entries[index] = lock << ADDRESS | VALID | if device { DEVICE } else { 0 };
        self.next = ((index + 1) % LOCKS) as u8;
        pending.is_none()
    }

    /// A fence: locks of its scope or a lesser one are held from here on. Says whether one of them had gone already.
    pub fn activate(&mut self, device: bool) -> bool {
        for entry in self.entries.iter_mut().filter(|entry| **entry != 0) {
            if device || *entry & DEVICE == 0 {
                *entry |= ACTIVE;
            }
        }
        std::mem::take(&mut self.has_lost)
    }

    /// An unlock of so wide a scope: says whether there was such a lock, which is released.
    pub fn release(&mut self, lock: u64, device: bool) -> bool {
        let suits = |entry: u64| entry >> ADDRESS == lock && (device || entry & DEVICE == 0);
        let found = self.entries.iter_mut().find(|entry| **entry != 0 && suits(**entry));
        found.map(|entry| *entry = 0).is_some()
    }

    /// Forgets the locks that no fence has made active.
    pub fn drop_inactive(&mut self) {
        self.entries.iter_mut().filter(|entry| **entry & ACTIVE == 0).for_each(|entry| *entry = 0);
        self.has_lost = false;
    }

    /// The bloom filter of the active locks, of 8 or 16 bits. The lower half is of their addresses; the upper one is of their scopes, too: a
    /// lock of a block's scope is another one in each block, and one of the device is in each block the same as that.
    pub fn bloom(&self, bits: u32, block: u32) -> u16 {
        let (half, part) = (bits / 2, bits.trailing_zeros() - 1);
        let mut bloom = 0;
        for entry in self.entries.iter().filter(|entry| **entry & ACTIVE != 0) {
            let hash = hash(entry >> ADDRESS);
            let high = hash >> part;
            bloom |= 1 << (hash & (half - 1));
            bloom |= 1 << (half + (high.wrapping_add(1 + block % (half - 1)) & (half - 1)));
            if entry & DEVICE != 0 {
                bloom |= 1 << (half + (high & (half - 1)));
            }
        }
        bloom
    }
}

/// Whether two summaries have a lock in common, or so it seems: a bit in each half. Works for 8 bits as for 16: of 8 the upper half is
/// the second four, and the eight above are empty.
#[inline]
pub fn common(one: u16, other: u16) -> bool {
    let both = one & other;
    let narrow = (one | other) >> 8 == 0;
    if narrow { both & 0xf != 0 && both >> 4 != 0 } else { both & 0xff != 0 && both >> 8 != 0 }
}
