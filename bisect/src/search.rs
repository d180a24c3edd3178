//! The whole search, as in the paper (III.D): which space, which kernel, which location; and again,
//! with the fence found kept, until the program passes. Then: which of the program's own fences could
//! go, and which could be narrower.
//!
//! Departures from the paper: what a fence is (a line of the source, [`crate::places`]); how many trials a
//! question takes ([`crate::rates`]); how the location is searched ([`crate::locate`]); and that the
//! answer as a whole is verified, and each of its fences examined ([`crate::polish`]).
//!
//! Several bugs with different rates come up one after another: what fails often is cured first, the
//! verification shows what is left, and the next round looks for that. Two fences that cure only
//! together are found in two rounds, the later one in the text first: with it, the program still fails,
//! and the second round finds the other.
//!
//! What it can miss: a bug that shows only on the load side (a missing acquire) where the model only
//! delays stores, and one that fails more rarely than [`Limits::rare`].

use bugaroo_harness::{Error, Variation};
use bugaroo_protocol::{Model, Site, SiteId, SiteKind, Space};

use crate::bench::Bench;
use crate::locate::with_fences;
use crate::memo::Memo;
use crate::models::needs_by_model;
use crate::narrow::space_name;
use crate::places::{Place, follows, reachable};
use crate::polish::polish;
use crate::rates::{ALPHA, CAP, FIRST_ALPHA, Limits, Rate, certain};
use crate::redundant::{Ablation, FirstLook, ablate, first_look};
use crate::report::{Assurance, FenceNeed, Missing, Needed, OwnFence, Report, ScopeAdvice, Step, Verified};
use crate::round::{Fence, round};
use crate::scope::{can_tell_scope, narrow_scopes};
use crate::trials::Trials;

/// Rounds after which the search gives up. Each finds a fence or shows that none cures.
const ROUNDS: usize = 100;

/// Before its verification an answer gets this part of the trials, to see what is frequent.
const GLANCE: u64 = 10;

/// What is known of the program before the search.
#[derive(Clone, Debug)]
pub struct Subject {
    /// Its sites.
    pub sites: Vec<Site>,
    /// The kernels that it launches and that are searched, without repetition.
    pub kernels: Vec<String>,
    /// How thorough to be: `--trials`.
    pub trials: u64,
    /// How stores are delayed, and what the user limits the search to.
    pub whole: Variation,
    /// Whether model `ptx` runs where the trials do, so that it can be asked, too.
    pub ptx_runs: bool,
}

impl Subject {
    /// Whether a site is in a kernel that is launched, or in a function that it may call.
    pub fn reaches(&self, site: &Site) -> bool {
        reachable(site, &self.kernels)
    }
}

/// Finds the fences that are missing, then those that are redundant or wider than need be. `tell` hears
/// every step as it is concluded.
///
/// # Errors
/// When trials cannot be run at all.
pub async fn search<T: Trials>(
    memo: &Memo<'_, T>,
    subject: &Subject,
    tell: &dyn Fn(&Step),
) -> Result<Report, Error> {
    let bench = Bench::new(memo, Limits { trials: subject.trials }, tell);
    let mut answer: Vec<Fence> = Vec::new();
    let (verdict, verified) = missing_fences(&bench, subject, &mut answer).await?;
    answer.sort_by_key(|fence| fence.place.lead().id);
    let found: Vec<&Place> = answer.iter().map(|fence| &fence.place).collect();
    let known = with_fences(&subject.whole, found.iter().copied());
    let mut ablation = Ablation::default();
    let mut scopes = Vec::new();
    let mut needs = Vec::new();
    let mut unresolved = None;
    match verdict {
        Err(why) => unresolved = Some(why),
        Ok(look) => {
            ablation = ablate(&bench, subject, &known, look).await?;
            let inserted: Vec<&Place> = answer
                .iter()
                .filter(|fence| fence.space != Space::Shared)
                .map(|fence| &fence.place)
                .collect();
            scopes = narrow_scopes(&bench, subject, &known, &ablation.needed, &inserted).await?;
            let Ablation { needed, redundant, .. } = &ablation;
            needs = needs_by_model(&bench, &known, needed, &found, redundant).await?;
        }
    }
    let (untold, forgetful) = (bench.untold(), bench.forgetful());
    let hidden = untold + forgetful;
    if hidden > 0 {
        // What did not show may have been in those trials.
        ablation = Ablation::default();
        scopes.retain(|advice: &ScopeAdvice| advice.needed != "cta");
        needs.retain(|need: &FenceNeed| need.needed == Needed::Both);
    }
    let confidence = match &unresolved {
        _ if hidden > 0 => 0.0,
        Some(_) => 0.95,
        None => 1.0 - ALPHA,
    };
    let missing = answer
        .iter()
        .map(|fence| {
            let advised =
                scopes.iter().find(|advice| advice.inserted && advice.site == fence.place.lead().id);
            describe(subject, fence, advised.map(|advice| advice.needed.as_str()), confidence)
        })
        .collect::<Vec<_>>();
    let concluded = bench.concluded() + 1;
    let (limits, spent) = (bench.limits, bench.spent());
    let (steps, short) = bench.finish();
    let mut report = Report {
        missing,
        redundant: ablation.redundant,
        redundant_together: ablation.together,
        minimal_sets: ablation.minimal_sets,
        minimal_sets_complete: ablation.complete,
        scope_advice: scopes,
        needs,
        steps,
        verified: Verified { trials: verified.trials, failures: verified.failures },
        assurance: Assurance {
            rate: limits.rare(),
            error: if hidden > 0 { 1.0 } else { (concluded as f64 * ALPHA).min(1.0) },
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
    Ok(report)
}

/// Finds fences until the program passes; says what a first look at its own fences showed then, or why it
/// does not come to pass; and the trials that say so.
///
/// Trials without fences that turn out redundant verify the program with them, too.
async fn missing_fences<T: Trials>(
    bench: &Bench<'_, T>,
    subject: &Subject,
    answer: &mut Vec<Fence>,
) -> Result<(Result<FirstLook, String>, Rate), Error> {
    let mut rarest = 1.0_f64;
    for _ in 0..ROUNDS {
        let known = with_fences(&subject.whole, answer.iter().map(|fence| &fence.place));
        let first = answer.is_empty();
        let enough = verifying(bench.limits, rarest, first);
        let question = if first { "does the program fail?" } else { "does it pass with the fences found?" };
        bench.measure(&known, 2, enough.div_ceil(GLANCE)).await?;
        if !bench.evidence(&known).fails() {
            if polish(bench, subject, answer).await? {
                continue;
            }
            let look = first_look(bench, subject, &known).await?;
            bench.expect_nothing();
            bench.measure(&known, 2, enough.saturating_sub(look.passed)).await?;
            let mut all = bench.evidence(&known).all;
            if all.failures == 0 {
                all.trials += look.passed;
                bench.note(question.to_owned(), all, "no trial failed");
                return Ok((Ok(look), all));
            }
        }
        let all = bench.evidence(&known).all;
        bench.note(question.to_owned(), all, "it fails");
        let seen = bench.evidence(&known).fresh;
        if seen.failures > 0 {
            rarest = rarest.min(seen.mean());
        }
        match round(bench, subject, &known).await? {
            Some(fence) => answer.push(fence),
            None => {
                let why = format!(
                    "{} of {} trials still fail, and a trial failed with a fence after every access: this \
                     is not (only) a missing fence",
                    all.failures, all.trials
                );
                return Ok((Err(why), all));
            }
        }
    }
    let known = with_fences(&subject.whole, answer.iter().map(|fence| &fence.place));
    let why = format!("after {ROUNDS} rounds the program still fails");
    Ok((Err(why), bench.evidence(&known).all))
}

/// Trials that verify an answer: as many as any conclusion takes, more where nothing was found, and
/// where a failure was seen that is rarer than what the conclusions are meant for.
fn verifying(limits: Limits, rarest: f64, first: bool) -> u64 {
    let rate = rarest.min(limits.rare());
    certain(rate, if first { FIRST_ALPHA } else { ALPHA }).min(limits.cap())
}

/// Everything that is known of a missing fence.
fn describe(subject: &Subject, fence: &Fence, advised: Option<&str>, confidence: f64) -> Missing {
    let place = &fence.place;
    let kernel = place.only_kernel().map(str::to_owned).or_else(|| fence.kernel.clone());
    let in_kernel = place.sites.iter().find(|site| Some(&site.function) == kernel.as_ref());
    let access = in_kernel.unwrap_or(place.lead()).clone();
    // An access of the line that a fence behind the line would come too late for.
    let next = subject.sites.iter().find(|site| follows(&access, site) && access.source.is_some());
    let next = next.filter(|site| site.kind.is_access() && !place.ids().any(|id| id == site.id));
    let elsewhere = subject
        .sites
        .iter()
        .filter(|site| site.id > access.id && site.id.module == access.id.module)
        .filter(|site| site.function == access.function && site.kind.is_access())
        .filter(|site| site.source.is_none() || site.source != access.source)
        .min_by_key(|site| site.id);
    let before = next.or(elsewhere).cloned();
    // The fence that was tried does the same as this one would at its scope: nothing lies between them.
    let widen = subject
        .sites
        .iter()
        .find(|site| {
            let next = SiteId { index: access.id.index + 1, ..access.id };
            site.id == next && site.function == access.function && site.kind == SiteKind::Fence
        })
        .filter(|site| site.scope.as_deref() == Some("cta"))
        .map(OwnFence::from);
    let by_space = if fence.space == Space::Shared { "cta" } else { "gpu" };
    Missing {
        space: space_name(fence.space).to_owned(),
        kernel,
        site: access.id,
        sites: place.ids().collect(),
        ptx_line: access.ptx_line,
        source: place.source.clone(),
        scope: advised.unwrap_or(by_space).to_owned(),
        confidence,
        trials: fence.trials,
        access,
        before,
        within_line: next.is_some(),
        widen,
    }
}

/// What the answer cannot know, in words for the user.
fn caveats(subject: &Subject, report: &Report) -> Vec<String> {
    let mut caveats = Vec::new();
    let stores_only = matches!(subject.whole.model, Model::StoreBuffer | Model::Bugaroo);
    if stores_only {
        let scope = if can_tell_scope(subject.whole.model) {
            "; of a scope that is too narrow it shows the store side only"
        } else {
            " nor a scope that is too narrow"
        };
        caveats.push(format!(
            "this model delays stores and nothing else: it cannot show a missing acquire (a fence that keeps \
             later loads from running early, as in a lock() function){scope}; a fence called redundant here \
             may be needed on the load side"
        ));
    }
    if report.missing.iter().any(|fence| fence.scope == "cta") {
        caveats.push(
            "a fence makes the stores visible, it does not wait for other threads: where these have to wait, \
             __syncthreads() or, within a warp, __syncwarp() is what is missing; both order memory, too"
                .to_owned(),
        );
    }
    if report.untold > 0 {
        caveats.push(format!(
            "{} trials were still at work when their time was up, or were ended by a signal from outside: what failed \
             did fail, but that something passes, or that a fence could go or be narrower, is not concluded",
            report.untold
        ));
    }
    if report.forgetful > 0 {
        caveats.push(format!(
            "in {} trials that passed, the model's memory was full, and writes were forgotten: that something passes, or \
             that a fence could go or be narrower, is not concluded; --model-memory gives it more",
            report.forgetful
        ));
    }
    if !report.redundant.is_empty() {
        caveats.push(
            "a fence that the program does not reach with these arguments is called redundant, too"
                .to_owned(),
        );
    }
    caveats
}

#[cfg(test)]
mod tests;
