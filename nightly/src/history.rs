//! Results that last: nights in a database, SQLite by default and PostgreSQL by URL, with one schema for both.
//!
//! [`store`] opens it, [`rows`] is what is written, [`write`] writes: each step whole or not at all, and the same step twice is
//! once. [`night`] makes a [`crate::night::Night`] of what is there, [`judge`] says what of it is news.

pub mod error;
pub mod judge;
mod night;
mod past;
pub mod resume;
pub mod rows;
pub mod store;
mod write;

pub use error::StoreError;
pub use past::{CellPast, Night as PastNight};
pub use rows::{Batch, Example, Key, NightRow, ProgramFacts, Sighting, Tally, TrialRow};
pub use store::Store;
