//! Which location: the first place, in their order of rank, up to which fences cure a failure.
//!
//! After the paper, III.D, step 3: a fence after each access cures the failure; omitting some of them
//! tells which one is needed. The paper halves, and takes one passing execution for a cure. Here the
//! question is always about a prefix: do fences at the first `m` places cure it? More fences never make
//! a program fail that passed, so there is a shortest prefix that cures, and its last fence is needed
//! (with only those before it the program fails). Places come in the order in which an expert would choose them
//! ([`crate::places::SitePlace::rank`]), so what is found is no worse than need be. Where several fences are needed at once, the last of
//! them is found; it is kept, and the next round finds the one before.
//!
//! The search is a noisy binary search after Burnashev and Zigangirov (1974), in its Bayesian form, for
//! noise on one side: a failing trial is certain, a passing one is not. Every length that the shortest
//! prefix may have is a hypothesis. A failing trial of prefix `m` rules out all up to `m`, for certain.
//! A passing one discounts those beyond `m` by the probability that a failure stays unseen, averaged
//! over all that its rate may be ([`crate::rates`]). The next trials go to the prefix from which most
//! information is expected. A wrong turn after lucky passes costs a few trials, and no more: there is no step
//! that must not go wrong, and so none that needs a small error of its own. For a failure of rate `r`
//! among `n` places that takes about `(e ln n + ln(1 / error)) / r` trials, where halving with a small
//! error for each step takes `log2 n (1 + ln(log2 n / error)) / (2 r)`.
//!
//! What it can miss: a cure that only lowers the rate looks like a cure until the trials are many
//! enough. The rounds after this one see what still fails, and the answer is examined at the end
//! ([`crate::polish`]).

use bugaroo_harness::{Error, Variation};
use bugaroo_protocol::Inserted;
use statrs::function::beta::ln_beta;

use crate::bench::Bench;
use crate::places::SitePlace;
use crate::trials::Trials;

/// Least and most trials in a row for one prefix.
const BATCH: [f64; 2] = [2.0, 400.0];

/// What a search for a place came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchedPlace {
    /// Fences up to this place (from 0) cure, those before it alone do not: a trial failed with them.
    At(usize),
    /// Fences at all places do not cure: a trial failed with them.
    Nowhere,
}

/// A variation with fences at these places, too.
pub fn with_fences<'a>(base: &Variation, places: impl IntoIterator<Item = &'a SitePlace>) -> Variation {
    with_all(base, places, Inserted::Fence)
}

/// A variation with this at these places, too.
pub fn with_all<'a>(
    base: &Variation,
    places: impl IntoIterator<Item = &'a SitePlace>,
    what: Inserted,
) -> Variation {
    let mut variation = base.clone();
    for place in places {
        place.put(&mut variation, what);
    }
    variation
}

/// Finds the first of `places` up to which fences cure the failures of `base`, which has failed.
///
/// # Errors
/// When trials cannot be run.
pub async fn locate<T: Trials>(
    bench: &Bench<'_, T>,
    base: &Variation,
    places: &[SitePlace],
) -> Result<SearchedPlace, Error> {
    locate_any(bench, base, places, Inserted::Fence).await
}

/// The same of what is not a fence.
///
/// # Errors
/// When trials cannot be run.
pub async fn locate_any<T: Trials>(
    bench: &Bench<'_, T>,
    base: &Variation,
    places: &[SitePlace],
    what: Inserted,
) -> Result<SearchedPlace, Error> {
    let measured = bench.evidence(base).fresh;
    let mut belief = Belief::new(places.len(), measured.failures, measured.trials);
    let mut spent = 0;
    let mut open: Option<(usize, u64)> = None;
    while belief.low < places.len() {
        let doubt = belief.doubt();
        if doubt <= belief.bearable(bench.limits.full()) || spent >= bench.limits.cap() {
            break;
        }
        let prefix = belief.most_telling();
        if let Some((before, trials)) = open.filter(|&(before, _)| before != prefix) {
            say(bench, places, what, before, trials, false);
            open = None;
        }
        let batch = (0.5 / belief.rate()).ceil().clamp(BATCH[0], BATCH[1]) as u64;
        let variation = with_all(base, &places[..prefix], what);
        let fresh_before = bench.evidence(&variation).fresh.failures;
        let seen = bench.more(&variation, batch).await?;
        let fresh = bench.evidence(&variation).fresh.failures - fresh_before;
        spent += seen.trials;
        belief.passed(prefix, seen.trials - seen.failures);
        let trials = seen.trials + open.map_or(0, |(_, trials)| trials);
        if seen.failures > 0 {
            belief.failed(prefix, fresh);
            say(bench, places, what, prefix, trials, true);
            open = None;
        } else {
            open = Some((prefix, trials));
        }
    }
    if let Some((prefix, trials)) = open {
        say(bench, places, what, prefix, trials, false);
    }
    Ok(if belief.low == places.len() { SearchedPlace::Nowhere } else { SearchedPlace::At(belief.low) })
}

fn say<T: Trials>(
    bench: &Bench<'_, T>,
    places: &[SitePlace],
    what: Inserted,
    prefix: usize,
    trials: u64,
    fails: bool,
) {
    let last = places[prefix - 1].where_();
    let what = if matches!(what, Inserted::Fence | Inserted::BlockFence) { "fences" } else { "barriers" };
    let question =
        format!("do {what} at the best {prefix} of {} places cure it, up to {last}?", places.len());
    let seen = crate::rates::Rate { failures: u64::from(fails), trials };
    bench.note(question, seen, if fails { "it still fails" } else { "no failure so far" });
}

/// What is believed about the length of the shortest prefix that cures: 1 to `n`, or `n + 1` for none.
#[derive(Debug)]
struct Belief {
    /// The longest prefix that is known not to cure.
    low: usize,
    /// Failures that count towards the rate.
    failures: f64,
    /// Passes of the uncured program, and 1.
    passes: f64,
    /// Passes of each prefix, from 0 to `n`.
    passed: Vec<u64>,
}

impl Belief {
    fn new(places: usize, failures: u64, trials: u64) -> Self {
        Self {
            low: 0,
            failures: failures.max(1) as f64,
            passes: (trials.saturating_sub(failures) + 1) as f64,
            passed: vec![0; places + 1],
        }
    }

    fn passed(&mut self, prefix: usize, trials: u64) {
        self.passed[prefix] += trials;
    }

    fn failed(&mut self, prefix: usize, fresh: u64) {
        self.low = self.low.max(prefix);
        self.failures += fresh as f64;
    }

    /// The failure rate that is expected.
    fn rate(&self) -> f64 {
        let passes = self.passes + self.passed[..=self.low].iter().sum::<u64>() as f64;
        self.failures / (self.failures + passes)
    }

    /// For each length that the shortest prefix may still have, from `low + 1` to `n + 1`: its
    /// probability, and the failure rate expected in that case.
    fn hypotheses(&self) -> Vec<(f64, f64)> {
        let places = self.passed.len() - 1;
        let mut uncured_passes: u64 = self.passed[..=self.low].iter().sum();
        let mut hypotheses = Vec::with_capacity(places + 1 - self.low);
        for length in self.low + 1..=places + 1 {
            // Lengths below have been summed; a prefix shorter than `length` is uncured.
            if length > self.low + 1 {
                uncured_passes += self.passed[length - 1];
            }
            let passes = self.passes + uncured_passes as f64;
            let weight = ln_beta(self.failures, passes);
            hypotheses.push((weight, self.failures / (self.failures + passes)));
        }
        // The first is the likeliest: it takes the fewest passes for luck.
        let most = hypotheses[0].0;
        let sum: f64 = hypotheses.iter().map(|(weight, _)| (weight - most).exp()).sum();
        hypotheses.iter().map(|&(weight, rate)| ((weight - most).exp() / sum, rate)).collect()
    }

    /// The probability that the shortest prefix is longer than the likeliest.
    fn doubt(&self) -> f64 {
        1.0 - self.hypotheses()[0].0
    }

    /// The doubt at which more certainty costs more trials than a wrong answer would: that one takes
    /// about three times the trials of a verification to be found out and put right.
    fn bearable(&self, full: u64) -> f64 {
        (1.0 / (self.rate() * 3.0 * full as f64)).clamp(1e-4, 0.05)
    }

    /// The prefix, `low + 1` to `n`, of which a trial tells most.
    fn most_telling(&self) -> usize {
        let hypotheses = self.hypotheses();
        let mut best = (f64::MIN, self.low + 1);
        // Of the hypotheses beyond a prefix: how likely a failing trial is, and how much of the
        // uncertainty about a trial is luck.
        let (mut fails, mut luck) = (0.0, 0.0);
        for prefix in (self.low + 1..self.passed.len()).rev() {
            let (weight, rate) = hypotheses[prefix - self.low];
            fails += weight * rate;
            luck += weight * entropy(rate);
            let information = entropy(fails) - luck;
            if information >= best.0 {
                best = (information, prefix);
            }
        }
        best.1
    }
}

/// Entropy of a coin, in nats.
fn entropy(p: f64) -> f64 {
    let term = |p: f64| if p <= 0.0 { 0.0 } else { -p * p.ln() };
    term(p) + term(1.0 - p)
}

#[cfg(test)]
mod tests;
