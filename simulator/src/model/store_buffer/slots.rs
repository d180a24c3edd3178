//! What a CTA holds back from the rest of the device: see `cta.cuh` of the device code for why.
//!
//! A CTA barrier, `__syncwarp()` or `__threadfence_block()` orders a thread's stores for its own CTA alone. So a weak global
//! store that was delayed until then need not become visible to other CTAs: it moves into one of eight slots of
//! its CTA, which every thread of the CTA looks up, and leaves for memory before the next fence or release of wider
//! scope by any of these threads (they may be ordered after it: cumulativity), when its bytes are written or
//! updated by one of them, when the CTA's last thread ends, or after a bounded while.

use bugaroo_device_handlers::constants::cta::{CALLS, SLOTS};

use super::buffers::Entry;

/// The slots of one CTA.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Slots {
    slots: [Entry; SLOTS as usize],
    /// Which are held.
    pub held: u8,
    /// Held ones whose while is over.
    pub expired: u8,
    clock: u32,
    turn: u32,
    /// Threads of the block that have ended.
    pub exited: u32,
}

impl Slots {
    /// Counts calls while something is held.
    pub fn age(&mut self, calls: u32) {
        if self.held != 0 {
            self.clock += calls;
            if self.clock >= CALLS {
                self.clock = 0;
                self.expired = self.held;
            }
        }
    }

    /// Takes the first of these slots that is held out.
    pub fn leave(&mut self, among: u8) -> Option<Entry> {
        let index = (self.held & among).trailing_zeros();
        (index < SLOTS).then(|| {
            self.held &= !(1 << index);
            self.expired &= self.held;
            if self.held == 0 {
                self.clock = 0;
            }
            self.slots[index as usize]
        })
    }

    /// The slots that hold some of these bytes.
    pub fn overlapping(&self, address: u64, bytes: u32) -> u8 {
        let mut found = 0;
        let mut rest = self.held;
        while rest != 0 {
            let index = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            found |= u8::from(self.slots[index].overlaps(address, bytes)) << index;
        }
        found
    }

    /// The bytes, if a slot has all of them.
    pub fn part(&self, address: u64, bytes: u32) -> Option<u64> {
        let among = self.overlapping(address, bytes);
        self.slots.get(among.trailing_zeros() as usize).and_then(|entry| entry.part(address, bytes))
    }

    /// Holds a store back; answers what goes to memory instead: one that made room for it, or itself when no slot is
    /// free. Every fourth time one is made free: what was stored last is the likeliest to matter, but then a
    /// CTA that stores much shall not spend its time on slots.
    pub fn hold(&mut self, entry: Entry) -> Option<Entry> {
        let turn = self.turn;
        self.turn = turn.wrapping_add(1);
        let index = match self.held {
            u8::MAX if !turn.is_multiple_of(4) => return Some(entry),
            u8::MAX => turn / 4 % SLOTS,
            held => held.trailing_ones(),
        };
        let older = (self.held >> index & 1 != 0).then(|| self.slots[index as usize]);
        self.slots[index as usize] = entry;
        self.held |= 1 << index;
        self.expired &= !(1 << index);
        older
    }
}
