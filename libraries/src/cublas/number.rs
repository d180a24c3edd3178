//! Counts of 32 or 64 bits, and the enumerations of `cublas_api.h`, checked.

use std::ffi::c_int;

use super::status::{Outcome, Status};
use crate::blas::matrix::{Half, Op};

/// A count or an increment.
pub trait Int: Copy + Send + 'static {
    /// In 64 bits.
    fn wide(self) -> i64;
    /// Of a size, as far as it has room.
    fn of(size: usize) -> Self;
}

impl Int for c_int {
    fn wide(self) -> i64 {
        i64::from(self)
    }
    fn of(size: usize) -> Self {
        c_int::try_from(size).unwrap_or(c_int::MAX)
    }
}

impl Int for i64 {
    fn wide(self) -> i64 {
        self
    }
    fn of(size: usize) -> Self {
        i64::try_from(size).unwrap_or(i64::MAX)
    }
}

/// A count.
///
/// # Errors
/// `CUBLAS_STATUS_INVALID_VALUE` below 0.
pub fn count(value: impl Int) -> Outcome<usize> {
    usize::try_from(value.wide()).map_err(|_| Status::INVALID_VALUE)
}

/// The distance from column to column of a matrix with so many rows.
///
/// # Errors
/// `CUBLAS_STATUS_INVALID_VALUE` below those and below 1.
pub fn leading(value: impl Int, rows: usize) -> Outcome<usize> {
    let value = count(value)?;
    if value < rows.max(1) { Err(Status::INVALID_VALUE) } else { Ok(value) }
}

/// A distance in values between matrices of a batch. Any sign is allowed.
pub fn distance(value: i64) -> u64 {
    value as u64
}

/// `cublasOperation_t`
///
/// # Errors
/// `CUBLAS_STATUS_INVALID_VALUE` for what is none of the three.
pub fn op(value: c_int) -> Outcome<Op> {
    match value {
        0 => Ok(Op::None),
        1 => Ok(Op::Transpose),
        2 => Ok(Op::Adjoint),
        _ => Err(Status::INVALID_VALUE),
    }
}

/// `cublasFillMode_t`
///
/// # Errors
/// `CUBLAS_STATUS_INVALID_VALUE` for what is neither half.
pub fn half(value: c_int) -> Outcome<Half> {
    match value {
        0 => Ok(Half::Lower),
        1 => Ok(Half::Upper),
        _ => Err(Status::INVALID_VALUE),
    }
}

/// `cublasDiagType_t` or `cublasSideMode_t`: whether it is the second.
///
/// # Errors
/// `CUBLAS_STATUS_INVALID_VALUE` for what is neither.
pub fn second(value: c_int) -> Outcome<bool> {
    match value {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(Status::INVALID_VALUE),
    }
}
