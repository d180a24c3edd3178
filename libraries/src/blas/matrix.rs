//! Dense matrices, column by column, and what BLAS says of how they are to be taken.

use super::scalar::Scalar;

/// How a matrix is to be taken (`cublasOperation_t`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// As it is.
    None,
    /// Transposed.
    Transpose,
    /// Transposed and conjugated.
    Adjoint,
}

impl Op {
    /// Whether rows and columns change places.
    pub fn swaps(self) -> bool {
        self != Op::None
    }
}

/// Which half of a matrix is meant (`cublasFillMode_t`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    /// Below the diagonal, and the diagonal.
    Lower,
    /// Above it, and the diagonal.
    Upper,
}

impl Half {
    /// The rows of a column that belong to it, of `n`.
    pub fn rows(self, column: usize, n: usize) -> std::ops::Range<usize> {
        match self {
            Half::Lower => column..n,
            Half::Upper => 0..column + 1,
        }
    }

    /// The other one.
    pub fn other(self) -> Half {
        if self == Half::Lower { Half::Upper } else { Half::Lower }
    }
}

/// A matrix without gaps.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix<T> {
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub columns: usize,
    /// The values, column by column.
    pub data: Vec<T>,
}

impl<T: Scalar> Matrix<T> {
    /// Of zeroes.
    pub fn zero(rows: usize, columns: usize) -> Self {
        Matrix { rows, columns, data: vec![T::zero(); rows * columns] }
    }

    /// The value of a row and a column.
    pub fn at(&self, row: usize, column: usize) -> T {
        self.data[column * self.rows + row]
    }

    /// The place for it.
    pub fn at_mut(&mut self, row: usize, column: usize) -> &mut T {
        &mut self.data[column * self.rows + row]
    }

    /// A column.
    pub fn column(&self, column: usize) -> &[T] {
        &self.data[column * self.rows..][..self.rows]
    }

    /// A column.
    pub fn column_mut(&mut self, column: usize) -> &mut [T] {
        &mut self.data[column * self.rows..][..self.rows]
    }

    /// As it is to be taken.
    pub fn taken(self, op: Op) -> Self {
        match op {
            Op::None => self,
            Op::Transpose => self.transposed(),
            Op::Adjoint => {
                let mut turned = self.transposed();
                turned.data.iter_mut().for_each(|value| *value = value.conj());
                turned
            }
        }
    }

    /// With rows and columns in each other's place.
    pub fn transposed(&self) -> Self {
        let mut turned = Matrix::zero(self.columns, self.rows);
        for column in 0..self.columns {
            for (row, value) in self.column(column).iter().enumerate() {
                turned.data[row * self.columns + column] = *value;
            }
        }
        turned
    }

    /// Fills the other half in from this one: a symmetric matrix, or a Hermitian one, whose diagonal is real.
    pub fn mirrored(mut self, half: Half, hermitian: bool) -> Self {
        for column in 0..self.columns {
            for row in half.rows(column, self.rows) {
                let value = self.at(row, column);
                let other = if hermitian { value.conj() } else { value };
                if row != column {
                    *self.at_mut(column, row) = other;
                } else if hermitian {
                    *self.at_mut(row, row) = T::real(value.re());
                }
            }
        }
        self
    }
}
