//! Scope: whether `__threadfence_block()` would do where `__threadfence()` stands, or is missing.
//!
//! Not in the paper, whose fences have no scope. A fence that is needed is made to act at CTA scope
//! only; one failing trial shows that it needs the wider scope. That the narrower one would do is advice
//! which takes something away, and the failures of a narrow fence can be far rarer than those of a missing one;
//! so it takes as many trials as any conclusion for good, under each model that is asked, and is told with its error. Model
//! `store-buffer` shows the store side only, as far as the slots of a CTA go: where model `ptx` runs, it has to pass with the
//! narrowed fence, too, also where the search was limited to another model, or the advice is not given. Where the program
//! fails under `ptx` however wide the fence is, nothing is known of its scope there, so nothing is advised.

use bugaroo_harness::{Error, Variation};
use bugaroo_protocol::{Inserted, Model, SiteId};

use crate::bench::{Bench, Verdict};
use crate::places::{Place, Put};
use crate::rates::{ALPHA, Rate};
use crate::report::ScopeAdvice;
use crate::subject::{Subject, model_name, under};
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
    needed: &[&Place],
    inserted: &[&Place],
) -> Result<Vec<ScopeAdvice>, Error> {
    let mut advice = Vec::new();
    if !subject.models.iter().all(|model| can_tell_scope(*model)) {
        return Ok(advice);
    }
    let own = needed.iter().map(|&place| (place, false));
    let fences: Vec<(&Place, bool)> = own.chain(inserted.iter().map(|&place| (place, true))).collect();
    let mut would_do = Vec::new();
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
        narrow_in(&mut narrow, place, inserted);
        let (what, name) = match inserted {
            true => ("the fence missing", place.where_()),
            false => ("the fence at", place.name()),
        };
        let question = format!("does it pass with {what} {name} at block scope?");
        let Some(found) = holds(bench, subject, known, &narrow, &question).await? else { continue };
        if found.does {
            would_do.push((place, inserted));
        }
        let scope = place.lead().scope.as_deref().filter(|_| !inserted).unwrap_or("gpu");
        advice.push(ScopeAdvice {
            site: place.lead().id,
            sites: place.ids().collect(),
            ptx_line: place.lead().ptx_line,
            source: place.source.clone(),
            inserted,
            place: name,
            scope: scope.to_owned(),
            needed: if found.does { "cta" } else { "gpu" }.to_owned(),
            model: found.model,
            trials: found.seen.trials,
            failures: found.seen.failures,
            confirmed: found.confirmed,
            rate: if found.does { bench.limits.rare() } else { 0.0 },
            error: if found.does { ALPHA } else { 0.0 },
        });
    }
    advice.sort_by_key(|advice| advice.site);
    if advice.iter().filter(|advice| advice.needed == "cta").count() > 1 {
        let mut narrow = known.clone();
        for &(place, inserted) in &would_do {
            narrow_in(&mut narrow, place, inserted);
        }
        let question = "does it pass with all of these fences at block scope at once?";
        let found = holds(bench, subject, known, &narrow, question).await?;
        if !found.is_some_and(|found| found.does) {
            // The advice has to hold as it stands: the first that can be narrowed is, one by one.
            keep_what_holds(bench, subject, known, &would_do, &mut advice).await?;
        }
    }
    Ok(advice)
}

/// What was found of a program whose fences are narrower.
struct Found {
    /// It passes.
    does: bool,
    /// The model that says so, and its trials.
    model: Model,
    seen: Rate,
    /// Trials under model `ptx` that passed.
    confirmed: u64,
}

/// Whether the program passes with fences narrowed: under its model and, where that can be, under `ptx`. None where
/// that model tells nothing, as the program fails under it with the fences as wide as they are.
async fn holds<T: Trials>(
    bench: &Bench<'_, T>,
    subject: &Subject,
    known: &Variation,
    narrow: &Variation,
    question: &str,
) -> Result<Option<Found>, Error> {
    let answers = ["it fails: GPU scope is needed", "it passes at block scope"];
    let (mut seen, mut model, mut confirmed) = (Rate::default(), known.model, 0);
    let mut asked = subject.models.clone();
    if subject.ptx_runs && !asked.contains(&Model::Ptx) {
        asked.push(Model::Ptx);
    }
    for &next in &asked {
        let narrow = under(narrow, next);
        let question = format!("{question} ({})", model_name(next));
        let verdict = bench.ask_for_good(&narrow, question, answers).await?;
        let now = bench.evidence(&narrow).all;
        if verdict == Verdict::Passes {
            if next == Model::Ptx {
                confirmed = now.trials;
            }
            if seen.trials == 0 {
                (seen, model) = (now, next);
            }
            continue;
        }
        if !subject.models.contains(&next) {
            let question = "does it pass under ptx with its fences as wide as they are?".to_owned();
            let answers = [
                "it fails: of scopes nothing is known there, and nothing is advised",
                "it passes: GPU scope is needed",
            ];
            if bench.ask_for_good(&under(known, next), question, answers).await? == Verdict::Fails {
                return Ok(None);
            }
        }
        return Ok(Some(Found { does: false, model: next, seen: now, confirmed: 0 }));
    }
    Ok(Some(Found { does: true, model, seen, confirmed }))
}

/// Makes a fence of a variation act at CTA scope: one that is inserted there, or the program's own.
pub fn narrow_in(variation: &mut Variation, place: &Place, inserted: bool) {
    match (&place.put, inserted) {
        (Put::Written(written), true) => {
            for wide in written.insertions(Inserted::Fence) {
                variation.insert.remove(&wide);
            }
            place.put(variation, Inserted::BlockFence);
        }
        (Put::BehindSites | Put::Widened, true) => variation.narrow_fence.extend(place.ids()),
        (_, false) => {
            let wide = place.sites.iter().filter(|site| site.scope.as_deref() != Some("cta"));
            variation.narrow_fence.extend(wide.map(|site| site.id));
        }
    }
}

/// Narrows fences one after another, in the order of the text, as long as the program passes.
async fn keep_what_holds<T: Trials>(
    bench: &Bench<'_, T>,
    subject: &Subject,
    known: &Variation,
    would_do: &[(&Place, bool)],
    advice: &mut Vec<ScopeAdvice>,
) -> Result<(), Error> {
    let mut narrow = known.clone();
    let mut nothing_known = Vec::new();
    for advice in advice.iter_mut().filter(|advice| advice.needed == "cta") {
        let mut next = narrow.clone();
        let own = |&&(place, inserted): &&(&Place, bool)| {
            inserted == advice.inserted && place.is_called(&advice.place, inserted)
        };
        let Some(&(place, inserted)) = would_do.iter().find(own) else { continue };
        narrow_in(&mut next, place, inserted);
        let question = format!("does it pass with the fence at site {} at block scope, too?", advice.site);
        match holds(bench, subject, known, &next, &question).await? {
            Some(found) if found.does => narrow = next,
            Some(found) => {
                (advice.trials, advice.failures) = (found.seen.trials, found.seen.failures);
                (advice.model, advice.confirmed, advice.rate, advice.error) = (found.model, 0, 0.0, 0.0);
                "gpu".clone_into(&mut advice.needed);
            }
            None => nothing_known.push(advice.site),
        }
    }
    advice.retain(|advice| !nothing_known.contains(&advice.site));
    Ok(())
}

#[cfg(test)]
mod tests;
