//! Conflicts of a launch, for the report.

use bugaroo_protocol::{Conflict, ConflictKind, FaultAccess, Party, Relation, SiteId};
use bugaroo_simulator::{Program, conflicts as device};

use crate::trial::diagnosis::{Lines, one_thread};
use crate::trial::injection::Injected;

/// What a launch's conflicts are told with.
pub struct ConflictsTold<'a> {
    /// What ran.
    pub program: &'a Program,
    /// Its grid and block.
    pub shape: ([u32; 3], [u32; 3]),
    /// How lines are told.
    pub lines: &'a Lines<'a>,
    /// What knows the sites.
    pub injected: Option<&'a Injected>,
}

impl ConflictsTold<'_> {
    /// The conflicts, in their order.
    pub fn conflicts(&self, found: &device::FoundConflicts) -> Vec<Conflict> {
        found.conflicts.iter().map(|one| self.conflict(one)).collect()
    }

    fn conflict(&self, one: &device::FoundConflict) -> Conflict {
        Conflict {
            kind: match one.kind {
                device::Collision::LostUpdate => ConflictKind::LostUpdate,
                device::Collision::Scope => ConflictKind::AtomicScope,
                device::Collision::PlainBesideAtomic => ConflictKind::PlainBesideAtomic,
                device::Collision::Unordered => ConflictKind::Unordered,
            },
            relation: match one.relation {
                device::ThreadRelation::Warp => Relation::Warp,
                device::ThreadRelation::Block => Relation::Block,
                device::ThreadRelation::Grid => Relation::Grid,
            },
            shared: one.shared,
            address: one.address,
            first: self.party(&one.first),
            second: self.party(&one.second),
            between: one.between.as_ref().map(|party| self.party(party)),
            count: one.count,
        }
    }

    fn party(&self, party: &device::ConflictParty) -> Party {
        let place = self.program.place(party.pc);
        let site = self.injected.and_then(|injected| injected.site(party.pc));
        Party {
            at: one_thread((party.block, party.thread), self.shape, &place, self.lines),
            site: site.map(|(module, index)| SiteId { module, index }),
            access: match party.what {
                device::AccessWhat::Load => FaultAccess::Load,
                device::AccessWhat::Store => FaultAccess::Store,
                device::AccessWhat::Atomic => FaultAccess::Atomic,
            },
            strong: party.strong,
        }
    }
}
