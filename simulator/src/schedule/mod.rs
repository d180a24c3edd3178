//! Who runs next: the scheduler is a trait apart from the engine, in the manner of Shuttle.
//!
//! The engine asks at scheduling points only. A turn lasts for a number of *visible operations* (accesses to
//! global and shared memory, atomics, fences, barriers) and ends early when the warp can go no further, or
//! when its operation made other warps runnable. What a warp does between two visible operations no other
//! warp can see, so nothing is lost by not switching there.

mod pct;
mod random;
mod rng;
mod strategy;
#[cfg(test)]
mod tests;

pub use pct::PctScheduler;
pub use random::RandomScheduler;
pub use rng::Rng;
pub use strategy::{Candidate, SchedulerStrategy, Turn};
