//! Scope: whether `__threadfence_block()` would do where `__threadfence()` stands, or is missing.
//!
//! Not in the paper, whose fences have no scope. A fence that is needed is made to act at CTA scope
//! only; one failing trial shows that it needs the wider scope. That the narrower one would do is advice
//! which takes something away, and the failures of a narrow fence can be far rarer than those of a missing one;
//! so it takes as many trials as any conclusion for good, under each model that is asked, and is told with its error.
//!
//! Trials say something of the scope only where they would have shown that nothing is there at all. So the program is also
//! run without the fence, under the same model, and the narrowed one has to pass so many trials that a failure as frequent
//! as that would have shown, with the error [`ALPHA`]. Where one question may not take so many, or where the program does not
//! fail without the fence, the answer is "not known".
//!
//! The error counts over all searches. Of fences whose failures are far rarer than [`Limits::rare`](crate::rates::Limits::rare),
//! most get "not known", and of the few others a larger part can be wrong: those whose rate was overestimated by chance.
//!
//! Nor is it asked where there are several devices ([`Subject::several_devices`]).
//!
//! Model `store-buffer` shows the store side only, as far as the slots of a CTA go: where model `ptx` runs, it has to pass with the
//! narrowed fence, too, also where the search was limited to another model, or the advice is not given. Where the program
//! fails under `ptx` however wide the fence is, nothing is known of its scope there, so nothing is advised.

use bugaroo_harness::{Error, Variation};
use bugaroo_protocol::{Inserted, Model, SiteId};

use crate::bench::{Bench, FailsVerdict};
use crate::places::{Put, SitePlace};
use crate::rates::{ALPHA, Rate};
use crate::report::{NeededScope, ScopeAdvice};
use crate::round::measure_rate;
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
    needed: &[&SitePlace],
    inserted: &[&SitePlace],
) -> Result<Vec<ScopeAdvice>, Error> {
    let mut advice = Vec::new();
    if subject.several_devices() || !subject.models.iter().all(|model| can_tell_scope(*model)) {
        return Ok(advice);
    }
    let own = needed.iter().map(|&place| (place, false));
    let fences: Vec<(&SitePlace, bool)> = own.chain(inserted.iter().map(|&place| (place, true))).collect();
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
        let mut omitted = known.clone();
        take_out(&mut omitted, place, inserted);
        let without = format!("does it pass without {what} {name}?");
        let asked = Asked { known, narrow: &narrow, omitted: &omitted, questions: [&question, &without] };
        let Some(found) = holds(bench, subject, asked).await? else { continue };
        let does = found.needed == NeededScope::Cta;
        if does {
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
            needed: found.needed,
            model: found.model,
            trials: found.seen.trials,
            failures: found.seen.failures,
            omitted_trials: found.omitted.trials,
            omitted_failures: found.omitted.failures,
            confirmed: found.confirmed,
            rate: if does { bench.limits.rare() } else { 0.0 },
            error: if does { ALPHA } else { 0.0 },
        });
    }
    advice.sort_by_key(|advice| advice.site);
    if would_do.len() > 1 {
        let (mut narrow, mut omitted) = (known.clone(), known.clone());
        for &(place, inserted) in &would_do {
            narrow_in(&mut narrow, place, inserted);
            take_out(&mut omitted, place, inserted);
        }
        let questions = [
            "does it pass with all of these fences at block scope at once?",
            "does it pass without all of these fences?",
        ];
        let asked = Asked { known, narrow: &narrow, omitted: &omitted, questions };
        let found = holds(bench, subject, asked).await?;
        if !found.is_some_and(|found| found.needed == NeededScope::Cta) {
            // The advice has to hold as it stands: the first that can be narrowed is, one by one.
            keep_what_holds(bench, subject, known, &would_do, &mut advice).await?;
        }
    }
    Ok(advice)
}

/// A question about fences that are narrowed.
struct Asked<'a> {
    /// The program with its fences as wide as they are, which passes.
    known: &'a Variation,
    /// The same with some of them narrowed,
    narrow: &'a Variation,
    /// and without those.
    omitted: &'a Variation,
    /// In words: whether the narrowed program passes, and the one without.
    questions: [&'a str; 2],
}

/// What was found of a program whose fences are narrower.
struct Found {
    /// What they need.
    needed: NeededScope,
    /// The model that says so, and its trials with the fences narrowed.
    model: Model,
    seen: Rate,
    /// Its trials without the fences.
    omitted: Rate,
    /// Trials under model `ptx` that passed.
    confirmed: u64,
}

/// What fences need that are narrowed: under the program's models and, where that can be, under `ptx`. None where
/// that model tells nothing, as the program fails under it with the fences as wide as they are.
async fn holds<T: Trials>(
    bench: &Bench<'_, T>,
    subject: &Subject,
    asked: Asked<'_>,
) -> Result<Option<Found>, Error> {
    let answers = ["it fails: GPU scope is needed", "it passes at block scope"];
    let mut models = subject.models.clone();
    if subject.ptx_runs && !models.contains(&Model::Ptx) {
        models.push(Model::Ptx);
    }
    // The first model that can tell, and the first that cannot.
    let (mut does, mut unknown): (Option<Found>, Option<Found>) = (None, None);
    let mut confirmed = 0;
    for &model in &models {
        let narrow = under(asked.narrow, model);
        let [question, without] = asked.questions.map(|words| format!("{words} ({})", model_name(model)));
        if bench.ask_for_good(&narrow, question.clone(), answers).await? == FailsVerdict::Passes {
            let omitted = under(asked.omitted, model);
            let omitted = omitted_rate(bench, &omitted, without).await?;
            let enough = omitted.passes(ALPHA, bench.limits.cap());
            let told = omitted.ln_unseen(enough) <= ALPHA.ln();
            if !told || bench.ask_aloud(&narrow, enough, question, answers).await? == FailsVerdict::Passes {
                let seen = bench.evidence(&narrow).all;
                let needed = if told { NeededScope::Cta } else { NeededScope::Unknown };
                if told && model == Model::Ptx {
                    confirmed = seen.trials;
                }
                let first = if told { &mut does } else { &mut unknown };
                first.get_or_insert(Found { needed, model, seen, omitted, confirmed: 0 });
                continue;
            }
        }
        if !subject.models.contains(&model) {
            let question = "does it pass under ptx with its fences as wide as they are?".to_owned();
            let answers = [
                "it fails: of scopes nothing is known there, and nothing is advised",
                "it passes: GPU scope is needed",
            ];
            if bench.ask_for_good(&under(asked.known, model), question, answers).await? == FailsVerdict::Fails
            {
                return Ok(None);
            }
        }
        let seen = bench.evidence(&narrow).all;
        let omitted = bench.evidence(&under(asked.omitted, model)).fresh;
        return Ok(Some(Found { needed: NeededScope::Gpu, model, seen, omitted, confirmed: 0 }));
    }
    // What `ptx` cannot tell may be what loads need, which no other model shows.
    let blind = unknown.as_ref().is_some_and(|found| found.model == Model::Ptx);
    Ok(match does {
        Some(found) if !blind => Some(Found { confirmed, ..found }),
        _ => unknown,
    })
}

/// How often the program fails without the fences: until the failures say well enough how many trials a comparison
/// takes, or until there are too few of them for any.
async fn omitted_rate<T: Trials>(
    bench: &Bench<'_, T>,
    omitted: &Variation,
    question: String,
) -> Result<Rate, Error> {
    if bench.measure(omitted, 1, bench.limits.full()).await?.failures > 0 {
        measure_rate(bench, omitted).await?;
    }
    let rate = bench.evidence(omitted).fresh;
    let answer = match rate.failures {
        0 => "no trial failed: this says nothing of the scope",
        _ => "it fails: a scope that is too narrow is taken to show as often",
    };
    bench.note(question, rate, answer);
    Ok(rate)
}

/// Makes a fence of a variation act at CTA scope: one that is inserted there, or the program's own.
pub fn narrow_in(variation: &mut Variation, place: &SitePlace, inserted: bool) {
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

/// Takes a fence out of a variation: one that is inserted there, or the program's own.
fn take_out(variation: &mut Variation, place: &SitePlace, inserted: bool) {
    match (&place.put, inserted) {
        (Put::Written(written), true) => {
            for wide in written.insertions(Inserted::Fence) {
                variation.insert.remove(&wide);
            }
            variation.with_fence.retain(|id| !written.behind.contains(id));
        }
        (Put::BehindSites, true) => variation.with_fence.retain(|id| place.ids().all(|own| own != *id)),
        (Put::Widened, true) => variation.widen.retain(|id| place.ids().all(|own| own != *id)),
        (_, false) => variation.without_fence.extend(place.ids()),
    }
}

/// Narrows fences one after another, in the order of the text, as long as the program passes.
async fn keep_what_holds<T: Trials>(
    bench: &Bench<'_, T>,
    subject: &Subject,
    known: &Variation,
    would_do: &[(&SitePlace, bool)],
    advice: &mut Vec<ScopeAdvice>,
) -> Result<(), Error> {
    let (mut narrow, mut omitted) = (known.clone(), known.clone());
    let mut nothing_known = Vec::new();
    for advice in advice.iter_mut().filter(|advice| advice.needed == NeededScope::Cta) {
        let (mut next, mut without) = (narrow.clone(), omitted.clone());
        let own = |&&(place, inserted): &&(&SitePlace, bool)| {
            inserted == advice.inserted && place.is_called(&advice.place, inserted)
        };
        let Some(&(place, inserted)) = would_do.iter().find(own) else { continue };
        narrow_in(&mut next, place, inserted);
        take_out(&mut without, place, inserted);
        let question = format!("does it pass with the fence at site {} at block scope, too?", advice.site);
        let without_them = "does it pass without the fences that are narrowed so far?";
        let asked = Asked { known, narrow: &next, omitted: &without, questions: [&question, without_them] };
        match holds(bench, subject, asked).await? {
            Some(found) if found.needed == NeededScope::Cta => (narrow, omitted) = (next, without),
            Some(found) => {
                (advice.trials, advice.failures) = (found.seen.trials, found.seen.failures);
                (advice.omitted_trials, advice.omitted_failures) =
                    (found.omitted.trials, found.omitted.failures);
                (advice.model, advice.confirmed, advice.rate, advice.error) = (found.model, 0, 0.0, 0.0);
                advice.needed = found.needed;
            }
            None => nothing_known.push(advice.site),
        }
    }
    advice.retain(|advice| !nothing_known.contains(&advice.site));
    Ok(())
}

#[cfg(test)]
mod tests;
