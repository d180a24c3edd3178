//! What an observer may ask of an access: the values, before and after.

use std::cell::Cell;

use bugaroo_semantics::event::Values;

use crate::model::accessed::Accessed;

/// What each lane of an atomic has read and made of it.
#[derive(Default)]
pub(crate) struct Made {
    /// The low halves, of what was read and what was made of it.
    old: [Cell<u64>; 32],
    new: [Cell<u64>; 32],
    /// The high ones, which atomics of 128 bits have.
    wide: Cell<bool>,
    high: [Cell<(u64, u64)>; 32],
}

impl Made {
    /// An atomic begins, of 128 bits or less.
    pub fn begin(&self, wide: bool) {
        self.wide.set(wide);
    }

    /// A lane has made `new` of `old`, of 64 bits at most.
    #[inline(always)]
    pub fn note_narrow(&self, lane: usize, old: u64, new: u64) {
        self.old[lane].set(old);
        self.new[lane].set(new);
    }

    /// A lane has made `new` of `old`.
    pub fn note(&self, lane: usize, old: u128, new: u128) {
        self.note_narrow(lane, old as u64, new as u64);
        self.high[lane].set(((old >> 64) as u64, (new >> 64) as u64));
    }

    /// Whether a lane has made something else of it.
    pub fn changed(&self, lane: usize) -> bool {
        let (old, new) = self.high[lane].get();
        self.old[lane] != self.new[lane] || self.wide.get() && old != new
    }

    /// Both, as one number.
    fn whole(&self, low: u64, high: u64) -> u128 {
        u128::from(low) | if self.wide.get() { u128::from(high) << 64 } else { 0 }
    }
}

impl Values for Made {
    fn value(&self, lane: u32, _element: u32) -> u128 {
        let lane = lane as usize;
        self.whole(self.new[lane].get(), self.high[lane].get().1)
    }

    fn before(&self, lane: u32, _element: u32) -> u128 {
        let lane = lane as usize;
        self.whole(self.old[lane].get(), self.high[lane].get().0)
    }
}

/// Of packed halves: each is an element.
pub(super) struct Halves<'a>(pub &'a Made);

impl Values for Halves<'_> {
    fn value(&self, lane: u32, element: u32) -> u128 {
        self.0.value(lane, 0) >> (16 * element) & 0xffff
    }

    fn before(&self, lane: u32, element: u32) -> u128 {
        self.0.before(lane, 0) >> (16 * element) & 0xffff
    }
}

/// What lanes have found in memory, by lane and element.
pub(super) type Before = [[u64; 8]; 32];

/// A load or a store.
pub(super) struct Moved<'a>(pub Accessed<'a>, pub Option<&'a Before>);

impl Values for Moved<'_> {
    fn value(&self, lane: u32, element: u32) -> u128 {
        self.0.value(lane as usize, element).into()
    }

    fn before(&self, lane: u32, element: u32) -> u128 {
        self.1.map_or(0, |before| before[lane as usize][element as usize].into())
    }
}

/// One element of a vector.
pub(super) struct Element<'a>(pub &'a dyn Values, pub u32);

impl Values for Element<'_> {
    fn value(&self, lane: u32, _element: u32) -> u128 {
        self.0.value(lane, self.1)
    }

    fn before(&self, lane: u32, _element: u32) -> u128 {
        self.0.before(lane, self.1)
    }
}
