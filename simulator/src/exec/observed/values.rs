//! What an observer may ask of an access: the values, before and after.

use std::cell::Cell;

use bugaroo_semantics::event::Values;

use crate::model::accessed::Accessed;

/// What each lane of an atomic has read and made of it.
#[derive(Default)]
pub(crate) struct Made {
    pub(super) old: [Cell<u128>; 32],
    pub(super) new: [Cell<u128>; 32],
}

impl Made {
    /// A lane has made `new` of `old`.
    pub fn note(&self, lane: usize, old: u128, new: u128) {
        self.old[lane].set(old);
        self.new[lane].set(new);
    }
}

impl Values for Made {
    fn value(&self, lane: u32, _element: u32) -> u128 {
        self.new[lane as usize].get()
    }

    fn before(&self, lane: u32, _element: u32) -> u128 {
        self.old[lane as usize].get()
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
