//! cuBLASLt (NVIDIA, "Using the cuBLASLt API", CUDA 13.0): products with an epilogue, of real numbers of 16, 32 and 64 bits.
//!
//! Handles are cuBLAS's. Descriptions are the program's own structures of opaque words, or ours; each attribute has its place in
//! them ([`description`]). There is one algorithm, which needs no workspace.
//!
//! **What is not there** says so: complex numbers and integers, 8-bit floats and their scales, orders other than column by
//! column and row by row, auxiliary outputs and gradients, vectors of factors, transformations of matrices. **Departure.** `GELU`
//! is the approximation by `tanh`, computed in the type of the sums.

mod description;
mod matmul;

use std::ffi::c_void;

use bugaroo_cuda_abi::{FunctionAddress, Functions};

use super::{handle, status};

/// Every function, subject by subject.
pub const FUNCTIONS: [Functions; 3] = [OWN, description::FUNCTIONS, matmul::FUNCTIONS];

extern "C" fn version() -> usize {
    130_000
}

extern "C" fn cudart_version() -> usize {
    13_000
}

/// Those that are cuBLAS's own.
const OWN: Functions = &[
    ("cublasLtCreate", FunctionAddress(handle::create as *const c_void)),
    ("cublasLtDestroy", FunctionAddress(handle::destroy as *const c_void)),
    ("cublasLtGetVersion", FunctionAddress(version as *const c_void)),
    ("cublasLtGetCudartVersion", FunctionAddress(cudart_version as *const c_void)),
    ("cublasLtGetProperty", FunctionAddress(handle::property as *const c_void)),
    ("cublasLtGetStatusName", FunctionAddress(status::name as *const c_void)),
    ("cublasLtGetStatusString", FunctionAddress(status::text as *const c_void)),
];
