//! One grid: its clocks and shadow words, and what accesses do to them.

use std::rc::Rc;

use bugaroo_semantics::event::{Access, Addresses, Lanes, Shape, SiteNumber, WhoseBytes, WorkId};
use bugaroo_semantics::history::table::{HistoryMachine, STATE_BITS};
use bugaroo_semantics::history::word::action;

use super::clocks::{Clocks, Warp};
use super::elements::{Elements, Room};
use super::known::{Known, Step};
use super::learnt::{Follower, Learnt};
use super::quick;
use super::report::Reports;
use super::word::{Now, WordLayout, of_thread};
use crate::watched::Watched;

/// A grid that is running.
#[derive(Debug)]
pub(super) struct Grid {
    pub id: WorkId,
    pub clocks: Clocks,
    /// What is looked at; None: everything.
    pub watched: Option<Watched>,
    known: Known,
    learnt: Rc<Learnt>,
    elements: Elements,
    /// Slots for blocks.
    slots: u32,
    /// The processor is one of the x86-64-v3 level.
    wide: bool,
}

impl Grid {
    pub fn new(
        id: WorkId,
        shape: &Shape,
        lockstep: bool,
        (first_site, learnt): (SiteNumber, Rc<Learnt>),
        layout: WordLayout,
        room: &mut Room,
    ) -> Grid {
        let machine = HistoryMachine::get();
        let mut same = [0; 1 << STATE_BITS];
        for (same, history) in same.iter_mut().zip(&machine.histories) {
            *same = history.map_or(0, |history| layout.who_matters(history.spread));
        }
        Grid {
            id,
            watched: None,
            clocks: Clocks::new(shape, layout.latest()),
            known: Known {
                layout,
                stepping: if lockstep { layout.in_lockstep() } else { layout },
                lockstep,
                machine,
                same,
                first_site,
            },
            learnt,
            elements: room.elements(shape.ctas),
            slots: shape.ctas,
            wide: is_wide(),
        }
    }

    pub fn begin_block(&mut self, cta: u32, room: &mut Room) {
        self.clocks.begin_block(cta);
        self.elements.clear_shared(cta, room);
    }

    /// Bytes that mean something else from here on.
    pub fn forget(&mut self, memory: WhoseBytes, address: u64, bytes: u64) {
        self.elements.forget(memory, address, bytes);
    }

    pub fn end(self, room: &mut Room) {
        room.give_back(self.elements);
    }

    /// An access, and those that go by it.
    pub fn access(&mut self, access: &Access<'_>, reports: &mut Reports, room: &mut Room) {
        let site = access.site.wrapping_sub(self.known.first_site);
        if self.learnt.role(site).led_by.is_some() {
            return;
        }
        if self.learnt.followers(site).is_empty() {
            self.one(access, &[], reports, room);
            return;
        }
        let learnt = Rc::clone(&self.learnt);
        let followers = learnt.followers(site);
        let done = self.one(access, followers, reports, room);
        for (follower, at) in followers.iter().zip(0..) {
            if at < u64::BITS && done >> at & 1 != 0 {
                continue;
            }
            let further = |address: &u64| address.wrapping_add(follower.apart);
            let site = self.known.first_site.wrapping_add(follower.site);
            let each;
            let at = match access.at {
                Addresses::Same(address) => Addresses::Same(further(&address)),
                Addresses::Consecutive(address) => Addresses::Consecutive(further(&address)),
                Addresses::Each(addresses) => {
                    each = addresses.each_ref().map(further);
                    Addresses::Each(&each)
                }
            };
            self.one(&Access { site, at, ..*access }, &[], reports, room);
        }
    }

    /// An access, as far as it is looked at. Answers which of those that go by it are done with it, a bit each.
    fn one(
        &mut self,
        access: &Access<'_>,
        followers: &[Follower],
        reports: &mut Reports,
        room: &mut Room,
    ) -> u64 {
        let Some(watched) = &self.watched else {
            return if self.is_quickly_done(access) {
                0
            } else {
                self.look(access, followers, reports, room)
            };
        };
        let mask = watched.lanes(access);
        if mask != 0 {
            self.look(&Access { by: Lanes { mask, ..access.by }, ..*access }, &[], reports, room);
        }
        0
    }

    /// Whether it is an access of those of which there are most, and done.
    #[inline(always)]
    fn is_quickly_done(&mut self, access: &Access<'_>) -> bool {
        let Some(warp) = self.clocks.warp(access.by.warp) else { return false };
        if warp.lanes.is_some() || !quick::may_be_done(access) {
            return false;
        }
        let template = self.known.layout.template(&self.now(access, warp));
        quick::done(&self.known, &mut self.elements, access, template)
    }

    /// What each lane leaves, but for its thread and, where they differ, its clock.
    #[inline(always)]
    fn now(&self, access: &Access<'_>, warp: &Warp) -> Now {
        let site = access.site.wrapping_sub(self.known.first_site);
        Now {
            action: action(access.kind, access.strength, self.learnt.role(site).volatile),
            writes: access.kind.writes(),
            block: access.by.block,
            block_clock: warp.block,
            warp_clock: warp.warp,
            site,
        }
    }

    fn look(
        &mut self,
        access: &Access<'_>,
        followers: &[Follower],
        reports: &mut Reports,
        room: &mut Room,
    ) -> u64 {
        #[cfg(target_arch = "x86_64")]
        if self.wide {
            // SAFETY: the processor has these features.
            return unsafe { self.look_v3(access, followers, reports, room) };
        }
        self.look_body::<false>(access, followers, reports, room)
    }

    /// As [`Grid::look_body`], for processors of the x86-64-v3 level.
    ///
    /// # Safety
    /// The processor has these features.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx,avx2,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn look_v3(
        &mut self,
        access: &Access<'_>,
        followers: &[Follower],
        reports: &mut Reports,
        room: &mut Room,
    ) -> u64 {
        self.look_body::<true>(access, followers, reports, room)
    }

    #[inline(always)]
    fn look_body<const V3: bool>(
        &mut self,
        access: &Access<'_>,
        followers: &[Follower],
        reports: &mut Reports,
        room: &mut Room,
    ) -> u64 {
        let by = &access.by;
        let Some(warp) = self.clocks.warp(by.warp) else { return 0 };
        let mut now = self.now(access, warp);
        if let WhoseBytes::Shared(slot) = access.memory
            && slot >= self.slots
        {
            return 0;
        }
        let memory = &mut self.elements;
        let mut step = Step { access, known: &self.known, reports, site: now.site };
        if warp.lanes.is_none() {
            return step.lanes::<V3>(memory, room, &mut now, followers);
        }
        for lane in by.each() {
            now.warp_clock = warp.of(lane);
            let template = self.known.layout.template(&now);
            let new = of_thread(template, by.first + lane);
            step.lane(memory, room, (access.address(lane), new), true);
        }
        0
    }

    /// Bytes that it takes, about.
    pub fn bytes(&self) -> u64 {
        self.clocks.bytes() + self.elements.bytes()
    }
}

/// Whether the processor has what [`Grid::look_v3`] is compiled for.
fn is_wide() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        std::is_x86_feature_detected!("avx2")
            && std::is_x86_feature_detected!("bmi1")
            && std::is_x86_feature_detected!("bmi2")
            && std::is_x86_feature_detected!("lzcnt")
            && std::is_x86_feature_detected!("popcnt")
    }
    #[cfg(not(target_arch = "x86_64"))]
    false
}
