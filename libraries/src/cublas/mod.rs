//! cuBLAS (NVIDIA, "cuBLAS", CUDA 13.0): levels 1 to 3, batches, products of mixed types, and cuBLASLt ([`lt`]).
//!
//! Functions are generic over the type of number and of counts: the names with `_64` take counts of 64 bits. Arguments are
//! checked as the documentation says; the arithmetic is in [`crate::blas`]. Scalars are read when the call is made or when its
//! turn in the stream comes, by the pointer mode. A call with a result for the host waits for its stream.
//!
//! **Departures.** A vector that is written with an increment of 0 is refused: what would stay there depends on the order of
//! threads. Math modes that allow fewer digits are accepted and not used.

mod batched;
mod call;
mod copies;
mod ex;
mod functions;
mod guard;
mod handle;
mod level1;
mod level2;
mod level3;
mod lt;
mod number;
mod operand;
mod status;
mod updates;

use bugaroo_cuda_abi::Functions;

/// Every function, subject by subject.
pub static FUNCTIONS: &[Functions] = &[
    batched::FUNCTIONS,
    copies::FUNCTIONS,
    ex::FUNCTIONS,
    handle::FUNCTIONS,
    level1::FUNCTIONS,
    level1::PLAIN,
    level2::FUNCTIONS,
    level3::FUNCTIONS,
    lt::FUNCTIONS[0],
    lt::FUNCTIONS[1],
    lt::FUNCTIONS[2],
    status::FUNCTIONS,
    updates::FUNCTIONS,
];
