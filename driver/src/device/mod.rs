//! The virtual device: contexts, memory, arrays, modules, streams, events, the order of work, graphs, and launches.
//!
//! It knows no function of C that a program calls. What a trial wants of it stands in [`told`].

pub(crate) mod act;
pub(crate) mod advice;
pub(crate) mod array;
pub(crate) mod attributes;
pub(crate) mod capture;
pub(crate) mod children;
pub(crate) mod clear;
pub(crate) mod cluster;
pub(crate) mod event;
pub(crate) mod execute;
pub(crate) mod fill;
pub(crate) mod function;
pub mod graph;
pub(crate) mod host;
pub(crate) mod launch;
pub(crate) mod library_work;
pub(crate) mod memory;
pub(crate) mod mipmap;
pub(crate) mod module;
pub(crate) mod objects;
pub(crate) mod occupancy;
pub(crate) mod pool;
pub(crate) mod primary;
pub(crate) mod pump;
pub(crate) mod queue;
pub(crate) mod several;
pub(crate) mod state;
pub(crate) mod submit;
pub(crate) mod texture;
pub mod told;
pub(crate) mod transfer;
