//! Delayed stores as they are looked at one by one, and how far a thread is in letting them out.

use crate::model::targets::overlap;

/// Bytes, as a power of two, of the lines by which entries are found. Stores are aligned to their size and have at most
/// sixteen bytes, so no entry has bytes of two.
pub(super) const LINE: u32 = 4;

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
    #[cfg(test)]
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

/// A line's mark in the filter of a CTA's slots.
pub(super) fn mark(line: u64) -> u64 {
    1 << (line.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58)
}
