//! Searches over trials: which fences a program lacks, which it could do without, and which could be
//! narrower.
//!
//! Source: Islam and Muzahid, "Bugaroo: Exposing Memory Model Bugs in Many-core Systems", section
//! III.D. Each module says where it departs from it.
//!
//! Bottom up: [`trials`] is what can run trials, [`memo`] and [`journal`] remember them; [`rates`] says
//! how many a conclusion takes, [`bench`] asks questions; [`places`] are what a fence can be written at;
//! [`narrow`], [`locate`] and [`round`] find one missing fence, [`polish`] examines an answer,
//! [`redundant`], [`scope`] and [`models`] look at the fences there are then; [`search`] is all of it, and [`session`]
//! that on the harness.

pub mod bench;
pub mod journal;
pub mod locate;
pub mod memo;
pub mod models;
pub mod narrow;
pub mod places;
pub mod polish;
pub mod rates;
pub mod redundant;
pub mod report;
pub mod round;
pub mod scope;
pub mod search;
pub mod session;
pub mod source;
pub mod trials;

pub use report::{FenceNeed, Missing, Needed, OwnFence, Redundant, Report, ScopeAdvice, Step};
pub use session::{Order, Searched, search_program};
pub use source::SourceText;

#[cfg(test)]
mod model;
