//! Levels 2 and 3: products, and what is added to a symmetric matrix.

use num_traits::Zero;

use super::matrix::{Half, Matrix, Op};
use super::scalar::Scalar;

/// `c = alpha op(a) op(b) + beta c`. Where `beta` is zero, `c` may hold anything; where `alpha` is, `a` and `b` are not looked at.
pub fn gemm<T: Scalar>(alpha: T, a: (&Matrix<T>, Op), b: (&Matrix<T>, Op), beta: T, c: &mut Matrix<T>) {
    let conjugated = |(matrix, op): (&Matrix<T>, Op)| {
        (op == Op::Adjoint).then(|| matrix.data.iter().map(|value| value.conj()).collect::<Vec<_>>())
    };
    let strides =
        |(matrix, op): (&Matrix<T>, Op)| if op.swaps() { [matrix.rows, 1] } else { [1, matrix.rows] };
    let inner = if a.1.swaps() { a.0.rows } else { a.0.columns };
    if alpha.is_zero() || inner == 0 {
        return scale(beta, &mut c.data);
    }
    let (left, right) = (conjugated(a), conjugated(b));
    let (left, right) = (left.as_deref().unwrap_or(&a.0.data), right.as_deref().unwrap_or(&b.0.data));
    T::multiply(
        [c.rows, c.columns, inner],
        alpha,
        (left, strides(a)),
        (right, strides(b)),
        beta,
        &mut c.data,
    );
}

/// Multiplies, where zero forgets what was there.
pub fn scale<T: Scalar>(beta: T, values: &mut [T]) {
    if beta.is_zero() {
        values.fill(T::zero());
    } else if !beta.is_one() {
        values.iter_mut().for_each(|value| *value *= beta);
    }
}

/// `y = alpha op(a) x + beta y`, with wide sums.
pub fn gemv<T: Scalar>(alpha: T, a: &Matrix<T>, op: Op, x: &[T], beta: T, y: &mut [T]) {
    scale(beta, y);
    if alpha.is_zero() {
        return;
    }
    let mut sums = vec![T::Wide::zero(); y.len()];
    for (column, of) in a.data.chunks_exact(a.rows.max(1)).enumerate() {
        match op {
            Op::None => {
                let x = x[column].widen();
                sums.iter_mut().zip(of).for_each(|(sum, value)| *sum += value.widen() * x);
            }
            Op::Transpose => {
                for (value, x) in of.iter().zip(x) {
                    sums[column] += value.widen() * x.widen();
                }
            }
            Op::Adjoint => {
                for (value, x) in of.iter().zip(x) {
                    sums[column] += value.conj().widen() * x.widen();
                }
            }
        }
    }
    for (y, sum) in y.iter_mut().zip(sums) {
        *y += T::narrow(alpha.widen() * sum);
    }
}

/// `a += alpha x y^T`, or `alpha x y^H` where `conjugated`.
pub fn ger<T: Scalar>(alpha: T, x: &[T], y: &[T], conjugated: bool, a: &mut Matrix<T>) {
    for (column, y) in y.iter().enumerate() {
        let factor = alpha * if conjugated { y.conj() } else { *y };
        for (value, x) in a.column_mut(column).iter_mut().zip(x) {
            *value += *x * factor;
        }
    }
}

/// What is added to a symmetric or Hermitian matrix.
#[derive(Clone, Copy, Debug)]
pub struct Update<T> {
    /// The factor.
    pub alpha: T,
    /// The factor of what was there.
    pub beta: T,
    /// Whether the result is Hermitian, not symmetric.
    pub hermitian: bool,
}

/// Adds to one half of `c`: `alpha a b^T + beta c`, or `alpha a b^H + beta c`, and where `both`, `alpha b a^T` or
/// `conj(alpha) b a^H` as well. `a` and `b` are taken as they are.
pub fn rank_k<T: Scalar>(
    update: Update<T>,
    a: &Matrix<T>,
    b: &Matrix<T>,
    both: bool,
    half: Half,
    c: &mut Matrix<T>,
) {
    let Update { alpha, beta, hermitian } = update;
    let turned = if hermitian { Op::Adjoint } else { Op::Transpose };
    let mut sum = Matrix::zero(c.rows, c.columns);
    gemm(alpha, (a, Op::None), (b, turned), T::zero(), &mut sum);
    if both {
        let alpha = if hermitian { alpha.conj() } else { alpha };
        gemm(alpha, (b, Op::None), (a, turned), T::one(), &mut sum);
    }
    for column in 0..c.columns {
        for row in half.rows(column, c.rows) {
            let place = c.at_mut(row, column);
            let kept = if beta.is_zero() { T::zero() } else { beta * *place };
            let value = kept + sum.at(row, column);
            *place = if hermitian && row == column { T::real(value.re()) } else { value };
        }
    }
}
