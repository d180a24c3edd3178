//! The virtual device: contexts, memory and pools, arrays, modules, streams, events, the order of work, graphs, and launches; what a
//! program loads; and what a trial wants of all that.
//!
//! No function of C that a program calls is here: those are the driver's, which check arguments, call the device and give a status.
//! What goes wrong is a [`Status`], CUDA's own.
//!
//! Imports go only down this list, and no file imports another one in a circle:
//! - The device: files beside this one for what needs more than one kind of object, [`graph`], and [`told`], which says what of the
//!   device is told to a trial. [`objects`] are below, each kind by itself, and [`state`] holds them all.
//! - [`trial`]: orders, injection, the fork server, what looks on, and the report, as far as they need no device.
//! - [`images`]: what a program loads, up to the PTX in it.
//! - [`error`], [`handles`], [`digest`], [`lane`], [`names`], [`places`], [`seeds`], [`devices`]; and what is the process's:
//!   [`own_process`], [`own_writes`].

#![allow(rustdoc::private_intra_doc_links, reason = "the documentation is for those who work on it")]

pub mod act;
pub mod advice;
pub mod array;
pub mod attributes;
pub mod capture;
pub mod children;
pub mod clear;
pub mod cluster;
pub mod devices;
pub mod digest;
pub mod error;
pub mod event;
pub mod execute;
pub mod fill;
pub mod function;
pub mod graph;
pub mod handles;
pub mod host;
pub mod images;
pub mod interprocess;
pub mod lane;
pub mod launch;
pub mod library_work;
mod loading;
pub mod memory;
pub mod mipmap;
pub mod module;
pub mod names;
pub mod objects;
pub mod occupancy;
pub mod own_process;
pub mod own_writes;
pub mod peers;
pub mod places;
pub mod pool;
pub mod primary;
pub mod pump;
pub mod queue;
pub mod seeds;
pub mod several;
pub mod state;
pub mod submit;
pub mod texture;
pub mod told;
pub mod transfer;
pub mod trial;

pub use error::{CallResult, Status};
