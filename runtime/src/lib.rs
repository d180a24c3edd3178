//! The CUDA Runtime API (`libcudart`) over Bugaroo's `libcuda.so.1`, for programs that nvcc built.
//!
//! Nothing is executed here: every function is put together from calls of the Driver API, which is
//! found in the process by name ([`driver`]), so that a program that uses both APIs sees one device. The functions
//! bear the names of CUDA 13.0's `cuda_runtime_api.h` and do what its documentation says, errors
//! included. No panic crosses the C boundary.

#![allow(non_snake_case, non_camel_case_types, reason = "cuda_runtime_api.h's own names")]
#![allow(rustdoc::private_intra_doc_links, reason = "the documentation is for those who work on it")]

pub mod api;
pub mod array;
pub mod capture;
pub mod configuration;
pub mod context;
pub mod copy;
pub mod copy3d;
pub mod copy_node;
pub mod device;
pub mod driver;
pub mod entry;
pub mod error;
pub mod errors;
pub mod exports;
pub mod function;
pub mod graph;
pub mod interprocess;
pub mod launch;
pub mod library;
pub mod list;
pub mod managed;
pub mod memory;
pub mod memset;
pub mod node;
pub mod node_parameters;
mod notices;
pub mod pointer;
pub mod pool;
pub mod properties;
pub mod registration;
pub mod stream;
pub mod subjects;
pub mod surface;
pub mod texture;
pub mod told;
pub mod types;
pub mod version;
pub mod version12;
mod wanted;

pub use error::{RuntimeError, RuntimeResult};
