//! The thread programs of a CTA (or of the CTAs of a cluster): what the emulator writes and the checker reads.
//!
//! Source: PLDI 2015 section 3.1: a thread's program is a straight line of `read`, `write`, `arrive b n`, `sync b n`. Here a
//! *command* belongs to a warp and names the lanes that execute it: the program of a thread is the warp's list without the
//! commands that leave its lane out. The order of a warp's list must therefore agree with the program order of each of its
//! threads; between commands of different lanes it means nothing (unless [`WarpPrograms::set_warp_synchronous`] says so).
//! Beyond the paper: vector and atomic accesses, warp barriers, mbarriers, asynchronous copies, cluster barriers.
//!
//! # Meanings
//! Everything is said per thread; a command with several lanes means that each of them does it, by itself.
//!
//! - `sync`, `arrive`: named barrier `id` of the warp's own CTA. A warp arrives when all its threads that have not exited have come, and
//!   counts 32 then, also where the CTA's last warp has fewer; until then who came by `arrive` waits, too. The first warp
//!   configures the count. [`Count::All`] is every warp of the CTA that has threads left. `red` is a `sync`.
//! - `warp_sync`: waits until each of `members` has executed a `warp_sync` with the same members.
//! - `warp_meet`: the same for what waits and orders no memory (`vote.sync`, `shfl.sync`, `elect.sync` and the like).
//! - `exit`: the lanes are done. Nothing of theirs may follow.
//! - `cluster_arrive`, `cluster_wait`: `barrier.cluster`: all threads of the cluster that have not exited; the wait blocks
//!   until the phase completes in which the thread arrived last.
//! - `mbarrier_init(address, count)` starts phase 0. Every `mbarrier_arrive(count, expect_tx)` takes `count` off the pending
//!   arrivals of the current phase, after adding `expect_tx` to its pending bytes (count 0: `expect_tx` alone). The phase
//!   completes when both are nought. `mbarrier_wait(parity)` blocks until the current phase's parity is not `parity`, that is,
//!   until the phase of that parity is complete (`try_wait` in its loop; with a state operand, the parity of its phase).
//! - an asynchronous copy is an [`SharedAccess`] with a [`Completion`]: it starts when its thread gets there, is no more in program
//!   order with what follows, and is over: for [`Completion::Group`] when its thread waits for its group; for
//!   [`Completion::Mbarrier`] when the phase completes into which its bytes are counted. A copy from global memory is a
//!   write; one to global memory a read; one from shared memory to shared memory is both, of which the write alone counts bytes.
//!   A copy to several CTAs is a write for each.
//! - `commit_group`, `wait_group(n)`: `cp.async` or bulk groups of each thread; the wait blocks for all but the `n` latest. Those of
//!   `wgmma` are a warpgroup's: the wait blocks until each of its four warps has committed as many, and the reads of all of them are over.
//! - `cp_async_arrive`: `cp.async.mbarrier.arrive`: an arrival once all the thread's earlier `cp.async` are over.
//! - `proxy_fence`: `fence.proxy.async`: makes generic accesses that happen before it visible to asynchronous copies after it, and so does
//!   `fence.mbarrier_init` with `mbarrier.init`s.

mod access;
mod alike;
mod command;
mod condition;
mod error;
mod figures;
mod packed;
mod packing;
mod possible;
mod programs;
mod shape;
mod signal;
#[cfg(test)]
mod tests;

pub use access::{
    Completion, GroupKind, SharedAccess, SharedAccessKind, SharedAddresses, SharedStrength, WrittenValues,
};
pub use command::{Command, CommandAction, Count, Fenced};
pub use condition::{AccessCondition, Literal};
pub use error::ProgramError;
pub(crate) use packed::{Opcode, Packed};
pub use programs::{WarpProgram, WarpPrograms};
pub use shape::{LANES, MAX_THREADS, NAMED_BARRIERS, ProgramShape, RANK_SHIFT};
pub use signal::{Signal, Signalled};
