//! The modifiers that only a few instructions have.

use crate::types::Rounding;

/// Which part of a product an integer `mul`/`mad` keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// `.lo`
    Lo,
    /// `.hi`
    Hi,
    /// `.wide`: the destination is twice as wide as `ty`.
    Wide,
}

/// How exact a division, reciprocal or root is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Precision {
    /// Integer division.
    Integer,
    /// `.approx`
    Approx,
    /// `.full` (`div` only)
    Full,
    /// IEEE 754, correctly rounded.
    Rounded(Rounding),
}

/// The operation of `atom` and `red`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the ISA's own")]
pub enum AtomOp {
    And,
    Or,
    Xor,
    Cas,
    Exch,
    Add,
    Inc,
    Dec,
    Min,
    Max,
}

/// Lane selection of `shfl`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the ISA's own")]
pub enum ShflMode {
    Up,
    Down,
    Bfly,
    Idx,
}

/// What `vote` computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the ISA's own")]
pub enum VoteMode {
    All,
    Any,
    Uni,
    Ballot,
}

/// The reduction of `bar.red`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the ISA's own")]
pub enum BarRed {
    Popc,
    And,
    Or,
}

/// What a CTA barrier instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BarrierKind {
    /// `bar.sync`, `barrier{.cta}.sync`: operands `a{, b}`
    Sync,
    /// `bar.arrive`: operands `a, b`
    Arrive,
    /// `bar.red.OP`: operands `d, a{, b}, {!}c`
    Red(BarRed),
}

/// Byte selection mode of `prmt`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the ISA's own")]
pub enum PrmtMode {
    Index,
    F4e,
    B4e,
    Rc8,
    Ecl,
    Ecr,
    Rc16,
}

/// The class that `testp` asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the ISA's own")]
pub enum TestpKind {
    Finite,
    Infinite,
    Number,
    NotANumber,
    Normal,
    Subnormal,
}

/// The order of a fence (PTX ISA, "membar / fence": `membar.L` is `fence.sc` at its scope).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FenceKind {
    /// `fence.sc.S`, `membar.cta|gl|sys`
    Sc,
    /// `fence.acq_rel.S`, and `fence.S`
    AcqRel,
    /// `fence.acquire.*`, with `.sync_restrict` or without
    Acquire,
    /// `fence.release.*`, with `.sync_restrict` or without
    Release,
    /// `fence.proxy.*`, `fence.mbarrier_init.*`: not a thread fence of the generic proxy
    Proxy,
}

impl FenceKind {
    /// Whether it makes an acquire pattern of a read before it (PTX ISA, "Release and Acquire Patterns").
    pub fn acquires(self) -> bool {
        matches!(self, FenceKind::Sc | FenceKind::AcqRel | FenceKind::Acquire)
    }

    /// Whether it makes a release pattern of a write behind it.
    pub fn releases(self) -> bool {
        matches!(self, FenceKind::Sc | FenceKind::AcqRel | FenceKind::Release)
    }
}

/// What an `mbarrier` instruction does (PTX ISA, "Parallel Synchronization: mbarrier").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MbarrierOp {
    /// `init`: operands `[a], count`
    Init,
    /// `inval`: operand `[a]`
    Inval,
    /// `arrive`, `arrive_drop` and their forms: operands `state|_, [a]{, count | tx-count}`
    Arrive {
        /// `arrive_drop`
        drop: bool,
        /// `.noComplete`
        no_complete: bool,
        /// `.expect_tx`
        expect_tx: bool,
    },
    /// `test_wait`, `try_wait`: operands `p, [a], state | parity{, hint}`
    Wait {
        /// `try_wait`
        blocking: bool,
        /// `.parity`
        parity: bool,
    },
    /// `pending_count`: operands `count, state`
    PendingCount,
    /// `expect_tx`: operands `[a], tx-count`
    ExpectTx,
    /// `complete_tx`: operands `[a], tx-count`
    CompleteTx,
}
