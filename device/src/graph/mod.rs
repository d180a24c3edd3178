//! Graphs, as the device runs them: conditions, executable graphs, their memory, and graphs as text.

pub mod condition;
pub mod dot;
pub mod exec;
pub mod memory;
pub mod update;
pub mod user_object;
