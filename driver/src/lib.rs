//! `libcuda.so.1`: the CUDA Driver API over the virtual GPU.
//!
//! A program that is linked or loaded against the driver finds this library in its place and runs its
//! kernels on the simulator, in its own process. With a trial's orders in the environment
//! ([`bugaroo_protocol::Orders`]) modules are instrumented on the way and everything is reported; without, it is a plain
//! virtual GPU.
//!
//! The functions bear the names of CUDA 13.0's `cuda.h` and do what its documentation says, errors
//! included; each module's head tells where it departs. What is missing altogether is exported too
//! ([`missing`]): it says its name and answers `CUDA_ERROR_NOT_SUPPORTED`. No panic crosses the C boundary ([`panics`]).

#![allow(non_snake_case, non_camel_case_types, reason = "cuda.h's own names")]
#![allow(rustdoc::private_intra_doc_links, reason = "the documentation is for those who work on it")]

pub mod advice;
pub mod array;
mod attributes;
mod blocked;
mod cache;
pub mod capture;
mod children;
mod clock;
pub mod cluster;
mod conflicts;
mod console;
pub mod context;
pub mod copy;
pub mod copy2d;
pub mod copy3d;
pub mod copy_array;
pub mod copy_batch;
mod coverage;
mod current;
mod delays;
pub mod device;
mod diagnosis;
mod digest;
pub mod door;
mod ends;
mod entry;
pub mod error;
pub mod event;
mod execute;
pub mod exports;
pub mod fatbin;
mod feeds;
pub mod fill;
mod foreign_runtime;
mod fork_server;
pub mod forward;
pub mod function;
pub mod graph;
pub mod green;
mod handles;
pub mod hirace;
pub mod host;
mod host_pages;
mod host_watch;
mod image;
pub mod init;
mod injection;
mod jit;
pub mod launch;
pub mod legacy_launch;
pub mod library;
mod library_work;
pub mod link;
pub mod linker;
pub mod logging;
pub mod looking;
pub mod memop;
pub mod memory;
pub mod mipmap;
pub mod missing;
pub mod module;
mod names;
mod native;
pub mod notices;
mod nvjitlink;
pub mod occupancy;
mod origins;
mod own_process;
mod own_writes;
mod panics;
mod pause;
pub mod peer;
pub mod pointer;
mod polled;
pub mod pool;
pub mod primary;
pub mod procaddr;
pub mod profiler;
mod progress;
mod pump;
mod queue;
mod race;
mod recorded;
mod report;
pub mod scord;
mod seeds;
mod site_flags;
mod state;
pub mod stream;
pub mod stream_attributes;
mod submit;
pub mod tensor_map;
pub mod texture;
mod transfer;
pub mod virtual_memory;
mod wanted;
mod work;

pub use error::Status;
pub use race::look_with;
