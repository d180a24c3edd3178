//! What the device consists of: objects that the program made, work, and the queue of it.
//!
//! Nothing here knows the whole ([`crate::state`]): what takes more than one of them to do stands above.

pub mod advice;
pub mod array;
pub mod capture;
pub mod clock;
pub mod cluster;
pub mod context;
pub mod event;
pub mod fill;
pub mod function;
pub mod graph;
pub mod green;
pub mod interprocess;
pub mod known;
pub mod legacy_launch;
pub mod library;
pub mod library_work;
pub mod memory;
pub mod mipmap;
pub mod module;
pub mod notices;
pub mod occupancy;
pub mod parts;
pub mod pool;
pub mod primary;
pub mod queue;
pub mod stream;
pub mod stream_attributes;
pub mod texture;
pub mod transfer;
pub mod virtual_memory;
pub mod work;
