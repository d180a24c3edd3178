//! What the machine keeps for the threads of a warp together: their counts of accesses, and what of them waits.

use super::waiting::{Queue, Spare, left};
use bugaroo_semantics::scope::ThreadKey;

/// Lanes of a warp.
const LANES: usize = 32;

/// A warp slot.
#[derive(Clone, Debug)]
pub(super) struct WarpState {
    /// By lane: who is there. (It stands with the rest of the thread, too, which lies further apart.)
    pub keys: [ThreadKey; LANES],
    /// By lane: the lower half of its thread's count of accesses, what waiting is counted in; and the highest of these, or one above.
    counts: [u32; LANES],
    most: u32,
    /// The count at which the first thing of any lane is due, or one before, where anything waits.
    due: u32,
    /// Lanes that have late loads.
    pub late: u32,
    pub waiting: Queue,
}

/// The warp of a thread's slot, and its lane.
#[inline(always)]
pub(super) fn warp_and_lane(slot: usize) -> (usize, usize) {
    (slot / LANES, slot % LANES)
}

/// The slot of a warp's lane.
#[inline(always)]
pub(super) fn slot_of(warp: usize, lane: usize) -> usize {
    warp * LANES + lane
}

impl Default for WarpState {
    fn default() -> WarpState {
        WarpState {
            keys: [ThreadKey::NOBODY; LANES],
            counts: [0; LANES],
            most: 0,
            due: 0,
            late: 0,
            waiting: Queue::default(),
        }
    }
}

impl WarpState {
    /// Lanes that have stores that wait or loads that are late.
    #[inline(always)]
    pub fn holding(&self) -> u32 {
        self.late | self.waiting.lanes()
    }

    /// Another thread begins in a lane.
    pub fn begin(&mut self, lane: usize, key: ThreadKey, spare: &mut Spare) {
        self.keys[lane] = key;
        // Counts of a warp stay near to each other.
        self.counts[lane] = self.most;
        self.late &= !(1 << lane);
        if self.waiting.lanes() >> lane & 1 != 0 {
            self.waiting.forget(1 << lane, spare);
        }
    }

    /// A lane makes so many accesses more.
    #[inline(always)]
    pub fn advance(&mut self, lane: usize, accesses: u32) {
        self.counts[lane] = self.counts[lane].wrapping_add(accesses);
        if left(self.counts[lane], self.most) > 0 {
            self.most = self.counts[lane];
        }
    }

    /// Each of these lanes accesses something. Answers whether something may be due.
    #[inline]
    pub fn advance_all(&mut self, lanes: u32) -> bool {
        let (before, mut more) = (self.most, 0);
        for (lane, count) in self.counts.iter_mut().enumerate() {
            *count = count.wrapping_add(lanes >> lane & 1);
            more |= u32::from(left(*count, before) > 0);
        }
        self.most = before.wrapping_add(more);
        self.holding() & lanes != 0 && left(self.due, self.most) <= 0
    }

    /// Lanes' counts, and one that none is above.
    pub fn counts(&self) -> ([u32; LANES], u32) {
        (self.counts, self.most)
    }

    /// The first thing is due when `most` (see [`Self::counts`]) is so much higher; `None`: nothing waits.
    pub fn set_due(&mut self, left: Option<i32>) {
        self.due = self.most.wrapping_add_signed(left.unwrap_or(i32::MAX));
    }

    /// Something is due then.
    #[inline]
    fn set_due_by(&mut self, at: u32) {
        if self.holding() == 0 || left(at, self.due) < 0 {
            self.due = at;
        }
    }

    /// Something of a lane is due after so many accesses more; answers when that is.
    #[inline]
    pub fn add_due(&mut self, lane: usize, accesses: u32) -> u32 {
        let at = self.counts[lane].wrapping_add(accesses);
        self.set_due_by(at);
        at
    }

    /// The same of these lanes, each after accesses of its own.
    #[inline]
    pub fn add_all_due(&mut self, lanes: u32, accesses: &[u32; LANES]) -> [u32; LANES] {
        let at: [u32; LANES] = std::array::from_fn(|lane| self.counts[lane].wrapping_add(accesses[lane]));
        let lefts = at.iter().enumerate().map(|(lane, at)| {
            let left = left(*at, self.most);
            if lanes >> lane & 1 != 0 { left } else { i32::MAX }
        });
        let first = lefts.min().unwrap_or(0);
        self.set_due_by(self.most.wrapping_add_signed(first));
        at
    }
}
