//! What an instruction means for memory, said once: who threads are, where bytes are, how far an operation reaches and when two
//! are morally strong, what happens in an execution ([`event`]), what threads know of each other ([`clocks`]), and what is left to know of a
//! location's accesses ([`history`]).

pub mod clocks;
mod covered;
pub mod effect;
pub mod event;
pub mod history;
pub mod inferred;
mod led;
pub mod location;
mod observer;
mod overwritten;
pub mod parts;
pub mod scope;
pub mod splitmix;
mod steps;

pub use observer::{Both, Observer, Spares, Wants};
