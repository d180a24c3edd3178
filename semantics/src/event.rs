//! What happens in an execution, as an [`crate::Observer`] is told.
//!
//! # Order
//! Events come in one order for the whole process. The events of one thread come in its program order; what a thread does
//! comes behind what it was ordered behind. An access is told where its thread executes it ("issue"), after it has been done as
//! far as its thread can tell.
//!
//! # What reads what
//! Under a memory model a store may become visible later than it is issued, and a load may read something other than what
//! memory holds. So:
//! - A lane of a store in [`Access::held`] is not visible yet. [`Event::Landed`] tells when it is. All other stores and atomics
//!   that write are visible with their access, lane by lane in the order of lanes.
//! - A lane of a load or an atomic reads, in this order of precedence: its own held store, if it is in [`Access::own`]; what
//!   [`Event::ReadFrom`] says, if it is in [`Access::sourced`]; else what became visible last at these bytes.
//!   [`Event::ReadFrom`] comes before the lane's next barrier, its next access of the same bytes and its end, and, but for reads
//!   from what the lane cannot synchronise with by them, before its next fence or release; where the load is weak, perhaps not at all.
//! - Stores and atomics have a number ([`WriteId`]) where [`Access::numbers`] gives one that is not 0; else nobody names them.
//!   A held store lands under the number that it was told with. One store of a thread that is held may never be what memory
//!   holds, as a later one of its own has taken its place: then it lands before that one, not as the last.
//!
//! # Who
//! [`Lanes`] says which grid, block, warp and lanes. Slots (of CTAs, of warps) are small numbers that one block after another
//! uses; between [`Event::BlockBegin`] and [`Event::BlockEnd`] a slot of a grid is one block.

pub(crate) mod kinds;
mod lanes;
mod numbers;
mod shape;

use bugaroo_ptx::types::Scope;

use crate::effect::Fence;
use crate::scope::Strength;
pub use kinds::{AccessKind, Proxy};
pub use lanes::{Lanes, each};
pub use numbers::{CopyId, SiteNumber, WorkId, WriteId};
pub use shape::Shape;

/// Whose bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WhoseBytes {
    /// Global memory; addresses are generic ones.
    Global,
    /// Shared memory of the CTA in this slot of the grid; addresses are offsets.
    Shared(u32),
}

/// Where each lane's access begins. All bytes of an access have been checked.
#[derive(Clone, Copy, Debug)]
pub enum Addresses<'a> {
    /// Lane `i` (whether it takes part or not) at this, plus `i` times the access's bytes. Wrapping.
    Consecutive(u64),
    /// All lanes at one.
    Same(u64),
    /// By lane; of lanes that take no part, anything.
    Each(&'a [u64; 32]),
}

/// What the lanes have written, by lane and element; asked for by those who need it only.
pub trait Values {
    /// What a store or an atomic has left in memory in this element, low bytes first; of a load what it has given, where that
    /// is known.
    fn value(&self, lane: u32, element: u32) -> u128;

    /// What memory held in this element right before the access, of an atomic's lanes one after another; 0 where nobody has asked for
    /// it ([`crate::Wants::before`]), and of matrices.
    fn before(&self, lane: u32, element: u32) -> u128 {
        let _ = (lane, element);
        0
    }
}

/// An access of global or shared memory by lanes of a warp, at one instruction. An instruction whose lanes touch different
/// memories is told as several.
#[derive(Clone, Copy)]
pub struct Access<'a> {
    /// Who.
    pub by: Lanes,
    /// Which instruction.
    pub site: SiteNumber,
    /// What it does.
    pub kind: AccessKind,
    /// Weak, or strong and for whom.
    pub strength: Strength,
    /// `.acquire`, `.acq_rel`.
    pub acquire: bool,
    /// `.release`, `.acq_rel`.
    pub release: bool,
    /// Whose bytes.
    pub memory: WhoseBytes,
    /// Bytes of an element: 1, 2, 4, 8; 16 for an atomic.
    pub size: u32,
    /// Elements of a vector: 1, 2, 4, 8. Each is an access of its own to the model (PTX ISA, "Vector Data-types").
    pub elements: u32,
    /// Where.
    pub at: Addresses<'a>,
    /// Lanes that have written: none of a load, all of a store, of an atomic those that did.
    pub wrote: u32,
    /// Stores that are held back.
    pub held: u32,
    /// Lanes that read their own held store.
    pub own: u32,
    /// Lanes whose source [`Event::ReadFrom`] tells.
    pub sourced: u32,
    /// The number of each lane's write, where they have one.
    pub numbers: Option<&'a [WriteId; 32]>,
    /// What was written or read.
    pub values: &'a dyn Values,
}

impl Access<'_> {
    /// Bytes that a lane accesses.
    #[inline]
    pub fn bytes(&self) -> u32 {
        self.size * self.elements
    }

    /// Where a lane's access begins.
    #[inline]
    pub fn address(&self, lane: u32) -> u64 {
        match self.at {
            Addresses::Consecutive(first) => first.wrapping_add(u64::from(lane * self.bytes())),
            Addresses::Same(all) => all,
            Addresses::Each(each) => each[lane as usize],
        }
    }
}

impl std::fmt::Debug for Access<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Access")
            .field("by", &self.by)
            .field("site", &self.site)
            .field("kind", &self.kind)
            .field("strength", &self.strength)
            .field("memory", &self.memory)
            .field("size", &self.size)
            .field("elements", &self.elements)
            .field("at", &self.at)
            .finish_non_exhaustive()
    }
}

/// Bytes of one memory in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Range {
    /// Whose.
    pub memory: WhoseBytes,
    /// The first one.
    pub address: u64,
    /// How many.
    pub bytes: u64,
}

/// What a piece of work is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkKind {
    /// A point of a host thread's program: what the host does from here on comes behind it.
    Host,
    /// A grid.
    Grid,
    /// A copy, fill, or the like: its accesses follow as [`Event::HostAccess`].
    Transfer,
    /// Anything else that has a place in the order: an event record, a wait, a host function.
    Mark,
}

/// Anything but an access.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// A piece of work is known, before anything of it happens. `chain` is its stream, or the host thread: pieces of one chain are
    /// ordered as they come. It comes behind all of `after`, too, and behind everything that these come behind.
    Work {
        /// Its number.
        id: WorkId,
        /// What.
        kind: WorkKind,
        /// Stream or host thread.
        chain: u32,
        /// What it waits for.
        after: &'a [WorkId],
        /// A thread of a grid has asked for it, by that which of the grid's [`Event::Asked`]: of that grid it comes behind what the thread
        /// had done and knew by then, and behind no more, unless something in `after` comes behind all of the grid. That stands in
        /// `after`, too.
        asked: Option<(WorkId, u32)>,
        /// The call of the host program.
        site: SiteNumber,
    },
    /// Where there are several devices: the grid that a piece of work is runs on this one, before it begins. Threads of two
    /// devices are in one `.sys` scope, and in no other.
    OnDevice {
        /// Its number.
        work: WorkId,
        /// The device's ordinal.
        device: u32,
    },
    /// A thread asks for a launch, a copy or a fill (dynamic parallelism), or has a stream of its grid wait.
    Asked {
        /// One lane.
        by: Lanes,
        /// How many its grid has asked for before.
        number: u32,
    },
    /// All pieces of work before this one are done, and come before everything that goes on and all that is to come.
    Retired {
        /// The first one of which that is not said.
        before: WorkId,
    },
    /// A transfer, or the host itself, reads or writes global memory: all of it at this moment.
    HostAccess {
        /// The piece of work.
        work: WorkId,
        /// Where; `memory` is [`WhoseBytes::Global`].
        range: Range,
        /// Writes, or reads.
        writes: bool,
        /// The call of the host program.
        site: SiteNumber,
    },
    /// Global memory begins (`writes` that were there before mean nothing).
    Allocated(Range),
    /// It ends.
    Freed(Range),

    /// A grid begins.
    GridBegin {
        /// Its work.
        grid: WorkId,
        /// Its size.
        shape: Shape,
        /// Warps run in lockstep.
        lockstep: bool,
        /// The site of the program's instruction 0.
        first_site: SiteNumber,
    },
    /// It has ended, or is given up.
    GridEnd {
        /// Its work.
        grid: WorkId,
    },
    /// A block begins in a slot. Its shared memory is new.
    BlockBegin {
        /// The grid.
        grid: WorkId,
        /// The slot.
        cta: u32,
        /// Linear index of the block.
        block: u64,
    },
    /// It has ended; everything that its threads held back has landed.
    BlockEnd {
        /// The grid.
        grid: WorkId,
        /// The slot.
        cta: u32,
    },
    /// Lanes end.
    Exit(Lanes),

    /// A store that was held is visible now.
    Landed {
        /// Whose (one lane).
        by: Lanes,
        /// The bytes that have become visible; those of one store may land in parts.
        range: Range,
        /// Its number, where numbers are given.
        write: WriteId,
        /// Whether it is now what memory holds: it may come before others that are there already (coherence order).
        last: bool,
    },
    /// What a lane's read of these bytes has read.
    ReadFrom {
        /// Whose (one lane).
        by: Lanes,
        /// The bytes.
        range: Range,
        /// The write.
        write: WriteId,
    },

    /// A fence.
    Fence {
        /// Who.
        by: Lanes,
        /// Which instruction.
        site: SiteNumber,
        /// Which fence.
        fence: Fence,
    },
    /// A proxy fence (`fence.proxy.async` and the like): accesses through both proxies are ordered across it.
    ProxyFence {
        /// Who.
        by: Lanes,
        /// Which instruction.
        site: SiteNumber,
    },

    /// Lanes have arrived at a CTA barrier. Lanes of one warp may arrive in parts.
    Arrive {
        /// Who.
        by: Lanes,
        /// Which instruction.
        site: SiteNumber,
        /// Its number.
        barrier: u32,
        /// They wait there; else `bar.arrive`.
        waits: bool,
    },
    /// Lanes go on behind a CTA barrier that has completed. Comes for each warp with lanes that waited before any of them does
    /// anything else; the next arrival at this barrier belongs to the next generation.
    Leave {
        /// Who.
        by: Lanes,
        /// Its number.
        barrier: u32,
    },
    /// A CTA barrier has completed at which nobody waited.
    Completed {
        /// The grid.
        grid: WorkId,
        /// The slot.
        cta: u32,
        /// Its number.
        barrier: u32,
    },
    /// All lanes named have met at `bar.warp.sync` and go on.
    WarpBarrier {
        /// Who.
        by: Lanes,
        /// Which instruction, of one of them.
        site: SiteNumber,
    },
    /// Lanes arrive at the cluster's barrier. `relaxed`: without releasing.
    ClusterArrive {
        /// Who.
        by: Lanes,
        /// `.relaxed`
        relaxed: bool,
    },
    /// Lanes have waited for it and go on.
    ClusterLeave(Lanes),

    /// A launch writes to memory of which its text and its arguments did not say so. Told to who spares loads of such memory
    /// ([`crate::Spares::unwritten`]), before the access: loads of it so far were not told.
    UnforeseenWrite {
        /// Whose.
        grid: WorkId,
        /// The allocation.
        range: Range,
    },

    /// An mbarrier is made (`init`) or ended (`inval`).
    MbarrierInit {
        /// One lane.
        by: Lanes,
        /// Its eight bytes.
        at: Range,
        /// Which instruction.
        site: SiteNumber,
    },
    /// A lane arrives at an mbarrier, `.release` unless relaxed.
    MbarrierArrive {
        /// One lane.
        by: Lanes,
        /// Its eight bytes.
        at: Range,
        /// Which instruction.
        site: SiteNumber,
        /// `.relaxed`
        relaxed: bool,
        /// Among whom.
        scope: Scope,
    },
    /// The phase has completed: all arrivals and transactions that it counted have been told.
    MbarrierPhase {
        /// Whose.
        grid: WorkId,
        /// Its eight bytes.
        at: Range,
    },
    /// A lane has found a phase completed, `.acquire` unless relaxed: the last one that was told, or an earlier one.
    MbarrierPassed {
        /// One lane.
        by: Lanes,
        /// Its eight bytes.
        at: Range,
        /// Which instruction.
        site: SiteNumber,
        /// `.relaxed`
        relaxed: bool,
        /// Among whom.
        scope: Scope,
    },

    /// An asynchronous copy, reduction or store is issued by a lane.
    CopyIssued {
        /// One lane.
        by: Lanes,
        /// Which instruction.
        site: SiteNumber,
        /// Its number in the grid.
        copy: CopyId,
        /// Through which proxy.
        proxy: Proxy,
        /// What it reads, if that is memory.
        from: Option<Range>,
        /// What it writes; None where it writes nothing.
        to: Option<Range>,
    },
    /// It has been done: reads and writes happen at this moment.
    CopyDone {
        /// The grid.
        grid: WorkId,
        /// Its number.
        copy: CopyId,
    },
    /// Its lane has waited for it (`cp.async.wait_group`, `cp.async.bulk.wait_group`; with `.read`, only for its reads).
    CopyAwaited {
        /// One lane.
        by: Lanes,
        /// Its number.
        copy: CopyId,
        /// Only its reads are known to be done.
        read_only: bool,
    },
    /// An mbarrier's current phase counts that this copy is done (`complete_tx`, `cp.async.mbarrier.arrive`).
    CopyCounted {
        /// The grid.
        grid: WorkId,
        /// Its number.
        copy: CopyId,
        /// The mbarrier's eight bytes.
        at: Range,
    },

    /// Lanes that were together part at a branch: those of `taken` go where it leads, and the others on. In lockstep the ones in
    /// `first` go first.
    Split {
        /// Who were together.
        by: Lanes,
        /// Which instruction.
        site: SiteNumber,
        /// Who take the branch.
        taken: u32,
        /// In lockstep: who go first, those of `taken` or the others. Else 0.
        first: u32,
    },
    /// In lockstep: the lanes named go on, and those that have run before them wait. They are one part of what a split has
    /// parted. Two parts may take turns, as a compiler may lay out a side of a branch in pieces with the other side between them.
    Else(Lanes),
    /// In lockstep: the lanes named are together again, and go on. They have been several parts. Lanes that have parted at something
    /// else than a branch, as they do at some waits, are told as parted there by a [`Event::Split`] with nothing in between.
    Join(Lanes),
}
