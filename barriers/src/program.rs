//! The thread programs of a CTA (or of the CTAs of a cluster): what the emulator writes and the checker reads.
//!
//! Source: PLDI 2015 section 3.1: a thread's program is a straight line of `read`, `write`, `arrive b n`, `sync b n`. Here a
//! *command* belongs to a warp and names the lanes that execute it: the program of a thread is the warp's list without the
//! commands that leave its lane out. The order of a warp's list must therefore agree with the program order of each of its
//! threads; between commands of different lanes it means nothing (unless [`Program::set_warp_synchronous`] says so).
//! Beyond the paper: vector and atomic accesses, warp barriers, mbarriers, asynchronous copies, cluster barriers.
//!
//! # Meanings
//! Everything is said per thread; a command with several lanes means that each of them does it, by itself.
//!
//! - `sync`, `arrive`: named barrier `id` of the warp's own CTA. A warp arrives when all its threads that have not exited have come, and
//!   counts 32 then, also where the CTA's last warp has fewer; until then who came by `arrive` waits, too. The first warp
//!   configures the count. [`Count::All`] is every warp of the CTA that has threads left. `red` is a `sync`.
//! - `warp_sync`: waits until each of `members` has executed a `warp_sync` with the same members.
//! - `exit`: the lanes are done. Nothing of theirs may follow.
//! - `cluster_arrive`, `cluster_wait`: `barrier.cluster`: all threads of the cluster that have not exited; the wait blocks
//!   until the phase completes in which the thread arrived last.
//! - `mbarrier_init(address, count)` starts phase 0. Every `mbarrier_arrive(count, expect_tx)` takes `count` off the pending
//!   arrivals of the current phase, after adding `expect_tx` to its pending bytes (count 0: `expect_tx` alone). The phase
//!   completes when both are nought. `mbarrier_wait(parity)` blocks until the current phase's parity is not `parity`, that is,
//!   until the phase of that parity is complete (`try_wait` in its loop; with a state operand, the parity of its phase).
//! - an asynchronous copy is an [`Access`] with a [`Completion`]: it starts when its thread gets there, is no more in program
//!   order with what follows, and is over: for [`Completion::Group`] when its thread waits for its group; for
//!   [`Completion::Mbarrier`] when the phase completes into which its bytes are counted. A copy from global memory is a
//!   write; one to global memory a read; one from shared memory to shared memory is both, of which the write alone counts bytes.
//!   A copy to several CTAs is a write for each.
//! - `commit_group`, `wait_group(n)`: `cp.async` or bulk groups of each thread; the wait blocks for all but the `n` latest. Those of
//!   `wgmma` are a warpgroup's: the wait blocks until each of its four warps has committed as many, and the reads of all of them are over.
//! - `cp_async_arrive`: `cp.async.mbarrier.arrive`: an arrival once all the thread's earlier `cp.async` are over.
//! - `proxy_fence`: `fence.proxy.async`: makes generic accesses that happen before it visible to asynchronous copies after it, and so does
//!   `fence.mbarrier_init` with `mbarrier.init`s.

use serde::Serialize;

mod alike;
mod condition;
mod figures;
mod packed;
mod signal;
#[cfg(test)]
mod tests;

pub use condition::{Condition, Literal};
pub(crate) use packed::{Opcode, Packed};
pub use signal::{Signal, Signalled};

/// The most threads a CTA can have.
pub const MAX_THREADS: u32 = 1024;
/// The named barriers of a CTA.
pub const NAMED_BARRIERS: u32 = 16;
/// The lanes of a warp.
pub const LANES: u32 = 32;
/// A shared address is `rank << RANK_SHIFT | offset`: the CTA's rank in its cluster, the offset in its shared window.
pub const RANK_SHIFT: u32 = 24;

/// How many CTAs of how many threads run together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Shape {
    /// CTAs of the cluster; 1 without clusters.
    pub ctas: u32,
    /// Threads of each.
    pub threads: u32,
}

impl Shape {
    /// Warps of one CTA.
    pub fn warps_per_cta(self) -> u32 {
        self.threads.div_ceil(LANES)
    }
    /// Warps of all CTAs. Warp `w` belongs to CTA `w / warps_per_cta()`.
    pub fn warps(self) -> u32 {
        self.ctas * self.warps_per_cta()
    }
    /// The CTA's rank of a warp.
    pub fn cta_of(self, warp: u32) -> u32 {
        warp / self.warps_per_cta()
    }
    /// The lanes of a warp that are threads.
    pub fn lanes(self, warp: u32) -> u32 {
        let first = (warp % self.warps_per_cta()) * LANES;
        match (self.threads - first).min(LANES) {
            LANES => u32::MAX,
            n => (1 << n) - 1,
        }
    }
}

/// Why a program is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error, Serialize)]
pub enum ProgramError {
    /// A CTA without threads, or a cluster without CTAs.
    #[error("a CTA has at least one thread")]
    NoThreads,
    /// More threads than a CTA can have.
    #[error("a CTA has at most {MAX_THREADS} threads, not {0}")]
    TooManyThreads(u32),
    /// More CTAs than a cluster can have.
    #[error("a cluster has at most 16 CTAs, not {0}")]
    TooManyCtas(u32),
    /// A barrier id beyond the sixteen.
    #[error("barrier {id}: a CTA has the {NAMED_BARRIERS} barriers 0 to 15")]
    BarrierId {
        /// The id.
        id: u32,
    },
    /// A thread count that PTX does not allow.
    #[error(
        "barrier {id} for {count} threads: the count is a multiple of {LANES}, at least {LANES}, at most {MAX_THREADS}"
    )]
    ThreadCount {
        /// The barrier.
        id: u32,
        /// The count.
        count: u32,
    },
    /// `barrier.arrive` with nobody named.
    #[error("barrier {id}: an arrive needs a thread count")]
    ArriveWithoutCount {
        /// The barrier.
        id: u32,
    },
    /// An access whose size is none.
    #[error("an access of {0} bytes")]
    AccessSize(u32),
    /// An mbarrier count outside 1 to 2^20 - 1.
    #[error("an mbarrier for {0} arrivals: at least 1, at most 1048575")]
    MbarrierCount(u32),
    /// A command for lanes that the warp does not have.
    #[error("warp {warp} has no threads in lanes {lanes:#010x}")]
    Lanes {
        /// The warp.
        warp: u32,
        /// The lanes that are no threads.
        lanes: u32,
    },
    /// More than 2^32 commands or addresses in one warp.
    #[error("the program of warp {0} is too long")]
    TooLong(u32),
}

/// What an access does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AccessKind {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Reads and writes at once; two atomics are taken for no race, whatever their scopes and sizes.
    Atomic,
}

/// Where the lanes of an access go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Addresses<'a> {
    /// Lane `l` at `base + l * stride` (lane 0's place also where lane 0 is off). Stride 0: all at one.
    Affine {
        /// Lane 0's address.
        base: u32,
        /// From lane to lane, bytes.
        stride: i32,
    },
    /// One for each lane of 32; those of lanes that are off are not read.
    Each(&'a [u32; 32]),
}

impl Addresses<'_> {
    /// Where a lane goes.
    pub fn lane(&self, lane: u32) -> u32 {
        match self {
            Addresses::Affine { base, stride } => base.wrapping_add((*stride as u32).wrapping_mul(lane)),
            Addresses::Each(all) => all[lane as usize],
        }
    }
}

/// What a write is known to write. Equal numbers must mean equal bits, whatever the inputs: the bits themselves, or the number
/// of a symbolic value; the emulator keeps the two apart (for instance by the highest bit).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Values<'a> {
    /// Nothing is known.
    Unknown,
    /// All lanes write the same.
    Same(u64),
    /// One for each lane; `None` where nothing is known.
    Each(&'a [Option<u64>; 32]),
}

/// Whether an access is strong (PTX ISA, "Memory Consistency Model"), and among whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Strength {
    /// It is weak.
    Weak,
    /// Strong, of CTA scope.
    Cta,
    /// Strong, of cluster scope or a wider one.
    Cluster,
}

/// When an access is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Completion {
    /// At once: loads, stores, atomics.
    Now,
    /// With the group of its thread that is committed next.
    Group(GroupKind),
    /// With the phase of this mbarrier into which its bytes are counted.
    Mbarrier {
        /// The mbarrier's shared address.
        address: u32,
    },
    /// As [`Completion::Mbarrier`], and no access of the asynchronous proxy: `st.async`, `red.async`.
    Store {
        /// The mbarrier's shared address.
        address: u32,
    },
}

impl Completion {
    /// The mbarrier into whose phase it counts.
    pub fn mbarrier(self) -> Option<u32> {
        match self {
            Completion::Mbarrier { address } | Completion::Store { address } => Some(address),
            Completion::Now | Completion::Group(_) => None,
        }
    }
}

/// The kinds of groups of asynchronous copies and reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum GroupKind {
    /// `cp.async`.
    CpAsync,
    /// `cp.async.bulk`.
    Bulk,
    /// `wgmma`: groups of a warpgroup, of which each warp commits its part.
    Wgmma,
}

/// What a fence makes visible.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Fenced {
    /// `fence.proxy.async`: everything that happens before it, to asynchronous copies.
    Proxy,
    /// `fence.mbarrier_init`: the thread's own `mbarrier.init`s. Who learns of it by a relaxed arrival knows of them, too.
    Inits,
    /// `fence.acq_rel`, `fence.sc`: everything that happens before it, to those who wait for a relaxed arrival at an mbarrier behind it; and what relaxed
    /// waits before it have seen, to what comes behind it.
    Memory,
}

/// An access to shared memory by the lanes of a warp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access<'a> {
    /// What it does.
    pub kind: AccessKind,
    /// Bytes of each lane: a vector's all; a bulk copy's all.
    pub size: u32,
    /// Whether it is strong. Strong accesses of vectors are one for each element.
    pub strength: Strength,
    /// Where.
    pub addresses: Addresses<'a>,
    /// What is written.
    pub values: Values<'a>,
    /// When it is over.
    pub completion: Completion,
}

/// How many threads a named barrier waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Count {
    /// All threads of the CTA that have not exited (the count is left out).
    All,
    /// So many.
    Threads(u32),
}

/// One command of a warp, without its lanes and its origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields are those of the module's words")]
pub enum Action<'a> {
    Access(Access<'a>),
    Sync {
        id: u32,
        count: Count,
    },
    Arrive {
        id: u32,
        count: Count,
    },
    WarpSync {
        members: u32,
    },
    Exit,
    /// `relaxed`: those who wait for it learn nothing of what its thread did, but for `mbarrier.init`s with a fence of their own.
    ClusterArrive {
        relaxed: bool,
    },
    ClusterWait,
    MbarrierInit {
        address: u32,
        count: u32,
    },
    /// `last`: by whoever is the last to come of several, each of which has this command; known to come behind all uses.
    MbarrierInval {
        address: u32,
        last: bool,
    },
    /// `drop`: `arrive_drop`, which lowers the count of the phases to come, too. `relaxed`: who waits for it learns of nothing but what came before
    /// a fence of its thread ([`Fenced::Memory`]).
    MbarrierArrive {
        address: u32,
        count: u32,
        expect_tx: u32,
        drop: bool,
        relaxed: bool,
    },
    /// `mbarrier.complete_tx` by hand.
    MbarrierCompleteTx {
        address: u32,
        bytes: u32,
    },
    /// `relaxed`: what it learns of counts from the next fence of its thread on ([`Fenced::Memory`]).
    MbarrierWait {
        address: u32,
        parity: u32,
        relaxed: bool,
    },
    CommitGroup(GroupKind),
    WaitGroup(GroupKind, u32),
    /// `noinc`: the arrival was counted in the mbarrier's count; otherwise it raises the pending count first.
    CpAsyncArrive {
        address: u32,
        noinc: bool,
    },
    Fence(Fenced),
}

impl Action<'_> {
    /// Whether it begins something, or ends it, that may be under way across a barrier of the CTA.
    pub(crate) fn outlasts_barriers(&self) -> bool {
        match self {
            Action::Access(access) => access.completion != Completion::Now,
            Action::Sync { .. } | Action::Arrive { .. } | Action::WarpSync { .. } => false,
            Action::Exit | Action::Fence(_) => false,
            _ => true,
        }
    }
}

/// A command: who does what, and which PTX instruction it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Command<'a> {
    /// The lanes.
    pub lanes: u32,
    /// The emulator's number of the PTX instruction.
    pub origin: u32,
    /// What they do.
    pub action: Action<'a>,
}

/// The commands of one warp. 24 bytes a command; addresses and values that follow no pattern stand in a list beside.
#[derive(Debug, Clone)]
pub struct WarpProgram {
    warp: u32,
    lanes: u32,
    ptx_counts: bool,
    commands: Vec<Packed>,
    addresses: Vec<[u32; 32]>,
    values: Vec<u64>,
    signals: Vec<Signalled>,
}

/// All warps' programs.
#[derive(Debug, Clone)]
pub struct Program {
    shape: Shape,
    warp_synchronous: bool,
    ptx_counts: bool,
    open_end: bool,
    warps: Vec<WarpProgram>,
    conditions: Vec<Condition>,
}

impl Program {
    /// Programs without commands for every thread of `shape`.
    pub fn new(shape: Shape) -> Result<Program, ProgramError> {
        if shape.threads == 0 || shape.ctas == 0 {
            return Err(ProgramError::NoThreads);
        }
        if shape.threads > MAX_THREADS {
            return Err(ProgramError::TooManyThreads(shape.threads));
        }
        if shape.ctas > 16 {
            return Err(ProgramError::TooManyCtas(shape.ctas));
        }
        let warps = (0..shape.warps())
            .map(|warp| WarpProgram {
                warp,
                lanes: shape.lanes(warp),
                ptx_counts: true,
                commands: Vec::new(),
                addresses: Vec::new(),
                values: Vec::new(),
                signals: Vec::new(),
            })
            .collect();
        Ok(Program {
            shape,
            warp_synchronous: false,
            ptx_counts: true,
            open_end: false,
            warps,
            conditions: Vec::new(),
        })
    }

    /// The paper's counts instead of PTX's: any number of threads, each counted as one, also a warp's.
    pub fn with_paper_counts(shape: Shape) -> Result<Program, ProgramError> {
        let mut program = Program::new(shape)?;
        program.ptx_counts = false;
        for warp in &mut program.warps {
            warp.ptx_counts = false;
        }
        Ok(program)
    }

    /// The threads of a warp run in lockstep: its commands happen one after the other, as if a barrier of the whole warp stood
    /// behind each of them.
    pub fn set_warp_synchronous(&mut self, yes: bool) {
        self.warp_synchronous = yes;
    }

    /// Whether warps run in lockstep.
    pub fn warp_synchronous(&self) -> bool {
        self.warp_synchronous
    }

    /// Whether counts are PTX's (multiples of 32; a whole warp counts 32).
    pub fn ptx_counts(&self) -> bool {
        self.ptx_counts
    }

    /// The CTAs and their threads.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// A warp's program, to write to.
    ///
    /// # Panics
    /// When there is no such warp: a mistake of the caller, who made the shape.
    pub fn warp_mut(&mut self, warp: u32) -> &mut WarpProgram {
        &mut self.warps[warp as usize]
    }

    /// All warps' programs.
    pub fn warps(&self) -> &[WarpProgram] {
        &self.warps
    }
}

impl WarpProgram {
    /// Commands.
    pub fn len(&self) -> usize {
        self.commands.len()
    }

    /// Whether the warp does nothing.
    pub fn is_empty(&self) -> bool {
        self.commands.is_empty()
    }

    /// The lanes that are threads.
    pub fn lanes(&self) -> u32 {
        self.lanes
    }
}
