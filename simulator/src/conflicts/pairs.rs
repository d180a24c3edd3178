//! What was found, by instructions.

use rustc_hash::FxHashMap;

use super::{Collision, FoundConflict, FoundConflicts, ThreadRelation};

/// Different pairs that are kept.
pub(super) const MOST: usize = 256;

/// What makes two conflicts one: kind, relation, shared memory, and the instructions.
type Key = (Collision, ThreadRelation, bool, u32, u32, u32);

/// The conflicts of a launch.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    places: FxHashMap<Key, usize>,
    /// The one that was found last.
    last: Option<(Key, usize)>,
    found: FoundConflicts,
}

impl Pairs {
    /// Counts a conflict; the first of its kind is kept as the example.
    pub fn add(&mut self, conflict: FoundConflict) {
        let FoundConflict { kind, relation, shared, first, second, between, .. } = conflict;
        let between = between.map_or(u32::MAX, |party| party.pc);
        let key = (kind, relation, shared, first.pc, second.pc, between);
        if let Some((last, at)) = self.last
            && last == key
        {
            self.found.conflicts[at].count += 1;
            return;
        }
        let conflicts = &mut self.found.conflicts;
        match self.places.get(&key) {
            Some(at) => {
                conflicts[*at].count += 1;
                self.last = Some((key, *at));
            }
            None if conflicts.len() == MOST => self.found.more += 1,
            None => {
                self.places.insert(key, conflicts.len());
                self.last = Some((key, conflicts.len()));
                conflicts.push(conflict);
            }
        }
    }

    /// An access was not looked at.
    pub fn unseen(&mut self) {
        self.found.unseen += 1;
    }

    pub fn found(&self) -> &FoundConflicts {
        &self.found
    }
}
