//! What a detector finds.

use bugaroo_ptx::op::AtomOp;
use bugaroo_semantics::Observer;
use bugaroo_semantics::event::{AccessKind, SiteNumber, WhoseBytes, WorkId};
use bugaroo_semantics::inferred::Role;
use bugaroo_semantics::scope::Strength;

use crate::watched::Watched;

/// A detector: an observer that comes to findings.
pub trait RaceDetector: Observer {
    /// Its name on the command line: `ptx`, `barracuda`, …
    fn name(&self) -> &'static str;

    /// What a program's instructions are, from its first on, is told before a grid of it begins:
    /// [`bugaroo_semantics::inferred::roles`] of its text.
    fn learn_program(&mut self, _first_site: SiteNumber, _roles: &[Role]) {}

    /// What of a grid is to be looked at, told before it begins. Those to whom an access that they do not look at could be the
    /// reason why two others do not race look at everything all the same.
    fn watch(&mut self, _grid: WorkId, _watched: Watched) {}

    /// Whether the memory model bears out what it has found up to now; else that rests on an inference.
    fn proven(&self) -> bool {
        true
    }

    /// What it has found since the last call. The same pair of sites, class and kind may come again with another count: who
    /// asks adds them up.
    fn take_findings(&mut self) -> Vec<RaceFinding>;

    /// What it could not look at, or had to give up, since the last call.
    fn take_warnings(&mut self) -> Vec<Warning>;

    /// Bytes of host memory that it holds, about.
    fn held(&self) -> u64;
}

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RacingKind {
    /// Two overlapping accesses, one of them a write, that nothing orders.
    Race,
    /// The same, and nothing but the order in which a warp executes the sides of a branch comes between them (BARRACUDA, "branch
    /// ordering races").
    BranchOrder,
    /// Threads of a block that are not all there at a barrier.
    BarrierDivergence,
}

/// How far apart the threads are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum HowFar {
    /// One warp.
    IntraWarp,
    /// One warp, on different sides of a branch.
    Divergence,
    /// One block.
    IntraBlock,
    /// Different blocks of a grid.
    InterBlock,
    /// Different grids, or a grid and a transfer.
    InterGrid,
    /// The host and the device.
    Host,
}

/// An atomic of which the detector has not kept which operation it was.
pub const SOME_ATOMIC: AccessKind = AccessKind::Atomic(AtomOp::Add);

/// The site of an access whose instruction the detector has not kept.
pub const NO_SITE: SiteNumber = SiteNumber::MAX;

/// Who accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Who {
    /// A thread of a grid: the work, the linear index of its block, and its own in there.
    Thread {
        /// The grid.
        grid: WorkId,
        /// Its block.
        block: u64,
        /// The thread in the block.
        thread: u32,
    },
    /// Some thread of a warp.
    Warp {
        /// The grid.
        grid: WorkId,
        /// Its block.
        block: u64,
        /// The warp in the block.
        warp: u32,
    },
    /// Some thread of a block.
    Block {
        /// The grid.
        grid: WorkId,
        /// The block.
        block: u64,
    },
    /// Some thread of a grid.
    Grid(WorkId),
    /// A transfer or the host.
    Host(WorkId),
}

/// What is known of an access that has come before, and that a detector of constant space has not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NotKept {
    /// It was a load.
    Load,
    /// It has written: a store or an atomic.
    Write,
    /// It was an atomic.
    Atomic,
    /// Any of these.
    Access,
}

impl NotKept {
    /// A kind of access that stands for it.
    pub fn kind(self) -> AccessKind {
        match self {
            NotKept::Load | NotKept::Access => AccessKind::Load,
            NotKept::Write => AccessKind::Store,
            NotKept::Atomic => SOME_ATOMIC,
        }
    }
}

/// One of the two accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RacingParty {
    /// Who.
    pub who: Who,
    /// Which instruction, or call of the host.
    pub site: SiteNumber,
    /// What it does. A copy's read is a load, its write a store.
    pub kind: AccessKind,
    /// Weak, or strong and for whom.
    pub strength: Strength,
    /// Where it begins.
    pub address: u64,
    /// Bytes of the element.
    pub bytes: u32,
    /// It is the asynchronous part of a copy.
    pub asynchronous: bool,
}

/// What would have ordered the two, and is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MissingOrder {
    /// The first has not released (fence, `.release`, barrier) since.
    Release,
    /// It has; the second has not acquired since.
    Acquire,
    /// Both have, and scopes do not take in the other thread.
    Scope,
    /// Both have; no strong read of the second's has read what a strong write of the first's has written.
    Strong,
    /// Both are strong, but the scope of one does not take in the other.
    AtomicScope,
    /// Both are strong, but they overlap in part only.
    Overlap,
    /// A barrier of the block.
    BlockBarrier,
    /// A barrier of the warp.
    WarpBarrier,
    /// A wait for an asynchronous copy.
    CopyWait,
    /// A proxy fence.
    ProxyFence,
    /// An order of streams: an event, or a synchronisation.
    Stream,
    /// A release and an acquire of system scope, or accesses of it: the two are of two devices.
    System,
    /// A synchronisation of the host with the device.
    HostSync,
    /// An order of a grid and one that it has launched: a barrier before the launch, or a tail launch.
    Launch,
    /// The end of the grid: nothing that this detector knows orders threads of different blocks (HiRace).
    GridEnd,
    /// A fence of the warp that accessed first, of any scope (ScoRD, table IV, a).
    BlockFence,
    /// A fence of the warp that accessed first, of device scope (ScoRD, table IV, b).
    DeviceFence,
    /// Not all accesses of these bytes are strong, and fences order strong ones alone (ScoRD, table IV, c).
    StrongAccess,
    /// A lock that both hold, where the second loads (ScoRD, table IV, e).
    LockOnLoad,
    /// A lock that both hold, where the second stores (ScoRD, table IV, f).
    LockOnStore,
}

/// Two accesses that nothing orders.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RaceFinding {
    /// What is wrong.
    pub kind: RacingKind,
    /// How far apart.
    pub class: HowFar,
    /// Whose bytes.
    pub memory: WhoseBytes,
    /// The first byte that both touch.
    pub address: u64,
    /// What came first in this execution, as far as the detector has kept it.
    pub first: RacingParty,
    /// The detector has forgotten what `first` was but for this: kind, strength and bytes of it stand for nothing.
    pub forgotten: Option<NotKept>,
    /// The latest access that the detector has kept, where `first` is another one.
    pub latest: Option<RacingParty>,
    /// What came later.
    pub second: RacingParty,
    /// What would order them.
    pub missing: MissingOrder,
    /// How often since the last call.
    pub count: u64,
}

/// Something that a detector could not look at.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Warning {
    /// One sentence without its end.
    pub what: String,
    /// How often since the last call.
    pub count: u64,
}
