//! What is remembered of each place of memory: who wrote it, which writes are on their way, and who met whom there.

use rustc_hash::FxHashMap;

/// Places that are remembered.
pub const MOST: usize = 1 << 20;
/// Writes on their way to one place that are remembered.
const HELD: usize = 8;
/// The bit of places of shared memory.
pub const SHARED: u64 = 1 << 63;

/// Who, and what it does there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The thread's number.
    pub thread: u64,
    /// Instruction and kind of access.
    pub role: u32,
}

/// An access that others can see.
#[derive(Clone, Copy, Debug)]
pub struct Touch {
    /// Who, and what.
    pub seen: Seen,
    /// Whether it has written.
    pub writes: bool,
    /// Whether it is strong.
    pub strong: bool,
}

/// A write.
#[derive(Clone, Copy, Debug)]
pub struct Issued {
    /// Who, and what.
    pub seen: Seen,
    /// Its number, 0 where it has none.
    pub number: u64,
    /// Whether it is strong.
    pub strong: bool,
}

/// A place.
#[derive(Clone, Debug, Default)]
struct Place {
    write: Option<Issued>,
    held: Vec<Issued>,
    /// The last two accesses, the last one first.
    met: [Option<Touch>; 2],
}

/// All places.
#[derive(Debug, Default)]
pub struct Shadow {
    places: FxHashMap<u64, Place>,
    /// Accesses that were not looked at.
    pub more: u64,
}

impl Shadow {
    fn place(&mut self, place: u64) -> Option<&mut Place> {
        if self.places.len() >= MOST && !self.places.contains_key(&place) {
            self.more += 1;
            return None;
        }
        Some(self.places.entry(place).or_default())
    }

    /// The last two accesses before this one, which is the last from now on.
    pub fn meet(&mut self, place: u64, now: Touch) -> Option<[Option<Touch>; 2]> {
        let place = self.place(place)?;
        let before = place.met;
        // A thread that comes again and again is one.
        if before[0].is_some_and(|last| last.seen == now.seen) {
            return None;
        }
        place.met = [Some(now), before[0]];
        Some(before)
    }

    /// A write is visible.
    pub fn write(&mut self, place: u64, write: Issued) {
        if let Some(place) = self.place(place) {
            place.write = Some(write);
        }
    }

    /// A write is on its way.
    pub fn hold(&mut self, place: u64, write: Issued) {
        let Some(place) = self.place(place) else { return };
        if place.held.len() < HELD {
            place.held.push(write);
        } else {
            self.more += 1;
        }
    }

    /// A write on its way has come: the one of this thread with this number, or the oldest of its.
    pub fn release(&mut self, place: u64, thread: u64, number: u64) -> Option<Issued> {
        let held = &mut self.places.get_mut(&place)?.held;
        let of = |issued: &Issued| issued.seen.thread == thread && (number == 0 || issued.number == number);
        let at = held.iter().position(of)?;
        Some(held.remove(at))
    }

    /// The newest write of another thread that is on its way, and the last one that is visible.
    pub fn writes(&self, place: u64, thread: u64) -> (Option<Seen>, Option<Seen>) {
        let Some(place) = self.places.get(&place) else { return (None, None) };
        let held = place.held.iter().rev().find(|issued| issued.seen.thread != thread);
        (held.map(|issued| issued.seen), place.write.map(|issued| issued.seen))
    }

    /// The last write that is visible.
    pub fn last(&self, place: u64) -> Option<Issued> {
        self.places.get(&place)?.write
    }

    /// The shared memory of the CTA in this slot is new.
    pub fn forget(&mut self, cta: u32) {
        let of = SHARED | u64::from(cta) << 32;
        if self.places.keys().any(|place| place & SHARED != 0) {
            self.places.retain(|place, _| place >> 32 << 32 != of);
        }
    }
}
