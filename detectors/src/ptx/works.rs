//! Which pieces of work come behind which: vector clocks over chains.
//!
//! Pieces that everything still to come is ordered behind are forgotten ([`Works::retire`]). What is kept of any other is small: pieces of
//! one chain that have waited for nothing new share what they know of other chains.

use std::cell::Cell;
use std::collections::VecDeque;
use std::rc::Rc;

use bugaroo_semantics::event::{WorkId, WorkKind};
use rustc_hash::{FxHashMap, FxHashSet};

use super::children::Children;

#[derive(Clone, Debug)]
struct Work {
    chain: u32,
    /// Its place in its chain, from 1; 0: nobody has told of it.
    place: u32,
    kind: WorkKind,
    /// By chain, sorted: up to which place all comes before it. Neither of its own chain nor of what was retired.
    known: Rc<Vec<(u32, u32)>>,
}

/// The last piece of work of a chain: its number, its place, and what it knew.
type Last = (WorkId, u32, Rc<Vec<(u32, u32)>>);

/// The pieces of work that are not retired.
#[derive(Debug, Default)]
pub(super) struct Works {
    /// The number of the first.
    first: WorkId,
    works: VecDeque<Work>,
    /// Of each chain.
    last: FxHashMap<u32, Last>,
    /// What comes behind parts of grids.
    pub children: Children,
    /// Of each chain, the place of the last one that is retired.
    retired: FxHashMap<u32, u32>,
    /// Grids that have talked to each other through memory while neither came behind the other.
    talked: FxHashSet<(WorkId, WorkId)>,
    /// Where grids run, where there are several devices.
    devices: FxHashMap<WorkId, u32>,
    /// What was asked last, and the answers: new work may change them.
    asked: [Cell<(WorkId, WorkId, bool)>; ASKED],
    /// The same of [`Self::talked_between`], which new talk may change, too.
    between: [Cell<(WorkId, WorkId, bool)>; ASKED],
}

const ASKED: usize = 16;

impl Works {
    /// A piece of work is known.
    pub fn add(
        &mut self,
        (id, kind): (WorkId, WorkKind),
        chain: u32,
        after: &[WorkId],
        asked: Option<(WorkId, u32)>,
    ) {
        self.asked = Default::default();
        self.between = Default::default();
        if self.works.is_empty() {
            self.first = id;
        }
        let Some(at) = id.checked_sub(self.first) else { return };
        let (before, last, mut known) = self.last.remove(&chain).unwrap_or_default();
        let mut learn = |other: u32, upto: u32| {
            if other == chain || self.retired.get(&other).is_some_and(|retired| *retired >= upto) {
                return;
            }
            match known.binary_search_by_key(&other, |entry| entry.0) {
                Ok(at) if known[at].1 >= upto => {}
                Ok(at) => Rc::make_mut(&mut known)[at].1 = upto,
                Err(at) => Rc::make_mut(&mut known).insert(at, (other, upto)),
            }
        };
        for before in after.iter().filter_map(|id| get(self.first, &self.works, *id)) {
            learn(before.chain, before.place);
            before.known.iter().for_each(|(chain, upto)| learn(*chain, *upto));
        }
        let work = Work { chain, place: last + 1, kind, known };
        self.last.insert(chain, (id, work.place, Rc::clone(&work.known)));
        match self.works.get_mut(at as usize) {
            Some(there) => *there = work,
            None => {
                // Numbers that nobody has told of may be left out.
                let nothing = Work { chain: 0, place: 0, kind: WorkKind::Mark, known: Rc::default() };
                self.works.resize(at as usize, nothing);
                self.works.push_back(work);
            }
        }
        self.parts(id, (before != 0).then_some(before), after, asked);
    }

    /// Everything before this piece is done, and comes before all that goes on or is to come: it comes before whatever asks from now on,
    /// as what nobody has told of does.
    pub fn retire(&mut self, before: WorkId) {
        self.asked = Default::default();
        self.between = Default::default();
        while self.first < before
            && let Some(work) = self.works.pop_front()
        {
            self.first += 1;
            self.retired.insert(work.chain, work.place);
        }
        // Chains of nothing else are forgotten, too, but for how far they were.
        let retired = &self.retired;
        for (.., known) in self.last.values_mut() {
            let is_old = |(chain, upto): &(u32, u32)| retired.get(chain).is_some_and(|last| last >= upto);
            if known.iter().any(is_old) {
                Rc::make_mut(known).retain(|entry| !is_old(entry));
            }
        }
        self.talked.retain(|(older, _)| *older >= before);
        self.devices.retain(|work, _| *work >= before);
        self.children.retire(before);
    }

    /// Whether everything of `first` comes before everything of `second`. Work that nobody has told of comes before and behind
    /// everything.
    #[inline]
    pub fn ordered(&self, first: WorkId, second: WorkId) -> bool {
        if first == second {
            return true;
        }
        let asked = &self.asked[(first ^ second.rotate_left(3)) as usize % ASKED];
        let (one, other, answer) = asked.get();
        if (one, other) == (first, second) {
            return answer;
        }
        let answer = self.look_up(first, second);
        asked.set((first, second, answer));
        answer
    }

    /// Whether it does, and the second is not behind a part of the first alone.
    pub fn wholly_ordered(&self, first: WorkId, second: WorkId) -> bool {
        self.ordered(first, second) && self.children.part(first, second).is_none()
    }

    fn get(&self, id: WorkId) -> Option<&Work> {
        get(self.first, &self.works, id)
    }

    fn look_up(&self, first: WorkId, second: WorkId) -> bool {
        let (Some(first), Some(_)) = (self.get(first), self.get(second)) else {
            return true;
        };
        self.known_of(first.chain, second) >= first.place
    }

    /// Up to which place of a chain all comes before a piece.
    pub fn known_of(&self, chain: u32, of: WorkId) -> u32 {
        let Some(work) = self.get(of) else { return u32::MAX };
        if work.chain == chain {
            return work.place;
        }
        let at = work.known.binary_search_by_key(&chain, |entry| entry.0);
        at.map_or(0, |at| work.known[at].1)
    }

    /// The chain of a piece, and its place in that.
    pub fn place(&self, id: WorkId) -> Option<(u32, u32)> {
        self.get(id).map(|work| (work.chain, work.place))
    }

    /// What a piece of work is.
    pub fn kind(&self, id: WorkId) -> WorkKind {
        self.get(id).map_or(WorkKind::Mark, |work| work.kind)
    }

    /// One has read what the other wrote, both strongly: nothing is said of the two from now on, nor of the one and those that the
    /// other has talked to, whose accesses it may know of. Whether that is new.
    pub fn talk(&mut self, a: WorkId, b: WorkId) -> bool {
        if !self.talked.insert((a.min(b), a.max(b))) {
            return false;
        }
        self.between = Default::default();
        let with = |one: WorkId| {
            let other = |pair: &(WorkId, WorkId)| match pair {
                (other, its) | (its, other) if *its == one => Some(*other),
                _ => None,
            };
            self.talked.iter().filter_map(other).collect::<Vec<_>>()
        };
        let (ours, theirs) = (with(a), with(b));
        for one in ours.into_iter().chain([a]) {
            for other in theirs.iter().copied().chain([b]).filter(|other| *other != one) {
                self.talked.insert((one.min(other), one.max(other)));
            }
        }
        true
    }

    /// Whether the first comes before one of two that have talked, and the second behind the other one, or is that.
    pub fn talked_between(&self, first: WorkId, second: WorkId) -> bool {
        if self.talked.is_empty() {
            return false;
        }
        let asked = &self.between[(first ^ second.rotate_left(3)) as usize % ASKED];
        let (one, other, answer) = asked.get();
        if (one, other) == (first, second) {
            return answer;
        }
        let leads = |from: WorkId, to: WorkId| self.ordered(first, from) && self.ordered(to, second);
        let answer = self.talked.iter().any(|(a, b)| leads(*a, *b) || leads(*b, *a));
        asked.set((first, second, answer));
        answer
    }

    /// A grid runs on this device.
    pub fn set_device(&mut self, work: WorkId, device: u32) {
        self.devices.insert(work, device);
    }

    /// Whether two grids run on two devices.
    #[inline]
    pub fn apart(&self, a: WorkId, b: WorkId) -> bool {
        if self.devices.is_empty() {
            return false;
        }
        let (one, other) = (self.devices.get(&a), self.devices.get(&b));
        one.is_some() && other.is_some() && one != other
    }

    /// Whether they have.
    #[inline]
    pub fn talked(&self, a: WorkId, b: WorkId) -> bool {
        !self.talked.is_empty() && self.talked.contains(&(a.min(b), a.max(b)))
    }

    /// Bytes, about.
    pub fn held(&self) -> u64 {
        let one = |work: &Work| size_of::<Work>() + work.known.len() * 8 / Rc::strong_count(&work.known);
        self.works.iter().map(one).sum::<usize>() as u64 + self.children.held()
    }
}

fn get(first: WorkId, works: &VecDeque<Work>, id: WorkId) -> Option<&Work> {
    works.get(id.checked_sub(first)? as usize).filter(|work| work.place != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_retired_comes_before_all_and_holds_nothing() {
        let mut works = Works::default();
        // A stream (chain 1) that the host (chain 0) launches into, and one beside it.
        works.add((1, WorkKind::Host), 0, &[], None);
        works.add((2, WorkKind::Grid), 1, &[1], None);
        works.add((3, WorkKind::Grid), 2, &[1], None);
        works.add((4, WorkKind::Host), 0, &[2, 3], None);
        works.retire(4);
        works.add((5, WorkKind::Grid), 2, &[4], None);
        works.add((6, WorkKind::Grid), 1, &[4], None);
        assert_eq!(works.works.len(), 3);
        assert!(works.ordered(3, 6) && works.ordered(2, 5));
        assert!(!works.ordered(5, 6) && !works.ordered(6, 5));
        works.add((7, WorkKind::Grid), 2, &[6], None);
        assert!(works.ordered(6, 7) && works.ordered(5, 7) && !works.ordered(7, 6));
        // Of what is retired, nothing new knows anything.
        assert_eq!(*works.works[1].known, [(0, 2)]);
        assert_eq!(*works.works[3].known, [(0, 2), (1, 2)]);
    }

    #[test]
    fn pieces_that_wait_for_nothing_new_share_what_they_know() {
        let mut works = Works::default();
        works.add((1, WorkKind::Host), 0, &[], None);
        for id in 2..100 {
            works.add((id, WorkKind::Grid), 1, &[1], None);
        }
        assert_eq!(Rc::strong_count(&works.works[50].known), 99);
        assert!(works.ordered(2, 99) && !works.ordered(99, 2) && works.ordered(1, 50));
    }
}
