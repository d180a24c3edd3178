//! What the device consists of: objects that the program made, work, and the queue of it.
//!
//! Nothing here knows the whole ([`crate::device::state`]): what takes more than one of them to do stands above.

pub(crate) mod advice;
pub(crate) mod array;
pub(crate) mod capture;
pub(crate) mod clock;
pub(crate) mod cluster;
pub(crate) mod context;
pub(crate) mod event;
pub(crate) mod fill;
pub(crate) mod function;
pub(crate) mod graph;
pub(crate) mod green;
pub(crate) mod legacy_launch;
pub(crate) mod library;
pub(crate) mod library_work;
pub(crate) mod memory;
pub(crate) mod mipmap;
pub(crate) mod module;
pub(crate) mod notices;
pub(crate) mod occupancy;
pub(crate) mod parts;
pub(crate) mod pool;
pub(crate) mod primary;
pub(crate) mod queue;
pub(crate) mod stream;
pub(crate) mod stream_attributes;
pub(crate) mod texture;
pub(crate) mod transfer;
pub(crate) mod virtual_memory;
pub(crate) mod work;
