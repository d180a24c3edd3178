//! Vectors and matrices in device memory: read into what the arithmetic takes, and written back. What BLAS says is not
//! referenced, is neither read nor written here: the other half of a triangle, gaps between columns and values.

use super::call::Call;
use super::number::{self, Int};
use super::status::{Outcome, Status};
use crate::blas::matrix::{Half, Matrix};
use crate::blas::scalar::Scalar;
use crate::driver;
use crate::work::{Memory, Plain};

/// A vector: where it starts, how many values, and its increment, below 0 for one that starts at its end.
#[derive(Clone, Copy, Debug)]
pub struct Vector {
    address: u64,
    n: usize,
    increment: i64,
}

impl Vector {
    /// One that is only read.
    pub fn new<I: Int>(address: u64, n: usize, increment: I) -> Vector {
        Vector { address, n, increment: increment.wide() }
    }

    /// One that is written.
    ///
    /// # Errors
    /// `CUBLAS_STATUS_NOT_SUPPORTED` for an increment of 0, where there is more than one value.
    pub fn written<I: Int>(call: &Call<'_>, address: u64, n: usize, increment: I) -> Outcome<Vector> {
        if increment.wide() == 0 && n > 1 {
            return Err(call.unsupported("a result with an increment of 0"));
        }
        Ok(Vector::new(address, n, increment))
    }

    /// One of levels 2 and 3, where an increment of 0 is forbidden.
    ///
    /// # Errors
    /// `CUBLAS_STATUS_INVALID_VALUE` for one.
    pub fn strict<I: Int>(address: u64, n: usize, increment: I) -> Outcome<Vector> {
        if increment.wide() == 0 {
            Err(Status::INVALID_VALUE)
        } else {
            Ok(Vector::new(address, n, increment))
        }
    }

    /// Its values.
    ///
    /// # Errors
    /// As [`Memory::rows`].
    pub fn read<T: Plain>(&self, memory: &Memory<'_>) -> driver::Outcome<Vec<T>> {
        if self.n == 0 {
            return Ok(Vec::new());
        }
        let mut values = match self.increment.unsigned_abs() {
            0 => vec![memory.one(self.address)?; self.n],
            step => memory.rows(self.address, 1, self.n, step as usize)?,
        };
        if self.increment < 0 {
            values.reverse();
        }
        Ok(values)
    }

    /// Writes as many values.
    ///
    /// # Errors
    /// As [`Memory::rows`].
    pub fn write<T: Plain>(&self, memory: &Memory<'_>, mut values: Vec<T>) -> driver::Outcome {
        if self.increment < 0 {
            values.reverse();
        }
        memory.write_rows(self.address, &values, 1, self.increment.unsigned_abs().max(1) as usize)
    }
}

/// A matrix: where it starts, its extent, and the distance from column to column.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    address: u64,
    rows: usize,
    columns: usize,
    leading: usize,
}

impl Place {
    /// One with a leading dimension as the program gives it.
    ///
    /// # Errors
    /// `CUBLAS_STATUS_INVALID_VALUE` for one below the rows.
    pub fn new<I: Int>(address: u64, rows: usize, columns: usize, leading: I) -> Outcome<Place> {
        Ok(Place { address, rows, columns, leading: number::leading(leading, rows)? })
    }

    /// The same with another address, of a batch.
    pub fn moved(self, address: u64) -> Place {
        Place { address, ..self }
    }

    /// Where it starts.
    pub fn address(self) -> u64 {
        self.address
    }

    /// Whether it has no values.
    pub fn is_empty(self) -> bool {
        self.rows == 0 || self.columns == 0
    }

    /// Whether the other one is the very same.
    pub fn same(self, other: Place) -> bool {
        self.address == other.address && self.leading == other.leading
    }

    /// Zeroes of its extent.
    pub fn blank<T: Scalar>(self) -> Matrix<T> {
        Matrix::zero(self.rows, self.columns)
    }

    /// Its values.
    ///
    /// # Errors
    /// As [`Memory::rows`].
    pub fn read<T: Plain>(&self, memory: &Memory<'_>) -> driver::Outcome<Matrix<T>> {
        let data = memory.rows(self.address, self.rows, self.columns, self.leading)?;
        Ok(Matrix { rows: self.rows, columns: self.columns, data })
    }

    /// Writes it.
    ///
    /// # Errors
    /// As [`Memory::rows`].
    pub fn write<T: Plain>(&self, memory: &Memory<'_>, matrix: &Matrix<T>) -> driver::Outcome {
        memory.write_rows(self.address, &matrix.data, self.rows, self.leading)
    }

    fn of_column<T>(&self, row: usize, column: usize) -> u64 {
        let place = (column as u64).wrapping_mul(self.leading as u64).wrapping_add(row as u64);
        self.address.wrapping_add(place.wrapping_mul(size_of::<T>() as u64))
    }

    /// One half of it; zeroes in the other. With `ones` the diagonal is of ones, whatever is there.
    ///
    /// # Errors
    /// As [`Memory::rows`].
    pub fn read_half<T: Scalar>(
        &self,
        memory: &Memory<'_>,
        half: Half,
        ones: bool,
    ) -> driver::Outcome<Matrix<T>> {
        let mut matrix = Matrix::zero(self.rows, self.columns);
        for column in 0..self.columns {
            let mut rows = half.rows(column, self.rows);
            if ones {
                *matrix.at_mut(column, column) = T::one();
                rows = if half == Half::Lower { rows.start + 1..rows.end } else { rows.start..rows.end - 1 };
            }
            let values = memory.read(self.of_column::<T>(rows.start, column), rows.len())?;
            matrix.column_mut(column)[rows].copy_from_slice(&values);
        }
        Ok(matrix)
    }

    /// Writes one half of it.
    ///
    /// # Errors
    /// As [`Memory::rows`].
    pub fn write_half<T: Scalar>(
        &self,
        memory: &Memory<'_>,
        half: Half,
        matrix: &Matrix<T>,
    ) -> driver::Outcome {
        for column in 0..self.columns {
            let rows = half.rows(column, self.rows);
            memory.write(self.of_column::<T>(rows.start, column), &matrix.column(column)[rows])?;
        }
        Ok(())
    }
}
