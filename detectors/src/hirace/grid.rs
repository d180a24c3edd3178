//! One grid: its clocks and shadow words, and what accesses do to them.

use std::ops::Range;
use std::rc::Rc;

use bugaroo_semantics::event::{Access, Addresses, Lanes, Memory, Shape, Site, WorkId, each};
use bugaroo_semantics::history::table::{Machine, STATE_BITS, State};
use bugaroo_semantics::history::word::action;
use bugaroo_semantics::inferred::Role;

use super::clocks::Clocks;
use super::elements::{Elements, Room};
use super::page::{GROUP, PAGE, PAGE_SHIFT, Page};
use super::report::{self, Conflict, Reports};
use super::word::{Layout, NEXT_THREAD, Now, lane, of_thread, state, step, with_state};
use crate::watched::Watched;

/// A grid that is running.
#[derive(Debug)]
pub(super) struct Grid {
    pub id: WorkId,
    pub clocks: Clocks,
    /// What is looked at; None: everything.
    pub watched: Option<Watched>,
    layout: Layout,
    lockstep: bool,
    first_site: Site,
    roles: Rc<[Role]>,
    global: Elements,
    /// By slot of the block.
    shared: Vec<Elements>,
    machine: &'static Machine,
    /// By state: see [`Layout::who_matters`].
    same: [u64; 1 << STATE_BITS],
}

/// Words of one access, and who they are told to.
struct Step<'a, 'b> {
    access: &'a Access<'a>,
    layout: Layout,
    lockstep: bool,
    machine: &'static Machine,
    reports: &'b mut Reports,
    first_site: Site,
}

impl Grid {
    pub fn new(
        id: WorkId,
        shape: &Shape,
        lockstep: bool,
        (first_site, roles): (Site, Rc<[Role]>),
        layout: Layout,
    ) -> Grid {
        let machine = Machine::get();
        let mut same = [0; 1 << STATE_BITS];
        for (same, history) in same.iter_mut().zip(&machine.histories) {
            *same = history.map_or(0, |history| layout.who_matters(history.spread));
        }
        Grid {
            id,
            same,
            watched: None,
            clocks: Clocks::new(shape, layout.latest()),
            layout,
            lockstep,
            first_site,
            roles,
            global: Elements::default(),
            shared: (0..shape.ctas).map(|_| Elements::default()).collect(),
            machine,
        }
    }

    pub fn begin_block(&mut self, cta: u32, room: &mut Room) {
        self.clocks.begin_block(cta);
        if let Some(shared) = self.shared.get_mut(cta as usize) {
            shared.clear(room);
        }
    }

    /// Bytes that mean something else from here on.
    pub fn forget(&mut self, memory: Memory, address: u64, bytes: u64) {
        match memory {
            Memory::Global => self.global.forget(address, bytes),
            Memory::Shared(slot) => {
                if let Some(shared) = self.shared.get_mut(slot as usize) {
                    shared.forget(address, bytes);
                }
            }
        }
    }

    pub fn end(&mut self, room: &mut Room) {
        self.global.clear(room);
        self.shared.iter_mut().for_each(|shared| shared.clear(room));
    }

    pub fn access(&mut self, access: &Access<'_>, reports: &mut Reports, room: &mut Room) {
        let Some(watched) = &self.watched else { return self.look(access, reports, room) };
        let mask = watched.lanes(access);
        if mask != 0 {
            self.look(&Access { by: Lanes { mask, ..access.by }, ..*access }, reports, room);
        }
    }

    #[inline]
    fn look(&mut self, access: &Access<'_>, reports: &mut Reports, room: &mut Room) {
        let by = &access.by;
        let Some(warp) = self.clocks.warp(by.warp) else { return };
        let site = access.site.wrapping_sub(self.first_site);
        let volatile = self.roles.get(site as usize).is_some_and(|role| role.volatile);
        let mut now = Now {
            action: action(access.kind, access.strength, volatile),
            writes: access.kind.writes(),
            block: by.block,
            block_clock: warp.block,
            warp_clock: warp.warp,
            site,
        };
        let memory = match access.memory {
            Memory::Global => &mut self.global,
            Memory::Shared(slot) => match self.shared.get_mut(slot as usize) {
                Some(shared) => shared,
                None => return,
            },
        };
        let layout = self.layout;
        let mut step = Step {
            access,
            layout,
            lockstep: self.lockstep,
            machine: self.machine,
            reports,
            first_site: self.first_site,
        };
        let template = layout.template(&now);
        if warp.lanes.is_none() && step.changes_nothing(memory, room, template, &self.same) {
            return;
        }
        match access.at {
            _ if warp.lanes.is_some() => {
                for lane in by.each() {
                    now.warp_clock = warp.of(lane);
                    let template = layout.template(&now);
                    step.lane(memory, room, access.address(lane), of_thread(template, by.first + lane));
                }
            }
            Addresses::Consecutive(_) => {
                let mut left = by.mask;
                while left != 0 {
                    let first = left.trailing_zeros();
                    let lanes = (left >> first).trailing_ones();
                    left &= u32::MAX.checked_shl(first + lanes).unwrap_or(0);
                    let word = of_thread(template, by.first + first);
                    step.row(memory, room, access.address(first), lanes, word);
                }
            }
            Addresses::Same(address) => step.same(memory, room, address, by.mask, template),
            Addresses::Each(each) => {
                let mut left = by.mask;
                while left != 0 {
                    let (lanes, same) = alike(each, left, u64::from(access.bytes()));
                    let first = left.trailing_zeros();
                    let address = each[first as usize];
                    if lanes.is_power_of_two() && left != lanes {
                        left &= !step.scattered(memory, room, each, left, template);
                        continue;
                    }
                    left &= !lanes;
                    if same {
                        step.same(memory, room, address, lanes, template);
                    } else {
                        let word = of_thread(template, by.first + first);
                        step.row(memory, room, address, lanes.count_ones(), word);
                    }
                }
            }
        }
    }

    /// Bytes that it takes besides shadow words, about.
    pub fn bytes(&self) -> u64 {
        self.clocks.bytes() + (self.shared.len() * size_of::<Elements>()) as u64
    }
}

impl Step<'_, '_> {
    /// Bytes of the smallest part of the access, as a power of two.
    fn size(&self) -> u32 {
        self.access.size.trailing_zeros()
    }

    /// The word behind an access. Says so where it is the one that races.
    #[inline]
    fn next(&mut self, old: u64, new: u64, address: u64) -> u64 {
        let next = step(self.machine, self.layout, old, new, self.lockstep);
        if next == self.machine.race() && state(old) != next {
            self.conflict(old, new, address);
        }
        with_state(new, next)
    }

    #[cold]
    fn conflict(&mut self, old: u64, new: u64, address: u64) {
        let conflict = Conflict {
            access: self.access,
            layout: self.layout,
            machine: self.machine,
            first_site: self.first_site,
            lockstep: self.lockstep,
            count: 1,
        };
        report::race(self.reports, &conflict, old, new, address);
    }

    /// Whether all elements have had such accesses of the same threads since the last barrier, so that one more changes nothing but
    /// whose access was the last.
    #[inline]
    fn changes_nothing(
        &self,
        memory: &mut Elements,
        room: &mut Room,
        template: u64,
        same: &[u64; 1 << STATE_BITS],
    ) -> bool {
        let by = self.access.by;
        let first = by.mask.trailing_zeros();
        let start = self.access.address(first);
        let Some(page) = memory.page(start, self.size(), room) else { return false };
        let (shift, bytes) = (page.shift, u64::from(self.access.bytes()));
        let old = page.word(page.element(start));
        let matters = same[usize::from(state(old))];
        if matters == 0
            || step(self.machine, self.layout, old, of_thread(template, by.first + first), self.lockstep)
                != state(old)
        {
            return false;
        }
        let all = |from: u64, bytes: u64| {
            let within = (from & (PAGE - 1)) + bytes <= PAGE;
            let first = page.element(from);
            within && page.differ(first, first + (bytes >> shift) as usize, old, matters) == 0
        };
        match self.access.at {
            Addresses::Same(address) => all(address, bytes),
            Addresses::Consecutive(_) if by.mask >> first & (by.mask >> first).wrapping_add(1) == 0 => {
                all(start, bytes * u64::from(by.mask.count_ones()))
            }
            _ if bytes == 1 << shift => {
                let mut differ = 0;
                for lane in by.each() {
                    let address = self.access.address(lane);
                    let word = page.word(page.element(address));
                    differ |= (word ^ old) & matters | (address ^ start) >> PAGE_SHIFT;
                }
                differ == 0
            }
            _ => by.each().all(|lane| {
                let address = self.access.address(lane);
                (address ^ start) >> PAGE_SHIFT == 0 && all(address, bytes)
            }),
        }
    }

    /// One lane's access.
    fn lane(&mut self, memory: &mut Elements, room: &mut Room, address: u64, new: u64) {
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

    /// An element for each lane, from that at `address` on. Where nobody has accessed a group, or lanes in a row have, all of it goes the
    /// same way.
    #[inline]
    fn lanes_in_a_row(&mut self, page: &mut Page, elements: Range<usize>, mut new: u64, mut address: u64) {
        let mut from = elements.start;
        while from < elements.end {
            let group = from / GROUP;
            let count = (elements.end - from).min(GROUP - from % GROUP);
            match page.alike(group).filter(|_| count == GROUP).and_then(|old| self.whole(old, new)) {
                Some(first) => page.put_row(group, first),
                None => {
                    let mut words = page.group(group);
                    let start = from % GROUP;
                    self.each_lane(&mut words[start..start + count], new, address, page.shift);
                    page.put_group(group, &words);
                }
            }
            new += count as u64 * NEXT_THREAD;
            address += (count as u64) << page.shift;
            from += count;
        }
    }

    /// The first word of a group behind an access of lanes in a row; `old` is what it was, and how much further each of the others is.
    /// None where each has to be looked at.
    #[inline]
    fn whole(&self, (old, apart): (u64, u64), new: u64) -> Option<u64> {
        // Else these were threads of two warps, or one thread whose neighbours come now.
        if old != 0 && (apart == 0 || lane(old) as usize + GROUP > 32) {
            return None;
        }
        let next = step(self.machine, self.layout, old, new, self.lockstep);
        let race = self.machine.race();
        (next != race || state(old) == race).then(|| with_state(new, next))
    }

    /// An element for each lane. Where the last accesses were those of lanes in a row, too, all of them go the same way.
    #[inline]
    fn each_lane(&mut self, words: &mut [u64], mut new: u64, address: u64, shift: u32) {
        let mut at = 0;
        while let Some(old) = words.get(at).copied() {
            let next = self.next(old, new, address + ((at as u64) << shift));
            let raced = state(next) == self.machine.race();
            words[at] = next;
            let from = at;
            at += 1;
            if raced {
                // Each of them is one.
                new += NEXT_THREAD;
                continue;
            }
            // Nobody was there, or threads of one warp in a row.
            let (apart, most) =
                if old == 0 { (0, usize::MAX) } else { (NEXT_THREAD, 31 - lane(old) as usize) };
            let alike = |(index, word): (usize, &u64)| *word == old.wrapping_add((index as u64 + 1) * apart);
            let rest = words[at..].iter().enumerate().take(most);
            let run = rest.take_while(|(index, word)| alike((*index, word))).count();
            for (index, word) in words[at..at + run].iter_mut().enumerate() {
                *word = next + (index as u64 + 1) * NEXT_THREAD;
            }
            at += run;
            new += (at - from) as u64 * NEXT_THREAD;
        }
    }

    /// Lanes at one address.
    fn same(&mut self, memory: &mut Elements, room: &mut Room, address: u64, lanes: u32, template: u64) {
        let first = self.access.by.first;
        let new = |lane: u32| of_thread(template, first + lane);
        let (mut at, end) = (address, address.wrapping_add(u64::from(self.access.bytes())));
        while at < end {
            let Some(page) = memory.page(at, self.size(), room) else { return };
            let word = page.word_mut(page.element(at));
            let mut old = *word;
            let mut before: Option<State> = None;
            for lane in each(lanes) {
                let next = self.next(old, new(lane), at);
                let stays = before == Some(state(next)) && state(old) == state(next);
                before = Some(state(next));
                old = next;
                if stays {
                    // The other lanes stand to each other as these two do.
                    old = with_state(new(31 - lanes.leading_zeros()), state(next));
                    break;
                }
            }
            *word = old;
            at += 1 << page.shift;
        }
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
