//! Named barriers, verified: is a kernel free of barrier deadlock, of unsafe barrier recycling and of races in shared memory,
//! in every execution?
//!
//! Source: Sharma, Bauer, Aiken, "Verification of Producer-Consumer Synchronization in GPU Programs", PLDI 2015 (WEFT).
//! A CTA's threads are straight-line programs ([`program`]) that an emulator of PTX writes; the checker reads them.

mod chains;
mod check;
pub mod emulate;
mod explain;
pub mod findings;
pub mod graph;
mod lifetime;
mod machine;
pub mod program;
mod races;
pub mod verdict;

pub use check::{check, racing_pairs};
pub use program::{ProgramError, ProgramShape, WarpPrograms};
pub use races::pairs::ThreadAccess;
pub use verdict::{BarrierReport, Verdict};
