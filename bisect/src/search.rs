//! The whole search, as in the paper (III.D): which space, which kernel, which location; and again,
//! with the fence found kept, until the program passes. Then: which of the program's own fences could
//! go, and which could be narrower.
//!
//! Departures from the paper: what a fence is (a place of the source, [`crate::places`]); that several memory models are
//! asked ([`crate::cure`]); how many trials a question takes ([`crate::rates`]); how the location is searched
//! ([`crate::locate`]); and that the answer as a whole is verified, and each of its fences examined ([`crate::polish`]).
//!
//! What it can miss: a bug that shows only on the load side (a missing acquire) where model `ptx` is not asked, and one that
//! fails more rarely than [`SearchLimits::rare`](crate::rates::Limits::rare).

use bugaroo_harness::{Error, Variation};
use bugaroo_protocol::Model;

use crate::barriers::PlainLook;
use crate::bench::Bench;
use crate::cure::{Uncured, cure};
use crate::describe::{caveats, missing};
use crate::diagnosis::{Diagnosed, DiagnosisKind, FaultDiagnosis};
use crate::memo::Memo;
use crate::models::needs_by_model;
use crate::places::SitePlace;
use crate::plain::{conflicts, plain};
use crate::racing;
use crate::rates::{ALPHA, CAP, Rate, SearchLimits};
use crate::redundant::{Ablation, ablate, omitting};
use crate::report::{
    Assurance, FenceNeed, Needed, NeededScope, ScopeAdvice, SearchReport, SearchStep, VerifiedAnswer,
};
use crate::round::{MissingFence, with_answer};
use crate::scope::narrow_scopes;
use crate::subject::{Subject, under};
use crate::syntax::FenceScope;
use crate::trials::Trials;

/// A variation with the barriers of an answer.
fn with_barriers(whole: &Variation, answer: &[MissingFence]) -> Variation {
    with_answer(whole, answer.iter().filter(|fence| fence.barrier.is_some()))
}

/// What a search found, for the report and for the patch.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The report, without its patch.
    pub report: SearchReport,
    /// Fences that are missing, in the order of [`SearchReport::missing`].
    pub missing: Vec<MissingFence>,
    /// Fences of the program that can all go at once, with the missing ones in.
    pub can_go: Vec<SitePlace>,
    /// And those that can be narrower then.
    pub narrower: Vec<SitePlace>,
    /// The scope of fences that are widened.
    pub wide: FenceScope,
}

/// Finds the fences that are missing, then those that are redundant or wider than need be. `tell` hears
/// every step as it is concluded.
///
/// # Errors
/// When trials cannot be run at all.
pub async fn search<T: Trials>(
    memo: &Memo<'_, T>,
    subject: &Subject,
    tell: &dyn Fn(&SearchStep),
) -> Result<Answer, Error> {
    let bench = Bench::new(memo, SearchLimits { trials: subject.trials }, tell);
    let mut answer: Vec<MissingFence> = Vec::new();
    let mut diagnosed = Diagnosed::default();
    let cured = match plain(&bench, subject, &mut answer).await? {
        PlainLook::Passes => cure(&bench, subject, &mut answer).await?,
        PlainLook::Cured(found) => {
            diagnosed = found;
            cure(&bench, subject, &mut answer).await?
        }
        PlainLook::Uncured(found, why) => {
            diagnosed = found;
            Err(Uncured { model: subject.whole.model, why, seen: Rate::default() })
        }
    };
    let (mut can_go, mut narrower) = (Vec::new(), Vec::new());
    answer.sort_by_key(|fence| fence.place.lead().id);
    let known = with_answer(&subject.whole, &answer);
    let mut ablation = Ablation::default();
    let mut scopes = Vec::new();
    let mut needs = Vec::new();
    let mut unresolved = None;
    let mut verified = Vec::new();
    match cured {
        Err(uncured) => {
            if diagnosed.diagnosis.is_empty() {
                let known = under(&known, uncured.model);
                diagnosed = match subject.whole.race.is_empty() {
                    true => conflicts(&bench, &known).await?,
                    false => racing::uncured(&bench, subject, &known).await?,
                };
            }
            unresolved = Some(uncured.why);
            verified.push((uncured.model, uncured.seen));
        }
        Ok(cured) => {
            verified = cured.verified;
            if let Some(model) = answer
                .iter()
                // Where races are what fails, none is left to be named.
                .filter(|fence| fence.barrier.is_none() && subject.whole.race.is_empty())
                .map(|fence| fence.model)
                .max_by_key(|model| *model == Model::Ptx)
            {
                // Fences may cure what atomics should: whose scope takes not all in, or that meet plain accesses.
                let found = conflicts(&bench, &under(&with_barriers(&subject.whole, &answer), model)).await?;
                let atomics = |found: &&FaultDiagnosis| {
                    matches!(found.kind, DiagnosisKind::AtomicScope | DiagnosisKind::PlainBesideAtomic)
                };
                diagnosed.diagnosis.extend(found.diagnosis.iter().filter(atomics).cloned());
            }
            ablation = ablate(&bench, subject, &known, cured.look).await?;
            let needed: Vec<&SitePlace> = ablation.needed.iter().map(|needed| &needed.place).collect();
            let inserted: Vec<&SitePlace> = answer
                .iter()
                .filter(|fence| !fence.narrow && fence.barrier.is_none())
                .map(|fence| &fence.place)
                .collect();
            // What can go and what can be narrower hold together.
            can_go.clone_from(&ablation.can_go);
            let without = omitting(&known, &can_go);
            scopes = narrow_scopes(&bench, subject, &without, &needed, &inserted).await?;
            let does = |place: &&&SitePlace| {
                let own = |advice: &&ScopeAdvice| !advice.inserted && place.is_called(&advice.place, false);
                scopes.iter().find(own).is_some_and(|advice| advice.needed == NeededScope::Cta)
            };
            narrower = needed.iter().filter(does).map(|&place| place.clone()).collect();
            let Ablation { needed, redundant, .. } = &ablation;
            needs = needs_by_model(&bench, subject, &known, needed, &answer, redundant).await?;
        }
    }
    let (untold, forgetful) = (bench.untold(), bench.forgetful());
    let hidden = untold + forgetful;
    if hidden > 0 {
        // What did not show may have been in those trials.
        ablation = Ablation::default();
        scopes.retain(|advice: &ScopeAdvice| advice.needed != NeededScope::Cta);
        needs.retain(|need: &FenceNeed| need.needed == Needed::Both);
        can_go.clear();
        narrower.clear();
    }
    for fence in &mut answer {
        let does = |advice: &&ScopeAdvice| advice.inserted && fence.place.is_called(&advice.place, true);
        fence.narrow |= scopes.iter().find(does).is_some_and(|advice| advice.needed == NeededScope::Cta);
    }
    let confidence = match &unresolved {
        _ if hidden > 0 => 0.0,
        Some(_) => 0.95,
        None => 1.0 - ALPHA,
    };
    let concluded = bench.concluded() + 1;
    let (limits, spent) = (bench.limits, bench.spent());
    let (steps, short) = bench.finish();
    let mut report = SearchReport {
        diagnosis: diagnosed.diagnosis,
        notes: diagnosed.notes,
        missing: answer.iter().map(|fence| missing(subject, fence, confidence)).collect(),
        redundant: ablation.redundant,
        redundant_together: ablation.together,
        minimal_sets: ablation.minimal_sets,
        minimal_sets_complete: ablation.complete,
        scope_advice: scopes,
        needs,
        patch: String::new(),
        hunks: Vec::new(),
        unpatched: Vec::new(),
        steps,
        verified: VerifiedAnswer::of(&verified),
        assurance: Assurance {
            rate: limits.rare(),
            error: if hidden > 0 { 1.0 } else { (concluded as f64 * ALPHA).min(1.0) },
            full: limits.full(),
            cap: limits.cap(),
        },
        trials: spent,
        untold,
        forgetful,
        unresolved,
        caveats: Vec::new(),
    };
    report.caveats = caveats(subject, &report);
    report.caveats.extend(
        short.into_iter().map(|what| {
            format!("one question may take {CAP} times --trials, which cut this one short: {what}")
        }),
    );
    Ok(Answer { report, missing: answer, can_go, narrower, wide: subject.wide })
}

#[cfg(test)]
mod tests;
