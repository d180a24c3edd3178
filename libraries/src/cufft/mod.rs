//! cuFFT (NVIDIA, "cuFFT", CUDA 13.0): plans of one to three dimensions, of single and double precision, complex and real, in
//! batches and with the advanced layout; not normalised, as documented. Types may be said as those of data (`cufftXtMakePlanMany`).
//!
//! No plan needs a work area: sizes are told as 0. The transforms are in [`crate::fft`]. **Departure.** Results of single precision
//! are computed in double and rounded once.

mod exec;
mod layout;
mod plan;
mod status;
mod xt;

use bugaroo_cuda_abi::Functions;

/// Every function, subject by subject.
pub static FUNCTIONS: &[Functions] = &[exec::FUNCTIONS, plan::FUNCTIONS, xt::FUNCTIONS];
