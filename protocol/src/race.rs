//! Races: what a trial's detectors are told to look for, and what they have found. `bugaroo-detectors` says what counts.

use serde::{Deserialize, Serialize};

use crate::fault::{FaultAccess, HostFrame, NearAllocation};
use crate::race_settings::Named;
use crate::site::SiteId;
use crate::waiting::BlockedThread;

/// A race detector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Detector {
    /// Exact, by the PTX memory model.
    Ptx,
    /// BARRACUDA (PLDI'17): happens-before over warps in lockstep.
    Barracuda,
    /// HiRace: a state machine in constant space.
    Hirace,
    /// ScoRD: scoped races, locksets.
    Scord,
}

impl Detector {
    /// All of them, in the order in which they are told.
    pub const ALL: [Detector; 4] = [Detector::Ptx, Detector::Barracuda, Detector::Hirace, Detector::Scord];

    /// Whether its paper counts on warps in lockstep, so that it looks at such executions where it looks alone.
    pub fn counts_on_lockstep(self) -> bool {
        matches!(self, Detector::Barracuda | Detector::Scord)
    }

    /// As it is written on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Detector::Ptx => "ptx",
            Detector::Barracuda => "barracuda",
            Detector::Hirace => "hirace",
            Detector::Scord => "scord",
        }
    }
}

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RaceKind {
    /// Two writes.
    WriteWrite,
    /// A write, then a read.
    WriteRead,
    /// A read, then a write.
    ReadWrite,
    /// An access of which the detector has not kept whether it wrote, then a write.
    AccessWrite,
    /// Two accesses whose order is that in which a warp executes the sides of a branch.
    BranchOrder,
    /// Threads of a block that are not all there at a barrier.
    BarrierDivergence,
}

impl RaceKind {
    /// All of them.
    pub const ALL: [RaceKind; 6] = [
        RaceKind::WriteWrite,
        RaceKind::WriteRead,
        RaceKind::ReadWrite,
        RaceKind::AccessWrite,
        RaceKind::BranchOrder,
        RaceKind::BarrierDivergence,
    ];

    /// As it is written in JSON.
    pub fn name(self) -> &'static str {
        match self {
            RaceKind::WriteWrite => "write-write",
            RaceKind::WriteRead => "write-read",
            RaceKind::ReadWrite => "read-write",
            RaceKind::AccessWrite => "access-write",
            RaceKind::BranchOrder => "branch-order",
            RaceKind::BarrierDivergence => "barrier-divergence",
        }
    }
}

/// How far apart the two are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RaceClass {
    /// Threads of one warp.
    IntraWarp,
    /// Threads of one warp, on different sides of a branch.
    Divergence,
    /// Threads of one block.
    IntraBlock,
    /// Threads of different blocks.
    InterBlock,
    /// Different grids, or a grid and a transfer.
    InterGrid,
    /// The host and the device.
    Host,
}

/// What would have ordered the two, and is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RaceMissing {
    /// The first has not released since.
    Release,
    /// It has; the second has not acquired since.
    Acquire,
    /// Both have, and scopes do not take in the other thread.
    Scope,
    /// Both have; no strong read of the second's thread has read what a strong write of the first's thread has written.
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
    /// The end of the grid: nothing that this detector knows orders threads of different blocks.
    GridEnd,
    /// A fence of the warp that accessed first, of any scope.
    BlockFence,
    /// A fence of the warp that accessed first, of device scope.
    DeviceFence,
    /// Strong accesses: fences order no others.
    StrongAccess,
    /// A lock that both hold, where the second loads.
    LockOnLoad,
    /// A lock that both hold, where the second stores.
    LockOnStore,
}

/// What stands in a kernel's place where the host program itself has loaded or stored.
pub const THE_HOST: &str = "the host";

/// How far the thread in a [`RaceParty::at`] is the one: a detector of constant space has not always kept it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KnownThread {
    /// It is the one.
    #[default]
    Thread,
    /// It is the first one of this warp of its block, of which some thread is meant.
    Warp(u32),
    /// It is the first one of its block, of which some thread is meant.
    Block,
    /// It stands for some thread of the grid.
    Nobody,
}

impl KnownThread {
    fn is_thread(&self) -> bool {
        *self == KnownThread::Thread
    }
}

/// What is known of an access that a detector has not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Forgotten {
    /// It was a load.
    Load,
    /// It has written: a store or an atomic.
    Write,
    /// It was an atomic.
    Atomic,
    /// Any of these.
    Access,
}

/// One of the two accesses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RaceParty {
    /// The kernel that it belongs to, as the PTX names it; of a transfer, the function called; of a plain access of the host
    /// program, [`THE_HOST`].
    pub kernel: String,
    /// Who and where, if it is a thread; `threads` is 1: an example.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<BlockedThread>,
    /// How far the thread in `at` is known.
    #[serde(default, skip_serializing_if = "KnownThread::is_thread")]
    pub known: KnownThread,
    /// The detector knows that there was such an access, and has not kept it: `at` has no instruction, `access` and `bytes` stand for
    /// nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forgotten: Option<Forgotten>,
    /// The compiler gave the instruction no line, as it has merged or moved it: the one in `at` is the nearest before it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub near_line: bool,
    /// Its site, where the module's sites are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site: Option<SiteId>,
    /// What it does.
    pub access: FaultAccess,
    /// Bytes.
    pub bytes: u32,
    /// `weak`, or the scope of a strong one: `cta`, `cluster`, `gpu`, `sys`. Empty where that is not known.
    pub scope: String,
    /// It is the asynchronous part of a copy.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub asynchronous: bool,
    /// The place in the host program: of a transfer, of the host's own access, of the launch.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub called_at: Vec<HostFrame>,
}

impl RaceParty {
    /// Whether it is a plain load or store of the host program.
    pub fn is_the_hosts_own(&self) -> bool {
        self.at.is_none() && self.kernel == THE_HOST
    }
}

/// Two accesses that nothing orders.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Race {
    /// Who found it.
    pub detector: Detector,
    /// What is wrong.
    pub kind: RaceKind,
    /// How far apart.
    pub class: RaceClass,
    /// Whether it is shared memory.
    pub shared: bool,
    /// A global address, or an offset in shared memory.
    pub address: u64,
    /// The allocation or variable that it is in, and where it was allocated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allocation: Option<NearAllocation>,
    /// What came first, as far as the detector has kept it.
    pub first: RaceParty,
    /// The latest access that the detector has kept, where `first` is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latest: Option<RaceParty>,
    /// What came later.
    pub second: RaceParty,
    /// What would order them.
    pub missing: RaceMissing,
    /// Whether the model bears it out for this execution; else it rests on an inference (BARRACUDA's fences and atomics).
    pub proven: bool,
    /// How often.
    pub count: u64,
}

/// What a trial's detectors have found up to a moment: each race once, with its count.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Races {
    /// The races, in the order in which they were first found.
    pub races: Vec<Race>,
    /// What could not be looked at: a sentence each without its end, and how often.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<(String, u64)>,
    /// What of the settings' names something was found for, since the last message.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub met: Vec<Named>,
    /// Accesses that were looked at, in warps.
    #[serde(default)]
    pub accesses: u64,
    /// Host memory that the detectors took at most, bytes.
    #[serde(default)]
    pub bytes: u64,
}
