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

use bugaroo_ptx::op::FenceKind;
use bugaroo_semantics::clocks::{View, joined};
use bugaroo_semantics::effect::Fence;
use bugaroo_semantics::event::{Lanes, Memory, WorkId, each};

use super::Ptx;
use super::release::{self, Reach, Release};
use super::rows::granule;
use super::state::{Fenced, Grid, Views, Warp};
use super::strong::granules;
use crate::shadow::Bytes;

/// What several have known; None: nobody.
pub(super) type Together = Option<Rc<View>>;

fn add(to: &mut Together, from: &Together) {
    match (&mut *to, from) {
        (_, None) => {}
        (Some(own), Some(from)) => {
            if !Rc::ptr_eq(own, from) && !own.covers(from) {
                *own = joined(own, from);
            }
        }
        (None, Some(_)) => to.clone_from(from),
    }
}

/// What a thread keeps for `fence.sc`.
#[derive(Clone, Debug, Default)]
pub(super) struct Sc {
    /// What fences as wide as the device have known that come before what it does.
    after: Together,
    /// What the next one has to take.
    before: Together,
    /// Others may come before that have not been followed.
    letter: bool,
}

impl Sc {
    fn join(&mut self, other: &Sc) {
        add(&mut self.after, &other.after);
        add(&mut self.before, &other.before);
        self.letter |= other.letter;
    }

    fn is_empty(&self) -> bool {
        self.after.is_none() && self.before.is_none() && !self.letter
    }
}

/// What `fence.sc` of one CTA have known, and their threads have kept.
#[derive(Debug, Default)]
pub(super) struct OfCta {
    known: Together,
    kept: Sc,
}

impl OfCta {
    fn add(&mut self, view: &Rc<View>, kept: &Sc) {
        add(&mut self.known, &Some(Rc::clone(view)));
        self.kept.join(kept);
    }
}

/// What is stamped on a granule: by a grid, what fences have known.
pub(super) type Stamp = Option<(WorkId, Together)>;

impl Warp {
    fn kept(&mut self, lane: u32) -> &mut Sc {
        &mut self.sc.get_or_insert_with(|| Box::new(std::array::from_fn(|_| Sc::default())))
            [lane as usize & 31]
    }

    fn add_kept(&self, lanes: u32, all: &mut Sc) {
        if let Some(sc) = &self.sc {
            each(lanes).for_each(|lane| all.join(&sc[lane as usize & 31]));
        }
    }
}

impl Grid {
    /// A fence of lanes.
    pub fn fence(&mut self, by: &Lanes, fence: Fence) {
        let (reach, sc) = (Reach::of(fence.scope, self.cluster), fence.kind == FenceKind::Sc);
        let time = self.ctas[by.cta as usize].clock;
        let mut shared: Option<Rc<Fenced>> = None;
        for lane in each(by.mask) {
            if fence.kind.acquires() {
                self.take_banked(by, lane, reach, None);
                let moment = self.moment;
                self.warps[by.warp as usize].sync(lane).acquired = Some((moment, reach));
            }
            if sc {
                self.fence_sc(by, lane, reach, time);
            }
            if !fence.kind.releases() {
                continue;
            }
            let moment = self.moment;
            let weaker = {
                let sync = self.warps[by.warp as usize].sync(lane);
                sync.fence.as_ref().is_some_and(|earlier| earlier.reach > reach)
            };
            if weaker {
                // The earlier one reaches farther: it stands beside this one.
                self.fences(by, lane);
            }
            let warp = &mut self.warps[by.warp as usize];
            let known = warp.views.of(lane);
            let fenced = match &shared {
                Some(fenced) if matches!(warp.views, Views::One(_)) => Rc::clone(fenced),
                _ => Rc::new(Fenced { known: known.clone(), time, reach }),
            };
            shared = Some(Rc::clone(&fenced));
            let sync = warp.sync(lane);
            sync.fence = Some(fenced);
            sync.released = Some((time, moment, reach));
            if reach == Reach::Device {
                // It says all that the thread has released before.
                sync.fences = None;
                sync.released_at.clear();
            }
        }
        if fence.kind.releases() {
            self.tick(by.cta);
        }
    }

    fn fence_sc(&mut self, by: &Lanes, lane: u32, reach: Reach, time: u32) {
        self.letter |= reach == Reach::Cluster;
        if self.letter {
            let before = self.sc.clone();
            self.acquire(by, lane, reach, &before);
        } else {
            self.take_forced(by, lane, reach);
        }
        let cta = by.block as u32;
        let known = self.warps[by.warp as usize].views.of(lane);
        let view = Grid::own_view(known, cta, by.first + lane, time);
        let own = Some(Rc::new(Release::new(cta, self.cluster, reach, &view)));
        self.sc = release::both(&own, &self.sc);
        if self.letter {
            return;
        }
        let kept = self.warps[by.warp as usize].kept(lane);
        let cta = &mut self.ctas[by.cta as usize];
        if reach == Reach::Device {
            add(&mut kept.after, &Some(Rc::clone(&view)));
        } else {
            cta.narrow_fences.add(&view, kept);
        }
        cta.fences.add(&view, kept);
    }

    /// A fence takes what it has to: see above.
    fn take_forced(&mut self, by: &Lanes, lane: u32, reach: Reach) {
        let cta = &self.ctas[by.cta as usize];
        let wide = reach == Reach::Device;
        let near = if wide { &cta.narrow_fences } else { &cta.fences };
        let kept = self.warps[by.warp as usize].kept(lane);
        kept.join(&near.kept);
        let known = near.known.clone();
        let far = match () {
            () if !wide => None,
            () if kept.letter => self.wide_fences(),
            () => kept.before.clone(),
        };
        for view in [known, far].into_iter().flatten() {
            self.learn(by, lane, &view);
        }
    }

    /// What fences as wide as the device have known.
    fn wide_fences(&self) -> Together {
        self.sc.as_ref().and_then(|all| all.wide().cloned())
    }

    /// Whether its threads keep anything for `fence.sc`.
    #[inline]
    pub fn keeps(&self) -> bool {
        self.sc.is_some() && !self.letter
    }

    /// Lanes know what others may have done that has not been followed.
    pub fn by_letter(&mut self, by: &Lanes, lanes: u32) {
        if self.keeps() {
            let warp = &mut self.warps[by.warp as usize];
            each(lanes).for_each(|lane| warp.kept(lane).letter = true);
        }
    }

    /// What all have kept that have arrived at a barrier.
    pub fn kept_at(&self, slot: u32, barrier: usize) -> Option<Sc> {
        if !self.keeps() {
            return None;
        }
        let cta = &self.ctas[slot as usize];
        let mut all = Sc::default();
        for (warp, _, lanes, _) in cta.barriers[barrier].arrivals.iter().chain(&cta.exited) {
            self.warps[*warp as usize].add_kept(*lanes, &mut all);
        }
        (!all.is_empty()).then_some(all)
    }

    /// Lanes of a warp keep this, too.
    pub fn keep(&mut self, by: &Lanes, all: &Sc) {
        let warp = &mut self.warps[by.warp as usize];
        each(by.mask).for_each(|lane| warp.kept(lane).join(all));
    }

    /// Lanes of a warp have met.
    pub fn kept_in_warp(&mut self, by: &Lanes) {
        if !self.keeps() {
            return;
        }
        let warp = &mut self.warps[by.warp as usize];
        let mut all = Sc::default();
        warp.add_kept((by.mask | warp.exited) & warp.full, &mut all);
        if !all.is_empty() {
            each(by.mask).for_each(|lane| *warp.kept(lane) = all.clone());
        }
    }
}

impl Ptx {
    /// A strong access of a lane, or the landing of its store, stamps what it touches.
    pub(super) fn stamp(&mut self, by: &Lanes, lane: u32, memory: Memory, row: u64, mask: Bytes) {
        let Some(grid) = self.grids.get_mut(&by.grid) else { return };
        if !grid.keeps() {
            return;
        }
        let all = grid.wide_fences();
        let kept = grid.warps[by.warp as usize].kept(lane);
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
                grid.letter = true;
            }
        }
    }
}
