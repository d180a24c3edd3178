//! What is kept for `fence.sc`: of threads, of CTAs and of granules ([`super::fences`]).

use std::rc::Rc;

use bugaroo_semantics::clocks::{View, joined};
use bugaroo_semantics::event::WorkId;

use super::known::Fenced;

/// What several have known; None: nobody.
pub(super) type Together = Option<Rc<View>>;

pub(super) fn add(to: &mut Together, from: &Together) {
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
    pub(super) after: Together,
    /// What the next one has to take.
    pub(super) before: Together,
    /// Others may come before that have not been followed.
    pub(super) letter: bool,
    /// Its last one that it did together with other lanes, if `after` does not say that yet.
    pub(super) own: Option<Rc<Fenced>>,
}

impl Sc {
    /// What `other` keeps, but for its `own`.
    pub(super) fn join(&mut self, other: &Sc) {
        add(&mut self.after, &other.after);
        add(&mut self.before, &other.before);
        self.letter |= other.letter;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.after.is_none() && self.before.is_none() && !self.letter && self.own.is_none()
    }
}

/// What `fence.sc` of one CTA have known, and their threads have kept.
#[derive(Debug, Default)]
pub(super) struct OfCta {
    pub(super) known: Together,
    pub(super) kept: Sc,
}

impl OfCta {
    pub(super) fn add(&mut self, view: &Rc<View>, kept: &Sc) {
        add(&mut self.known, &Some(Rc::clone(view)));
        self.kept.join(kept);
    }
}

/// What is stamped on a granule: by a grid, what fences have known.
pub(super) type Stamp = Option<(WorkId, Together)>;
