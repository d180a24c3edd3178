//! What threads know of each other: views, and what a release hands over. The `ptx` machine and the detectors share them.

pub mod release;
pub mod shared_map;
mod view;

pub use view::{View, WriterSet, joined};
