//! Finding fences until the program passes, under every model asked.
//!
//! The paper goes on with the fence found kept, until the program passes (III.D). Here the models take turns: what delayed
//! stores show is looked for first, as it takes the fewest and quickest trials, then what old values show. A fence more
//! never makes a program fail that passed, so what was cured under one model stays cured.
//!
//! Several bugs with different rates come up one after another: what fails often is cured first, the
//! verification shows what is left, and the next round looks for that. Two fences that cure only
//! together are found in two rounds, the one of lower rank first: with it, the program still fails,
//! and the second round finds the other.

use bugaroo_harness::Error;
use bugaroo_protocol::{DelayedSpace, Model};

use crate::bench::Bench;
use crate::polish::Polish;
use crate::rates::{ALPHA, FIRST_ALPHA, Rate, SearchLimits, certain};
use crate::redundant::{FirstLook, first_look};
use crate::round::{MissingFence, round, with_answer};
use crate::subject::{Subject, model_name, under};
use crate::trials::Trials;

/// Rounds after which the search gives up. Each finds a fence or shows that none cures.
const ROUNDS: usize = 100;

/// Before its verification an answer gets this part of the trials, to see what is frequent.
const GLANCE: u64 = 10;

/// What finding fences came to.
#[derive(Debug)]
pub struct Cured {
    /// What a first look at the program's own fences showed.
    pub look: FirstLook,
    /// Trials with the answer, by model, in the order of [`Subject::models`]. None of them failed.
    pub verified: Vec<(Model, Rate)>,
}

/// Failures that no fence cures.
#[derive(Clone, Debug)]
pub struct Uncured {
    /// The model that shows them.
    pub model: Model,
    /// In words.
    pub why: String,
    /// Trials with the fences found, and failures among them.
    pub seen: Rate,
}

/// Finds fences until the program passes under every model; or says what does not come to pass.
///
/// Trials without fences that turn out redundant verify the program with them, too.
///
/// # Errors
/// When trials cannot be run.
pub async fn cure<T: Trials>(
    bench: &Bench<'_, T>,
    subject: &Subject,
    answer: &mut Vec<MissingFence>,
) -> Result<Result<Cured, Uncured>, Error> {
    let mut rarest = 1.0_f64;
    // Stores to shared memory are seen by their block alone, where there are no clusters: fences found for them are
    // verified at block scope.
    let mut block_scope = true;
    let mut polish = Polish::default();
    for _ in 0..ROUNDS {
        let known = with_answer(&subject.whole, answer.iter());
        let first = answer.is_empty();
        let enough = verifying(bench.limits, rarest, first);
        let mut failing = None;
        for &model in &subject.models {
            let known = under(&known, model);
            bench.measure(&known, 2, enough.div_ceil(GLANCE)).await?;
            if bench.evidence(&known).fails() {
                failing = Some(model);
                break;
            }
        }
        if failing.is_none() {
            if polish.improve(bench, subject, answer).await? {
                continue;
            }
            let shared = |fence: &&mut MissingFence| fence.space == DelayedSpace::Shared && !fence.narrow;
            if block_scope && answer.iter_mut().filter(shared).map(|fence| fence.narrow = true).count() > 0 {
                continue;
            }
            let look = first_look(bench, subject, &known).await?;
            bench.expect_nothing();
            let mut verified = Vec::new();
            for (&model, passed) in subject.models.iter().zip(&look.passed) {
                let known = under(&known, model);
                bench.measure(&known, 2, enough.saturating_sub(*passed)).await?;
                let mut all = bench.evidence(&known).all;
                if all.failures > 0 {
                    failing = Some(model);
                    break;
                }
                all.trials += passed;
                bench.note(question(subject, model, first), all, "no trial failed");
                verified.push((model, all));
            }
            if failing.is_none() {
                return Ok(Ok(Cured { look, verified }));
            }
        }
        // One of them fails, or this would have ended.
        let Some(model) = failing else { continue };
        if answer.iter_mut().filter(|fence| fence.narrow).map(|fence| fence.narrow = false).count() > 0 {
            block_scope = false;
            continue;
        }
        let known = under(&known, model);
        let all = bench.evidence(&known).all;
        bench.note(question(subject, model, first), all, "it fails");
        let seen = bench.evidence(&known).fresh;
        if seen.failures > 0 {
            rarest = rarest.min(seen.mean());
        }
        match round(bench, &subject.under(model), &known).await? {
            Some(fence) => answer.push(fence),
            None => {
                let why = format!(
                    "{} of {} trials still fail under {}, and a trial failed with a fence after every access: this \
                     is not (only) a missing fence",
                    all.failures,
                    all.trials,
                    model_name(model)
                );
                return Ok(Err(Uncured { model, why, seen: all }));
            }
        }
    }
    let model = *subject.models.last().unwrap_or(&subject.whole.model);
    let known = under(&with_answer(&subject.whole, answer.iter()), model);
    let why = format!("after {ROUNDS} rounds the program still fails");
    Ok(Err(Uncured { model, why, seen: bench.evidence(&known).all }))
}

fn question(subject: &Subject, model: Model, first: bool) -> String {
    let question = if first { "does the program fail" } else { "does it pass with the fences found" };
    match subject.models.len() {
        1 => format!("{question}?"),
        _ => format!("{question} under {}?", model_name(model)),
    }
}

/// Trials that verify an answer: as many as any conclusion takes, more where nothing was found, and
/// where a failure was seen that is rarer than what the conclusions are meant for.
fn verifying(limits: SearchLimits, rarest: f64, first: bool) -> u64 {
    let rate = rarest.min(limits.rare());
    certain(rate, if first { FIRST_ALPHA } else { ALPHA }).min(limits.cap())
}
