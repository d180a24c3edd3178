//! What threads know of others.

use std::rc::Rc;

use bugaroo_semantics::clocks::{View, WriterSet, joined};

use super::by_lane::ByLane;
use super::record::key;
use super::release::Reach;

/// What a thread knows of others.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    pub view: Rc<View>,
    /// Of all threads of its CTA, up to when.
    pub met: u32,
    /// Of all threads of its warp.
    pub met_warp: u32,
    /// Of those of these lanes of its warp that come before its own, up to when: they did one `fence.sc` in their order.
    pub below: (u32, u32),
}

impl Known {
    /// Takes what a view knows.
    #[inline]
    pub fn take(&mut self, view: &Rc<View>) {
        if !Rc::ptr_eq(&self.view, view) {
            self.view = joined(&self.view, view);
        }
    }

    /// All of it in one view, for a thread or others of its warp.
    pub fn whole(&self, cta: u32, place: u32) -> Rc<View> {
        let (cta, thread) = (key(cta, place).cta(), key(cta, place));
        let needs_cta = u64::from(self.met) > self.view.of_cta(cta);
        let needs_warp = self.met_warp > self.met;
        let below = self.lanes_below(place);
        if !needs_cta && !needs_warp && below == 0 {
            return Rc::clone(&self.view);
        }
        let mut view = View::clone(&self.view);
        if needs_cta {
            view.advance(WriterSet::cta(cta), u64::from(self.met));
        }
        if needs_warp {
            view.advance(WriterSet::warp(thread), u64::from(self.met_warp));
        }
        view.advance_lanes(key(cta, place & !31), below, u64::from(self.below.1));
        Rc::new(view)
    }

    /// What a thread knows and has done, in one view, for a release at this time.
    pub fn own_view(&self, cta: u32, place: u32, time: u32) -> Rc<View> {
        let thread = key(cta, place);
        let mut view = View::clone(&self.whole(cta, place));
        view.advance(WriterSet::thread(thread), u64::from(time));
        view.belongs_to(thread, u64::from(time));
        Rc::new(view)
    }

    /// Lanes of which `below` says anything to this thread, if it says more than the rest.
    #[inline]
    pub fn lanes_below(&self, place: u32) -> u32 {
        if self.below.1 <= self.met.max(self.met_warp) { 0 } else { self.below.0 & ((1 << (place & 31)) - 1) }
    }

    /// Whether `below` speaks of another thread of the same warp to this one.
    #[inline]
    pub fn knows_below(&self, place: u32, other: u32) -> bool {
        other < place && self.below.0 >> (other & 31) & 1 != 0
    }

    /// What another of the same warp knows comes to it; neither says anything of lanes below.
    pub fn join(&mut self, other: &Known) {
        self.take(&other.view);
        self.met = self.met.max(other.met);
        self.met_warp = self.met_warp.max(other.met_warp);
    }
}

/// What the lanes of a warp know.
pub(super) type Views = ByLane<Known>;

/// What a fence has released: made into an entry when a strong write first needs it.
#[derive(Clone, Debug)]
pub(super) struct Fenced {
    pub known: Known,
    pub time: u32,
    pub reach: Reach,
}

impl Fenced {
    /// What a thread has known and done by then.
    pub fn view_of(&self, cta: u32, place: u32) -> Rc<View> {
        self.known.own_view(cta, place, self.time)
    }

    /// What these lanes have known and done together, of a warp of `full` from the place `first`. `in_order`: the last of
    /// them knows all that by itself.
    pub fn view_of_lanes(&self, (cta, first): (u32, u32), lanes: u32, full: u32, in_order: bool) -> Rc<View> {
        let time = u64::from(self.time);
        let mut view = View::clone(&self.known.whole(cta, first + last(lanes)));
        if lanes == full {
            view.advance(WriterSet::warp(key(cta, first)), time);
        } else {
            view.advance_lanes(key(cta, first), lanes, time);
        }
        if in_order {
            view.belongs_to(key(cta, first + last(lanes)), time);
        }
        Rc::new(view)
    }
}

/// The last of some lanes.
pub(super) fn last(lanes: u32) -> u32 {
    31 - (lanes | 1).leading_zeros()
}
