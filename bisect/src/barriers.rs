//! The barriers that a program lacks: `__syncwarp()` first, then `__syncthreads()`, at places that all threads of the warp or
//! the block pass. Whether they do is tried out, a place at a time: an inserted barrier is one of its own, so a place that not
//! all pass ends in a deadlock.
//!
//! What it can miss: a barrier that is needed where only some threads pass (the branch would have to be rewritten).

use std::cmp::Reverse;

use bugaroo_harness::{Error, Outcome, Variation};
use bugaroo_protocol::{DelayedSpace, Inserted, Model, Side, SiteId};

use crate::bench::{Bench, FailsVerdict};
use crate::diagnosis::Diagnosed;
use crate::locate::{SearchedPlace, locate_any, with_all};
use crate::places::{Put, SitePlace};
use crate::round::{MissingFence, measure_rate, with_answer};
use crate::subject::Subject;
use crate::trials::Trials;

/// The program gets this part of a conclusion's trials.
pub const LOOK: u64 = 10;

/// Trials that try whether all threads pass a place.
const PASSES: u64 = 3;

/// Barriers that are looked for.
const ROUNDS: usize = 4;

/// Failing and passing trials whose conflicts are looked at.
pub const LOOKED_AT: usize = 6;

/// What a look without delays came to.
#[derive(Debug)]
pub enum PlainLook {
    /// The program passes.
    Passes,
    /// It fails, and passes with barriers, which are in the answer now.
    Cured(Diagnosed),
    /// It fails, and no barrier cures it.
    Uncured(Diagnosed, String),
}

/// The barriers with which a variation without delays passes, if there are such.
///
/// # Errors
/// When trials cannot be run.
pub async fn barriers<T: Trials>(
    bench: &Bench<'_, T>,
    subject: &Subject,
    plain: &Variation,
    diagnosed: &Diagnosed,
) -> Result<Option<Vec<MissingFence>>, Error> {
    for what in [Inserted::WarpBarrier, Inserted::BlockBarrier] {
        let passed = passed_by_all(bench, subject, plain, what, diagnosed).await?;
        let mut found: Vec<MissingFence> = Vec::new();
        for _ in 0..ROUNDS {
            let known = with_answer(plain, &found);
            if !found.is_empty() && passes(bench, &known, what).await? {
                return Ok(Some(found));
            }
            let left: Vec<SitePlace> = passed.iter().filter(|place| !place.is_in(&known)).cloned().collect();
            if left.is_empty() {
                break;
            }
            measure_rate(bench, &known).await?;
            bench.expect_failures_of(&known);
            let before = bench.spent();
            let at = locate_any(bench, &known, &left, what).await?;
            bench.expect_nothing();
            let SearchedPlace::At(at) = at else { break };
            found.push(MissingFence {
                place: left[at].clone(),
                space: DelayedSpace::Both,
                kernel: None,
                model: Model::StoreBuffer,
                narrow: false,
                barrier: Some(what),
                beside: None,
                trials: bench.spent() - before,
            });
        }
    }
    Ok(None)
}

/// A variation without delays and old values.
pub fn undelayed(variation: &Variation) -> Variation {
    Variation { model: Model::StoreBuffer, pw: 0.0, pr: 0.0, ..variation.clone() }
}

async fn passes<T: Trials>(bench: &Bench<'_, T>, known: &Variation, what: Inserted) -> Result<bool, Error> {
    let name = if what == Inserted::WarpBarrier { "__syncwarp()" } else { "__syncthreads()" };
    let question = format!("does it pass with the {name} found, with no store delayed?");
    let verdict = bench.ask_for_good(known, question, ["it fails", "it passes"]).await?;
    Ok(verdict == FailsVerdict::Passes)
}

/// The places that all threads pass: first those behind the accesses that collide, as an author would put the barrier between the
/// two, behind a whole loop rather than in it: threads need not all go round as often with another input. Then the others in the
/// order of the text.
async fn passed_by_all<T: Trials>(
    bench: &Bench<'_, T>,
    subject: &Subject,
    plain: &Variation,
    what: Inserted,
    diagnosed: &Diagnosed,
) -> Result<Vec<SitePlace>, Error> {
    let mut passed = Vec::new();
    'places: for place in &subject.places {
        // Behind sites there can be fences alone.
        if place.insertions(what).is_empty() {
            continue;
        }
        let with = with_all(plain, [place], what);
        for index in 0..PASSES {
            let outcome = bench.look(&with, index).await?.outcome;
            if !matches!(outcome, Outcome::Pass | Outcome::WrongResult) {
                continue 'places;
            }
        }
        passed.push(place.clone());
    }
    let first: Vec<SiteId> = diagnosed.diagnosis.iter().filter_map(|found| found.first.site).collect();
    let second: Vec<SiteId> = diagnosed.diagnosis.iter().filter_map(|found| found.second.site).collect();
    passed.sort_by_key(|place| {
        let line = place.source.as_ref().map(|source| (source.file.clone(), source.line));
        let (behind, nesting) = match &place.put {
            Put::Written(written) => (written.side() == Side::Behind, written.spot.depth),
            _ => (false, 0),
        };
        let holds = |sites: &[SiteId]| behind && place.ids().any(|id| sites.contains(&id));
        let (class, nesting) = match () {
            () if holds(&first) => (0, Reverse(nesting)),
            () if holds(&second) => (1, Reverse(nesting)),
            () => (2, Reverse(0)),
        };
        (class, nesting, line, place.lead().id)
    });
    Ok(passed)
}
