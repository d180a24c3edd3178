//! What was found, in words: the same on a terminal, in logs and in reports.

pub mod failure;
pub mod memory;
pub mod race;
pub mod shell;
