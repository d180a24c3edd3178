//! One access of a warp: what it does to the words of the elements that it touches.
//!
//! Lanes that stand alike to who was there before go the same way, so that one lookup is enough for them: lanes in a row where lanes
//! in a row have been, all lanes behind the first one that go to one element, and lanes that go to an element each where all of
//! these stand alike, or are behind a barrier of the block. All others are looked up one by one. Whatever way is taken, the words are
//! those of lanes that access one after another, and the same elements race.

use bugaroo_semantics::event::{Addresses, each};
use bugaroo_semantics::history::table::input;
use bugaroo_semantics::history::word::ACTION_AT;
use bugaroo_semantics::history::{Action, Apart, Since};

use super::elements::{Elements, Room};
use super::follow::Follow;
use super::known::Step;
use super::learnt::Follower;
use super::page::Page;
use super::places::Places;
use super::row::{self, Row};
use super::sizes::{ELEMENTS, GROUP};
use super::word::{NEXT_THREAD, Now, of_thread, state, step, with_state};

/// Lanes that are looked at one by one: so many do not make it worth while to compare them.
const FEW: u32 = 4;

/// Elements of one page that lanes go to.
#[derive(Clone, Copy)]
enum Where<'a> {
    Row(Row),
    Places(&'a Places),
}

impl Where<'_> {
    /// The lowest and the highest element.
    #[inline(always)]
    fn extent(self) -> (i64, i64) {
        match self {
            Where::Row(row) => {
                let (lowest, highest) = row.extent();
                (i64::from(lowest), i64::from(highest))
            }
            Where::Places(places) => places.extent(),
        }
    }

    /// The first lane's element.
    #[inline(always)]
    fn first(self) -> usize {
        match self {
            Where::Row(row) => row.extent().0 as usize,
            Where::Places(places) => places.elements[places.mask.trailing_zeros() as usize & 31] as usize,
        }
    }
}

impl Step<'_, '_> {
    /// All lanes, which have the same clocks, and then those of accesses that go by this one. Answers which of these are done, a bit each:
    /// those that stay on the page on which all lanes are. `now`: what each of them leaves, but for the instruction.
    #[inline(always)]
    pub fn lanes<const V3: bool>(
        &mut self,
        memory: &mut Elements,
        room: &mut Room,
        now: &mut Now,
        followers: &[Follower],
    ) -> u64 {
        let template = self.known.layout.template(now);
        let (by, access) = (self.access.by, self.access);
        if let Addresses::Same(address) = access.at {
            self.same(memory, room, (address, by.mask), template);
            return 0;
        }
        let first = by.mask.trailing_zeros();
        let start = access.address(first);
        let Some(mut page) = memory.page(access.memory, start, self.size(), room) else {
            // There may be room for others.
            self.rest::<V3>(memory, room, by.mask & (by.mask - 1), template);
            return 0;
        };
        let page = &mut page;
        let bytes = access.bytes();
        let places;
        let to = match access.at {
            Addresses::Consecutive(_) => match self.row_on(page, start, by.mask) {
                Some(row) if row.mask == by.mask => Where::Row(row),
                _ => {
                    self.rest::<V3>(memory, room, by.mask, template);
                    return 0;
                }
            },
            Addresses::Each(addresses) if bytes == 1 << page.shift => {
                places = Places::new::<V3>(addresses, by.mask, page.shift);
                if places.mask != by.mask {
                    self.rest::<V3>(memory, room, by.mask, template);
                    return 0;
                }
                places.row().map_or(Where::Places(&places), Where::Row)
            }
            _ => {
                self.rest::<V3>(memory, room, by.mask, template);
                return 0;
            }
        };
        self.go(page, to, (template, first), start);
        match followers {
            [] => 0,
            _ => self.followers(page, to, (first, start), now, followers),
        }
    }

    /// Lanes that go to one page, which has the address `start`. `template`: what each of them leaves; and the first one.
    #[inline(always)]
    fn go(&mut self, page: &mut Page<'_>, to: Where<'_>, (template, first): (u64, u32), start: u64) {
        let old = page.word(to.first());
        let matters = self.known.same[usize::from(state(old))];
        let new = of_thread(template, self.access.by.first + first);
        // Whether the first lane changes nothing but whose access was the last, as far as its first element goes.
        let may_repeat =
            matters != 0 && step(self.known.machine, self.known.stepping, old, new) == state(old);
        let origin = page.origin(start);
        match to {
            Where::Row(row) => {
                if !(may_repeat && row::differ(page, row, old, matters) == 0) {
                    self.in_a_row(page, row, template, origin);
                }
            }
            Where::Places(places) => {
                if !(may_repeat && repeats(page, places, old, matters)) {
                    self.places(page, places, template, origin);
                }
            }
        }
    }

    /// Accesses that go by one of which all lanes go to one page: which of them do so, too, and are done.
    #[inline(always)]
    fn followers(
        &mut self,
        page: &mut Page<'_>,
        to: Where<'_>,
        (first, start): (u32, u64),
        now: &mut Now,
        followers: &[Follower],
    ) -> u64 {
        let (lowest, highest) = to.extent();
        let mut done = 0;
        for (follower, at) in followers.iter().zip(0..u64::BITS) {
            let apart = (follower.apart as i64) >> page.shift;
            let within = apart << page.shift == follower.apart as i64
                && lowest + apart >= 0
                && highest + apart < page.len() as i64;
            if !within {
                continue;
            }
            done |= 1 << at;
            (self.site, now.site) = (follower.site, follower.site);
            let template = (self.known.layout.template(now), first);
            match to {
                Where::Row(row) => self.go(page, Where::Row(row.further_by(apart as i32)), template, start),
                Where::Places(places) => {
                    self.go(page, Where::Places(&places.further_by(apart as u32)), template, start);
                }
            }
        }
        done
    }

    /// Lanes in a row as far as they are on a page on which the first of them goes to `start`. None where it is not wholly there, or goes
    /// to no whole elements.
    #[inline(always)]
    fn row_on(&self, page: &Page<'_>, start: u64, mask: u32) -> Option<Row> {
        if !page.has_whole_lanes(self.access.bytes()) {
            return None;
        }
        let bytes = self.access.bytes().trailing_zeros();
        let lanes = (page.end(start).wrapping_sub(start) >> bytes).min(32) as u32;
        let behind = u64::MAX.checked_shl(mask.trailing_zeros() + lanes).unwrap_or(0) as u32;
        let each = Follow::every(bytes - page.shift);
        (lanes > 0).then(|| Row::new(page.element(start), each, mask & !behind))
    }

    /// Lanes that go anywhere.
    #[cold]
    #[inline(never)]
    fn rest<const V3: bool>(&mut self, memory: &mut Elements, room: &mut Room, mut left: u32, template: u64) {
        let (by, bytes) = (self.access.by, self.access.bytes());
        while left != 0 {
            let first = left.trailing_zeros();
            let start = self.access.address(first);
            let Some(mut page) = memory.page(self.access.memory, start, self.size(), room) else {
                left &= left - 1;
                continue;
            };
            let page = &mut page;
            let row = match self.access.at {
                Addresses::Each(addresses) if bytes == 1 << page.shift => {
                    let places = Places::new::<V3>(addresses, left, page.shift);
                    if places.mask.count_ones() < FEW {
                        break;
                    }
                    let to = places.row().map_or(Where::Places(&places), Where::Row);
                    self.go(page, to, (template, first), start);
                    left &= !places.mask;
                    continue;
                }
                Addresses::Each(addresses) if page.has_whole_lanes(bytes) => {
                    let together = each(left).filter(|lane| addresses[*lane as usize] == start);
                    let together = together.fold(0, |all, lane| all | 1 << lane);
                    if together != 1 << first {
                        self.same(memory, room, (start, together), template);
                        left &= !together;
                        continue;
                    }
                    self.row_on(page, start, in_a_row(addresses, left, u64::from(bytes)))
                }
                Addresses::Consecutive(_) => self.row_on(page, start, left),
                _ => None,
            };
            match row {
                Some(row) if row.mask.count_ones() >= FEW => {
                    self.go(page, Where::Row(row), (template, first), start);
                    left &= !row.mask;
                }
                _ => {
                    self.lane(memory, room, (start, of_thread(template, by.first + first)), true);
                    left &= left - 1;
                }
            }
        }
        for lane in each(left) {
            let new = of_thread(template, by.first + lane);
            self.lane(memory, room, (self.access.address(lane), new), false);
        }
    }

    /// Bytes of the smallest part of the access, as a power of two.
    #[inline(always)]
    fn size(&self) -> u32 {
        self.access.size.trailing_zeros()
    }

    /// One lane's access. `settles`: it may be the last one of a row of which lanes have come at different times.
    #[inline(always)]
    pub fn lane(
        &mut self,
        memory: &mut Elements,
        room: &mut Room,
        (address, new): (u64, u64),
        settles: bool,
    ) {
        let (mut at, end) = (address, address.wrapping_add(u64::from(self.access.bytes())));
        while at < end {
            let Some(mut page) = memory.page(self.access.memory, at, self.size(), room) else { return };
            let element = page.element(at);
            let old = page.word(element);
            let to = step(self.known.machine, self.known.stepping, old, new);
            // Else nothing changes but whose access was the last.
            if to != state(old) || self.known.same[usize::from(to)] == 0 {
                *page.word_mut(element) = self.next(old, new, at);
                if settles {
                    page.settle(element / GROUP);
                }
            }
            at += 1 << page.shift;
        }
    }

    /// Lanes that go to elements of one page, which begins at `origin`, one each.
    #[inline(always)]
    fn places(&mut self, page: &mut Page<'_>, places: &Places, template: u64, origin: u64) {
        let (thread, shift) = (self.access.by.first, page.shift);
        let address_of = |element: usize| origin + ((element as u64) << shift);
        if places.few() {
            for run in places.runs() {
                if run.is_row {
                    self.in_a_row(page, run.row(), template, origin);
                } else {
                    let (first, last) = (thread + run.first, thread + run.first + run.lanes - 1);
                    self.crowd(
                        page.word_mut(run.element),
                        (of_thread(template, first), of_thread(template, first + 1)),
                        of_thread(template, last),
                        address_of(run.element),
                    );
                }
            }
            return;
        }
        let words = page.scattered_mut(&places.elements, places.mask);
        if !self.together(words, places, template) {
            for (lane, element) in places.each() {
                let word = &mut words[element % ELEMENTS];
                *word = self.next(*word, of_thread(template, thread + lane), address_of(element));
            }
        }
    }

    /// Lanes that each go to an element of their own, on one page: all of them, or none where some go to one element, or do not all
    /// come to one state, or one races.
    #[inline(always)]
    fn together(&self, words: &mut [u64; ELEMENTS], places: &Places, template: u64) -> bool {
        let Some((first, lanes)) = places.without_gaps().filter(|_| places.differ()) else { return false };
        let elements = &places.elements[first as usize..][..lanes as usize];
        let mut before = [0; 32];
        for (word, element) in before.iter_mut().zip(elements) {
            *word = words[*element as usize % ELEMENTS];
        }
        let new = of_thread(template, self.access.by.first + first);
        let Some(to) = self.one_state(&before[..lanes as usize], new) else { return false };
        let mut word = with_state(new, to);
        for element in elements {
            words[*element as usize % ELEMENTS] = word;
            word += NEXT_THREAD;
        }
        true
    }

    /// Lanes at one address, a bit each.
    fn same(&mut self, memory: &mut Elements, room: &mut Room, (address, lanes): (u64, u32), template: u64) {
        let first = self.access.by.first;
        let new = |lane: u32| of_thread(template, first + lane);
        let rest = lanes & lanes.wrapping_sub(1);
        let (first, second) = (new(lanes.trailing_zeros()), new(rest.trailing_zeros() & 31));
        let last = new(31 - lanes.leading_zeros());
        let (mut at, end) = (address, address.wrapping_add(u64::from(self.access.bytes())));
        while at < end {
            let Some(mut page) = memory.page(self.access.memory, at, self.size(), room) else { return };
            let element = page.element(at);
            let old = page.word(element);
            let repeats = self.known.same[usize::from(state(old))] != 0
                && step(self.known.machine, self.known.stepping, old, first) == state(old);
            if repeats {
                // Nothing changes but whose access was the last.
            } else if rest == 0 {
                *page.word_mut(element) = self.next(old, first, at);
            } else {
                self.crowd(page.word_mut(element), (first, second), last, at);
            }
            at += 1 << page.shift;
        }
    }

    /// Two lanes or more at one element: the words of the first two and that of the last one. All but the first one go the same way,
    /// as a neighbour comes behind a neighbour; and from the third one on the state stays, as the machine's tests say.
    #[inline(always)]
    fn crowd(&mut self, word: &mut u64, (first, second): (u64, u64), last: u64, address: u64) {
        let before = self.next(*word, first, address);
        let apart = if self.known.lockstep { Apart::Thread } else { Apart::Warp };
        let action = Action::ALL[(first >> ACTION_AT & 3) as usize];
        let next = self.known.machine.step(state(before), input(action, apart, Since::Nothing));
        if next == self.known.machine.race() && state(before) != next {
            self.conflict(before, second, address);
        }
        *word = with_state(last, next);
    }
}

/// Whether all elements are as the one whose word is `old`, in the bits that matter.
#[inline(always)]
fn repeats(page: &Page<'_>, places: &Places, old: u64, matters: u64) -> bool {
    let mut differ = 0;
    if places.few() {
        for run in places.runs() {
            differ |= if run.is_row {
                row::differ(page, run.row(), old, matters)
            } else {
                (page.word(run.element) ^ old) & matters
            };
            if differ != 0 {
                break;
            }
        }
        return differ == 0;
    }
    match page.scattered(&places.elements, places.mask) {
        Some(words) => {
            for (lane, element) in places.elements.iter().enumerate() {
                differ |= (words[*element as usize % ELEMENTS] ^ old) & places.live(lane);
            }
            differ & matters == 0
        }
        None => places.each().all(|(_, element)| (page.word(element) ^ old) & matters == 0),
    }
}

/// The first lanes of a mask that go to places in a row, each so many bytes behind the one before.
fn in_a_row(addresses: &[u64; 32], mask: u32, bytes: u64) -> u32 {
    let first = mask.trailing_zeros();
    let mut lanes = 1 << first;
    let mut next = addresses[first as usize];
    for lane in first + 1..32 {
        next = next.wrapping_add(bytes);
        if mask >> lane & 1 == 0 || addresses[lane as usize] != next {
            break;
        }
        lanes |= 1 << lane;
    }
    lanes
}
