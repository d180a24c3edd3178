//! The four types of BLAS, by their letters: S, D, C and Z.

use std::ops::Neg;

use num_complex::Complex;
use num_traits::{Float, NumAssign};

use crate::work::Plain;

/// A number that BLAS computes with.
pub trait Scalar: Plain + NumAssign + Neg<Output = Self> {
    /// The type of its parts.
    type Real: Scalar<Real = Self::Real> + Float;
    /// The type that sums are kept in.
    type Wide: Plain + NumAssign;
    /// Its letter in the names of functions.
    const LETTER: &'static str;
    /// The letters of functions that give a real number of it.
    const REAL: &'static str;

    /// The conjugate.
    fn conj(self) -> Self;
    /// The real part.
    fn re(self) -> Self::Real;
    /// The imaginary part.
    fn im(self) -> Self::Real;
    /// A real number.
    fn real(value: Self::Real) -> Self;
    /// For a sum.
    fn widen(self) -> Self::Wide;
    /// A sum, rounded.
    fn narrow(sum: Self::Wide) -> Self;
    /// The root of a sum, times a scale.
    fn root(sum: Self::Wide, scale: Self::Wide) -> Self;
    /// `c = alpha a b + beta c`, where `a` is `m` by `k`, `b` `k` by `n`; each matrix with its strides from row to row and
    /// from column to column. Where `beta` is zero `c` is not read.
    fn multiply(
        shape: [usize; 3],
        alpha: Self,
        a: (&[Self], [usize; 2]),
        b: (&[Self], [usize; 2]),
        beta: Self,
        c: &mut [Self],
    );
}

/// Asks that matrices hold what a product of this shape reads.
fn fits<T>([m, n, k]: [usize; 3], a: (&[T], [usize; 2]), b: (&[T], [usize; 2]), c: &[T]) {
    let last = |rows: usize, columns: usize, [row, column]: [usize; 2]| {
        if rows == 0 || columns == 0 { 0 } else { (rows - 1) * row + (columns - 1) * column + 1 }
    };
    assert!(a.0.len() >= last(m, k, a.1), "the left matrix is as large as was said");
    assert!(b.0.len() >= last(k, n, b.1), "the right matrix is as large as was said");
    assert!(c.len() >= m * n, "the result is as large as was said");
}

macro_rules! real {
    ($type:ident $letter:literal $gemm:ident) => {
        impl Scalar for $type {
            type Real = $type;
            type Wide = f64;
            const LETTER: &'static str = $letter;
            const REAL: &'static str = $letter;

            fn conj(self) -> Self {
                self
            }
            fn re(self) -> $type {
                self
            }
            fn im(self) -> $type {
                0.0
            }
            fn real(value: $type) -> Self {
                value
            }
            fn widen(self) -> f64 {
                f64::from(self)
            }
            fn narrow(sum: f64) -> Self {
                sum as $type
            }
            fn root(sum: f64, scale: f64) -> Self {
                (sum.sqrt() * scale) as $type
            }
            fn multiply(
                shape @ [m, n, k]: [usize; 3],
                alpha: Self,
                a: (&[Self], [usize; 2]),
                b: (&[Self], [usize; 2]),
                beta: Self,
                c: &mut [Self],
            ) {
                fits(shape, a, b, c);
                let [at, bt] = [a.1, b.1].map(|strides| strides.map(|stride| stride as isize));
                // SAFETY: the matrices hold what is read and written, as was asked.
                unsafe {
                    matrixmultiply::$gemm(
                        m,
                        k,
                        n,
                        alpha,
                        a.0.as_ptr(),
                        at[0],
                        at[1],
                        b.0.as_ptr(),
                        bt[0],
                        bt[1],
                        beta,
                        c.as_mut_ptr(),
                        1,
                        m as isize,
                    );
                }
            }
        }
    };
}
real! { f32 "S" sgemm }
real! { f64 "D" dgemm }

macro_rules! complex {
    ($type:ident $letter:literal $real:literal $gemm:ident) => {
        impl Scalar for Complex<$type> {
            type Real = $type;
            type Wide = Complex<f64>;
            const LETTER: &'static str = $letter;
            const REAL: &'static str = $real;

            fn conj(self) -> Self {
                Complex::conj(&self)
            }
            fn re(self) -> $type {
                self.re
            }
            fn im(self) -> $type {
                self.im
            }
            fn real(value: $type) -> Self {
                Complex::new(value, 0.0)
            }
            fn widen(self) -> Complex<f64> {
                Complex::new(f64::from(self.re), f64::from(self.im))
            }
            fn narrow(sum: Complex<f64>) -> Self {
                Complex::new(sum.re as $type, sum.im as $type)
            }
            fn root(sum: Complex<f64>, scale: Complex<f64>) -> Self {
                Self::narrow(sum.sqrt() * scale)
            }
            fn multiply(
                shape @ [m, n, k]: [usize; 3],
                alpha: Self,
                a: (&[Self], [usize; 2]),
                b: (&[Self], [usize; 2]),
                beta: Self,
                c: &mut [Self],
            ) {
                use matrixmultiply::CGemmOption::Standard;
                fits(shape, a, b, c);
                let [at, bt] = [a.1, b.1].map(|strides| strides.map(|stride| stride as isize));
                // SAFETY: as above; a complex number is laid out as an array of its two parts.
                unsafe {
                    matrixmultiply::$gemm(
                        Standard,
                        Standard,
                        m,
                        k,
                        n,
                        [alpha.re, alpha.im],
                        a.0.as_ptr().cast(),
                        at[0],
                        at[1],
                        b.0.as_ptr().cast(),
                        bt[0],
                        bt[1],
                        [beta.re, beta.im],
                        c.as_mut_ptr().cast(),
                        1,
                        m as isize,
                    );
                }
            }
        }
    };
}
complex! { f32 "C" "Sc" cgemm }
complex! { f64 "Z" "Dz" zgemm }
