//! A page of shadow words: one for each element.
//!
//! An element is as large as the smallest access that its page has had: a page begins with that of its first access, and when a
//! smaller one comes each word is handed on to its parts. All accesses up to then have had these parts in common, so that
//! nothing is lost by it.
//!
//! Most accesses are those of threads in a row, so most words are those of the thread before or of the next one. Elements lie in
//! groups. Where all words of a group follow from the first one, it alone is kept, in the page's index: such accesses touch
//! little memory. Of other groups all words are kept.

use bytemuck::Zeroable;

use super::follow::Follow;
use super::sizes::{ELEMENTS, GROUP, GROUP_SHIFT, GROUPS, span_shift};
use crate::slabs::Slabs;

/// Groups that the elements of lanes are in, a bit each.
#[inline(always)]
fn touched(elements: &[u32; 32], mask: u32) -> u64 {
    let mut all = 0;
    for (lane, element) in elements.iter().enumerate() {
        all |= u64::from(mask >> lane & 1) << (element >> GROUP_SHIFT & 63);
    }
    all
}

/// Room for pages' words.
pub(super) type Words = Slabs<ELEMENTS>;

/// What is known of a page without its words. All zeroes: nobody has accessed it.
#[derive(Clone, Copy, Debug, Zeroable)]
#[repr(C)]
pub(super) struct Index {
    /// Groups of which all words are kept, a bit each.
    spread: u64,
    /// Bytes of an element, as a power of two, and one more; 0: nobody has accessed it.
    pub size: u32,
    /// Where all words are, if any are; of a page in parts, where these are.
    pub place: u32,
    /// By group: how its words follow from the first one, by number.
    follows: [u8; GROUPS],
    /// By group: the first word, where it alone is kept.
    first: [u64; GROUPS],
}

impl Index {
    /// Makes it the index of a page that nobody has accessed.
    pub fn clear(&mut self, words: &mut Words) {
        if self.spread != 0 {
            words.give_back(self.place);
        }
        *self = Index::zeroed();
    }
}

/// A page that somebody has accessed.
pub(super) struct Page<'a> {
    /// Bytes of an element, as a power of two.
    pub shift: u32,
    index: &'a mut Index,
    words: &'a mut Words,
}

impl<'a> Page<'a> {
    #[inline(always)]
    pub fn new(index: &'a mut Index, words: &'a mut Words) -> Page<'a> {
        Page { shift: index.size.wrapping_sub(1), index, words }
    }

    /// Bytes, as a power of two.
    #[inline(always)]
    pub fn span_shift(&self) -> u32 {
        span_shift(self.shift)
    }

    /// The address behind the page that this address is on.
    #[inline(always)]
    pub fn end(&self, address: u64) -> u64 {
        (address | ((1 << self.span_shift()) - 1)).wrapping_add(1)
    }

    /// The address of its first byte; `address` is one of its addresses.
    #[inline(always)]
    pub fn origin(&self, address: u64) -> u64 {
        address & !((1 << self.span_shift()) - 1)
    }

    /// Whether a lane that accesses so many bytes goes to whole elements, and to those of a group at most.
    #[inline(always)]
    pub fn has_whole_lanes(&self, bytes: u32) -> bool {
        (1 << self.shift..=1 << (self.shift + GROUP_SHIFT)).contains(&bytes)
    }

    /// Its elements.
    pub fn len(&self) -> usize {
        1 << (self.span_shift() - self.shift)
    }

    /// The element that an address of this page is in.
    #[inline(always)]
    pub fn element(&self, address: u64) -> usize {
        ((address & ((1 << self.span_shift()) - 1)) >> self.shift) as usize
    }

    /// Whether only the first word of a group is kept.
    #[inline(always)]
    fn is_alike(&self, group: usize) -> bool {
        self.index.spread >> (group % GROUPS) & 1 == 0
    }

    /// The first word of a group, and how the others follow from it. None where they do not.
    #[inline(always)]
    pub fn alike(&self, group: usize) -> Option<(u64, Follow)> {
        let Index { first, follows, .. } = &*self.index;
        self.is_alike(group).then(|| (first[group % GROUPS], Follow::numbered(follows[group % GROUPS])))
    }

    /// The words of a group, of which all are kept.
    #[inline(always)]
    fn kept(&self, group: usize) -> &[u64; GROUP] {
        &self.words.at(self.index.place).as_chunks().0[group % GROUPS]
    }

    /// So many groups behind each other, if they are on the page and only the first word of each is kept.
    #[inline(always)]
    pub fn groups_mut(&mut self, group: usize, count: usize) -> Option<Groups<'_>> {
        if group + count > self.len() / GROUP {
            return None;
        }
        let asked = (u64::MAX >> (GROUPS - count)) << group;
        if self.index.spread & asked != 0 {
            return None;
        }
        let Index { follows, first, .. } = &mut *self.index;
        Some(Groups { follows: &mut follows[group..group + count], first: &mut first[group..group + count] })
    }

    /// The word of an element. Of one that is not on the page, any word.
    #[inline(always)]
    pub fn word(&self, element: usize) -> u64 {
        let group = element >> GROUP_SHIFT;
        match self.alike(group) {
            Some((first, follow)) => follow.word(first, element % GROUP),
            None => self.kept(group)[element % GROUP],
        }
    }

    /// The word of an element, to be changed.
    #[inline(always)]
    pub fn word_mut(&mut self, element: usize) -> &mut u64 {
        &mut self.group_mut(element >> GROUP_SHIFT)[element % GROUP]
    }

    /// All words of a group, to be changed.
    #[inline(always)]
    pub fn group_mut(&mut self, group: usize) -> &mut [u64; GROUP] {
        if self.is_alike(group) {
            self.spread(group);
        }
        &mut self.words.at_mut(self.index.place).as_chunks_mut().0[group % GROUPS]
    }

    /// All words, to be read or changed of groups that the lanes' elements are in.
    #[inline(always)]
    pub fn scattered_mut(&mut self, elements: &[u32; 32], mask: u32) -> &mut [u64; ELEMENTS] {
        let mut alike = touched(elements, mask) & !self.index.spread;
        while alike != 0 {
            self.spread(alike.trailing_zeros() as usize);
            alike &= alike - 1;
        }
        self.words.at_mut(self.index.place)
    }

    /// All words, if each has its place in the groups that the lanes' elements are in.
    #[inline(always)]
    pub fn scattered(&self, elements: &[u32; 32], mask: u32) -> Option<&[u64; ELEMENTS]> {
        (touched(elements, mask) & !self.index.spread == 0).then(|| self.words.at(self.index.place))
    }

    /// Keeps all words of a group.
    #[inline(never)]
    fn spread(&mut self, group: usize) {
        let index = &mut *self.index;
        if index.spread == 0 {
            index.place = self.words.take();
        }
        index.spread |= 1 << group;
        let (first, follow) = (index.first[group], Follow::numbered(index.follows[group]));
        self.words.at_mut(index.place).as_chunks_mut().0[group] =
            std::array::from_fn::<_, GROUP, _>(|at| follow.word(first, at));
    }

    /// All words of a group.
    pub fn group(&self, group: usize) -> [u64; GROUP] {
        std::array::from_fn(|at| self.word((group << GROUP_SHIFT) + at))
    }

    /// Puts all words of a group.
    pub fn put_group(&mut self, group: usize, words: &[u64; GROUP]) {
        match Follow::of(words) {
            Some(follow) => self.put_first(group, words[0], follow),
            None => *self.group_mut(group) = *words,
        }
    }

    /// Some words of a group that are all kept have changed: keeps no more than the first one where the others follow from it.
    #[inline(always)]
    pub fn settle(&mut self, group: usize) {
        let words = self.kept(group);
        if let Some(follow) = Follow::of(words) {
            self.put_first(group, words[0], follow);
        }
    }

    /// Makes this the first word of a group, from which the others follow.
    #[inline(always)]
    pub fn put_first(&mut self, group: usize, first: u64, follow: Follow) {
        let index = &mut *self.index;
        (index.first[group], index.follows[group]) = (first, follow.number());
        let bit = 1 << (group % GROUPS);
        if index.spread & bit != 0 {
            index.spread &= !bit;
            if index.spread == 0 {
                self.words.give_back(index.place);
            }
        }
    }

    /// In which of these bits the words of elements of a group, a bit each, may differ from `old`. It is sure that the others do not
    /// differ, but of bits that tell lanes of a warp apart.
    #[inline(always)]
    pub fn differ(&self, group: usize, elements: u32, old: u64, bits: u64) -> u64 {
        let words = match self.alike(group) {
            Some((first, follow)) if follow.stays_in_a_warp(first) => return (first ^ old) & bits,
            Some((first, follow)) => std::array::from_fn(|at| follow.word(first, at)),
            None => *self.kept(group),
        };
        let mut differ = 0;
        for (at, word) in words.iter().enumerate() {
            differ |= (word ^ old) & u64::from(elements >> at & 1).wrapping_neg();
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
}

/// Groups behind each other.
pub(super) struct Groups<'a> {
    follows: &'a mut [u8],
    first: &'a mut [u64],
}

impl Groups<'_> {
    /// The first group's first word, and how the others follow from it.
    #[inline(always)]
    pub fn first(&self) -> (u64, Follow) {
        (self.first[0], Follow::numbered(self.follows[0]))
    }

    /// Whether all words of all groups follow from the first one.
    #[inline(always)]
    pub fn follow(&self, mut word: u64, follow: Follow) -> bool {
        let apart = follow.apart(word);
        let mut differ = 0;
        for (follows, first) in self.follows.iter().zip(&*self.first) {
            differ |= u64::from(follows ^ follow.number()) | first ^ word;
            word = word.wrapping_add(apart);
        }
        differ == 0
    }

    /// Makes all words follow from this one. All did so before from another one.
    #[inline(always)]
    pub fn put(self, mut word: u64, follow: Follow) {
        let apart = follow.apart(word);
        for (follows, first) in self.follows.iter_mut().zip(self.first) {
            (*follows, *first) = (follow.number(), word);
            word = word.wrapping_add(apart);
        }
    }
}
