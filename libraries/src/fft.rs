//! Discrete Fourier transforms of one to three dimensions, not normalised: forth with `exp(-2πi/n)`, back with `exp(2πi/n)`.
//!
//! Lines are transformed by `rustfft`, dimension after dimension, in 64 bits whatever the type of the values: of 32-bit values the
//! results are right to the last bit or two. Values stand row by row, the last dimension without gaps.

use num_complex::Complex;
use rustfft::{FftDirection, FftPlanner};

/// What is computed with.
pub type C = Complex<f64>;

/// Transforms the lines of one dimension.
fn lines(
    planner: &mut FftPlanner<f64>,
    extents: &[usize],
    dimension: usize,
    direction: FftDirection,
    values: &mut [C],
) {
    let n = extents[dimension];
    if n <= 1 {
        return;
    }
    let fft = planner.plan_fft(n, direction);
    // From one value of a line to the next.
    let step: usize = extents[dimension + 1..].iter().product();
    if step == 1 {
        return fft.process(values);
    }
    let mut line = vec![C::default(); n];
    for block in values.chunks_exact_mut(n * step) {
        for first in 0..step {
            line.iter_mut().zip(block[first..].iter().step_by(step)).for_each(|(to, from)| *to = *from);
            fft.process(&mut line);
            block[first..].iter_mut().step_by(step).zip(&line).for_each(|(to, from)| *to = *from);
        }
    }
}

/// Transforms complex values in place.
pub fn complex(extents: &[usize], direction: FftDirection, values: &mut [C]) {
    let mut planner = FftPlanner::new();
    (0..extents.len()).for_each(|dimension| lines(&mut planner, extents, dimension, direction, values));
}

/// How many values the last dimension has of a transform of real values: the others are their conjugates.
pub fn half(n: usize) -> usize {
    n / 2 + 1
}

/// Transforms real values, forth.
pub fn real(extents: &[usize], values: &[f64]) -> Vec<C> {
    let last = extents[extents.len() - 1];
    let mut full: Vec<C> = values.iter().map(|value| C::new(*value, 0.0)).collect();
    complex(extents, FftDirection::Forward, &mut full);
    full.chunks_exact(last).flat_map(|row| &row[..half(last)]).copied().collect()
}

/// Transforms the half of a transform of real values back to these.
pub fn back_to_real(extents: &[usize], mut values: Vec<C>) -> Vec<f64> {
    let (last, outer) = (extents[extents.len() - 1], extents.len() - 1);
    let mut planner = FftPlanner::new();
    let kept: Vec<usize> = extents[..outer].iter().copied().chain([half(last)]).collect();
    for dimension in 0..outer {
        lines(&mut planner, &kept, dimension, FftDirection::Inverse, &mut values);
    }
    // Now each row is one of real values: the other half follows.
    let fft = planner.plan_fft(last, FftDirection::Inverse);
    let mut found = Vec::with_capacity(values.len() / half(last) * last);
    for row in values.chunks_exact(half(last)) {
        let mut line: Vec<C> = (0..last)
            .map(|index| if index < row.len() { row[index] } else { row[last - index].conj() })
            .collect();
        fft.process(&mut line);
        found.extend(line.iter().map(|value| value.re));
    }
    found
}
