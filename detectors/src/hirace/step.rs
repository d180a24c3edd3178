//! One access of a warp: what it does to the words of the elements that it touches.
//!
//! Lanes that stand alike to who was there before go the same way, so that one lookup is enough for them: lanes in a row where lanes
//! in a row have been, all lanes behind the first one that go to one element, and lanes that go to an element each where all of
//! these stand alike, or are behind a barrier of the block. All others are looked up one by one. Whatever way is taken, the words and
//! reports are those of lanes that access one after another.

use std::ops::Range;

use bugaroo_semantics::event::{Access, Addresses, Site, each};
use bugaroo_semantics::history::table::{Machine, STATE_BITS, State, UNTOUCHED, input};
use bugaroo_semantics::history::word::{ACTION_AT, STATE};
use bugaroo_semantics::history::{Action, Apart, Since};

use super::elements::{Elements, Room};
use super::learnt::Follower;
use super::page::{GROUP, PAGE, PAGE_SHIFT, Page};
use super::places::Places;
use super::report::{self, Conflict, Reports};
use super::word::{Layout, NEXT_THREAD, Now, lane, of_thread, state, step, with_state};

/// Words of one access, and who they are told to.
pub(super) struct Step<'a, 'b> {
    pub access: &'a Access<'a>,
    /// The words' fields.
    pub layout: Layout,
    /// The same to the machine, to which threads of a warp may be one.
    pub stepping: Layout,
    pub lockstep: bool,
    pub machine: &'static Machine,
    /// By state: see [`Layout::who_matters`].
    pub same: &'a [u64; 1 << STATE_BITS],
    pub reports: &'b mut Reports,
    pub first_site: Site,
    /// The instruction, counted from the program's first one: that of the access, then of those that go by it.
    pub site: Site,
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
        let template = self.layout.template(now);
        let (by, access) = (self.access.by, self.access);
        let first = by.mask.trailing_zeros();
        let start = access.address(first);
        if let Some(page) = memory.page(start, self.size(), room) {
            let old = page.word(page.element(start));
            // Found while the word is on its way.
            let places = match access.at {
                Addresses::Each(addresses) if access.bytes() == 1 << page.shift => {
                    Places::new::<V3>(addresses, by.mask, page.shift)
                }
                _ => None,
            };
            let matters = self.same[usize::from(state(old))];
            let new = of_thread(template, by.first + first);
            // Whether the first lane changes nothing but whose access was the last, as far as its first element goes.
            let may_repeat = matters != 0 && step(self.machine, self.stepping, old, new) == state(old);
            if let Some(places) = places {
                let origin = start & !(PAGE - 1);
                if !(may_repeat && repeats(page, &places, old, matters)) {
                    self.places(page, &places, template, origin);
                }
                return match followers {
                    [] => 0,
                    _ => self.followers(page, (&places, origin), now, followers),
                };
            }
            if may_repeat && self.changes_nothing(page, old, matters) {
                return 0;
            }
        }
        match access.at {
            Addresses::Consecutive(_) => {
                let mut left = by.mask;
                while left != 0 {
                    let first = left.trailing_zeros();
                    let lanes = (left >> first).trailing_ones();
                    left &= u32::MAX.checked_shl(first + lanes).unwrap_or(0);
                    let word = of_thread(template, by.first + first);
                    self.row(memory, room, access.address(first), lanes, word);
                }
            }
            Addresses::Same(address) => self.same(memory, room, address, by.mask, template),
            Addresses::Each(each) => self.each(memory, room, each, template),
        }
        0
    }

    /// Accesses that go by one of lanes that each go to one element of a page: which of them do so, too, and are done.
    #[inline(always)]
    fn followers(
        &mut self,
        page: &mut Page,
        (places, origin): (&Places, u64),
        now: &mut Now,
        followers: &[Follower],
    ) -> u64 {
        let (lowest, highest) = places.extent();
        let first = self.access.by.first + places.mask.trailing_zeros();
        let mut done = 0;
        for (follower, at) in followers.iter().zip(0..u64::BITS) {
            let apart = (follower.apart as i64) >> page.shift;
            let within = apart << page.shift == follower.apart as i64
                && i64::from(lowest) + apart >= 0
                && i64::from(highest) + apart < page.len() as i64;
            if !within {
                continue;
            }
            done |= 1 << at;
            (self.site, now.site) = (follower.site, follower.site);
            let template = self.layout.template(now);
            let places = places.further_by(apart as u32);
            let old = page.word(places.elements[places.mask.trailing_zeros() as usize & 31] as usize);
            let matters = self.same[usize::from(state(old))];
            let repeated = matters != 0
                && step(self.machine, self.stepping, old, of_thread(template, first)) == state(old)
                && repeats(page, &places, old, matters);
            if !repeated {
                self.places(page, &places, template, origin);
            }
        }
        done
    }

    /// Lanes that each have an address of their own, on whatever pages.
    fn each(&mut self, memory: &mut Elements, room: &mut Room, addresses: &[u64; 32], template: u64) {
        let by = self.access.by;
        let mut left = by.mask;
        while left != 0 {
            let (lanes, same) = alike(addresses, left, u64::from(self.access.bytes()));
            let first = left.trailing_zeros();
            let address = addresses[first as usize];
            if lanes.is_power_of_two() && left != lanes {
                left &= !self.scattered(memory, room, addresses, left, template);
                continue;
            }
            left &= !lanes;
            if same {
                self.same(memory, room, address, lanes, template);
            } else {
                let word = of_thread(template, by.first + first);
                self.row(memory, room, address, lanes.count_ones(), word);
            }
        }
    }

    /// Bytes of the smallest part of the access, as a power of two.
    #[inline(always)]
    fn size(&self) -> u32 {
        self.access.size.trailing_zeros()
    }

    /// The word behind an access. Says so where it is the one that races.
    #[inline(always)]
    fn next(&mut self, old: u64, new: u64, address: u64) -> u64 {
        let next = step(self.machine, self.stepping, old, new);
        if next == self.machine.race() && state(old) != next {
            self.conflict(old, new, address);
        }
        with_state(new, next)
    }

    #[cold]
    #[inline(never)]
    fn conflict(&mut self, old: u64, new: u64, address: u64) {
        let conflict = Conflict {
            access: &Access { site: self.first_site.wrapping_add(self.site), ..*self.access },
            layout: self.layout,
            machine: self.machine,
            first_site: self.first_site,
            lockstep: self.lockstep,
            count: 1,
        };
        report::race(self.reports, &conflict, old, new, address);
    }

    /// Whether all elements have had such accesses of the same threads since the last barrier, so that one more changes nothing but
    /// whose access was the last. `old` is the word of the first one, of which it is sure.
    #[inline(always)]
    fn changes_nothing(&self, page: &Page, old: u64, matters: u64) -> bool {
        let by = self.access.by;
        let first = by.mask.trailing_zeros();
        let (start, bytes) = (self.access.address(first), u64::from(self.access.bytes()));
        let all = |from: u64, bytes: u64| {
            let within = (from & (PAGE - 1)) + bytes <= PAGE;
            let first = page.element(from);
            within && page.differ(first, first + (bytes >> page.shift) as usize, old, matters) == 0
        };
        match self.access.at {
            Addresses::Same(address) => all(address, bytes),
            Addresses::Consecutive(_) if by.mask >> first & (by.mask >> first).wrapping_add(1) == 0 => {
                all(start, bytes * u64::from(by.mask.count_ones()))
            }
            _ => by.each().all(|lane| {
                let address = self.access.address(lane);
                (address ^ start) >> PAGE_SHIFT == 0 && all(address, bytes)
            }),
        }
    }

    /// One lane's access.
    pub fn lane(&mut self, memory: &mut Elements, room: &mut Room, address: u64, new: u64) {
        let (mut at, end) = (address, address.wrapping_add(u64::from(self.access.bytes())));
        while at < end {
            let Some(page) = memory.page(at, self.size(), room) else { return };
            let stop = end.min((at | (PAGE - 1)).wrapping_add(1));
            while at < stop {
                let word = page.word_mut(page.element(at));
                *word = self.next(*word, new, at);
                at += 1 << page.shift;
            }
        }
    }

    /// Lanes that each go to a place of their own: the first ones of `lanes` that go to one page. Answers which.
    fn scattered(
        &mut self,
        memory: &mut Elements,
        room: &mut Room,
        addresses: &[u64; 32],
        lanes: u32,
        template: u64,
    ) -> u32 {
        let (first, thread) = (lanes.trailing_zeros(), self.access.by.first);
        let start = addresses[first as usize];
        let Some(page) = memory.page(start, self.size(), room) else { return 1 << first };
        if self.access.bytes() != 1 << page.shift {
            self.lane(memory, room, start, of_thread(template, thread + first));
            return 1 << first;
        }
        let mut done = 0;
        for lane in each(lanes) {
            let address = addresses[lane as usize];
            if (address ^ start) >> PAGE_SHIFT != 0 {
                break;
            }
            let word = page.word_mut(page.element(address));
            *word = self.next(*word, of_thread(template, thread + lane), address);
            done |= 1 << lane;
        }
        done
    }

    /// So many lanes in a row, from `address` on; `new` is the first one's word.
    fn row(&mut self, memory: &mut Elements, room: &mut Room, address: u64, lanes: u32, new: u64) {
        let bytes = u64::from(self.access.bytes());
        let lane_shift = bytes.trailing_zeros();
        let (mut at, end) = (address, address.wrapping_add(u64::from(lanes) << lane_shift));
        while at < end {
            let Some(page) = memory.page(at, self.size(), room) else { return };
            let stop = end.min((at | (PAGE - 1)).wrapping_add(1));
            let (from, to) = (page.element(at), page.element(stop - 1) + 1);
            if page.shift == lane_shift {
                let first = (at - address) >> lane_shift;
                self.lanes_in_a_row(page, from..to, new + first * NEXT_THREAD, at);
            } else {
                for element in from..to {
                    let byte = at + (((element - from) as u64) << page.shift);
                    let lane = (byte - address) >> lane_shift;
                    let word = page.word_mut(element);
                    *word = self.next(*word, new + lane * NEXT_THREAD, byte);
                }
            }
            at = stop;
        }
    }

    /// Lanes that go to elements of one page, which begins at `origin`, one each.
    #[inline(always)]
    fn places(&mut self, page: &mut Page, places: &Places, template: u64, origin: u64) {
        let (thread, shift) = (self.access.by.first, page.shift);
        let address_of = |element: usize| origin + ((element as u64) << shift);
        if places.few() {
            for run in places.runs() {
                let (first, last) = (thread + run.first, thread + run.first + run.lanes - 1);
                let (new, address) = (of_thread(template, first), address_of(run.element));
                if run.row {
                    self.lanes_in_a_row(page, run.element..run.end(), new, address);
                } else {
                    self.crowd(
                        page.word_mut(run.element),
                        (new, of_thread(template, first + 1)),
                        of_thread(template, last),
                        address,
                    );
                }
            }
        } else if let Some(words) = page.scattered_mut(&places.elements, places.mask) {
            if !self.together(words, places, template) {
                for (lane, element) in places.each() {
                    let word = &mut words[element];
                    *word = self.next(*word, of_thread(template, thread + lane), address_of(element));
                }
            }
        } else {
            for (lane, element) in places.each() {
                let word = page.word_mut(element);
                *word = self.next(*word, of_thread(template, thread + lane), address_of(element));
            }
        }
    }

    /// Lanes that each go to an element of their own, on one page: all of them, or none where some go to one element, or do not all
    /// come to one state, or one races.
    #[inline(always)]
    fn together(&self, words: &mut [u64], places: &Places, template: u64) -> bool {
        let Some((first, lanes)) = places.without_gaps().filter(|_| places.differ()) else { return false };
        let elements = &places.elements[first as usize..][..lanes as usize];
        let mut before = [0; 32];
        for (word, element) in before.iter_mut().zip(elements) {
            *word = words[*element as usize];
        }
        let new = of_thread(template, self.access.by.first + first);
        let Some(to) = self.one_state(&before[..lanes as usize], new) else { return false };
        let mut word = with_state(new, to);
        for element in elements {
            words[*element as usize] = word;
            word += NEXT_THREAD;
        }
        true
    }

    /// The state that elements come to which lanes behind each other access, one each; `new` is the first one's word. None where it is not
    /// sure that it is one state, or where one races.
    ///
    /// It is one where all of them stand alike to who was there before, or nobody was. And behind a barrier of the block it does not matter which
    /// of its threads that was, as the machine's tests say.
    #[inline(always)]
    fn one_state(&self, before: &[u64], new: u64) -> Option<State> {
        let (mut words, mut threads, mut word) = (0, 0, new);
        for old in before {
            let differs = old ^ before[0];
            words |= differs;
            threads |= differs ^ word ^ new;
            word += NEXT_THREAD;
        }
        let from = state(before[0]);
        let is_one = threads & self.stepping.relates() == 0
            || words & STATE == 0 && from == UNTOUCHED
            || words & self.stepping.relates_behind_barrier() == 0
                && self.stepping.is_behind_barrier(before[0], new);
        let to = step(self.machine, self.stepping, before[0], new);
        (is_one && (to != self.machine.race() || from == to)).then_some(to)
    }

    /// An element for each lane, from that at `address` on. Where nobody has accessed a group, or lanes in a row have, all of it goes the
    /// same way.
    #[inline(always)]
    fn lanes_in_a_row(&mut self, page: &mut Page, elements: Range<usize>, mut new: u64, mut address: u64) {
        let mut from = elements.start;
        while from < elements.end {
            let group = from / GROUP;
            let count = (elements.end - from).min(GROUP - from % GROUP);
            match page.alike(group).filter(|_| count == GROUP).and_then(|old| self.whole(old, new)) {
                Some(first) => page.put_row(group, first),
                None => self.part(page, from..from + count, new, address),
            }
            new += count as u64 * NEXT_THREAD;
            address += (count as u64) << page.shift;
            from += count;
        }
    }

    /// The first word of a group behind an access of lanes in a row; `old` is what it was, and how much further each of the others is.
    /// None where each has to be looked at.
    #[inline(always)]
    fn whole(&self, (old, apart): (u64, u64), new: u64) -> Option<u64> {
        // Else these were threads of two warps, or one thread whose neighbours come now.
        if old != 0 && (apart == 0 || lane(old) as usize + GROUP > 32) {
            return None;
        }
        let next = step(self.machine, self.stepping, old, new);
        let race = self.machine.race();
        (next != race || state(old) == race).then(|| with_state(new, next))
    }

    /// An element of a group for each lane.
    #[inline(always)]
    fn part(&mut self, page: &mut Page, elements: Range<usize>, new: u64, address: u64) {
        let (group, start, count) = (elements.start / GROUP, elements.start % GROUP, elements.len());
        let words = &mut page.group_mut(group)[start..start + count];
        match self.one_state(words, new) {
            Some(to) if count == GROUP => return page.put_row(group, with_state(new, to)),
            Some(to) => {
                for (word, at) in words.iter_mut().zip(0_u64..) {
                    *word = with_state(new + at * NEXT_THREAD, to);
                }
            }
            None => {
                let shift = page.shift;
                let words = &mut page.group_mut(group)[start..start + count];
                for (word, at) in words.iter_mut().zip(0_u64..) {
                    *word = self.next(*word, new + at * NEXT_THREAD, address + (at << shift));
                }
            }
        }
        page.settle(group);
    }

    /// Lanes at one address.
    fn same(&mut self, memory: &mut Elements, room: &mut Room, address: u64, lanes: u32, template: u64) {
        let new = |lane: u32| of_thread(template, self.access.by.first + lane);
        let rest = lanes & lanes.wrapping_sub(1);
        let (first, second) = (new(lanes.trailing_zeros()), new(rest.trailing_zeros() & 31));
        let last = new(31 - lanes.leading_zeros());
        let (mut at, end) = (address, address.wrapping_add(u64::from(self.access.bytes())));
        while at < end {
            let Some(page) = memory.page(at, self.size(), room) else { return };
            let word = page.word_mut(page.element(at));
            if rest == 0 {
                *word = self.next(*word, first, at);
            } else {
                self.crowd(word, (first, second), last, at);
            }
            at += 1 << page.shift;
        }
    }

    /// Two lanes or more at one element: the words of the first two and that of the last one. All but the first one go the same way,
    /// as a neighbour comes behind a neighbour; and from the third one on the state stays, as the machine's tests say.
    #[inline(always)]
    fn crowd(&mut self, word: &mut u64, (first, second): (u64, u64), last: u64, address: u64) {
        let before = self.next(*word, first, address);
        let apart = if self.lockstep { Apart::Thread } else { Apart::Warp };
        let action = Action::ALL[(first >> ACTION_AT & 3) as usize];
        let next = self.machine.step(state(before), input(action, apart, Since::Nothing));
        if next == self.machine.race() && state(before) != next {
            self.conflict(before, second, address);
        }
        *word = with_state(last, next);
    }
}

/// Whether all elements are as the one whose word is `old`, in the bits that matter.
#[inline(always)]
fn repeats(page: &Page, places: &Places, old: u64, matters: u64) -> bool {
    if places.few() {
        for run in places.runs() {
            if page.differ(run.element, run.end(), old, matters) != 0 {
                return false;
            }
        }
        return true;
    }
    match page.scattered(&places.elements, places.mask) {
        Some(words) => {
            let mut differ = 0;
            for (lane, element) in places.elements.iter().enumerate() {
                // Of a lane that takes no part it may not be there.
                let word = words.get(*element as usize).copied().unwrap_or(old);
                differ |= (word ^ old) & places.live(lane);
            }
            differ & matters == 0
        }
        None => places.each().all(|(_, element)| (page.word(element) ^ old) & matters == 0),
    }
}

/// The first lanes of a mask that go to one address (true), or in a row, each so many bytes behind the one before (false).
fn alike(addresses: &[u64; 32], mask: u32, bytes: u64) -> (u32, bool) {
    let first = mask.trailing_zeros();
    let address = addresses[first as usize];
    let mut lanes = 1 << first;
    let rest = mask & (mask - 1);
    if rest == 0 {
        return (lanes, false);
    }
    if addresses[rest.trailing_zeros() as usize] == address {
        for lane in each(rest) {
            if addresses[lane as usize] != address {
                break;
            }
            lanes |= 1 << lane;
        }
        return (lanes, true);
    }
    let mut next = address;
    for lane in first + 1..32 {
        next = next.wrapping_add(bytes);
        if mask >> lane & 1 == 0 || addresses[lane as usize] != next {
            break;
        }
        lanes |= 1 << lane;
    }
    (lanes, false)
}
