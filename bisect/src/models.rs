//! Under which models each fence is needed.
//!
//! Not in the paper, which has one model. What model `store-buffer` shows, model `ptx` shows, too: it delays the same
//! stores, and reads old values besides. So a fence that is redundant under `ptx` is so under both, and one
//! that is needed under `ptx` is asked about once more, under `store-buffer`: hardware that only delays stores
//! needs it, or only what reads old values does (the acquire side). One failing trial shows that it is needed;
//! that it is not takes as many trials as any conclusion for good.

use bugaroo_harness::{Error, Variation};
use bugaroo_protocol::{Model, SiteId};

use crate::bench::{Bench, Verdict};
use crate::places::Place;
use crate::report::{FenceNeed, Needed, Redundant};
use crate::trials::Trials;

/// What the answers mean.
const ANSWERS: [&str; 2] = ["it fails: needed under both models", "it passes: needed under ptx only"];

/// Asks about the fences that are needed under model `ptx`: the program's own (`needed`) and those found missing
/// (`inserted`); `redundant` are needed under neither. `known` has the missing ones in, and passes. Nothing is asked
/// under another model.
///
/// # Errors
/// When trials cannot be run.
pub async fn needs_by_model<T: Trials>(
    bench: &Bench<'_, T>,
    known: &Variation,
    needed: &[Place],
    inserted: &[&Place],
    redundant: &[Redundant],
) -> Result<Vec<FenceNeed>, Error> {
    if known.model != Model::Ptx {
        return Ok(Vec::new());
    }
    let delayed = Variation { model: Model::StoreBuffer, ..known.clone() };
    let mut needs = Vec::new();
    let own = needed.iter().map(|place| (place, false));
    for (place, inserted) in own.chain(inserted.iter().map(|&place| (place, true))) {
        let mut without = delayed.clone();
        let ids: Vec<SiteId> = place.ids().collect();
        if inserted {
            without.with_fence.retain(|id| !ids.contains(id));
        } else {
            without.without_fence.extend(&ids);
        }
        let what = if inserted { "a fence after" } else { "the fence at" };
        let question = format!("does it pass under store-buffer without {what} {}?", place.name());
        let verdict = bench.ask_for_good(&without, question, ANSWERS).await?;
        let seen = bench.evidence(&without).all;
        needs.push(FenceNeed {
            site: place.lead().id,
            sites: ids,
            ptx_line: place.lead().ptx_line,
            source: place.source.clone(),
            inserted,
            needed: if verdict == Verdict::Fails { Needed::Both } else { Needed::Ptx },
            trials: seen.trials,
            failures: seen.failures,
        });
    }
    needs.extend(redundant.iter().map(|fence| FenceNeed {
        site: fence.site,
        sites: fence.sites.clone(),
        ptx_line: fence.ptx_line,
        source: fence.source.clone(),
        inserted: false,
        needed: Needed::Neither,
        trials: fence.trials,
        failures: 0,
    }));
    needs.sort_by_key(|need| need.site);
    Ok(needs)
}

#[cfg(test)]
mod tests;
