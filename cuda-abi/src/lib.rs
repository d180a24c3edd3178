//! What crosses the C boundary between the CUDA Driver API and whoever calls it, said once: the driver implements it, the runtime and
//! the libraries call it.
//!
//! - Types and layouts, a file per subject, as CUDA 13.0's `cuda.h` has them for 64-bit Linux. They bear its names; fields are
//!   spelled as Rust spells them. A test holds them against cudarc's bindings.
//! - How functions reach programs: [`twin!`] for the second names of the default stream that each thread has, [`slots!`] for names
//!   that are exported, [`FunctionAddress`] and [`fill_slots`] for names that are asked for.
//! - How the driver's functions are found: [`functions_of_driver!`].
//! - The [`door`]: what Bugaroo's driver does for Bugaroo's own libraries beside the API.

#![allow(non_camel_case_types, reason = "cuda.h's own names")]

mod arrays;
pub mod calls;
mod contexts;
mod copies;
pub mod door;
pub mod exports;
mod graphs;
mod handles;
mod launches;
mod memory;
mod named;
mod streams;
mod textures;
mod twins;

pub use arrays::*;
pub use calls::CallFailure;
pub use contexts::*;
pub use copies::*;
pub use exports::Slot;
pub use graphs::*;
pub use handles::*;
pub use launches::*;
pub use memory::*;
pub use named::{FunctionAddress, Functions, MissingAnswer, fill_slots};
pub use streams::*;
pub use textures::*;
