//! Under which models each fence is needed.
//!
//! Not in the paper, which has one model. What model `store-buffer` shows, model `ptx` shows, too: it delays the same
//! stores, and reads old values besides. So a fence that is redundant under `ptx` is so under both; of one
//! that is needed, one failing trial under `store-buffer` shows that hardware which only delays stores
//! needs it, and otherwise only what reads old values does (the acquire side). The search has asked `store-buffer` of each
//! fence already, where it was to; else it is asked here. That it passes there is told with the trials that say so.

use bugaroo_harness::{Error, Variation};
use bugaroo_protocol::{Model, SiteId};

use crate::bench::Bench;
use crate::places::{SitePlace, named};
use crate::redundant::{NeededFence, omitting};
use crate::report::{FenceNeed, Needed, Redundant};
use crate::round::{MissingFence, with_answer};
use crate::subject::{Subject, under};
use crate::trials::Trials;

/// A fence gets this part of a conclusion's trials.
const LOOK: u64 = 10;

/// Tells of the fences that are needed: the program's own (`needed`) and those found missing (`answer`), and of the
/// `redundant` ones, which are needed under no model. `known` has the missing ones in, and passes. Nothing is told where
/// model `ptx` was not asked.
///
/// # Errors
/// When trials cannot be run.
pub async fn needs_by_model<T: Trials>(
    bench: &Bench<'_, T>,
    subject: &Subject,
    known: &Variation,
    needed: &[NeededFence],
    answer: &[MissingFence],
    redundant: &[Redundant],
) -> Result<Vec<FenceNeed>, Error> {
    // That there is a race says nothing of what a machine does that delays stores alone.
    if !subject.models.contains(&Model::Ptx) || !subject.whole.race.is_empty() {
        return Ok(Vec::new());
    }
    let mut needs = Vec::new();
    for seen in needed {
        needs.push(need(bench, &omitting(known, [&seen.place]), &seen.place, false).await?);
    }
    for (at, fence) in answer.iter().enumerate() {
        let others = answer.iter().enumerate().filter(|(other, _)| *other != at);
        let rest = with_answer(&subject.whole, others.map(|(_, fence)| fence));
        needs.push(need(bench, &rest, &fence.place, true).await?);
    }
    needs.extend(redundant.iter().map(|fence| FenceNeed {
        site: fence.site,
        sites: fence.sites.clone(),
        ptx_line: fence.ptx_line,
        source: fence.source.clone(),
        inserted: false,
        place: named(fence.source.as_ref(), fence.ptx_line),
        needed: Needed::Neither,
        trials: fence.trials,
        failures: 0,
    }));
    needs.sort_by_key(|need| need.site);
    Ok(needs)
}

/// What model `store-buffer` says of the program without a fence.
async fn need<T: Trials>(
    bench: &Bench<'_, T>,
    without: &Variation,
    place: &SitePlace,
    inserted: bool,
) -> Result<FenceNeed, Error> {
    let without = under(without, Model::StoreBuffer);
    bench.ask(&without, bench.limits.full().div_ceil(LOOK)).await?;
    let seen = bench.evidence(&without).all;
    let (name, what) = match inserted {
        true => (place.where_(), "a fence"),
        false => (place.name(), "the fence at"),
    };
    let answer = if seen.failures > 0 { "it fails: needed under both models" } else { "no failure so far" };
    let question = format!("does it pass under store-buffer without {what} {name}?");
    bench.note(question, seen, answer);
    Ok(FenceNeed {
        site: place.lead().id,
        sites: place.ids().collect::<Vec<SiteId>>(),
        ptx_line: place.lead().ptx_line,
        source: place.source.clone(),
        inserted,
        place: name,
        needed: if seen.failures > 0 { Needed::Both } else { Needed::Ptx },
        trials: seen.trials,
        failures: seen.failures,
    })
}

#[cfg(test)]
mod tests;
