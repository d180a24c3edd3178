//! Levels 2 and 3: triangular matrices. All cases become one: a triangle that stands to the left.

use super::matrix::{Half, Matrix, Op};
use super::scalar::Scalar;

/// A triangular matrix; where its diagonal is said to be of ones, it holds them.
#[derive(Clone, Debug)]
pub struct Triangle<T> {
    /// The matrix; the other half is not looked at.
    pub matrix: Matrix<T>,
    /// Which half it is.
    pub half: Half,
}

impl<T: Scalar> Triangle<T> {
    /// As it is to be taken.
    pub fn taken(self, op: Op) -> Self {
        let half = if op.swaps() { self.half.other() } else { self.half };
        Triangle { matrix: self.matrix.taken(op), half }
    }

    /// `b = alpha a b`
    pub fn multiply(&self, alpha: T, b: &mut Matrix<T>) {
        let n = self.matrix.rows;
        for column in 0..b.columns {
            let x = b.column_mut(column);
            // Each value is done before those that still need what stands there.
            for step in 0..n {
                let row = if self.half == Half::Lower { n - 1 - step } else { step };
                let others = if self.half == Half::Lower { 0..row } else { row + 1..n };
                let mut sum = (self.matrix.at(row, row) * x[row]).widen();
                for other in others {
                    sum += self.matrix.at(row, other).widen() * x[other].widen();
                }
                x[row] = alpha * T::narrow(sum);
            }
        }
    }

    /// Solves `a x = alpha b`, and puts `x` in the place of `b`. A zero on the diagonal divides, as BLAS has it.
    pub fn solve(&self, alpha: T, b: &mut Matrix<T>) {
        let n = self.matrix.rows;
        for column in 0..b.columns {
            let x = b.column_mut(column);
            super::product::scale(alpha, x);
            for step in 0..n {
                let row = if self.half == Half::Lower { step } else { n - 1 - step };
                let value = x[row] / self.matrix.at(row, row);
                x[row] = value;
                let others = if self.half == Half::Lower { row + 1..n } else { 0..row };
                let of = self.matrix.column(row);
                for other in others {
                    x[other] -= of[other] * value;
                }
            }
        }
    }
}
