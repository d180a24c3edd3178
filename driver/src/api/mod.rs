//! The Driver API, a file per subject: arguments are checked, the device is called, and errors are what `cuda.h` calls them.
//!
//! An exported name ([`exports`]) is a function in the file of its subject, which begins in [`entry`]: there panics are caught and the
//! lock is taken. Calls that wait let work go on in [`wait`].

pub mod advice;
pub mod array;
pub mod capture;
pub mod cluster;
pub(crate) mod console;
pub mod context;
pub mod copy;
pub mod copy2d;
pub mod copy3d;
pub mod copy_array;
pub mod copy_batch;
pub(crate) mod current;
pub mod device;
pub mod door;
pub(crate) mod entry;
pub mod error;
pub mod event;
pub mod exports;
pub mod fill;
pub(crate) mod foreign_runtime;
pub mod function;
pub mod graph;
pub mod green;
pub mod host;
pub mod init;
pub mod launch;
pub mod legacy_launch;
pub mod library;
pub mod link;
pub mod memop;
pub mod memory;
pub mod mipmap;
pub mod missing;
pub mod module;
pub mod notices;
pub mod occupancy;
pub mod peer;
pub mod pointer;
pub(crate) mod polled;
pub mod pool;
pub mod primary;
pub mod procaddr;
pub mod profiler;
pub(crate) mod settle;
pub mod stream;
pub mod stream_attributes;
pub(crate) mod submit;
pub(crate) mod synchronising;
pub mod tensor_map;
pub mod texture;
pub(crate) mod transfer;
pub mod virtual_memory;
pub(crate) mod wait;
