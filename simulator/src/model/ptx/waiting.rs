//! Stores of a thread that wait, the oldest first.
//!
//! With nearly every access somebody asks which of them are due, and whether one is of the bytes at hand. So where they begin and when
//! they are due stands apart from the rest, eight to a line of the host's cache.

use bugaroo_semantics::location::{GranuleSpan, Value};
use bugaroo_semantics::scope::Strength;

use crate::model::fetch::fetch;

/// A store that waits. It becomes a message when it is due, in the order of the granules' stores.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub span: GranuleSpan,
    pub value: Value,
    pub strength: Strength,
    pub origin: u32,
    /// What it is called by whoever looks on.
    pub name: u64,
}

/// What is looked at first: the lower half of the first byte's offset, and of the count of accesses at which it is due. (That
/// is never far from the count at hand.)
#[derive(Clone, Copy, Debug)]
struct Mark {
    offset: u32,
    due: u32,
}

/// Bytes of the widest span.
const WIDEST: u32 = 32;

impl Mark {
    /// Whether its store may meet a span that begins at this offset.
    #[inline]
    fn is_near(&self, offset: u64) -> bool {
        self.offset.wrapping_sub(offset as u32).wrapping_add(WIDEST) < 2 * WIDEST
    }

    /// How many accesses after this one it is due.
    #[inline]
    fn left(&self, count: u64) -> i32 {
        self.due.wrapping_sub(count as u32) as i32
    }
}

/// The stores of a thread.
#[derive(Clone, Debug, Default)]
pub(super) struct Queue {
    marks: Vec<Mark>,
    stores: Vec<Waiting>,
}

/// A set of a queue's stores, by place: with each access of its thread one more waits at most, for at most 128 accesses.
pub(super) type Places = u128;

impl Queue {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.marks.is_empty()
    }

    /// It is about to be looked at.
    #[inline]
    pub fn fetch(&self) {
        fetch(self.marks.as_ptr());
        fetch(self.stores.as_ptr());
    }

    pub fn clear(&mut self) {
        self.marks.clear();
        self.stores.clear();
    }

    pub fn push(&mut self, store: Waiting, due: u64) {
        assert!(self.marks.len() < Places::BITS as usize, "each is due before that many more can be");
        // Most threads hold one or two back: a list's usual first size would cost more memory than that.
        if self.stores.len() == self.stores.capacity() {
            self.stores.reserve_exact(self.stores.len().max(1));
        }
        self.marks.push(Mark { offset: store.span.first.offset as u32, due: due as u32 });
        self.stores.push(store);
    }

    pub fn get(&self, place: usize) -> &Waiting {
        &self.stores[place]
    }

    /// The newest one that has some of these bytes.
    #[inline]
    pub fn newest(&self, span: GranuleSpan) -> Option<&Waiting> {
        let near = |place: &usize| self.marks[*place].is_near(span.first.offset);
        let mut near = (0..self.marks.len()).rev().filter(near).map(|place| &self.stores[place]);
        near.find(|store| store.span.overlaps(span))
    }

    /// Those that have some of these bytes.
    pub fn overlapping(&self, span: GranuleSpan) -> Places {
        let meeting = self.meeting(span);
        each(meeting)
            .filter(|place| self.stores[*place].span.overlaps(span))
            .fold(0, |all, place| all | 1 << place)
    }

    /// Those that have a granule of these.
    #[inline]
    pub fn meeting(&self, span: GranuleSpan) -> Places {
        let mut places = 0;
        for (place, mark) in self.marks.iter().enumerate() {
            if mark.is_near(span.first.offset) && self.stores[place].span.meets(span) {
                places |= 1 << place;
            }
        }
        places
    }

    pub fn all(&self) -> Places {
        if self.is_empty() { 0 } else { Places::MAX >> (Places::BITS as usize - self.marks.len()) }
    }

    /// Those that are due, and others of the very same bytes.
    #[inline]
    pub fn due(&self, count: u64) -> Places {
        let mut due = 0;
        for (place, mark) in self.marks.iter().enumerate() {
            if mark.left(count) <= 0 {
                due |= 1 << place;
            }
        }
        if self.are_apart(due) { due } else { self.with_same(due) }
    }

    /// Whether no other store may meet one of these.
    #[inline]
    fn are_apart(&self, places: Places) -> bool {
        each(places).all(|place| {
            let offset = self.marks[place].offset.into();
            self.marks.iter().map(|mark| u32::from(mark.is_near(offset))).sum::<u32>() == 1
        })
    }

    /// The strong ones, and others of the very same bytes.
    pub fn strong(&self) -> Places {
        let each = self.stores.iter().enumerate();
        let strong = |store: &Waiting| Places::from(store.strength != Strength::Weak);
        self.with_same(each.fold(0, |places, (place, store)| places | strong(store) << place))
    }

    fn with_same(&self, places: Places) -> Places {
        each(places).fold(places, |places, place| places | self.same(self.stores[place].span))
    }

    fn same(&self, span: GranuleSpan) -> Places {
        let mut places = 0;
        for (place, mark) in self.marks.iter().enumerate() {
            if mark.offset == span.first.offset as u32 && self.stores[place].span == span {
                places |= 1 << place;
            }
        }
        places
    }

    /// When the first is due, after so many accesses.
    #[inline]
    pub fn first_due(&self, count: u64) -> u64 {
        let first = self.marks.iter().map(|mark| mark.left(count)).min();
        first.map_or(u64::MAX, |left| count.wrapping_add_signed(left.into()))
    }

    /// These, and those before them that have a granule of theirs.
    pub fn with_earlier(&self, mut places: Places) -> Places {
        if self.are_apart(places) {
            return places;
        }
        let last = places.checked_ilog2().unwrap_or(0) as usize;
        for place in (0..last).rev() {
            if places >> place & 1 == 0 {
                let (offset, span) = (self.marks[place].offset.into(), self.stores[place].span);
                let mut later = each(places >> place >> 1).map(|behind| place + 1 + behind);
                let meets = |at: usize| self.marks[at].is_near(offset) && self.stores[at].span.meets(span);
                places |= Places::from(later.any(meets)) << place;
            }
        }
        places
    }

    /// Takes these out.
    pub fn remove(&mut self, places: Places) {
        if places.is_power_of_two() {
            let place = places.trailing_zeros() as usize;
            self.marks.remove(place);
            self.stores.remove(place);
            return;
        }
        let stays = |place: &mut usize| {
            *place += 1;
            places >> (*place - 1) & 1 == 0
        };
        let (mut mark, mut store) = (0, 0);
        self.marks.retain(|_| stays(&mut mark));
        self.stores.retain(|_| stays(&mut store));
    }
}

/// The places of a set, in order.
pub(super) fn each(mut places: Places) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let place = places.trailing_zeros();
        (places != 0).then(|| {
            places &= places - 1;
            place as usize
        })
    })
}
