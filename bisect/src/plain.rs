//! What is not a fence: a program that fails though nothing is delayed.
//!
//! Before fences are looked for, the program runs with p_w 0, where memory is sequentially consistent: what fails there, no
//! fence cures. A barrier may ([`crate::barriers`]). Barriers that cure are kept, and the search for fences goes on with them
//! in. Where none does, the accesses of failing trials are looked at ([`crate::diagnosis`]).
//!
//! What it can miss: failures rarer than those that a tenth of a conclusion's trials show. They come up later as failures that
//! no fence cures.

use bugaroo_harness::{Conflicts, Error, Outcome, Variation};

use crate::barriers::{LOOK, LOOKED_AT, PlainLook, barriers, undelayed};
use crate::bench::Bench;
use crate::diagnosis::{Diagnosed, diagnose};
use crate::racing;
use crate::round::MissingFence;
use crate::subject::Subject;
use crate::trials::{LookedAt, Trials};

/// Trials among which passing ones are looked for.
const TRIED: u64 = 40;

/// Runs the program without delays; adds the barriers that it lacks to `answer`.
///
/// # Errors
/// When trials cannot be run.
pub async fn plain<T: Trials>(
    bench: &Bench<'_, T>,
    subject: &Subject,
    answer: &mut Vec<MissingFence>,
) -> Result<PlainLook, Error> {
    if !subject.whole.race.is_empty() {
        return racing::plain(bench, subject, answer).await;
    }
    let plain = undelayed(&subject.whole);
    bench.measure(&plain, 2, bench.limits.full().div_ceil(LOOK)).await?;
    let seen = bench.evidence(&plain).all;
    if seen.failures == 0 {
        bench.note("does it fail though no store is delayed?".to_owned(), seen, "no trial failed");
        return Ok(PlainLook::Passes);
    }
    bench.note("does it fail though no store is delayed?".to_owned(), seen, "it fails: no fence cures that");
    let diagnosed = conflicts(bench, &plain).await?;
    if let Some(found) = barriers(bench, subject, &plain, &diagnosed).await? {
        answer.extend(found);
        return Ok(PlainLook::Cured(diagnosed));
    }
    let why = format!(
        "{} of {} trials fail though no store is delayed, and no barrier that all threads pass cures that: it is not a \
         missing fence",
        seen.failures, seen.trials
    );
    Ok(PlainLook::Uncured(diagnosed, why))
}

/// What failing trials of a variation show, and passing ones less.
///
/// # Errors
/// When trials cannot be run.
pub async fn conflicts<T: Trials>(bench: &Bench<'_, T>, variation: &Variation) -> Result<Diagnosed, Error> {
    if !variation.race.is_empty() {
        return racing::diagnosed(bench, variation).await;
    }
    let (mut failing, mut passing): (Vec<Conflicts>, Vec<Conflicts>) = (Vec::new(), Vec::new());
    let known = bench.evidence(variation).failing;
    for index in known.iter().copied().take(LOOKED_AT) {
        failing.push(bench.look(variation, index).await?.conflicts);
    }
    for index in (0..TRIED).filter(|index| !known.contains(index)) {
        if passing.len() >= LOOKED_AT {
            break;
        }
        let LookedAt { outcome, conflicts, .. } = bench.look(variation, index).await?;
        if outcome == Outcome::Pass {
            passing.push(conflicts);
        }
    }
    Ok(diagnose(&failing, &passing))
}
