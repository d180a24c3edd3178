//! Level 1: vectors.

use num_traits::{Float, Zero};

use super::scalar::Scalar;

/// `y += alpha x`
pub fn axpy<T: Scalar>(alpha: T, x: &[T], y: &mut [T]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += alpha * *x;
    }
}

/// The sum of products; of conjugates of `x` with `y`, where `conjugated`.
pub fn dot<T: Scalar>(x: &[T], y: &[T], conjugated: bool) -> T {
    let mut sum = T::Wide::zero();
    for (x, y) in x.iter().zip(y) {
        let x = if conjugated { x.conj() } else { *x };
        sum += x.widen() * y.widen();
    }
    T::narrow(sum)
}

/// The Euclidean norm, without overflow on the way: scaled by the largest part.
pub fn nrm2<T: Scalar>(x: &[T]) -> T::Real {
    let parts = || x.iter().flat_map(|value| [value.re(), value.im()]).map(Float::abs);
    let largest = parts().fold(T::Real::zero(), |largest, part| if part <= largest { largest } else { part });
    if largest.is_zero() || !largest.is_finite() {
        return largest;
    }
    let scale = largest.widen();
    let mut sum = <T::Real as Scalar>::Wide::zero();
    for part in parts() {
        let part = part.widen() / scale;
        sum += part * part;
    }
    // The root of the sum, where it still has all of its digits, and the scale.
    <T::Real as Scalar>::root(sum, scale)
}

/// The sum of the parts' absolute values.
pub fn asum<T: Scalar>(x: &[T]) -> T::Real {
    let mut sum = <T::Real as Scalar>::Wide::zero();
    for value in x {
        sum += Float::abs(value.re()).widen() + Float::abs(value.im()).widen();
    }
    T::Real::narrow(sum)
}

/// The first place, from 1 on, of the largest (or smallest) sum of the parts' absolute values; 0 of nothing. A value that is no
/// number is never larger or smaller.
pub fn extreme<T: Scalar>(x: &[T], largest: bool) -> usize {
    let size = |value: &T| Float::abs(value.re()) + Float::abs(value.im());
    let mut found = None;
    for (place, value) in x.iter().enumerate() {
        let size = size(value);
        let better = found.is_none_or(|(_, best)| if largest { size > best } else { size < best });
        if better {
            found = Some((place + 1, size));
        }
    }
    found.map_or(0, |(place, _)| place)
}

/// Turns the plane of each pair of values: `x = c x + s y`, `y = c y - conj(s) x`.
pub fn rot<T: Scalar>(x: &mut [T], y: &mut [T], c: T::Real, s: T) {
    let c = T::real(c);
    for (x, y) in x.iter_mut().zip(y) {
        let (old, other) = (*x, *y);
        *x = c * old + s * other;
        *y = c * other - s.conj() * old;
    }
}

/// The turn that makes the second of two real numbers zero: `[r, z, c, s]` (BLAS, `xROTG`).
pub fn rotg<R: Float>(a: R, b: R) -> [R; 4] {
    let roe = if a.abs() > b.abs() { a } else { b };
    let scale = a.abs() + b.abs();
    if scale.is_zero() {
        return [R::zero(), R::zero(), R::one(), R::zero()];
    }
    let length = scale * ((a / scale).powi(2) + (b / scale).powi(2)).sqrt();
    let r = if roe.is_sign_negative() { -length } else { length };
    let (c, s) = (a / r, b / r);
    let z = if a.abs() > b.abs() {
        s
    } else if c.is_zero() {
        R::one()
    } else {
        c.recip()
    };
    [r, z, c, s]
}

/// Multiplies.
pub fn scal<T: Scalar>(alpha: T, x: &mut [T]) {
    if !alpha.is_one() {
        x.iter_mut().for_each(|value| *value *= alpha);
    }
}
