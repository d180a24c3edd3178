//! An answer that passes, made the one answer: as few fences as will do, and each at the best place.
//!
//! The rounds of the search may take a rare failure of one bug for a sign of another, and so keep a
//! fence too many, or one at a worse place than need be; which one, depends on luck. And a prefix of places that cures may
//! do so by two fences where a later one alone would. Here each fence is
//! held against all others of the answer: without it the program must fail, and no better place
//! ([`SitePlace::rank`]) may do in its stead. Both are shown by failing trials, which are certain. A fence
//! without which it passes is dropped; one that a better place can replace moves there; and two that a single place can
//! replace become one. So the same program has the same answer whatever the seed, as far as its failures show
//! at all.
//!
//! Each change leaves fewer fences, or as many at better places, so this comes to an end. A change is verified like any
//! answer; one that turns out wrong then is not made again.

use std::collections::BTreeSet;

use bugaroo_harness::{Error, Variation};
use bugaroo_protocol::Model;

use crate::bench::{Bench, FailsVerdict};
use crate::locate::{SearchedPlace, locate, with_fences};
use crate::narrow::narrow;
use crate::outcomes::key;
use crate::places::{SitePlace, candidates};
use crate::round::{MissingFence, measure_rate, with_answer};
use crate::subject::{Subject, under};
use crate::trials::Trials;

/// Error allowed to "fences at better places will do instead"; what it leads to is verified again.
const DOUBT: f64 = 0.01;

/// Most fences of an answer whose pairs are tried to be replaced by one.
const PAIRS: usize = 5;

/// Examines answers, and remembers what it has tried.
#[derive(Debug, Default)]
pub struct Polish {
    /// Changes that were made, by the variation that they led to.
    made: BTreeSet<String>,
    /// Pairs that no single place can replace, by the variation without them.
    pairs: BTreeSet<String>,
}

impl Polish {
    /// Holds each fence of an answer, of which the program passes a glance, against the others. True when the answer
    /// has changed, so that it has to be looked at again.
    ///
    /// # Errors
    /// When trials cannot be run.
    pub async fn improve<T: Trials>(
        &mut self,
        bench: &Bench<'_, T>,
        subject: &Subject,
        answer: &mut Vec<MissingFence>,
    ) -> Result<bool, Error> {
        answer.sort_by_key(|fence| fence.place.rank(fence.model));
        for at in (0..answer.len()).rev() {
            // Barriers were found by what fails without delays.
            if answer[at].barrier.is_some() {
                continue;
            }
            let rest = with_answer(&subject.whole, others(answer, at));
            if answer[at].beside.as_ref() == Some(&key(&rest)) {
                continue;
            }
            if self.drop_or_move(bench, subject, answer, at, &rest).await? {
                return Ok(true);
            }
            answer[at].beside = Some(key(&rest));
        }
        let changed = self.join_pairs(bench, subject, answer).await?;
        bench.expect_nothing();
        Ok(changed)
    }

    /// Drops a fence, or moves it to a better place; else finds out whose delayed stores it is for.
    async fn drop_or_move<T: Trials>(
        &mut self,
        bench: &Bench<'_, T>,
        subject: &Subject,
        answer: &mut Vec<MissingFence>,
        at: usize,
        rest: &Variation,
    ) -> Result<bool, Error> {
        let place = answer[at].place.where_();
        let Some(model) = fails_under(bench, subject, rest, &place).await? else {
            answer.remove(at);
            return Ok(true);
        };
        answer[at].model = model;
        let subject = subject.under(model);
        let rest = under(rest, model);
        bench.expect_failures_of(&rest);
        let rank = answer[at].place.rank(model);
        let mut better = candidates(&subject.places, &rest);
        better.retain(|place| place.rank(model) < rank);
        if !better.is_empty() {
            let measured = bench.measure(&rest, 2, bench.limits.cap()).await?;
            let enough = bench.enough(measured, DOUBT, "fences at better places").min(bench.limits.full());
            let question = format!("do fences at all better places than {place} do instead?");
            let answers = ["no, it fails", "it passes"];
            let all = with_fences(&rest, &better);
            if bench.ask_aloud(&all, enough, question, answers).await? == FailsVerdict::Passes {
                measure_rate(bench, &rest).await?;
                if let SearchedPlace::At(found) = locate(bench, &rest, &better).await? {
                    let alone = with_fences(&rest, [&better[found]]);
                    // It takes several of them: this one is fewer.
                    if bench.ask(&alone, enough).await? == FailsVerdict::Passes
                        && self.made.insert(key(&alone))
                    {
                        answer[at].place = better[found].clone();
                        answer[at].narrow = false;
                        return Ok(true);
                    }
                }
            }
        }
        bench.measure(&rest, 2, bench.limits.cap()).await?;
        let suspect = narrow(bench, &subject, &rest).await?;
        (answer[at].space, answer[at].kernel) = (suspect.space, suspect.kernel);
        bench.expect_nothing();
        Ok(false)
    }

    /// Replaces two fences by one where a single place does for both.
    async fn join_pairs<T: Trials>(
        &mut self,
        bench: &Bench<'_, T>,
        subject: &Subject,
        answer: &mut Vec<MissingFence>,
    ) -> Result<bool, Error> {
        if answer.len() > PAIRS {
            return Ok(false);
        }
        for first in 0..answer.len() {
            for second in first + 1..answer.len() {
                let pair = [first, second];
                if pair.iter().any(|&at| answer[at].barrier.is_some()) {
                    continue;
                }
                let left = answer.iter().enumerate().filter(|(at, _)| !pair.contains(at));
                let rest = with_answer(&subject.whole, left.map(|(_, fence)| fence));
                if !self.pairs.insert(key(&rest)) {
                    continue;
                }
                // Of the models that fail without the two, the quickest to show it.
                let model = match (answer[first].model, answer[second].model) {
                    (Model::Ptx, Model::Ptx) => Model::Ptx,
                    (Model::Ptx, other) | (other, _) => other,
                };
                if let Some(place) = single(bench, subject, &under(&rest, model)).await? {
                    if !self.made.insert(key(&with_fences(&rest, [&place]))) {
                        continue;
                    }
                    answer.remove(second);
                    answer[first] =
                        MissingFence { place, narrow: false, beside: None, model, ..answer[first].clone() };
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}

/// The first model that fails with `rest`; None where none does.
async fn fails_under<T: Trials>(
    bench: &Bench<'_, T>,
    subject: &Subject,
    rest: &Variation,
    place: &str,
) -> Result<Option<Model>, Error> {
    for &model in &subject.models {
        let rest = under(rest, model);
        let question = format!("does it fail without the fence {place}, with the others found?");
        let answers = ["it fails: needed", "it passes: not needed"];
        if bench.ask_for_good(&rest, question, answers).await? == FailsVerdict::Fails {
            return Ok(Some(model));
        }
    }
    Ok(None)
}

/// The best single place that cures `rest` under every model, if there is one that is not too dear to find.
async fn single<T: Trials>(
    bench: &Bench<'_, T>,
    subject: &Subject,
    rest: &Variation,
) -> Result<Option<SitePlace>, Error> {
    let rate = bench.measure(rest, 2, bench.limits.full()).await?;
    if rate.failures == 0 {
        return Ok(None);
    }
    let places = candidates(&subject.places, rest);
    if places.len() as f64 / rate.mean() > bench.limits.cap() as f64 {
        return Ok(None);
    }
    bench.expect_failures_of(rest);
    let enough = bench.enough(rate, DOUBT, "a single fence").min(bench.limits.full());
    'places: for place in places {
        for &model in &subject.models {
            let cured = under(&with_fences(rest, [&place]), model);
            if bench.ask(&cured, enough).await? == FailsVerdict::Fails {
                continue 'places;
            }
        }
        let seen = bench.evidence(&with_fences(rest, [&place])).all;
        let question = format!("does one fence {} do for two?", place.where_());
        bench.note(question, seen, "no failure so far");
        return Ok(Some(place));
    }
    Ok(None)
}

/// An answer without one of its fences.
fn others(answer: &[MissingFence], without: usize) -> impl Iterator<Item = &MissingFence> {
    answer.iter().enumerate().filter(move |&(at, _)| at != without).map(|(_, fence)| fence)
}
