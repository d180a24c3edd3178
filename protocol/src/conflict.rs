//! Conflicts of a launch: accesses of two threads whose order nothing settles. `bugaroo-simulator`'s `conflicts` says what counts.

use serde::{Deserialize, Serialize};

use crate::fault::FaultAccess;
use crate::site::SiteId;
use crate::waiting::BlockedThread;

/// What is wrong between two accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ConflictKind {
    /// A thread loads and later stores (`first`, `second`), and that store overwrites another thread's write (`between`)
    /// that the load has not seen.
    LostUpdate,
    /// Strong accesses of different blocks, one of CTA scope.
    AtomicScope,
    /// A plain store and an atomic.
    PlainBesideAtomic,
    /// Two accesses of which one is a write and one is not strong, and whose order matters.
    Unordered,
}

/// How far apart two threads are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Relation {
    /// Of one warp.
    Warp,
    /// Of one block.
    Block,
    /// Of different blocks.
    Grid,
}

/// One of the accesses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Party {
    /// Who and where; `threads` is 1: an example.
    pub at: BlockedThread,
    /// Its site, where the module's sites are known.
    pub site: Option<SiteId>,
    /// What it does.
    pub access: FaultAccess,
    /// Whether it is atomic, volatile, relaxed or stronger.
    pub strong: bool,
}

/// Accesses by two instructions (three, where an update is lost) that nothing orders.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Conflict {
    /// What is wrong.
    pub kind: ConflictKind,
    /// How far apart the threads are; the same instructions may be told of once for each.
    pub relation: Relation,
    /// Whether it is shared memory.
    pub shared: bool,
    /// Where the example's threads meet: a generic address, or an offset in shared memory.
    pub address: u64,
    /// The access that came first; of a lost update, the load.
    pub first: Party,
    /// The one that came later; of a lost update, the store of the same thread.
    pub second: Party,
    /// Of a lost update, the other thread's write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub between: Option<Party>,
    /// How often.
    pub count: u64,
}
