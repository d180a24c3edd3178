//! Medians and shares.

use std::collections::BTreeMap;

/// The median: the middle value, or the mean of the two in the middle. None of nothing.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        length if length % 2 == 1 => Some(sorted[middle]),
        _ => Some(f64::midpoint(sorted[middle - 1], sorted[middle])),
    }
}

/// What a ratio of two times is as an overhead, in percent.
pub fn overhead_percent(native: f64, instrumented: f64) -> f64 {
    (instrumented / native - 1.0) * 100.0
}

/// The share of a histogram's events that have this length, in percent; None of an empty histogram.
pub fn share_percent(histogram: &BTreeMap<u32, u64>, length: u32) -> Option<f64> {
    let all: u64 = histogram.values().sum();
    let of_length = histogram.get(&length).copied().unwrap_or(0);
    (all > 0).then(|| of_length as f64 / all as f64 * 100.0)
}

#[cfg(test)]
mod tests;
