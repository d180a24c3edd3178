//! Fences, and which of those that are sequentially consistent synchronise.
//!
//! Fence-SC order has all `fence.sc` that are morally strong to each other in one order that nobody tells. As executed is one. Had
//! all pairs synchronised in that one, each would hide the races of accesses before the one with those behind the other, though
//! nothing keeps the two from coming the other way round. So an earlier fence comes before a later one only where it has to:
//! - causality order has it so by itself; or
//! - an access behind the earlier one communicates with one before the later one: it is read, read before it is
//!   overwritten, or overwritten, in one step or more. Were the later fence first, causality order would run against that.
//!
//! So all fences between which nothing forces an order can be put as if those before an access came first of all: then it races
//! with what only the order as executed had put before it, and everybody has read what they read. A report may rest on this.
//!
//! Strong accesses stamp their granules with what fences behind which they are have known, and leave what is stamped there to
//! the next fence of their threads. Weak accesses need not: they are ordered with those that they communicate with, or race.
//! Where communication is not followed closer, a fence takes all that fences before it have known, *by the letter*:
//! - a thread that has acquired from others (through a barrier of its CTA or warp what they had to take goes along);
//! - a grid in which a race has been found (what races communicates, too), which uses an mbarrier or a fence of cluster scope, which
//!   talks to another grid, or whose reads may be older than what memory holds (its writes are numbered).
//!
//! Pairs that are morally strong only within a CTA, as one of them is no wider, are taken as executed, too.

use std::rc::Rc;

use bugaroo_semantics::clocks::{View, joined};
use bugaroo_semantics::effect::Fence;
use bugaroo_semantics::event::{Lanes, WhoseBytes, WorkId, each};

use super::detector::ExactDetector;
use super::known::{Fenced, Known, last};
use super::release::{self, Reach, Release};
use super::rows::granule;
use super::sc::{Sc, Together, add};
use super::state::{Grid, Warp};
use super::strong::granules;
use crate::shadow::Bytes;

impl Warp {
    fn kept(&mut self, lane: u32) -> &mut Sc {
        self.sc.lane(lane, self.full)
    }

    /// The same, and its own last fence is in `after`.
    fn kept_whole(&mut self, by: &Lanes, lane: u32) -> &mut Sc {
        let kept = self.kept(lane);
        if let Some(own) = kept.own.take() {
            add(&mut kept.after, &Some(own.view_of(by.block as u32, by.first + lane)));
        }
        kept
    }

    fn add_kept(&self, (cta, first): (u32, u32), lanes: u32, all: &mut Sc) {
        for (lanes, kept) in self.sc.each(lanes) {
            all.join(kept);
            if let Some(own) = &kept.own {
                add(&mut all.after, &Some(own.view_of_lanes((cta, first), lanes, self.full, false)));
            }
        }
    }
}

impl Grid {
    /// A fence of lanes, one after the other. Lanes that are alike do it together.
    pub fn fence(&mut self, by: &Lanes, fence: Fence) {
        let reach = Reach::of(fence.scope, self.cluster);
        self.total.letter |= fence.is_sc() && reach == Reach::Cluster;
        let mut left = by.mask;
        while left != 0 {
            let lanes = self.alike(by, left, fence, reach);
            left &= !lanes;
            self.fence_of(by, lanes, fence, reach);
        }
        if fence.kind.releases() {
            self.tick(by.cta);
        }
    }

    /// The first of these lanes, and those that follow it and know, keep and carry the same. What such lanes take from each other is that
    /// each knows those before it, at most ([`Known::below`]), so that all is made once for them.
    fn alike(&self, by: &Lanes, left: u32, fence: Fence, reach: Reach) -> u32 {
        if fence.is_sc() && self.total.letter {
            return self.alike_by_letter(by, left, fence, reach);
        }
        let warp = &self.warps[by.warp as usize];
        let first = left & left.wrapping_neg();
        let others = warp.views.apart() | warp.sync.apart() | warp.sc.apart() | !warp.full;
        let sync = warp.sync.common();
        let carries = |earlier: &Rc<Fenced>| fence.kind.releases() && earlier.reach > reach;
        let keeps = || reach != Reach::Device && warp.sc.common().own.is_some();
        if first & others != 0
            || !sync.bank.is_empty()
            || sync.fence.as_ref().is_some_and(carries)
            || (fence.is_sc() && keeps())
        {
            return first;
        }
        // Lanes of `left` before the first one that is not alike.
        let end = left & others;
        let lanes = left & (end & end.wrapping_neg()).wrapping_sub(1);
        // What is known of lanes below is replaced.
        if fence.is_sc() && warp.views.common().below.0 & !lanes != 0 { first } else { lanes }
    }

    /// The same where each takes all earlier fences. Then it is enough that they know the same when they have, as those do again and again that
    /// wait for others with a fence between their looks.
    fn alike_by_letter(&self, by: &Lanes, left: u32, fence: Fence, reach: Reach) -> u32 {
        let warp = &self.warps[by.warp as usize];
        let first = left & left.wrapping_neg();
        let one = warp.views.of(first.trailing_zeros());
        let is_taken = |known: &Known| {
            let mut all =
                self.total.known.iter().flat_map(|all| all.reaching(by.block as u32, self.cluster, reach));
            all.any(|view| Rc::ptr_eq(view, &known.view) || view.covers(&known.view))
        };
        let first_is_taken = is_taken(one);
        let (mut lanes, mut below) = (0, 0);
        for lane in each(left & warp.full) {
            let (known, sync) = (warp.views.of(lane), warp.sync.of(lane));
            let carries = |earlier: &Rc<Fenced>| fence.kind.releases() && earlier.reach > reach;
            if !sync.bank.is_empty()
                || sync.fence.as_ref().is_some_and(carries)
                || (known.met, known.met_warp) != (one.met, one.met_warp)
                || !(Rc::ptr_eq(&known.view, &one.view) || (first_is_taken && is_taken(known)))
            {
                break;
            }
            lanes |= 1 << lane;
            below |= known.lanes_below(by.first + lane);
        }
        if below & !lanes != 0 || lanes == 0 { first } else { lanes }
    }

    /// Lanes that are [`Self::alike`] do a fence.
    fn fence_of(&mut self, by: &Lanes, lanes: u32, fence: Fence, reach: Reach) {
        let (time, moment) = (self.ctas[by.cta as usize].clock, self.moment);
        if lanes.is_power_of_two() {
            let lane = lanes.trailing_zeros();
            if fence.kind.acquires() {
                self.take_banked(by, lane, reach, None);
            }
            let earlier = &self.warps[by.warp as usize].sync.of(lane).fence;
            if fence.kind.releases() && earlier.as_ref().is_some_and(|earlier| earlier.reach > reach) {
                // It reaches farther: it stands beside this one.
                self.fences(by, lane);
            }
        }
        if fence.is_sc() {
            self.fence_sc(by, lanes, reach, time);
        }
        let warp = &mut self.warps[by.warp as usize];
        let known = warp.views.of(lanes.trailing_zeros()).clone();
        let fenced = Rc::new(Fenced { known, time, reach });
        warp.sync.change(lanes, warp.full, |sync| {
            if fence.kind.acquires() {
                sync.acquired = Some((moment, reach));
            }
            if !fence.kind.releases() {
                return;
            }
            sync.fence = Some(Rc::clone(&fenced));
            sync.released = Some((time, moment, reach));
            if reach == Reach::Device {
                // It says all that the thread has released before.
                sync.fences = None;
                sync.released_at.clear();
            }
        });
    }

    fn fence_sc(&mut self, by: &Lanes, lanes: u32, reach: Reach, time: u32) {
        let cta = by.block as u32;
        let in_order = if self.total.letter {
            let (before, cluster) = (self.total.known.clone(), self.cluster);
            for view in before.iter().flat_map(|before| before.reaching(cta, cluster, reach)) {
                self.learn_together(by, lanes, view);
            }
            true
        } else {
            self.take_forced(by, lanes, reach)
        };
        let warp = &mut self.warps[by.warp as usize];
        let alone = lanes.is_power_of_two().then(|| lanes.trailing_zeros());
        let mut known = warp.views.of(lanes.trailing_zeros()).clone();
        if in_order && alone.is_none() {
            known.below = (lanes, time);
            warp.views.set(lanes, warp.full, &known);
        }
        let fenced = Rc::new(Fenced { known, time, reach });
        let view = match alone {
            Some(lane) => fenced.view_of(cta, by.first + lane),
            None => fenced.view_of_lanes((cta, by.first), lanes, warp.full, in_order),
        };
        if self.total.letter {
            let all = Rc::make_mut(self.total.known.get_or_insert_default());
            all.replace(cta, self.cluster, reach, &view);
            return;
        }
        let own = Some(Rc::new(Release::new(cta, self.cluster, reach, &view)));
        self.total.known = release::both(&own, &self.total.known);
        let cta = &mut self.ctas[by.cta as usize];
        if reach == Reach::Device {
            // It says all that an earlier one of its own does.
            warp.sc.change(lanes, warp.full, |kept| kept.own = Some(Rc::clone(&fenced)));
            let kept = warp.sc.of(last(lanes));
            cta.fences.add(&view, kept);
            add(&mut cta.fences.kept.after, &Some(view));
            return;
        }
        let kept = match alone {
            Some(lane) => warp.kept_whole(by, lane),
            None => warp.sc.of(last(lanes)),
        };
        cta.narrow_fences.add(&view, kept);
        cta.fences.add(&view, kept);
    }

    /// Fences take what they have to: see above. Says whether each takes those before it, too.
    fn take_forced(&mut self, by: &Lanes, lanes: u32, reach: Reach) -> bool {
        let cta = &self.ctas[by.cta as usize];
        let wide = reach == Reach::Device;
        let near = if wide { &cta.narrow_fences } else { &cta.fences };
        let warp = &mut self.warps[by.warp as usize];
        warp.sc.change(lanes, warp.full, |kept| kept.join(&near.kept));
        let kept = warp.sc.of(lanes.trailing_zeros());
        let in_order = !wide || kept.letter;
        let known = near.known.clone();
        let far = match () {
            () if !wide => None,
            () if kept.letter => self.wide_fences(),
            () => kept.before.clone(),
        };
        for view in [known, far].into_iter().flatten() {
            self.learn_together(by, lanes, &view);
        }
        in_order
    }

    /// Lanes that know the same take what a view knows.
    fn learn_together(&mut self, by: &Lanes, lanes: u32, view: &Rc<View>) {
        let known = self.warps[by.warp as usize].views.of(lanes.trailing_zeros());
        if lanes.is_power_of_two() {
            self.learn(by, lanes.trailing_zeros(), view);
        } else if !known.view.covers(view) {
            let view = joined(&known.view, view);
            if !Rc::ptr_eq(&known.view, &view) {
                let warp = &mut self.warps[by.warp as usize];
                warp.views.change(lanes, warp.full, |known| known.view = Rc::clone(&view));
            }
        }
    }

    /// What fences as wide as the device have known.
    fn wide_fences(&self) -> Together {
        self.total.known.as_ref().and_then(|all| all.wide().cloned())
    }

    /// Whether its threads keep anything for `fence.sc`.
    #[inline]
    pub fn keeps(&self) -> bool {
        self.total.known.is_some() && !self.total.letter
    }

    /// Lanes know what others may have done that has not been followed.
    pub fn by_letter(&mut self, by: &Lanes, lanes: u32) {
        if self.keeps() {
            let warp = &mut self.warps[by.warp as usize];
            warp.sc.change(lanes, warp.full, |kept| kept.letter = true);
        }
    }

    /// What all have kept that have arrived at a barrier.
    pub fn kept_at(&self, slot: u32, barrier: usize) -> Option<Sc> {
        if !self.keeps() {
            return None;
        }
        let cta = &self.ctas[slot as usize];
        let mut all = Sc::default();
        for (warp, first, lanes, _) in cta.barriers[barrier].arrivals.iter().chain(&cta.exited) {
            self.warps[*warp as usize].add_kept((cta.block, *first), *lanes, &mut all);
        }
        (!all.is_empty()).then_some(all)
    }

    /// Lanes of a warp keep what all have kept with whom they have met, themselves included.
    pub fn keep(&mut self, by: &Lanes, all: &Sc) {
        let warp = &mut self.warps[by.warp as usize];
        warp.sc.set(by.mask, warp.full, all);
    }

    /// Lanes of a warp have met.
    pub fn kept_in_warp(&mut self, by: &Lanes) {
        if !self.keeps() {
            return;
        }
        let warp = &mut self.warps[by.warp as usize];
        let mut all = Sc::default();
        warp.add_kept((by.block as u32, by.first), (by.mask | warp.exited) & warp.full, &mut all);
        if !all.is_empty() {
            warp.sc.set(by.mask, warp.full, &all);
        }
    }
}

impl ExactDetector {
    /// A strong access of a lane, or the landing of its store, stamps what it touches.
    pub(super) fn stamp(&mut self, by: &Lanes, lane: u32, memory: WhoseBytes, row: u64, mask: Bytes) {
        let Some(grid) = self.grids.get_mut(&by.grid) else { return };
        if !grid.keeps() {
            return;
        }
        let all = grid.wide_fences();
        let kept = grid.warps[by.warp as usize].kept_whole(by, lane);
        let after = if kept.letter { all } else { kept.after.clone() };
        let log = &self.host;
        let row = self.shadow.row(by.grid, memory, row, |first, rows| log.fill(first, rows));
        let cells = row.split(&mut self.spare);
        let mut other = None;
        for index in granules(mask) {
            debug_assert!(mask & granule(index as u32) != 0, "an access is in one piece");
            let messages = cells[index].messages();
            if messages.is_none() && after.is_none() {
                continue;
            }
            match &mut messages.get_or_insert_with(Box::default).stamp {
                Some((whose, stamp)) if *whose == by.grid => {
                    add(&mut kept.before, stamp);
                    add(stamp, &after);
                }
                stamp => {
                    other = other.or(stamp.as_ref().map(|stamp| stamp.0));
                    *stamp = after.is_some().then(|| (by.grid, after.clone()));
                }
            }
        }
        if let Some(other) = other.filter(|other| self.grids.contains_key(other)) {
            self.talk_by_letter(other, by.grid);
        }
    }

    /// Grids talk to each other.
    pub(super) fn talk_by_letter(&mut self, one: WorkId, other: WorkId) {
        for grid in [one, other] {
            if let Some(grid) = self.grids.get_mut(&grid) {
                grid.total.letter = true;
            }
        }
    }
}
