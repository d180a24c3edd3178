//! Nightly stress jobs: many programs, night after night, and what is new in the morning.
//!
//! Bottom up: [`plan`] is what is to be done, [`night`] what a night came to, the stuff of all reports. [`finding`] is what a trial
//! has found, [`hides`] what a passing one hides, [`study`] what is done besides trials. [`history`] keeps results in a database and says what of them is news;
//! [`runs`] makes run directories of them, for replays. [`shard`] is a part of a night, [`merge`] puts parts together, [`work`]
//! runs one here, and [`executors`] elsewhere. [`begin`] begins a night or goes on with one.
//! [`explore`] chooses trials by what those before have shown. [`settle`] says what a night comes to by its plan's expectations,
//! [`reports`] say so to others, and [`morning`] is all of that.

pub mod begin;
pub mod executors;
pub mod explore;
pub mod finding;
pub mod hides;
pub mod history;
pub mod merge;
pub mod morning;
pub mod night;
pub mod plan;
pub mod reports;
pub mod runs;
pub mod settle;
pub mod shard;
pub mod study;
pub mod verified;
pub mod work;
