//! Stores that a device's own threads see, and nobody beyond it yet.

use crate::schedule::Rng;

use super::targets::overlap;

/// Stores that are held at most; the oldest one leaves for a new one.
const MOST: usize = 32;
/// Hooks for which a store is held, at most.
const LONGEST: u64 = 4096;

/// A store that is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub address: u64,
    pub bytes: u32,
    /// Low bytes first.
    pub value: u128,
    /// It leaves when so many hooks have been called.
    due: u64,
}

/// The stores that are held. No two have a byte in common.
#[derive(Debug)]
pub(crate) struct Held {
    entries: Vec<Entry>,
    /// Between which addresses they lie: the first byte, and the last.
    hull: (u64, u64),
    hooks: u64,
    /// When the first of them is due.
    soonest: u64,
    draws: Rng,
    /// Whether stores that are written now may be held.
    pub takes: bool,
}

impl Held {
    pub fn new(seed: u64) -> Held {
        Held {
            entries: Vec::new(),
            hull: (u64::MAX, 0),
            hooks: 0,
            soonest: u64::MAX,
            draws: Rng::new(seed),
            takes: false,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whether some of these bytes are held.
    #[inline]
    pub fn has(&self, address: u64, bytes: u32) -> bool {
        let last = address.saturating_add(u64::from(bytes.max(1)) - 1);
        self.hull.0 <= last
            && address <= self.hull.1
            && self.entries.iter().any(|entry| overlap((entry.address, entry.bytes), (address, bytes)))
    }

    /// Puts the bytes that are held of a value's in the place of those that memory has.
    pub fn patch(&self, address: u64, value: &mut [u8]) {
        if !self.has(address, value.len() as u32) {
            return;
        }
        for entry in &self.entries {
            let held = entry.value.to_le_bytes();
            for (at, byte) in (address..).zip(&mut *value) {
                let place = at.wrapping_sub(entry.address);
                if place < u64::from(entry.bytes) {
                    *byte = held[place as usize];
                }
            }
        }
    }

    /// Counts a hook; answers whether something is due.
    pub fn count(&mut self) -> bool {
        self.hooks += 1;
        self.hooks >= self.soonest
    }

    /// So many hooks are called while nothing is held.
    pub fn count_idle(&mut self, hooks: u32) {
        self.hooks += u64::from(hooks);
    }

    /// Takes one out that is due.
    pub fn take_due(&mut self) -> Option<Entry> {
        let hooks = self.hooks;
        self.take(|entry| entry.due <= hooks)
    }

    /// Takes one out that has some of these bytes.
    pub fn take_overlapping(&mut self, address: u64, bytes: u32) -> Option<Entry> {
        if !self.has(address, bytes) {
            return None;
        }
        self.take(|entry| overlap((entry.address, entry.bytes), (address, bytes)))
    }

    /// Takes any out.
    pub fn take_any(&mut self) -> Option<Entry> {
        self.take(|_| true)
    }

    fn take(&mut self, which: impl Fn(&Entry) -> bool) -> Option<Entry> {
        let at = self.entries.iter().position(which)?;
        let entry = self.entries.remove(at);
        self.soonest = self.entries.iter().map(|entry| entry.due).min().unwrap_or(u64::MAX);
        if self.entries.is_empty() {
            self.hull = (u64::MAX, 0);
        }
        Some(entry)
    }

    /// Tosses a coin for a store of so many bytes that is about to be written: whether it is to be held.
    pub fn wants(&mut self, bytes: u32) -> bool {
        self.takes && bytes <= 16 && self.draws.next() & 1 != 0
    }

    /// Holds a store of bytes that are not held. Answers the one that makes room for it, if one has to.
    pub fn hold(&mut self, address: u64, bytes: u32, value: u128) -> Option<Entry> {
        let left = if self.entries.len() == MOST { self.take_any() } else { None };
        // As likely for a short while as for a long one.
        let draw = self.draws.next();
        let due = self.hooks + 1 + (draw >> 32) % (LONGEST >> (draw % 8));
        self.entries.push(Entry { address, bytes, value, due });
        self.soonest = self.soonest.min(due);
        let last = address + u64::from(bytes) - 1;
        self.hull = (self.hull.0.min(address), self.hull.1.max(last));
        left
    }
}

#[cfg(test)]
mod tests;
