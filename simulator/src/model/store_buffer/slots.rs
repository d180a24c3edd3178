//! What a CTA holds back from the rest of the device: see `cta.cuh` of the device code for why.
//!
//! A CTA barrier, `__syncwarp()` or `__threadfence_block()` orders a thread's stores for its own CTA alone. So a weak global
//! store that was delayed until then need not become visible to other CTAs: it moves into one of a few slots of
//! its CTA, which every thread of the CTA looks up, and leaves for memory before the next fence or release of wider
//! scope by any of these threads (they may be ordered after it: cumulativity), when its bytes are written or
//! updated by one of them, when the CTA's last thread ends, or after a bounded while, which is short for strong stores: others
//! wait for them.

use bugaroo_device_handlers::constants::STRONG_CALLS;
use bugaroo_device_handlers::constants::cta::{CALLS, SLOTS};

use super::buffers::{Entry, LINE, mark};

/// The slots of one CTA.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Slots {
    slots: [Entry; SLOTS as usize],
    /// Which are held.
    pub held: u32,
    /// Held ones whose while is over.
    pub expired: u32,
    /// Held ones that are strong, and calls since there are such.
    strong: u32,
    strong_calls: u32,
    /// Marks of the lines of which there are or were entries since there was none.
    lines: u64,
    /// Between which addresses these entries lie: the first byte, and the last.
    hull: Option<(u64, u64)>,
    clock: u32,
    /// Threads of the block that have ended.
    pub exited: u32,
}

impl Slots {
    /// Counts calls while something is held.
    pub fn age(&mut self, calls: u32) {
        if self.held != 0 {
            self.clock += calls;
            if self.strong != 0 {
                self.strong_calls += calls;
                if u64::from(self.strong_calls) >= STRONG_CALLS {
                    self.strong_calls = 0;
                    self.expired |= self.strong;
                }
            }
            if self.clock >= CALLS {
                self.clock = 0;
                self.expired = self.held;
            }
        }
    }

    /// Takes the first of these slots that is held out.
    pub fn leave(&mut self, among: u32) -> Option<Entry> {
        let index = (self.held & among).trailing_zeros();
        (index < SLOTS).then(|| {
            self.held &= !(1 << index);
            self.expired &= self.held;
            self.strong &= self.held;
            if self.held == 0 {
                self.clock = 0;
                self.lines = 0;
                self.hull = None;
            }
            self.slots[index as usize]
        })
    }

    /// Whether something may be held between these addresses.
    pub fn is_near(&self, (first, last): (u64, u64)) -> bool {
        self.hull.is_some_and(|hull| hull.0 <= last && first <= hull.1)
    }

    /// The slots that hold some of these bytes.
    pub fn overlapping(&self, address: u64, bytes: u32) -> u32 {
        let mut lines = address >> LINE..=(address + u64::from(bytes.max(1)) - 1) >> LINE;
        if !lines.any(|line| self.lines & mark(line) != 0) {
            return 0;
        }
        let mut found = 0;
        let mut rest = self.held;
        while rest != 0 {
            let index = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            found |= u32::from(self.slots[index].overlaps(address, bytes)) << index;
        }
        found
    }

    /// The bytes, if a slot has all of them.
    pub fn part(&self, address: u64, bytes: u32) -> Option<u64> {
        self.holder(address, bytes).and_then(|entry| entry.part(address, bytes))
    }

    /// The first slot's entry that has some of them.
    pub fn holder(&self, address: u64, bytes: u32) -> Option<&Entry> {
        self.slots.get(self.overlapping(address, bytes).trailing_zeros() as usize)
    }

    /// Holds a store back, of whose thread so many went before it in the same drain; answers what goes to memory instead:
    /// one that made room for it, or itself. When no slot is free, one is made free with such a chance that of one
    /// thread's stores each is as likely to be held in the end (Vitter, "Random sampling with a reservoir", 1985,
    /// algorithm R); where the slots were full when it began, one time in four: what was stored last is the likeliest
    /// to matter, but a CTA that stores much shall not spend its time on slots. `draw` decides.
    pub fn hold(&mut self, entry: Entry, before: u32, draw: u64) -> Option<Entry> {
        let of = if before < SLOTS { 4 * SLOTS } else { before + 1 };
        let index = match self.held {
            u32::MAX => match ((draw >> 32) * u64::from(of)) >> 32 {
                index if index < u64::from(SLOTS) => index as u32,
                _ => return Some(entry),
            },
            held => held.trailing_ones(),
        };
        let older = (self.held >> index & 1 != 0).then(|| self.slots[index as usize]);
        self.slots[index as usize] = entry;
        self.held |= 1 << index;
        self.lines |= mark(entry.address >> LINE);
        let (first, last) = (entry.address, entry.address + u64::from(entry.bytes) - 1);
        self.hull = Some(self.hull.map_or((first, last), |hull| (hull.0.min(first), hull.1.max(last))));
        self.expired &= !(1 << index);
        if entry.strong && self.strong == 0 {
            self.strong_calls = 0;
        }
        self.strong = self.strong & !(1 << index) | u32::from(entry.strong) << index;
        older
    }
}
