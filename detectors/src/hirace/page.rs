//! A page of shadow words: one for each element.
//!
//! An element is as large as the smallest access that its page has had: a page begins with that of its first access, and when a
//! smaller one comes each word is handed on to its parts. All accesses up to then have had these parts in common, so that
//! nothing is lost by it.
//!
//! Most accesses are those of threads in a row, so most words differ from the one before by one thread, or not at all. Elements
//! lie in groups. Where all words of a group follow from the first one in one of these two ways, the first one alone is kept. As long as
//! that is so of all groups, their first words lie side by side, and there is no room for others: such accesses touch little
//! memory. From the first group on of which that is not so, each word has its place.

use super::word::{NEXT_THREAD, lane};

/// Bytes of a page, as a power of two.
pub(super) const PAGE_SHIFT: u32 = 12;
/// Bytes of a page.
pub(super) const PAGE: u64 = 1 << PAGE_SHIFT;
/// Elements of a group, as a power of two.
const GROUP_SHIFT: u32 = 4;
/// Elements of a group.
pub(super) const GROUP: usize = 1 << GROUP_SHIFT;
/// Sets of 64 groups each that a page of elements of a byte has.
const SETS: usize = 1 << (PAGE_SHIFT - GROUP_SHIFT - 6);

/// The word so many times further. Beyond the last thread it is nobody's, but a group may still be told by it.
#[inline(always)]
fn further(first: u64, times: u64, apart: u64) -> u64 {
    first.wrapping_add(times.wrapping_mul(apart))
}

/// Whether words follow from the first one: one thread further each (true), or equal (false).
#[inline(always)]
fn follow(words: &[u64]) -> Option<bool> {
    let (first, row) = (words[0], words[1] != words[0]);
    let apart = u64::from(row) * NEXT_THREAD;
    let mut differ = 0;
    for (word, at) in words.iter().zip(0_u64..) {
        differ |= word ^ further(first, at, apart);
    }
    (differ == 0).then_some(row)
}

/// Groups that the elements of lanes are in, a bit each.
#[inline(always)]
fn touched(elements: &[u32; 32], mask: u32) -> u64 {
    let mut all = 0;
    for (lane, element) in elements.iter().enumerate() {
        all |= u64::from(mask >> lane & 1) << (element >> GROUP_SHIFT & 63);
    }
    all
}

/// The words of a page.
#[derive(Debug)]
pub(super) struct Page {
    /// Bytes of an element, as a power of two.
    pub shift: u32,
    /// The first word of each group; or all words, but of groups of which only the first word is kept the others mean nothing, and
    /// last groups that nobody has accessed may not be there.
    words: Vec<u64>,
    /// How far apart the first words of two groups are, as a power of two.
    apart: u32,
    /// Groups of which only the first word is kept, a bit each.
    alike: [u64; SETS],
    /// Those of them whose words are one thread further each. The words of the others are equal.
    in_a_row: [u64; SETS],
}

impl Page {
    /// A page that nobody has accessed.
    pub fn new(shift: u32) -> Page {
        let mut page =
            Page { shift, words: Vec::new(), apart: 0, alike: [u64::MAX; SETS], in_a_row: [0; SETS] };
        page.renew(shift);
        page
    }

    /// Makes it a page that nobody has accessed, and keeps its room.
    pub fn renew(&mut self, shift: u32) {
        (self.shift, self.apart) = (shift, 0);
        self.words.clear();
        self.words.resize(self.groups(), 0);
        (self.alike, self.in_a_row) = ([u64::MAX; SETS], [0; SETS]);
    }

    /// Its elements, and so the words that it has at most.
    pub fn len(&self) -> u64 {
        1 << (PAGE_SHIFT - self.shift)
    }

    fn groups(&self) -> usize {
        1 << (PAGE_SHIFT - self.shift - GROUP_SHIFT)
    }

    /// Words that it has room for.
    pub fn room(&self) -> u64 {
        self.words.capacity() as u64
    }

    /// The element that an address of this page is in.
    #[inline(always)]
    pub fn element(&self, address: u64) -> usize {
        ((address & (PAGE - 1)) >> self.shift) as usize
    }

    /// Whether only the first word of a group is kept.
    #[inline(always)]
    fn is_alike(&self, group: usize) -> bool {
        self.alike[group >> 6] >> (group & 63) & 1 != 0
    }

    /// The first word of a group, and how much further each of the others is. None where they do not follow from it.
    #[inline(always)]
    pub fn alike(&self, group: usize) -> Option<(u64, u64)> {
        let row = self.in_a_row[group >> 6] >> (group & 63) & 1;
        let first = || self.words.get(group << self.apart).copied().unwrap_or(0);
        self.is_alike(group).then(|| (first(), row * NEXT_THREAD))
    }

    /// Makes this the first word of a group, and each of the others one thread further.
    #[inline(always)]
    pub fn put_row(&mut self, group: usize, first: u64) {
        self.keep_first(group, first, true);
    }

    /// The word of an element.
    #[inline(always)]
    pub fn word(&self, element: usize) -> u64 {
        match self.alike(element >> GROUP_SHIFT) {
            Some((first, apart)) => further(first, (element % GROUP) as u64, apart),
            None => self.words[element],
        }
    }

    /// The word of an element, to be changed.
    #[inline(always)]
    pub fn word_mut(&mut self, element: usize) -> &mut u64 {
        if self.is_alike(element >> GROUP_SHIFT) {
            self.spread(element >> GROUP_SHIFT);
        }
        &mut self.words[element]
    }

    /// All words of a group, to be changed.
    #[inline(always)]
    pub fn group_mut(&mut self, group: usize) -> &mut [u64] {
        if self.is_alike(group) {
            self.spread(group);
        }
        &mut self.words[group << GROUP_SHIFT..][..GROUP]
    }

    /// All words, to be read or changed of groups that the lanes' elements are in. None where the page has more groups than one set.
    #[inline(always)]
    pub fn scattered_mut(&mut self, elements: &[u32; 32], mask: u32) -> Option<&mut [u64]> {
        if self.shift < PAGE_SHIFT - GROUP_SHIFT - 6 {
            return None;
        }
        let mut alike = touched(elements, mask) & self.alike[0];
        while alike != 0 {
            self.spread(alike.trailing_zeros() as usize);
            alike &= alike - 1;
        }
        Some(&mut self.words)
    }

    /// All words, if each has its place in the groups that the lanes' elements are in.
    #[inline(always)]
    pub fn scattered(&self, elements: &[u32; 32], mask: u32) -> Option<&[u64]> {
        let one_set = self.shift >= PAGE_SHIFT - GROUP_SHIFT - 6;
        (one_set && touched(elements, mask) & self.alike[0] == 0).then_some(&self.words[..])
    }

    /// Keeps all words of a group.
    #[cold]
    #[inline(never)]
    fn spread(&mut self, group: usize) {
        if self.apart == 0 {
            let accessed = self.words.iter().rposition(|first| *first != 0).map_or(0, |last| last + 1);
            self.words.truncate(accessed);
            self.words.reserve_exact(self.groups() * GROUP - accessed);
            self.words.resize(accessed << GROUP_SHIFT, 0);
            (1..accessed).rev().for_each(|group| self.words[group << GROUP_SHIFT] = self.words[group]);
            self.apart = GROUP_SHIFT;
        }
        self.reach(group);
        let row = self.in_a_row[group >> 6] >> (group & 63) & 1;
        let mut word = self.words[group << GROUP_SHIFT];
        for place in &mut self.words[group << GROUP_SHIFT..][..GROUP] {
            *place = word;
            word = further(word, row, NEXT_THREAD);
        }
        self.alike[group >> 6] &= !(1 << (group & 63));
    }

    /// Makes room for a group.
    #[cold]
    #[inline(never)]
    fn reach(&mut self, group: usize) {
        let wanted = (group + 1) << self.apart;
        if self.words.len() < wanted {
            self.words.resize(wanted, 0);
        }
    }

    /// All words of a group.
    pub fn group(&self, group: usize) -> [u64; GROUP] {
        std::array::from_fn(|at| self.word((group << GROUP_SHIFT) + at))
    }

    /// Puts all words of a group.
    pub fn put_group(&mut self, group: usize, words: &[u64; GROUP]) {
        match follow(words) {
            Some(row) => self.keep_first(group, words[0], row),
            None => self.group_mut(group).copy_from_slice(words),
        }
    }

    /// Some words of a group that are all kept have changed: keeps no more than the first one where the others follow from it.
    #[inline(always)]
    pub fn settle(&mut self, group: usize) {
        let words = &self.words[group << GROUP_SHIFT..][..GROUP];
        if let Some(row) = follow(words) {
            self.keep_first(group, words[0], row);
        }
    }

    #[inline(always)]
    fn keep_first(&mut self, group: usize, first: u64, row: bool) {
        if self.words.len() <= group << self.apart {
            self.reach(group);
        }
        self.words[group << self.apart] = first;
        let (set, bit) = (group >> 6, 1 << (group & 63));
        self.alike[set] |= bit;
        self.in_a_row[set] = if row { self.in_a_row[set] | bit } else { self.in_a_row[set] & !bit };
    }

    /// In which of these bits any word of these elements differs from `old`. No more than that is sure of bits that tell lanes of a
    /// warp apart.
    #[inline(always)]
    pub fn differ(&self, from: usize, to: usize, old: u64, bits: u64) -> u64 {
        let mut differ = 0;
        let mut at = from;
        while at < to {
            let (group, end) = (at >> GROUP_SHIFT, (((at >> GROUP_SHIFT) + 1) << GROUP_SHIFT).min(to));
            match self.alike(group) {
                Some((first, apart)) if apart == 0 || lane(first) as usize + GROUP <= 32 => {
                    differ |= first ^ old
                }
                Some((first, apart)) => {
                    for element in at..end {
                        differ |= further(first, (element % GROUP) as u64, apart) ^ old;
                    }
                }
                None => {
                    for word in &self.words[at..end] {
                        differ |= word ^ old;
                    }
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
            words[from.max(first) - first..=to.min(first + GROUP - 1) - first].fill(0);
            self.put_group(group, &words);
        }
    }

    /// Makes elements smaller.
    #[cold]
    #[inline(never)]
    pub fn split(&mut self, shift: u32) {
        let parts = 1 << (self.shift - shift);
        let before: Vec<u64> = (0..self.len() as usize).map(|element| self.word(element)).collect();
        self.renew(shift);
        for group in 0..self.groups() {
            let words = std::array::from_fn(|at| before[((group << GROUP_SHIFT) + at) / parts]);
            self.put_group(group, &words);
        }
    }
}

#[cfg(test)]
mod tests;
