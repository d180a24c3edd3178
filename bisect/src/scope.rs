//! Scope: whether `__threadfence_block()` would do where `__threadfence()` stands, or is missing.
//!
//! Not in the paper, whose fences have no scope. A fence that is needed is made to act at CTA scope
//! only; one failing trial shows that it needs the wider scope. That the narrower one would do is advice
//! which takes something away, and the failures of a narrow fence can be far rarer than those of a missing one;
//! so it takes as many trials as any conclusion for good. It holds under the model used, and under a
//! model of delayed stores for the store side only: what a reader's fence does is not tested.

use std::collections::BTreeSet;

use bugaroo_harness::{Error, Variation};
use bugaroo_protocol::{Model, SiteId};

use crate::bench::{Bench, Verdict};
use crate::places::Place;
use crate::report::ScopeAdvice;
use crate::search::Subject;
use crate::trials::Trials;

/// Whether trials under this model can differ between a fence at CTA and at GPU scope.
pub fn can_tell_scope(model: Model) -> bool {
    match model {
        // A store that a CTA-scoped fence drains may stay invisible to other CTAs.
        Model::StoreBuffer => true,
        // The paper's buffers know no scopes.
        Model::Bugaroo => false,
        Model::Ptx => true,
    }
}

/// Tries the needed fences at CTA scope, one at a time: the program's own (`needed`) and those found
/// missing (`inserted`). `known` has the latter in, and passes.
///
/// # Errors
/// When trials cannot be run.
pub async fn narrow_scopes<T: Trials>(
    bench: &Bench<'_, T>,
    subject: &Subject,
    known: &Variation,
    needed: &[Place],
    inserted: &[&Place],
) -> Result<Vec<ScopeAdvice>, Error> {
    let mut advice = Vec::new();
    if !can_tell_scope(known.model) {
        return Ok(advice);
    }
    let own = needed.iter().map(|place| (place, false));
    let fences: Vec<(&Place, bool)> = own.chain(inserted.iter().map(|&place| (place, true))).collect();
    let mut would_do = BTreeSet::new();
    for (place, inserted) in fences {
        let wide: Vec<SiteId> = place
            .sites
            .iter()
            .filter(|site| inserted || site.scope.as_deref() != Some("cta"))
            .map(|site| site.id)
            .filter(|id| !known.narrow_fence.contains(id))
            .collect();
        if wide.is_empty() {
            continue;
        }
        let mut narrow = known.clone();
        narrow.narrow_fence.extend(&wide);
        let what = if inserted { "the fence missing after" } else { "the fence at" };
        let question = format!("does it pass with {what} {} at block scope?", place.name());
        let answers = ["it fails: GPU scope is needed", "it passes: __threadfence_block() would do"];
        let verdict = bench.ask_for_good(&narrow, question, answers).await?;
        let seen = bench.evidence(&narrow).all;
        if verdict == Verdict::Passes {
            would_do.extend(&wide);
        }
        let scope = place.lead().scope.as_deref().filter(|_| !inserted).unwrap_or("gpu");
        advice.push(ScopeAdvice {
            site: place.lead().id,
            sites: place.ids().collect(),
            ptx_line: place.lead().ptx_line,
            source: place.source.clone(),
            inserted,
            scope: scope.to_owned(),
            needed: if verdict == Verdict::Passes { "cta" } else { "gpu" }.to_owned(),
            model: subject.whole.model,
            trials: seen.trials,
            failures: seen.failures,
        });
    }
    advice.sort_by_key(|advice| advice.site);
    if advice.iter().filter(|advice| advice.needed == "cta").count() > 1 {
        let mut narrow = known.clone();
        narrow.narrow_fence.extend(&would_do);
        let question = "does it pass with all of these fences at block scope at once?".to_owned();
        let answers = ["it fails: not all of them can be narrowed together", "it passes"];
        if bench.ask_for_good(&narrow, question, answers).await? == Verdict::Fails {
            // The advice has to hold as it stands: the first that can be narrowed is, one by one.
            keep_what_holds(bench, known, &mut advice).await?;
        }
    }
    Ok(advice)
}

/// Narrows fences one after another, in the order of the text, as long as the program passes.
async fn keep_what_holds<T: Trials>(
    bench: &Bench<'_, T>,
    known: &Variation,
    advice: &mut [ScopeAdvice],
) -> Result<(), Error> {
    let mut narrow = known.clone();
    for advice in advice.iter_mut().filter(|advice| advice.needed == "cta") {
        let mut next = narrow.clone();
        next.narrow_fence.extend(&advice.sites);
        let question = format!("does it pass with the fence at site {} at block scope, too?", advice.site);
        match bench.ask_for_good(&next, question, ["it fails", "it passes"]).await? {
            Verdict::Passes => narrow = next,
            Verdict::Fails => {
                let seen = bench.evidence(&next).all;
                (advice.trials, advice.failures) = (seen.trials, seen.failures);
                "gpu".clone_into(&mut advice.needed);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
