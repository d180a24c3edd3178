//! The Clopper–Pearson confidence interval of a failure rate.
//!
//! Source: C. Clopper and E. Pearson, "The use of confidence or fiducial limits illustrated in the case
//! of the binomial", Biometrika 26 (1934), in its form by quantiles of the beta distribution. It is
//! exact: it covers the true rate with at least the stated confidence, and is therefore wider than need
//! be, never narrower.

use statrs::distribution::{Beta, ContinuousCDF};

/// The two-sided 95 % interval of a rate of which `failures` in `trials` were seen, as `[low, high]`.
///
/// Without trials nothing is known: `[0, 1]`.
///
/// # Panics
/// When there are more failures than trials.
pub fn clopper_pearson(failures: u64, trials: u64) -> [f64; 2] {
    const TAIL: f64 = 0.025;
    assert!(failures <= trials, "{failures} failures in {trials} trials");
    if trials == 0 {
        return [0.0, 1.0];
    }
    let passes = trials - failures;
    let low = if failures == 0 { 0.0 } else { quantile(failures, passes + 1, TAIL) };
    let high = if passes == 0 { 1.0 } else { quantile(failures + 1, passes, 1.0 - TAIL) };
    [low, high]
}

/// A rate that the true one exceeds with this confidence, after `failures` in `trials`: the lower end of
/// the one-sided interval.
///
/// # Panics
/// When there are more failures than trials, or `confidence` is not between 0 and 1.
pub fn lower_bound(failures: u64, trials: u64, confidence: f64) -> f64 {
    assert!(failures <= trials, "{failures} failures in {trials} trials");
    assert!((0.0..1.0).contains(&confidence), "a confidence of {confidence}");
    if failures == 0 { 0.0 } else { quantile(failures, trials - failures + 1, 1.0 - confidence) }
}

/// Quantile of the beta distribution; both parameters at least 1.
fn quantile(a: u64, b: u64, p: f64) -> f64 {
    Beta::new(a as f64, b as f64).expect("both parameters are at least 1").inverse_cdf(p)
}

#[cfg(test)]
mod tests;
