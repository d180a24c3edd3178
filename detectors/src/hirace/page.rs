//! A page of shadow words: one for each element.
//!
//! An element is as large as the smallest access that its page has had: a page begins with that of its first access, and when a
//! smaller one comes each word is handed on to its parts. All accesses up to then have had these parts in common, so that
//! nothing is lost by it.
//!
//! Most accesses are those of threads in a row, so most words differ from the one before by one thread, or not at all. Elements
//! lie in groups. Where all words of a group follow from the first one in one of these two ways, the first one alone is kept. The
//! first words of all groups lie side by side, and there is no room for the others before one of them is needed: such accesses
//! touch little memory.

use super::word::{NEXT_THREAD, lane};

/// Bytes of a page, as a power of two.
pub(super) const PAGE_SHIFT: u32 = 12;
/// Bytes of a page.
pub(super) const PAGE: u64 = 1 << PAGE_SHIFT;
/// Elements of a group, as a power of two.
const GROUP_SHIFT: u32 = 4;
/// Elements of a group.
pub(super) const GROUP: usize = 1 << GROUP_SHIFT;
/// Words of a group but for its first one.
const REST: usize = GROUP - 1;
/// Sets of 64 groups each that a page of elements of a byte has.
const SETS: usize = 1 << (PAGE_SHIFT - GROUP_SHIFT - 6);

/// The word so many times further. Beyond the last thread it is nobody's, but a group may still be told by it.
#[inline]
fn further(first: u64, times: u64, apart: u64) -> u64 {
    first.wrapping_add(times.wrapping_mul(apart))
}

/// Where the word of an element is among the others, which the first of a group is not.
#[inline]
fn place(element: usize) -> usize {
    (element >> GROUP_SHIFT) * REST + element % GROUP - 1
}

/// The words of a page.
#[derive(Debug)]
pub(super) struct Page {
    /// Bytes of an element, as a power of two.
    pub shift: u32,
    /// The first word of each group.
    firsts: Vec<u64>,
    /// The others of the first group, of the second one, and so on. Empty where all follow from the first ones.
    rests: Vec<u64>,
    /// Groups of which only the first word is kept, a bit each.
    alike: [u64; SETS],
    /// Those of them whose words are one thread further each. The words of the others are equal.
    in_a_row: [u64; SETS],
}

impl Page {
    /// A page that nobody has accessed.
    pub fn new(shift: u32) -> Page {
        let mut page = Page {
            shift,
            firsts: Vec::new(),
            rests: Vec::new(),
            alike: [u64::MAX; SETS],
            in_a_row: [0; SETS],
        };
        page.renew(shift);
        page
    }

    /// Makes it a page that nobody has accessed, and keeps its room.
    pub fn renew(&mut self, shift: u32) {
        self.shift = shift;
        self.firsts.clear();
        self.firsts.resize(1 << (PAGE_SHIFT - shift - GROUP_SHIFT), 0);
        (self.alike, self.in_a_row) = ([u64::MAX; SETS], [0; SETS]);
    }

    /// Its elements, and so the words that it has at most.
    pub fn len(&self) -> u64 {
        1 << (PAGE_SHIFT - self.shift)
    }

    /// Words that it has room for.
    pub fn room(&self) -> u64 {
        (self.firsts.capacity() + self.rests.capacity()) as u64
    }

    /// The element that an address of this page is in.
    #[inline]
    pub fn element(&self, address: u64) -> usize {
        ((address & (PAGE - 1)) >> self.shift) as usize
    }

    /// The first word of a group, and how much further each of the others is. None where they do not follow from it.
    #[inline]
    pub fn alike(&self, group: usize) -> Option<(u64, u64)> {
        let (set, bit) = (group >> 6, group & 63);
        let alike = self.alike[set] >> bit & 1 != 0;
        alike.then(|| (self.firsts[group], (self.in_a_row[set] >> bit & 1) * NEXT_THREAD))
    }

    /// Makes this the first word of a group, and each of the others one thread further.
    #[inline]
    pub fn put_row(&mut self, group: usize, first: u64) {
        self.firsts[group] = first;
        self.alike[group >> 6] |= 1 << (group & 63);
        self.in_a_row[group >> 6] |= 1 << (group & 63);
    }

    /// The word of an element.
    #[inline]
    pub fn word(&self, element: usize) -> u64 {
        match self.alike(element >> GROUP_SHIFT) {
            Some((first, apart)) => further(first, (element % GROUP) as u64, apart),
            None if element.is_multiple_of(GROUP) => self.firsts[element >> GROUP_SHIFT],
            None => self.rests[place(element)],
        }
    }

    /// The word of an element, to be changed.
    #[inline]
    pub fn word_mut(&mut self, element: usize) -> &mut u64 {
        let group = element >> GROUP_SHIFT;
        if self.alike[group >> 6] >> (group & 63) & 1 != 0 {
            self.spread(group);
        }
        if element.is_multiple_of(GROUP) { &mut self.firsts[group] } else { &mut self.rests[place(element)] }
    }

    /// Keeps all words of a group.
    #[cold]
    fn spread(&mut self, group: usize) {
        let words = self.group(group);
        self.rest_mut(group).copy_from_slice(&words[1..]);
        self.alike[group >> 6] &= !(1 << (group & 63));
    }

    fn rest(&self, group: usize) -> &[u64] {
        &self.rests[group * REST..(group + 1) * REST]
    }

    fn rest_mut(&mut self, group: usize) -> &mut [u64] {
        let all = self.firsts.len() * REST;
        if self.rests.len() < all {
            self.rests.reserve_exact(all - self.rests.len());
            self.rests.resize(all, 0);
        }
        &mut self.rests[group * REST..(group + 1) * REST]
    }

    /// All words of a group.
    #[inline]
    pub fn group(&self, group: usize) -> [u64; GROUP] {
        let mut words = [self.firsts[group]; GROUP];
        match self.alike(group) {
            Some((first, apart)) => {
                words.iter_mut().zip(0..).for_each(|(word, at)| *word = further(first, at, apart));
            }
            None => words[1..].copy_from_slice(self.rest(group)),
        }
        words
    }

    /// Puts all words of a group.
    #[inline]
    pub fn put_group(&mut self, group: usize, words: &[u64; GROUP]) {
        let first = words[0];
        let follow = |apart: u64| words.iter().zip(0..).all(|(word, at)| *word == further(first, at, apart));
        let bit = 1 << (group & 63);
        let row = words[1] != first;
        self.firsts[group] = first;
        if follow(u64::from(row) * NEXT_THREAD) {
            self.alike[group >> 6] |= bit;
            let set = &mut self.in_a_row[group >> 6];
            *set = if row { *set | bit } else { *set & !bit };
        } else {
            self.alike[group >> 6] &= !bit;
            self.rest_mut(group).copy_from_slice(&words[1..]);
        }
    }

    /// In which of these bits any word of these elements differs from `old`. No more than that is sure of bits that tell lanes of a
    /// warp apart.
    #[inline]
    pub fn differ(&self, from: usize, to: usize, old: u64, bits: u64) -> u64 {
        let mut differ = 0;
        let mut at = from;
        while at < to {
            let (group, end) = (at >> GROUP_SHIFT, (((at >> GROUP_SHIFT) + 1) << GROUP_SHIFT).min(to));
            match self.alike(group) {
                Some((first, apart)) if apart == 0 || lane(first) as usize + GROUP <= 32 => {
                    differ |= first ^ old
                }
                Some(_) => (at..end).for_each(|element| differ |= self.word(element) ^ old),
                None => {
                    let (start, stop) = (at % GROUP, at % GROUP + end - at);
                    if start == 0 {
                        differ |= self.firsts[group] ^ old;
                    }
                    let rest = &self.rest(group)[start.saturating_sub(1)..stop - 1];
                    differ |= rest.iter().fold(0, |all, word| all | word ^ old);
                }
            }
            at = end;
        }
        differ & bits
    }

    /// Makes these elements untouched, both included.
    pub fn forget(&mut self, from: usize, to: usize) {
        for group in from >> GROUP_SHIFT..=to >> GROUP_SHIFT {
            let first = group << GROUP_SHIFT;
            let mut words = self.group(group);
            words[from.max(first) - first..=to.min(first + REST) - first].fill(0);
            self.put_group(group, &words);
        }
    }

    /// Makes elements smaller.
    #[cold]
    pub fn split(&mut self, shift: u32) {
        let parts = 1 << (self.shift - shift);
        let before: Vec<u64> = (0..self.len() as usize).map(|element| self.word(element)).collect();
        self.renew(shift);
        for group in 0..self.firsts.len() {
            let words = std::array::from_fn(|at| before[((group << GROUP_SHIFT) + at) / parts]);
            self.put_group(group, &words);
        }
    }
}

#[cfg(test)]
mod tests;
