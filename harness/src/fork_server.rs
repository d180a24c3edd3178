//! The harness's side of the fork server: the program is started once, comes to its first kernel, and each
//! trial is a fork of it from there (see [`bugaroo_protocol::ForkServer`]; the other side is in the driver).
//!
//! What a trial's process had said before its first kernel began, the server has said: its outputs and its report up
//! to there are put before those of every trial. All else is the same as with a process each: three pipes, a
//! process group that is killed at the end, a time limit.
//!
//! Where the program must not be forked, it goes on to its end as the process that it is, which is no trial.

mod keeper;
mod served;
mod server;
mod socket;
mod start;

pub use keeper::ForkServerUse;
pub(crate) use keeper::{Keeper, Keepers};
pub(crate) use server::{ForkServer, NotDone};
pub(crate) use start::{Start, start, wanted};

#[cfg(test)]
mod tests;
