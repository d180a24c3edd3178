//! `libcuda.so.1`: the CUDA Driver API over the virtual GPU.
//!
//! A program that is linked or loaded against the driver finds this library in its place and runs its
//! kernels on the simulator, in its own process. With a trial's orders in the environment
//! ([`bugaroo_protocol::Orders`]) modules are instrumented on the way and everything is reported; without, it is a plain
//! virtual GPU.
//!
//! Imports go only down this list, and no file imports another one in a circle:
//! - [`forward`]: the same library before a real GPU.
//! - [`api`]: the functions, a file per subject, and the lock that they take.
//!
//! What they work on is the device ([`bugaroo_device`]), a crate of its own without a function of C.
//!
//! The functions bear the names of CUDA 13.0's `cuda.h` and do what its documentation says, errors
//! included; each module's head tells where it departs. What is missing altogether is exported too
//! ([`api::missing`]): it says its name and answers `CUDA_ERROR_NOT_SUPPORTED`. No panic crosses the C boundary ([`bugaroo_device::trial::panics`]).

#![allow(non_snake_case, non_camel_case_types, reason = "cuda.h's own names")]
#![allow(rustdoc::private_intra_doc_links, reason = "the documentation is for those who work on it")]

pub mod api;
pub mod forward;
mod nvml;

pub use bugaroo_device::Status;
pub use bugaroo_device::trial::race::look_with;
