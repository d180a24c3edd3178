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
//! - [`device`]: what they work on. Above, what needs more than one kind of object; below, in `device/objects/`, each kind by itself.
//! - [`trial`]: orders, injection, the fork server, what looks on, and the report, as far as they need no device.
//! - [`images`]: what a program loads, up to the PTX in it.
//! - Files of the crate itself: statuses, handles, digests, and what is the process's.
//!
//! The functions bear the names of CUDA 13.0's `cuda.h` and do what its documentation says, errors
//! included; each module's head tells where it departs. What is missing altogether is exported too
//! ([`api::missing`]): it says its name and answers `CUDA_ERROR_NOT_SUPPORTED`. No panic crosses the C boundary ([`trial::panics`]).

#![allow(non_snake_case, non_camel_case_types, reason = "cuda.h's own names")]
#![allow(rustdoc::private_intra_doc_links, reason = "the documentation is for those who work on it")]

pub mod api;
pub mod device;
pub(crate) mod devices;
pub(crate) mod digest;
pub(crate) mod error;
pub mod forward;
pub(crate) mod handles;
pub mod images;
pub(crate) mod lane;
pub(crate) mod names;
pub(crate) mod own_process;
pub(crate) mod own_writes;
pub(crate) mod places;
pub(crate) mod seeds;
pub mod trial;

pub use error::Status;
pub use trial::race::look_with;
