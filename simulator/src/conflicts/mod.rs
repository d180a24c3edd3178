//! Conflicts: accesses of two threads whose order nothing settles, found while a launch runs.
//!
//! Sources: the epochs of Flanagan and Freund, "FastTrack: Efficient and Precise Dynamic Race Detection"; the barrier
//! clocks by warp of Eizenberg et al., "BARRACUDA: Binary-level Analysis of Runtime RAces in CUDA programs"; the access
//! history of a lost update from Lu et al., "AVIO: Detecting Atomicity Violations via Access Interleaving Invariants". A departure
//! from all of them: an order counts only where the other order would have given another value, since what is looked for is the
//! cause of a wrong result, and not every race.
//!
//! # What is found
//! Per granule of four bytes, with a mask of bytes ([`Collision`]): updates that are lost, stores that are not atomic beside atomics, atomics whose
//! scope does not take in the other thread, and pairs of accesses that nothing orders. Each is kept by its instructions, who
//! comes first, and how far apart the threads are, with one example and a count ([`FoundConflict`]).
//!
//! # What orders accesses
//! - Program order; CTA barriers, by warp, cumulatively (named ones and those of a part of the CTA, too); warp barriers, by lane.
//!   A warp that has ended has arrived at every barrier. In lockstep, one instruction after another of a warp.
//! - Release and acquire patterns on the address where one thread reads what the other wrote: a fence or a release,
//!   a strong write, a strong read, a fence or an acquire; chains of atomics go on with a release. Scopes are not compared, and who
//!   acquires has everything behind it that anybody did before that release.
//! - mbarriers and barriers of the cluster: behind one, a warp has everything before it behind it.
//!
//! # What it can miss
//! - By the last three rules, what is ordered only seemingly.
//! - A load that lies more than `loads::KEPT` other loads of the thread before its store is no part of a lost update.
//! - Of the threads that have read a granule since it was last written, `shadow::READERS` are known.
//! - Shared memory of another block of the cluster, asynchronous copies, matrices, and what the device's own functions access.
//! - What does not fit into `shadow::MOST_PAGES` pages, or is of more than `pairs::MOST` different pairs: both are told
//!   ([`FoundConflicts`]).
//!
//! # What it can misreport
//! What a load read is taken to be what memory held then, which under a model that delays accesses it need not be.
//!
//! [`ConflictObserver`] looks on at a launch and makes of its events what the [`Recorder`] takes; neither knows of the engine or of memory models.

mod loads;
mod observer;
mod order;
mod pairs;
mod recorder;
mod shadow;

pub use observer::ConflictObserver;
use recorder::Recorder;

/// What is wrong between two accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Collision {
    /// A thread loads and later stores (`first`, `second`), and another thread's write (`between`) is overwritten by that
    /// store though the load has not seen it.
    LostUpdate,
    /// Strong accesses, at least one of which is a write, of different blocks; the scope of at least one is its own CTA.
    Scope,
    /// A weak access and an atomic, or a weak store and a load that is relaxed or acquires, in the order in which they came.
    PlainBesideAtomic,
    /// Two accesses, in the order in which they came, at least one a write, at least one weak: the value that the
    /// later one found or left would be another one in the other order.
    Unordered,
}

/// How far apart the two threads are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ThreadRelation {
    /// Of one warp.
    Warp,
    /// Of one CTA.
    Block,
    /// Of different CTAs.
    Grid,
}

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AccessWhat {
    /// `ld`
    Load,
    /// `st`
    Store,
    /// `atom`, `red`
    Atomic,
}

/// One of the accesses of a conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConflictParty {
    /// Linear index of the block.
    pub block: u64,
    /// Linear index of the thread in it.
    pub thread: u32,
    /// Number of the instruction.
    pub pc: u32,
    /// What it does.
    pub what: AccessWhat,
    /// Whether it is strong: an atomic, volatile, relaxed or stronger.
    pub strong: bool,
}

/// Accesses that nothing orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoundConflict {
    /// What is wrong.
    pub kind: Collision,
    /// How far apart the threads are.
    pub relation: ThreadRelation,
    /// Whether it is shared memory.
    pub shared: bool,
    /// The first example's address: a generic one.
    pub address: u64,
    /// The earlier access of the example; of a lost update, the load.
    pub first: ConflictParty,
    /// The later one; of a lost update, the same thread's store.
    pub second: ConflictParty,
    /// The other thread's write of a lost update.
    pub between: Option<ConflictParty>,
    /// How often, by threads.
    pub count: u64,
}

/// What was found in a launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundConflicts {
    /// By the order in which they were first seen.
    pub conflicts: Vec<FoundConflict>,
    /// How often something was seen that is of none of these, for which there was no room.
    pub more: u64,
    /// Accesses that were not looked at, as there was no room for what they touch.
    pub unseen: u64,
}
