//! What of a night is news: rates that differ from the nights before by more than chance.
//!
//! Tonight's failures of a cell are held against those of earlier nights, pooled, by Fisher's exact test, two-sided (R. A. Fisher,
//! "The Design of Experiments", 1935; conditional on the margins, so that no rate has to be known). A night asks this of many
//! cells at once; the p-values are corrected by Holm's step-down method (S. Holm, "A Simple Sequentially Rejective Multiple Test
//! Procedure", 1979), so that the probability of any false "changed" in a night is at most [`ERROR`].
//!
//! Pooled are the nights back to the last change, found in the same way, at most [`NIGHTS`] of them: after a change, the new rate
//! is what holds.
//!
//! What it can miss: a rate that creeps, a little each night, never differs much from the nights before it. A first failure of a
//! cell that never failed is news whatever the test says: one failure is proof.

use statrs::function::factorial::ln_binomial;

use crate::night::Change;

/// Probability, at most, that a night in which nothing has changed is said to have a changed rate.
pub const ERROR: f64 = 0.002;

/// Nights that are pooled, at most.
pub const NIGHTS: usize = 30;

/// Failures, of trials that passed or failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SeenFailures {
    /// Failures.
    pub failures: u64,
    /// Trials.
    pub told: u64,
}

impl SeenFailures {
    fn rate(self) -> f64 {
        if self.told == 0 { 0.0 } else { self.failures as f64 / self.told as f64 }
    }

    fn and(self, other: Self) -> Self {
        Self { failures: self.failures + other.failures, told: self.told + other.told }
    }
}

/// Says of each cell how its rate tonight differs from the nights before, which are given oldest first.
pub fn changes(cells: &[(Vec<SeenFailures>, SeenFailures)]) -> Vec<Change> {
    let pooled: Vec<Option<SeenFailures>> = cells.iter().map(|(before, _)| since_change(before)).collect();
    let asked = |at: usize| {
        let (pooled, tonight) = (pooled[at]?, cells[at].1);
        (pooled.told > 0 && tonight.told > 0).then(|| p_value(pooled, tonight))
    };
    let corrected = holm(&(0..cells.len()).map(asked).collect::<Vec<_>>());
    let say = |at: usize| {
        let (before, tonight) = &cells[at];
        let Some(pooled) = pooled[at] else { return Change::First };
        let all = before.iter().fold(SeenFailures::default(), |sum, &seen| sum.and(seen));
        if all.told > 0 && all.failures == 0 && tonight.failures > 0 {
            return Change::New { passed: all.told };
        }
        match corrected[at] {
            Some(p) if p <= ERROR && tonight.failures == 0 => Change::Cured { before: pooled.rate(), p },
            Some(p) if p <= ERROR => Change::Changed { before: pooled.rate(), p },
            _ => Change::None,
        }
    };
    (0..cells.len()).map(say).collect()
}

/// The nights back to the last change, pooled; None where there is none.
fn since_change(before: &[SeenFailures]) -> Option<SeenFailures> {
    let told: Vec<SeenFailures> = before.iter().copied().filter(|seen| seen.told > 0).collect();
    let (last, earlier) = told.split_last()?;
    let mut pooled = *last;
    for &seen in earlier.iter().rev().take(NIGHTS - 1) {
        // Asked often: a change in the past has to be clearer than one of tonight.
        if p_value(seen, pooled) <= ERROR / NIGHTS as f64 {
            break;
        }
        pooled = pooled.and(seen);
    }
    Some(pooled)
}

/// The probability, were the rates the same, of a table as unlikely as this one or more so.
fn p_value(one: SeenFailures, other: SeenFailures) -> f64 {
    let failures = one.failures + other.failures;
    let all = one.told + other.told;
    let ln_all = ln_binomial(all, failures);
    let ln = |k: u64| ln_binomial(one.told, k) + ln_binomial(other.told, failures - k) - ln_all;
    let seen = ln(one.failures);
    let (least, most) = (failures.saturating_sub(other.told), failures.min(one.told));
    // Equal probabilities differ in their last digits.
    let limit = seen + 1e-7;
    let mut sum = 0.0;
    // Outwards from what was seen: what is far out adds nothing any more.
    for k in (least..=one.failures).rev() {
        let ln = ln(k);
        if ln <= limit {
            sum += ln.exp();
        }
        if ln < seen - 50.0 {
            break;
        }
    }
    for k in one.failures + 1..=most {
        let ln = ln(k);
        if ln <= limit {
            sum += ln.exp();
        }
        if ln < seen - 50.0 {
            break;
        }
    }
    f64::min(sum, 1.0)
}

/// Holm's correction; places without a test stay without.
fn holm(p_values: &[Option<f64>]) -> Vec<Option<f64>> {
    let mut order: Vec<(usize, f64)> =
        p_values.iter().enumerate().filter_map(|(at, p)| Some((at, (*p)?))).collect();
    order.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut corrected = vec![None; p_values.len()];
    let mut least: f64 = 0.0;
    for (rank, &(at, p)) in order.iter().enumerate() {
        least = least.max((p * (order.len() - rank) as f64).min(1.0));
        corrected[at] = Some(least);
    }
    corrected
}

#[cfg(test)]
mod tests;
