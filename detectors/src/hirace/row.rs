//! Lanes in a row: each goes to the elements behind those of the lane before.
//!
//! A group goes the same way as a whole where nobody has accessed it, or lanes have that stood to each other as these do, or threads of
//! another warp. Where only some lanes take part, or it keeps all words, each element is looked up.

use bugaroo_semantics::history::table::{StateNumber, UNTOUCHED};
use bugaroo_semantics::history::word::STATE;

use super::follow::Follow;
use super::known::{Known, Step};
use super::page::Page;
use super::sizes::GROUP;
use super::word::{NEXT_THREAD, of_thread, state, step, with_state};

/// Lanes in a row on one page.
#[derive(Clone, Copy)]
pub(super) struct Row {
    /// The first element of lane 0, which need not take part, nor be on the page.
    pub base: i32,
    /// How threads of elements follow.
    pub each: Follow,
    /// Lanes that take part. All of these are on the page.
    pub mask: u32,
}

impl Row {
    /// Lanes of which the first that takes part goes to this element.
    #[inline(always)]
    pub fn new(element: usize, each: Follow, mask: u32) -> Row {
        Row { base: element as i32 - ((mask.trailing_zeros() as i32) << each.shift()), each, mask }
    }

    /// The same lanes, each so many elements further. All of these are on the page.
    #[inline(always)]
    pub fn further_by(self, elements: i32) -> Row {
        Row { base: self.base + elements, ..self }
    }

    /// The first and the last element.
    #[inline(always)]
    pub fn extent(self) -> (i32, i32) {
        let shift = self.each.shift();
        let (first, behind) = (self.mask.trailing_zeros(), 32 - self.mask.leading_zeros());
        (self.base + ((first as i32) << shift), self.base + ((behind as i32) << shift) - 1)
    }

    /// The first and the last group.
    #[inline(always)]
    fn groups(self) -> (i32, i32) {
        let (first, last) = self.extent();
        (first / GROUP as i32, last / GROUP as i32)
    }

    /// Elements of a group that lanes go to, a bit each, and the lane of its first element, if there were as many.
    #[inline(always)]
    fn of_group(self, group: i32) -> (u32, i32) {
        let lane = (group * GROUP as i32 - self.base) >> self.each.shift();
        let lanes = (u64::from(self.mask) << 32).checked_shr((lane + 32) as u32).unwrap_or(0);
        (self.each.widen(lanes as u32), lane)
    }
}

/// In which of these bits words of elements that a row goes to may differ from `old`: see [`Page::differ`].
#[inline(always)]
pub(super) fn differ(page: &Page<'_>, row: Row, old: u64, bits: u64) -> u64 {
    let (first, last) = row.groups();
    let mut differ = 0;
    for group in first..=last {
        let (elements, _) = row.of_group(group);
        if elements != 0 {
            differ |= page.differ(group as usize, elements, old, bits);
        }
    }
    differ
}

impl Step<'_, '_> {
    /// Lanes in a row on a page that begins at `origin`.
    #[inline(always)]
    pub fn in_a_row(&mut self, page: &mut Page<'_>, row: Row, template: u64, origin: u64) {
        let template = of_thread(template, self.access.by.first);
        let (first, last) = row.groups();
        for group in first..=last {
            let (elements, lane) = row.of_group(group);
            if elements == 0 {
                continue;
            }
            // The word of the group's first element, which need not be there.
            let new = template.wrapping_add((i64::from(lane) as u64).wrapping_mul(NEXT_THREAD));
            let group = group as usize;
            let whole = match page.alike(group) {
                Some(old) if elements == (1 << GROUP) - 1 => self.whole(old, (new, row.each)),
                _ => None,
            };
            match whole {
                Some(first) => page.put_first(group, first, row.each),
                None => self.some(page, group, (new, row.each), elements, origin),
            }
        }
    }

    /// The first word of a group behind an access of lanes in a row; `old` and `new` are the first word, and how the others follow from it.
    /// None where each has to be looked at.
    #[inline(always)]
    fn whole(&self, (old, follow): (u64, Follow), (new, each): (u64, Follow)) -> Option<u64> {
        // Whether all elements' threads stand to who was there before as the first one does, or nobody was there.
        let alike = old == 0
            || follow.stays_in_a_warp(old)
                && (follow == each || self.known.stepping.are_of_two_warps(old, new));
        if !alike {
            return None;
        }
        let next = step(self.known.machine, self.known.stepping, old, new);
        let race = self.known.machine.race();
        (next != race || state(old) == race).then(|| with_state(new, next))
    }

    /// Some elements of a group, a bit each, or all where they do not go the same way.
    #[inline(always)]
    fn some(
        &mut self,
        page: &mut Page<'_>,
        group: usize,
        (new, each): (u64, Follow),
        elements: u32,
        origin: u64,
    ) {
        let start = elements.trailing_zeros() as usize;
        let count = (elements >> start).trailing_ones() as usize;
        let address = origin + (((group * GROUP) as u64) << page.shift);
        let shift = page.shift;
        let words = page.group_mut(group);
        if each == Follow::every(0) && elements.count_ones() as usize == count {
            let (words, new) = (&mut words[start..start + count], each.word(new, start));
            match self.one_state(words, new) {
                Some(to) => {
                    for (word, at) in words.iter_mut().zip(0_u64..) {
                        *word = with_state(new + at * NEXT_THREAD, to);
                    }
                }
                None => {
                    for (word, at) in words.iter_mut().zip(0_u64..) {
                        let address = address + ((start as u64 + at) << shift);
                        *word = self.next(*word, new + at * NEXT_THREAD, address);
                    }
                }
            }
        } else {
            self.with_gaps(words, (new, each), elements, (address, shift));
        }
        page.settle(group);
    }

    /// Elements of a group that are not behind each other, or several of a lane. The group begins at this address; so many bytes an element
    /// has, as a power of two.
    fn with_gaps(
        &mut self,
        words: &mut [u64; GROUP],
        (new, each): (u64, Follow),
        elements: u32,
        (address, shift): (u64, u32),
    ) {
        let news: [u64; GROUP] = std::array::from_fn(|at| each.word(new, at));
        let first = elements.trailing_zeros() as usize % GROUP;
        let differ = (0..GROUP).fold(0, |differ, at| {
            let live = u64::from(elements >> at & 1).wrapping_neg();
            differ | (words[at] ^ words[first] ^ news[at] ^ news[first]) & live
        });
        let (old, new) = (words[first], news[first]);
        let to = step(self.known.machine, self.known.stepping, old, new);
        if differ & self.known.stepping.relates() == 0
            && (to != self.known.machine.race() || state(old) == to)
        {
            for at in 0..GROUP {
                let live = u64::from(elements >> at & 1).wrapping_neg();
                words[at] = words[at] & !live | with_state(news[at], to) & live;
            }
            return;
        }
        for at in (0..GROUP).filter(|at| elements >> at & 1 != 0) {
            words[at] = self.next(words[at], news[at], address + ((at as u64) << shift));
        }
    }

    /// The state that elements come to which lanes behind each other access, one each; `new` is the first one's word. None where it is not
    /// sure that it is one state, or where one races.
    ///
    /// It is one where all of them stand alike to who was there before, or nobody was. And behind a barrier of the block it does not matter which
    /// of its threads that was, as the machine's tests say.
    #[inline(always)]
    pub fn one_state(&self, before: &[u64], new: u64) -> Option<StateNumber> {
        let Known { machine, stepping, .. } = self.known;
        let (mut words, mut threads, mut word) = (0, 0, new);
        for old in before {
            let differs = old ^ before[0];
            words |= differs;
            threads |= differs ^ word ^ new;
            word += NEXT_THREAD;
        }
        let from = state(before[0]);
        let is_one = threads & stepping.relates() == 0
            || words & STATE == 0 && from == UNTOUCHED
            || words & stepping.relates_behind_barrier() == 0 && stepping.is_behind_barrier(before[0], new);
        let to = step(machine, *stepping, before[0], new);
        (is_one && (to != machine.race() || from == to)).then_some(to)
    }
}
