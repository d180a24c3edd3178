//! Conflicts of a launch, for the report.

use bugaroo_protocol::{Access, Conflict, ConflictKind, Party, Relation, SiteId};
use bugaroo_simulator::{Program, conflicts as device};

use crate::trial::diagnosis::{Lines, one_thread};
use crate::trial::injection::Injected;

/// What a launch's conflicts are told with.
pub struct Told<'a> {
    /// What ran.
    pub program: &'a Program,
    /// Its grid and block.
    pub shape: ([u32; 3], [u32; 3]),
    /// How lines are told.
    pub lines: &'a Lines<'a>,
    /// What knows the sites.
    pub injected: Option<&'a Injected>,
}

impl Told<'_> {
    /// The conflicts, in their order.
    pub fn conflicts(&self, found: &device::Found) -> Vec<Conflict> {
        found.conflicts.iter().map(|one| self.conflict(one)).collect()
    }

    fn conflict(&self, one: &device::Conflict) -> Conflict {
        Conflict {
            kind: match one.kind {
                device::Kind::LostUpdate => ConflictKind::LostUpdate,
                device::Kind::Scope => ConflictKind::AtomicScope,
                device::Kind::PlainBesideAtomic => ConflictKind::PlainBesideAtomic,
                device::Kind::Unordered => ConflictKind::Unordered,
            },
            relation: match one.relation {
                device::Relation::Warp => Relation::Warp,
                device::Relation::Block => Relation::Block,
                device::Relation::Grid => Relation::Grid,
            },
            shared: one.shared,
            address: one.address,
            first: self.party(&one.first),
            second: self.party(&one.second),
            between: one.between.as_ref().map(|party| self.party(party)),
            count: one.count,
        }
    }

    fn party(&self, party: &device::Party) -> Party {
        let place = self.program.place(party.pc);
        let site = self.injected.and_then(|injected| injected.site(party.pc));
        Party {
            at: one_thread((party.block, party.thread), self.shape, &place, self.lines),
            site: site.map(|(module, index)| SiteId { module, index }),
            access: match party.what {
                device::What::Load => Access::Load,
                device::What::Store => Access::Store,
                device::What::Atomic => Access::Atomic,
            },
            strong: party.strong,
        }
    }
}
