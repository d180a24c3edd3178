//! cuRAND's host interface (NVIDIA, "cuRAND", CUDA 13.0): XORWOW, MRG32k3a, Philox4x32-10 and Sobol's sequences, into device memory or the
//! host's, in the documented orders; 32 and 64 bits, uniform, normal and log-normal numbers.
//!
//! A generator's state is the device's, as it is there: it moves on when the work's turn comes. Two streams that use one
//! generator without being ordered get its numbers in either order. The numbers are in [`crate::random`].
//!
//! What is not there says so: scrambled quasirandom generators, MTGP32, MT19937, Poisson's distribution, seeded and dynamic ordering.

mod directions;
mod generate;
mod generator;
mod status;

use bugaroo_cuda_abi::Functions;

/// Every function, subject by subject.
pub static FUNCTIONS: &[Functions] = &[directions::FUNCTIONS, generate::FUNCTIONS, generator::FUNCTIONS];
