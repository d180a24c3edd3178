//! `mbarrier`, asynchronous copies and cluster barriers, as the engine runs them.

use bugaroo_ptx::op::{AtomOp, MbarrierOp, Wgmma};
use bugaroo_ptx::types::{Semantics, Type};

use super::Address;
use crate::alu::Width;

/// One such instruction. Slots are 32 bits wide unless it is said otherwise.
#[derive(Clone, Debug)]
pub enum Asynchronous {
    /// An `mbarrier` instruction on a barrier in memory.
    Mbarrier {
        op: MbarrierOp,
        address: Address,
        /// Count, transactions, or parity; the 64-bit state for a test that is not of parity.
        value: Option<i32>,
        /// Row of the result: 64 bits for an arrival, a predicate for a test.
        dst: Option<u32>,
        /// Order and scope of an arrival or a test.
        order: Semantics,
    },
    /// `mbarrier.pending_count`: slot of the 64-bit state.
    PendingCount { state: i32, dst: u32 },
    /// `cp.async`
    Copy {
        dst: Address,
        src: Address,
        bytes: u32,
        /// Bytes that are copied, the rest being filled with zeros.
        src_bytes: Option<i32>,
        /// A predicate slot, negated: copy nothing, fill with zeros.
        ignore: Option<(i32, bool)>,
    },
    /// `cp.async.commit_group`
    Commit { bulk: bool },
    /// `cp.async.wait_group` but for so many groups; None for `wait_all`. `read`: only for reads.
    Wait { bulk: bool, keep: Option<u32>, read: bool },
    /// `cp.async.mbarrier.arrive`
    Arrive { address: Address, noinc: bool },
    /// `cp.async.bulk`, `cp.reduce.async.bulk`: `bytes` is a slot.
    Bulk {
        dst: Address,
        src: Address,
        bytes: i32,
        mbarrier: Option<Address>,
        reduce: Option<(AtomOp, Type)>,
        /// 16-bit slot of the mask of the cluster's blocks that it goes to; only in programs that are only read.
        multicast: Option<i32>,
    },
    /// `cp.async.bulk.tensor`, `cp.reduce.async.bulk.tensor`: to shared memory where an mbarrier counts it.
    Tensor {
        map: Address,
        coordinates: Vec<i32>,
        shared: Address,
        mbarrier: Option<Address>,
        reduce: Option<AtomOp>,
    },
    /// `st.async`, and `red.async` with its operation.
    Store { dst: Address, ty: Type, sources: Vec<(i32, Width)>, mbarrier: Address, reduce: Option<AtomOp> },
    /// `wgmma`: only in programs that are only read.
    Warpgroup(Warpgroup),
}

/// An instruction of a warpgroup.
#[derive(Clone, Debug)]
pub enum Warpgroup {
    /// `wgmma.fence`
    Fence,
    /// `wgmma.commit_group`
    Commit,
    /// `wgmma.wait_group` but for so many groups.
    Wait {
        /// Groups that may be under way.
        keep: u32,
    },
    /// `wgmma.mma_async`
    Multiply {
        /// What is multiplied.
        wgmma: Wgmma,
        /// Rows of D.
        d: Vec<Option<u32>>,
        /// A.
        a: Factor,
        /// B: the 64-bit slot of its descriptor.
        b: i32,
        /// A predicate slot, negated: D is added to.
        adds: (i32, bool),
        /// The elements of A and of B that are next to each other are those of a column of A, a row of B.
        transposed: [bool; 2],
    },
}

/// Where a warpgroup's factor A is.
#[derive(Clone, Debug)]
pub enum Factor {
    /// In registers.
    Fragment(Vec<i32>),
    /// In shared memory: the 64-bit slot of its descriptor.
    Shared(i32),
}
