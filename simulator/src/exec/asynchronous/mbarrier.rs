//! The word of an `mbarrier` (PTX ISA, "Parallel Synchronization: mbarrier"), which is opaque to programs.
//!
//! Bits 0 to 19: arrivals that the phase still takes. 20 to 39: arrivals that a phase takes. 40 to 60: bytes
//! of asynchronous copies that the phase still takes, plus 2^20. 62: set, so that memory that was never
//! initialised is told from a barrier. 63: the phase, even or odd.

/// The largest count of arrivals and, either way, of bytes.
pub(super) const MOST: u32 = (1 << 20) - 1;
const COUNT: u64 = MOST as u64;
const VALID: u64 = 1 << 62;

/// A barrier as it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word {
    pub pending: u32,
    pub expected: u32,
    pub transactions: i32,
    pub odd: bool,
}

impl Word {
    /// A fresh one.
    pub fn new(count: u32) -> Word {
        Word { pending: count, expected: count, transactions: 0, odd: false }
    }

    /// None when there is no barrier.
    pub fn read(bits: u64) -> Option<Word> {
        (bits & VALID != 0).then_some(Word {
            pending: (bits & COUNT) as u32,
            expected: (bits >> 20 & COUNT) as u32,
            transactions: (bits >> 40 & 0x1f_ffff) as i32 - (1 << 20),
            odd: bits >> 63 != 0,
        })
    }

    pub fn bits(self) -> u64 {
        u64::from(self.pending)
            | u64::from(self.expected) << 20
            | ((self.transactions + (1 << 20)) as u64 & 0x1f_ffff) << 40
            | VALID
            | u64::from(self.odd) << 63
    }

    /// `arrive-on`: an error when the phase does not take so many.
    pub fn arrive(&mut self, count: u32) -> Result<(), &'static str> {
        self.pending = self.pending.checked_sub(count).ok_or("gets more arrivals than the phase takes")?;
        Ok(())
    }

    /// `expect-tx`, or `complete-tx` for negative numbers.
    pub fn expect(&mut self, bytes: i64) -> Result<(), &'static str> {
        let sum = i64::from(self.transactions) + bytes;
        if sum.unsigned_abs() > COUNT {
            return Err("counts more bytes than it can");
        }
        self.transactions = sum as i32;
        Ok(())
    }

    /// Goes to the next phase if nothing is missing.
    pub fn complete(&mut self) -> bool {
        let done = self.pending == 0 && self.transactions == 0;
        if done {
            self.pending = self.expected;
            self.odd = !self.odd;
        }
        done
    }
}

/// `mbarrier.pending_count` of a state, which is the word before an arrival.
pub(super) fn pending(state: u64) -> u32 {
    (state & COUNT) as u32
}

/// Has the phase of a state passed?
pub(super) fn passed(word: Word, state: u64) -> bool {
    word.odd != (state >> 63 != 0)
}
