//! From PTX to thread programs: runs a CTA whose thread ids are known and whose inputs are not, and writes down what its threads do to
//! barriers and shared memory.
//!
//! Source: PLDI 2015 section 5.1. The decoded program and the arithmetic are the simulator's; every value is known or not, lane by lane,
//! and nothing is ever guessed. Values are followed through registers, calls, local and shared memory, shuffles and votes. What comes
//! from the kernel's parameters, from global memory, from atomics or clocks is not known. Both arms of a branch on it are run and joined
//! ([`arms`]). An access of shared memory whose address depends on it may be anywhere in its variable ([`somewhere`]). Where a barrier depends
//! on it, the kernel is refused, with the instruction and the place that the unknown value came from ([`Refusal`]).
//!
//! # Where to begin
//! [`input`] takes the text and the launch. [`step`] is the walk: a warp's turn, instruction by instruction, and most other files do one kind of
//! instruction each. What they all change is the [`machine`]; what that holds of threads and barriers stands in [`held`].
//!
//! # Why one order of execution is enough
//! Warps run in turn, each until it waits. Control flow depends on known values only; of those, the ones that went through shared
//! memory could depend on the order of threads. Say the checker finds the thread programs of this one execution well synchronised and
//! free of races. Take any other execution, and the first read in it whose value differs. Up to there all threads have followed
//! the same programs, so happens-before is the same; without races the latest write that happens before the read is the only one that
//! it can see, and it is the same as here. So no read differs, all executions have these thread programs, and the verdict holds for all. If the
//! checker finds a race, the race is one of this execution: a real one, but there may be others. Atomics are ordered by
//! chance without being races, so their results, and what they leave in memory, are never known, but for sums ([`counter`]). So are morally strong accesses (volatile or
//! relaxed ones that meet in full and in scope): which of them the checker finds unordered is open in the next emulation, until nothing
//! new is found ([`crate::findings::verify`]).
//!
//! Votes, shuffles and the like (`.sync`) make lanes wait for each other, but order no memory. Beside waits at mbarriers they are commands
//! that order time alone ([`collective`]); elsewhere they are none, and the checker may take more orders into account than there are. `bar.warp.sync` is a command. Tests of mbarriers are waits:
//! [`polling`].
//!
//! # What it can miss
//! Addresses and values are those of one CTA of one grid (`--cta`, `--grid`), or of any of it ([`KernelOptions::any_cta`]), and of the
//! parameters given. A pointer that comes from
//! the kernel's parameters or global memory is taken not to point into the CTA's own shared memory, unless the kernel has stored such a
//! pointer where it is not followed. See [`constants`], [`matrix`] and [`tensor`] for smaller liberties.

mod alike;
mod arithmetic;
mod arms;
mod asynchronous;
mod barrier;
mod beyond;
mod call;
mod case;
mod collective;
mod constants;
mod counter;
mod data;
mod descriptor;
mod doubt;
mod emulation;
mod extent;
mod fence;
mod flow;
mod grid;
mod held;
mod input;
mod join;
mod leave;
mod local;
mod machine;
mod making;
mod matrix;
mod mbarrier;
mod memory;
mod objects;
mod options;
mod params;
mod polling;
mod possible;
mod refusal;
mod registers;
mod residue;
mod returns;
mod rounds;
mod shape;
mod shared;
mod signal;
mod somewhere;
mod span;
mod states;
mod step;
mod strength;
mod symbol;
mod tensor;
mod tensor_bytes;
mod text;
mod together;
mod unread;
mod warpgroup;

pub use case::{AssumedCase, Early};
pub use emulation::{Emulation, Stuck};
pub use input::KernelText;
pub use options::{DEFAULT_MAX_STEPS, KernelOptions};
pub use refusal::{Cause, Refusal, RefusalKind};
pub use rounds::seen::Induction;
