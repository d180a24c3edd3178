//! Which pieces of work come behind which: vector clocks over chains.

use std::cell::Cell;
use std::rc::Rc;

use bugaroo_semantics::event::{WorkId, WorkKind};
use rustc_hash::{FxHashMap, FxHashSet};

#[derive(Debug)]
struct Work {
    kind: WorkKind,
    chain: u32,
    /// Its place in its chain, from 1.
    place: u32,
    /// By chain, sorted: up to which place all comes before it (itself included).
    known: Rc<[(u32, u32)]>,
}

/// All pieces of work so far.
#[derive(Debug, Default)]
pub(super) struct Works {
    works: FxHashMap<WorkId, Work>,
    /// The last of each chain.
    last: FxHashMap<u32, WorkId>,
    /// Grids that have talked to each other through memory while neither came behind the other.
    talked: FxHashSet<(WorkId, WorkId)>,
    /// What was asked last, and the answers: new work may change them.
    asked: [Cell<(WorkId, WorkId, bool)>; ASKED],
}

const ASKED: usize = 16;

impl Works {
    /// A piece of work is known.
    pub fn add(&mut self, id: WorkId, kind: WorkKind, chain: u32, after: &[WorkId]) {
        self.asked = Default::default();
        let before = self.last.insert(chain, id);
        let mut known: Vec<(u32, u32)> = Vec::new();
        let mut place = 1;
        if let Some(work) = before.and_then(|before| self.works.get(&before)) {
            known = work.known.to_vec();
            place = work.place + 1;
        }
        for work in after.iter().filter_map(|id| self.works.get(id)) {
            for (chain, upto) in work.known.iter() {
                match known.binary_search_by_key(chain, |entry| entry.0) {
                    Ok(at) => known[at].1 = known[at].1.max(*upto),
                    Err(at) => known.insert(at, (*chain, *upto)),
                }
            }
        }
        match known.binary_search_by_key(&chain, |entry| entry.0) {
            Ok(at) => known[at].1 = place,
            Err(at) => known.insert(at, (chain, place)),
        }
        self.works.insert(id, Work { kind, chain, place, known: known.into() });
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

    fn look_up(&self, first: WorkId, second: WorkId) -> bool {
        let (Some(first), Some(second)) = (self.works.get(&first), self.works.get(&second)) else {
            return true;
        };
        let at = second.known.binary_search_by_key(&first.chain, |entry| entry.0);
        at.is_ok_and(|at| second.known[at].1 >= first.place)
    }

    /// What a piece of work is.
    pub fn kind(&self, id: WorkId) -> WorkKind {
        self.works.get(&id).map_or(WorkKind::Mark, |work| work.kind)
    }

    /// One has read what the other wrote, both strongly: nothing is said of the two from now on. Whether that is new.
    pub fn talk(&mut self, a: WorkId, b: WorkId) -> bool {
        self.talked.insert((a.min(b), a.max(b)))
    }

    /// Whether they have.
    #[inline]
    pub fn talked(&self, a: WorkId, b: WorkId) -> bool {
        !self.talked.is_empty() && self.talked.contains(&(a.min(b), a.max(b)))
    }

    /// Bytes, about.
    pub fn held(&self) -> u64 {
        let one = |work: &Work| size_of::<Work>() + work.known.len() * 8 + 16;
        self.works.values().map(one).sum::<usize>() as u64
    }
}
