//! What stands for NVIDIA's libraries of functions on the virtual GPU.
//!
//! NVIDIA's own hand machine code to the driver, which the virtual GPU does not run. Here the CPU computes, by the
//! documentation of each library; what a call asks for is one piece of work of its stream ([`work`]), so that it comes
//! after what the stream holds before it and before what comes later, and after nothing else: a synchronisation that the program
//! forgets shows as it does beside a kernel.
//!
//! - [`cublas`]: cuBLAS, over the arithmetic in [`blas`], which knows nothing of devices.
//! - [`cufft`]: cuFFT, over that in [`fft`].
//! - [`curand`]: cuRAND's host interface, over the generators in [`random`].
//!
//! Programs load small libraries with the names and versions of NVIDIA's (`runtime/shims`), which jump in here by name
//! ([`exports`]). A name that is missing says so and answers that it is not supported.
//!
//! **Departures.** Results are those of another order of operations, and mostly more exact: sums of 32-bit numbers are
//! kept in 64 bits, products of 16-bit ones in 32. The same call gives the same bits in every run. A host whose CPU has other vector
//! instructions may round products of matrices differently.

#![allow(rustdoc::private_intra_doc_links, reason = "the documentation is for those who work on it")]

mod blas;
mod cublas;
mod cufft;
mod curand;
mod driver;
pub mod exports;
mod fft;
mod random;
mod unsupported;
mod work;
