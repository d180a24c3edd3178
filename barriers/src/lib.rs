//! Named barriers, verified: is a kernel free of barrier deadlock, of unsafe barrier recycling and of races in shared memory,
//! in every execution?
//!
//! Source: Sharma, Bauer, Aiken, "Verification of Producer-Consumer Synchronization in GPU Programs", PLDI 2015 (WEFT).
//! A CTA's threads are straight-line programs ([`program`]) that an emulator of PTX writes; the checker reads them.

pub mod program;

pub use program::{Program, ProgramError, Shape};
