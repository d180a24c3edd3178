//! How the words of a group follow from its first one.

use super::sizes::{GROUP, GROUP_SHIFT};
use super::word::{NEXT_THREAD, lane};

/// The words stay equal, or go on by one thread with every so many elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Follow(
    /// 0: equal; else with every 1, 2, 4, 8 elements.
    u8,
);

impl Follow {
    /// One thread further with every so many elements (as a power of two, that of a group at most).
    #[inline(always)]
    pub fn every(shift: u32) -> Follow {
        Follow(if shift == GROUP_SHIFT { 0 } else { shift as u8 + 1 })
    }

    /// By its number.
    #[inline(always)]
    pub fn numbered(number: u8) -> Follow {
        Follow(number)
    }

    /// Its number: 0 for equal words.
    #[inline(always)]
    pub fn number(self) -> u8 {
        self.0
    }

    /// Elements of one thread in a group, as a power of two.
    #[inline(always)]
    pub fn shift(self) -> u32 {
        u32::from(self.0.wrapping_sub(1)).min(GROUP_SHIFT)
    }

    /// The word of an element of the group. Beyond the last thread it is nobody's, but a group may still be told by it.
    #[inline(always)]
    pub fn word(self, first: u64, element: usize) -> u64 {
        first.wrapping_add((element as u64 >> self.shift()).wrapping_mul(NEXT_THREAD))
    }

    /// How much further the next group's first word is, if its words go on as those of this group. Nobody's word stays nobody's.
    #[inline(always)]
    pub fn apart(self, first: u64) -> u64 {
        let threads = GROUP as u64 >> self.shift();
        if first == 0 { 0 } else { threads * NEXT_THREAD }
    }

    /// Whether all words are of one warp, that of the first one.
    #[inline(always)]
    pub fn stays_in_a_warp(self, first: u64) -> bool {
        lane(first) + ((GROUP as u32 - 1) >> self.shift()) < 32
    }

    /// How words follow from the first one, if they do.
    #[inline(always)]
    pub fn of(words: &[u64; GROUP]) -> Option<Follow> {
        let first = words[0];
        let shift = [1, 2, 4, 8].iter().position(|at| words[*at] != first);
        let follow = Follow::every(shift.map_or(GROUP_SHIFT, |shift| shift as u32));
        let mut differ = 0;
        for (at, word) in words.iter().enumerate() {
            differ |= word ^ follow.word(first, at);
        }
        (differ == 0).then_some(follow)
    }

    /// The elements of threads, a bit each, as far as they are in the group.
    #[inline(always)]
    pub fn widen(self, threads: u32) -> u32 {
        let threads = threads & 0xffff;
        match self.shift() {
            0 => threads,
            1 => {
                let threads = (threads & 0xff | threads << 4) & 0x0f0f;
                let threads = (threads | threads << 2) & 0x3333;
                ((threads | threads << 1) & 0x5555) * 0b11
            }
            2 => {
                let threads = (threads & 0xf | threads << 6) & 0x0303;
                ((threads | threads << 3) & 0x1111) * 0xf
            }
            3 => (threads & 1 | (threads & 2) << 7) * 0xff,
            _ => (threads & 1) * 0xffff,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn words_are_found_to_follow(first in any::<u64>(), shift in 0..=GROUP_SHIFT, other in 0..GROUP, by in any::<u64>(), threads in any::<u32>()) {
            let follow = Follow::every(shift);
            prop_assert_eq!((follow.shift(), Follow::numbered(follow.number())), (shift, follow));
            let mut words: [u64; GROUP] = std::array::from_fn(|at| follow.word(first, at));
            prop_assert_eq!(Follow::of(&words), Some(follow));
            let wide = (0..GROUP).fold(0, |wide, at| wide | (threads >> (at >> shift) & 1) << at);
            prop_assert_eq!(follow.widen(threads), wide);
            words[other] ^= by;
            if let Some(found) = Follow::of(&words) {
                prop_assert!((0..GROUP).all(|at| words[at] == found.word(words[0], at)));
            }
        }
    }
}
