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
    let quantile = |a: u64, b: u64, p: f64| {
        Beta::new(a as f64, b as f64).expect("both parameters are at least 1").inverse_cdf(p)
    };
    let passes = trials - failures;
    let low = if failures == 0 { 0.0 } else { quantile(failures, passes + 1, TAIL) };
    let high = if passes == 0 { 1.0 } else { quantile(failures + 1, passes, 1.0 - TAIL) };
    [low, high]
}

#[cfg(test)]
mod tests;
