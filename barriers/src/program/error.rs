//! Why a program is none.

use serde::Serialize;

use super::shape::{LANES, MAX_THREADS, NAMED_BARRIERS};

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
