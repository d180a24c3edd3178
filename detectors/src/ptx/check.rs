//! Whether an access is ordered behind another, or excused with it.

use bugaroo_semantics::event::{Lanes, WorkKind};
use bugaroo_semantics::scope::ThreadKey;

use super::children::is_told_apart;
use super::copies::Copies;
use super::known::{Known, Views};
use super::links::Links;
use super::record::{COPY, HOST, ONE, Record, STRONG, SYSTEM, WRITES, Who, key};
use super::release::Reach;
use super::report::Report;
use super::state::Grid;
use super::works::Works;
use crate::shadow::Bytes;

/// Who performs the newer access.
#[derive(Clone, Copy)]
pub(super) enum Actor<'a> {
    /// Lanes of a warp; the place of its lane 0.
    Lanes(&'a Views, u32),
    /// A copy: what it knows, its issuer and when it was issued.
    Copy(&'a Known, u32, u32, Option<u32>),
    /// A transfer or the host.
    Host,
}

/// What is needed to compare accesses.
pub(super) struct Check<'a> {
    pub works: &'a Works,
    pub links: &'a mut Links,
    pub grid: Option<&'a Grid>,
    pub actor: Actor<'a>,
    /// What the CTA did before this time comes before all that is to come in this memory: see [`Grid::settled`].
    pub settled: u32,
    pub report: &'a mut Report,
    /// Races go here and are not reported: whether they are some cannot be told yet.
    pub candidates: Option<&'a mut Vec<(Record, Bytes)>>,
}

/// What has come of comparing.
#[derive(Clone, Copy, Default)]
pub(super) struct Compared {
    /// Bytes at which the older one is ordered before.
    pub ordered: Bytes,
    /// Bytes at which they race.
    pub racy: Bytes,
}

impl<'a> Check<'a> {
    /// Of lanes of a grid, all of whose races are reported.
    pub fn of_lanes(
        (works, links, report): (&'a Works, &'a mut Links, &'a mut Report),
        grid: &'a Grid,
        by: &Lanes,
    ) -> Check<'a> {
        let views = &grid.warps[by.warp as usize].views;
        let actor = Actor::Lanes(views, by.first);
        Check { works, links, grid: Some(grid), actor, settled: 0, report, candidates: None }
    }
}

impl Check<'_> {
    fn copies(&self) -> Option<&Copies> {
        self.grid.map(|grid| &grid.copies)
    }

    /// Whether an access is ordered before all that is to come: nothing can race with it any more.
    #[inline]
    pub fn is_settled(&self, old: &Record) -> bool {
        old.time < self.settled && old.flags & (COPY | HOST) == 0
    }

    /// Whether two are morally strong to each other. (They overlap.)
    #[inline]
    pub fn excused(&self, old: &Record, new: &Record) -> bool {
        if !(old.is(STRONG) && new.is(STRONG)) {
            return (old.flags | new.flags) & HOST != 0 && self.excused_by_host(old, new);
        }
        if old.size() != new.size() {
            return false;
        }
        let apart = if old.grid == new.grid {
            Reach::between(old.cta, new.cta, self.grid.map_or(1, |grid| grid.cluster))
        } else if self.works.apart(old.grid, new.grid) {
            Reach::System
        } else {
            Reach::Device
        };
        old.reach() >= apart && new.reach() >= apart
    }

    /// The host's own accesses may be atomic: whether they are, nobody tells.
    fn excused_by_host(&self, old: &Record, new: &Record) -> bool {
        let (host, other) = if old.is(HOST) { (old, new) } else { (new, old) };
        other.is(SYSTEM) && self.works.kind(host.grid) == WorkKind::Host
    }

    /// Whether the older one comes before at all these bytes, where that can be told at a glance.
    #[inline]
    fn at_a_glance(&self, old: &Record, new: &Record) -> Option<bool> {
        if old.grid != new.grid || (old.flags | new.flags) & HOST != 0 {
            if self.works.talked(old.grid, new.grid) {
                return Some(true);
            }
            if !self.works.ordered(old.grid, new.grid) {
                return Some(self.works.talked_between(old.grid, new.grid) || self.observed_beyond(old, new));
            }
            let is_part = self.works.children.part(old.grid, new.grid).is_some();
            return if is_part && is_told_apart(old, new) { None } else { Some(true) };
        }
        if (old.flags | new.flags) & COPY != 0 {
            return None;
        }
        if let Actor::Lanes(views, _) = self.actor
            && let Some(known) = views.one()
        {
            let known_cta = if old.cta == new.cta {
                old.time <= known.met
            } else {
                u64::from(old.time) <= known.view.of_cta(key(old.cta, 0).cta())
            };
            if known_cta {
                return Some(true);
            }
        }
        old.same_threads(new).then_some(true)
    }

    /// Whether another grid has observed the older one, and is the newer one's or has told that of it.
    fn observed_beyond(&self, old: &Record, new: &Record) -> bool {
        if !(old.is(STRONG) && old.is(WRITES)) || old.link == 0 {
            return false;
        }
        let tells =
            |grid: &u32| self.works.ordered(*grid, new.grid) || self.works.talked_between(*grid, new.grid);
        self.links.beyond(old.link).iter().any(tells)
    }

    /// Compares two at the bytes of `at`, which both access. Where they race, that is reported, unless they are `excused`.
    pub fn compare(&mut self, old: &Record, new: &Record, at: Bytes, excused: bool) -> Compared {
        match self.at_a_glance(old, new) {
            Some(true) => return Compared { ordered: at, racy: 0 },
            Some(false) if excused => return Compared::default(),
            Some(false) => {
                let byte = at.trailing_zeros();
                self.found(old, new, at, (old.who(byte), new.who(byte)), false);
                return Compared { ordered: 0, racy: at };
            }
            None => {}
        }
        if old.is(COPY) && new.is(COPY) && old.link == new.link {
            return Compared { ordered: at, racy: 0 };
        }
        let block = old.block_shift().min(new.block_shift());
        let mut compared = Compared::default();
        let mut left = at;
        while left != 0 {
            let byte = left.trailing_zeros();
            let bytes = if block >= ONE {
                left
            } else {
                left & (((1 << (1u32 << block)) - 1) << (byte >> block << block))
            };
            left &= !bytes;
            match self.race_of(old, new, old.who(byte), new.who(byte)) {
                None => {
                    compared.ordered |= bytes;
                    if !excused && self.lacks_proxy_fence(old, new) {
                        self.found(old, new, bytes, (old.who(byte), new.who(byte)), true);
                    }
                }
                Some(_) if excused => {}
                Some((first, second)) => {
                    compared.racy |= bytes;
                    self.found(old, new, bytes, (Who::One(first), Who::One(second)), false);
                }
            }
        }
        compared
    }

    fn found(&mut self, old: &Record, new: &Record, at: Bytes, who: (Who, Who), proxy: bool) {
        match &mut self.candidates {
            Some(candidates) => candidates.push((*old, at)),
            None => {
                let first = |who: Who| who.each().next().unwrap_or(0);
                let places = (first(who.0), first(who.1));
                self.report.race(self.works, self.grid, (old, new), places, at.trailing_zeros(), proxy);
            }
        }
    }

    /// Two threads of which the older one's access is not ordered before the newer one's.
    fn race_of(&self, old: &Record, new: &Record, first: Who, second: Who) -> Option<(u32, u32)> {
        // One thread by one: most often.
        if let (Who::One(first), Who::One(second)) = (first, second) {
            return (!self.is_before(old, new, first, second)).then_some((first, second));
        }
        for second in second.each() {
            for first in first.each() {
                if !self.is_before(old, new, first, second) {
                    return Some((first, second));
                }
            }
        }
        None
    }

    /// Whether a thread's access comes before another's.
    #[inline]
    fn is_before(&self, old: &Record, new: &Record, first: u32, second: u32) -> bool {
        if old.grid != new.grid {
            let knows = |(thread, time): (ThreadKey, u32)| {
                let part = self.works.children.part(old.grid, new.grid);
                part.is_none_or(|part| part.knows(thread, u64::from(time)))
            };
            let observed = old.is(STRONG) && old.is(WRITES) && old.link != 0;
            return knows((key(old.cta, first), old.time))
                || (observed && self.links.observers(old.link).iter().any(|observer| knows(*observer)));
        }
        if old.is(COPY) {
            let Some(copy) = self.copies().and_then(|copies| copies.get(old.link)) else { return true };
            let awaited = copy.awaited(old.is(WRITES));
            return awaited
                .is_some_and(|time| self.knows(new, second, copy.issuer.cta, copy.issuer.place, time))
                || copy
                    .counted
                    .iter()
                    .any(|(token, phase)| self.view(second).view.knows(*token, u64::from(*phase)));
        }
        if self.knows(new, second, old.cta, first, old.time) {
            return true;
        }
        if !(old.is(STRONG) && old.is(WRITES)) || old.link == 0 {
            return false;
        }
        let knows = |observer: &(ThreadKey, u32)| {
            self.knows(new, second, observer.0.cta(), observer.0.place(), observer.1)
        };
        self.links.observers(old.link).iter().rev().any(knows)
    }

    fn view(&self, place: u32) -> &Known {
        match self.actor {
            Actor::Lanes(views, base) => views.of(place.wrapping_sub(base)),
            Actor::Copy(known, ..) => known,
            Actor::Host => unreachable!("a host's accesses are ordered as works are"),
        }
    }

    /// Whether what a thread of a CTA did up to a time comes before.
    #[inline]
    fn knows(&self, new: &Record, place: u32, cta: u32, first: u32, time: u32) -> bool {
        let known = self.view(place);
        if cta == new.cta {
            if time <= known.met {
                return true;
            }
            let own = match self.actor {
                Actor::Copy(_, issuer, issued, _) => first == issuer && time <= issued,
                _ => first == place,
            };
            let of_warp =
                || time <= known.met_warp || (time <= known.below.1 && known.knows_below(place, first));
            if own || (first >> 5 == place >> 5 && of_warp()) {
                return true;
            }
        }
        known.view.knows(key(cta, first), u64::from(time))
    }

    /// A copy through the asynchronous proxy reads what a thread of the same CTA wrote plainly, and no thread of that CTA has
    /// done a proxy fence since.
    fn lacks_proxy_fence(&self, old: &Record, new: &Record) -> bool {
        let Actor::Copy(_, _, _, Some(fenced)) = self.actor else { return false };
        !new.is(WRITES)
            && old.is(WRITES)
            && !old.is(COPY)
            && (old.grid, old.cta) == (new.grid, new.cta)
            && old.time > fenced
    }
}
