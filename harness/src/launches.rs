//! A program's launches as they are, each kernel of which is then verified: all of `bugaroo verify APP`.
//!
//! [`record`] runs the program once on the virtual GPU, whose driver tells of every launch what it is. [`verify`] says of
//! them what [`bugaroo_barriers`] proves, in as few verifications as will do ([`settle`]).

mod blocks;
pub(crate) mod collected;
mod common;
mod run;
mod settle;
mod told;
mod verify;

pub use collected::{Collected, Seen};
pub use run::{Recording, record};
pub use told::{Blocks, LeftOut, Row, VerifyWanted};
pub use verify::{Verified, verify};

#[cfg(test)]
mod tests;
