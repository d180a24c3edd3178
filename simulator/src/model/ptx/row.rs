//! What is kept of 32 granules in a row, as a warp touches them.
//!
//! Of a few granules, or of all: where a warp stores, it mostly stores to the whole row. So a row begins as a short list in order of
//! address; with one more than that has room for, each granule has a place of its own.

use super::kept::{Kept, Single};
use bugaroo_semantics::scope::ThreadKey;
use std::num::NonZeroU64;

/// Granules of a row.
const WIDTH: u8 = 32;
/// Those that a new row has room for.
const FEW: u8 = 4;
/// What stands in the place of a granule of which nothing is kept.
const NOTHING: Kept =
    Kept::Single(Single { time: NonZeroU64::MAX, base: 0, value: 0, thread: ThreadKey::NOBODY, origin: 0 });

/// A row.
#[derive(Debug, Default)]
pub(super) struct Row {
    /// Granules of which something is kept.
    present: u32,
    /// How many there is room for. If for all, each has its place; if not, the list is in order of address.
    room: u8,
    kept: Vec<Kept>,
}

impl Row {
    pub fn is_empty(&self) -> bool {
        self.present == 0
    }

    pub fn len(&self) -> usize {
        self.present.count_ones() as usize
    }

    /// Bytes of the list.
    pub fn bytes(&self) -> usize {
        usize::from(self.room) * size_of::<Kept>()
    }

    /// Where in the list a granule is, or would be.
    #[inline(always)]
    fn place(&self, bit: u32) -> usize {
        if self.room == WIDTH {
            bit as usize
        } else {
            (self.present & ((1 << bit) - 1)).count_ones() as usize
        }
    }

    #[inline(always)]
    pub fn get(&self, bit: u32) -> Option<&Kept> {
        (self.present >> bit & 1 != 0).then(|| &self.kept[self.place(bit)])
    }

    #[inline(always)]
    pub fn get_mut(&mut self, bit: u32) -> Option<&mut Kept> {
        let place = self.place(bit);
        (self.present >> bit & 1 != 0).then(|| &mut self.kept[place])
    }

    /// Whether there is no room for so many granules more.
    #[inline]
    pub fn lacks_room(&self, more: u32) -> bool {
        self.room != WIDTH && self.present.count_ones() + more > self.room.max(FEW).into()
    }

    /// Makes room for all.
    pub fn make_room(&mut self) {
        let mut all = vec![NOTHING; WIDTH.into()];
        for (bit, kept) in bits(self.present).zip(&self.kept) {
            all[bit as usize] = *kept;
        }
        (self.room, self.kept) = (WIDTH, all);
    }

    /// Keeps something of a granule of which nothing is kept.
    pub fn insert(&mut self, bit: u32, kept: Kept) {
        if self.len() == usize::from(self.room) {
            self.grow();
        }
        let place = self.place(bit);
        if self.room == WIDTH {
            self.kept[place] = kept;
        } else {
            self.kept.insert(place, kept);
        }
        self.present |= 1 << bit;
    }

    /// Keeps one message of each of these granules, if there is room for all and nothing is kept of any of these: answers for which it
    /// does.
    #[inline]
    pub fn insert_all(&mut self, granules: u32, mut single: impl FnMut(usize) -> Option<Single>) -> u32 {
        if self.room != WIDTH || self.present & granules != 0 {
            return 0;
        }
        let mut done = 0;
        for bit in bits(granules) {
            if let Some(single) = single(bit as usize) {
                self.kept[bit as usize] = Kept::Single(single);
                done |= 1 << bit;
            }
        }
        self.present |= done;
        done
    }

    fn grow(&mut self) {
        if self.room == 0 {
            self.room = FEW;
            self.kept = Vec::with_capacity(FEW.into());
            return;
        }
        self.make_room();
    }

    /// Keeps nothing more of a granule.
    pub fn remove(&mut self, bit: u32) {
        if self.room != WIDTH {
            self.kept.remove(self.place(bit));
        }
        self.present &= !(1 << bit);
    }

    /// Keeps nothing any more. The list's memory serves the next row.
    pub fn clear(&mut self) {
        self.present = 0;
        if self.room != WIDTH {
            self.kept.clear();
        }
    }

    /// All that is kept, in order of address.
    pub fn each(&self, mut of: impl FnMut(Kept)) {
        bits(self.present).for_each(|bit| of(self.kept[self.place(bit)]));
    }

    /// Goes through all and drops what `keep` doesn't want; `keep` may change it. There is no more room afterwards than is needed.
    pub fn retain(&mut self, mut keep: impl FnMut(&mut Kept) -> bool) {
        let (mut present, mut list) = (0, Vec::with_capacity(self.len()));
        for bit in bits(self.present) {
            let place = self.place(bit);
            if keep(&mut self.kept[place]) {
                present |= 1 << bit;
                list.push(self.kept[place]);
            }
        }
        let whole = list.len() == usize::from(WIDTH);
        self.present = present;
        self.room = list.len() as u8;
        if !whole {
            list.shrink_to_fit();
        }
        self.kept = list;
    }
}

/// The bits of a mask that are set.
fn bits(mut mask: u32) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let bit = mask.trailing_zeros();
        (mask != 0).then(|| {
            mask &= mask - 1;
            bit
        })
    })
}
