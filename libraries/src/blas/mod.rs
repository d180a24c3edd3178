//! The arithmetic of the Basic Linear Algebra Subprograms, on matrices in the host's memory.
//!
//! Source: the reference BLAS (Lawson et al. 1979; Dongarra et al. 1988 and 1990) in its definitions, not its
//! order of operations. Matrices here are dense and stand column by column, as BLAS has them, without gaps: whoever calls brings
//! them from the device and back ([`crate::cublas`]).

pub mod matrix;
pub mod product;
pub mod scalar;
pub mod triangle;
pub mod vector;
