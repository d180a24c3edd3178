//! The whole search, as in the paper (III.D): which space, which kernel, which location; and again,
//! with the fences found kept, until the program passes.
//!
//! Departures from the paper: the number of trials of each question comes from the failure rate
//! ([`crate::confidence`]), the location search finds sets of fences ([`crate::locate`]), and the whole
//! answer is verified by trials of its own. What it can miss: a bug that shows only on the load side
//! (a missing acquire) where the model only delays stores, and one too rare for the trials given.

use std::cell::RefCell;
use std::collections::BTreeSet;

use bugaroo_harness::Variation;
use bugaroo_protocol::{Model, Site, SiteId, SiteKind, Space};

use crate::confidence::{CONFIDENCE, Passing};
use crate::locate::minimal_cure;
use crate::report::{Missing, Redundant, Report, Step, Verified};
use crate::trials::{Tally, Trials};

/// Trials that verify an answer.
pub const VERIFYING_TRIALS: u64 = 1000;

/// Failures after which a rate is known well enough to go on.
const ENOUGH_FAILURES: usize = 20;

/// Trials between two looks at the tally while a rate is being measured.
const BATCH: u64 = 32;

/// What is known of the program before the search.
#[derive(Clone, Debug)]
pub struct Subject {
    /// Its sites.
    pub sites: Vec<Site>,
    /// The kernels that it launches and that are searched, without repetition.
    pub kernels: Vec<String>,
    /// Most trials that one question may take.
    pub trials: u64,
    /// How stores are delayed, and what the user limits the search to.
    pub whole: Variation,
}

/// Finds the fences that are missing, then those that are redundant. `tell` hears every step as it is
/// concluded.
///
/// # Errors
/// When trials cannot be run at all.
pub async fn search<T: Trials>(
    trials: &T,
    subject: &Subject,
    tell: &dyn Fn(&Step),
) -> Result<Report, T::Error> {
    let search = Search { trials, subject, tell, steps: RefCell::new(Vec::new()) };
    search.run().await
}

struct Search<'a, T> {
    trials: &'a T,
    subject: &'a Subject,
    tell: &'a dyn Fn(&Step),
    steps: RefCell<Vec<Step>>,
}

impl<T: Trials> Search<'_, T> {
    async fn run(self) -> Result<Report, T::Error> {
        let mut missing = Vec::new();
        let mut known = self.subject.whole.clone();
        let mut unresolved = None;
        let mut tally = self.measure(&known, self.subject.trials, "does the program fail?").await?;
        while !tally.failing.is_empty() {
            let found = self.missing_fences(&known, &tally).await?;
            if found.is_empty() {
                unresolved = Some(format!(
                    "{} of {} trials still fail with a fence after every access: \
                     this is not (only) a missing fence",
                    tally.failures(),
                    tally.trials
                ));
                break;
            }
            known.with_fence.extend(found.iter().map(|fence| fence.site));
            missing.extend(found);
            tally = self.measure(&known, VERIFYING_TRIALS, "does it pass with the fences found?").await?;
        }
        let redundant =
            if tally.failing.is_empty() { self.redundant_fences(&known).await? } else { Vec::new() };
        let caveats = caveats(self.subject.whole.model, &missing, &redundant);
        Ok(Report {
            missing,
            redundant,
            steps: self.steps.into_inner(),
            verified: Verified { trials: tally.trials, failures: tally.failures() },
            unresolved,
            caveats,
        })
    }

    /// Runs trials until the failure rate is known well enough, `limit` at most.
    async fn measure(&self, variation: &Variation, limit: u64, question: &str) -> Result<Tally, T::Error> {
        let mut tally = Tally::default();
        let mut next = 0;
        while next < limit && tally.failing.len() < ENOUGH_FAILURES {
            let batch = BATCH.min(limit - next);
            tally.absorb(self.trials.run(variation, (next..next + batch).collect(), false).await?);
            next += batch;
        }
        let answer = if tally.failing.is_empty() { "no trial failed" } else { "it fails" };
        self.note(question.to_owned(), &tally, answer);
        Ok(tally)
    }

    /// One set of fences that cures the failures of `tally` in one space and one kernel; empty when
    /// none does.
    async fn missing_fences(&self, known: &Variation, tally: &Tally) -> Result<Vec<Missing>, T::Error> {
        let candidates = self.candidates(known);
        let halvings = usize::BITS - candidates.len().leading_zeros();
        let questions = 2 + self.subject.kernels.len() + 1 + halvings as usize;
        let asker = Asker {
            search: self,
            enough: Passing::observed(tally, questions).trials(self.subject.trials),
            failing: &tally.failing,
        };
        let before = self.trials_so_far();
        let suspect = self.which_kernel(&asker, self.which_space(&asker, known).await?).await?;
        let candidates = self.candidates(&suspect);
        let cure = minimal_cure(&candidates, |sites| {
            let mut tried = suspect.clone();
            tried.with_fence.extend(&sites);
            let question =
                format!("do fences after {} of {} accesses cure it?", sites.len(), candidates.len());
            let asker = &asker;
            async move { Ok(!asker.fails(&tried, question, "it still fails", "cured").await?) }
        })
        .await?;
        let trials = self.trials_so_far() - before;
        let cure = cure.unwrap_or_default();
        Ok(cure.into_iter().map(|site| self.describe(&suspect, site, trials)).collect())
    }

    /// Narrows the space down: the same seeds, one space's stores delayed at a time.
    async fn which_space(&self, asker: &Asker<'_, '_, T>, known: &Variation) -> Result<Variation, T::Error> {
        if known.space != Space::Both {
            return Ok(known.clone());
        }
        for space in [Space::Shared, Space::Global] {
            let alone = Variation { space, ..known.clone() };
            let name = space_name(space);
            let question = format!("does it fail with only {name} stores delayed?");
            if asker.fails(&alone, question, "it fails", "it passes").await? {
                return Ok(alone);
            }
        }
        Ok(known.clone())
    }

    /// Narrows the kernel down: one kernel's stores delayed at a time.
    async fn which_kernel(&self, asker: &Asker<'_, '_, T>, known: Variation) -> Result<Variation, T::Error> {
        if known.kernel.is_some() {
            return Ok(known);
        }
        if let [only] = self.subject.kernels.as_slice() {
            return Ok(Variation { kernel: Some(exactly(only)), ..known });
        }
        for kernel in &self.subject.kernels {
            let alone = Variation { kernel: Some(exactly(kernel)), ..known.clone() };
            let question = format!("does it fail with only {kernel} delayed?");
            if asker.fails(&alone, question, "it fails", "it passes").await? {
                return Ok(alone);
            }
        }
        Ok(known)
    }

    /// The accesses that a fence may be missing after: of the space and in the kernels suspected, or in
    /// a device function, which any kernel may call.
    fn candidates(&self, suspect: &Variation) -> Vec<SiteId> {
        let launched = |site: &Site| {
            let suspected = match &suspect.kernel {
                Some(pattern) => matches_kernel(pattern, &site.function),
                None => self.subject.kernels.contains(&site.function),
            };
            !site.in_kernel || suspected
        };
        let elsewhere = match suspect.space {
            Space::Both => None,
            Space::Shared => Some("global"),
            Space::Global => Some("shared"),
        };
        let in_space = |site: &Site| elsewhere.is_none() || site.space.as_deref() != elsewhere;
        let mut sites: Vec<&Site> = self
            .subject
            .sites
            .iter()
            .filter(|site| site.kind.takes_fence() && launched(site) && in_space(site))
            .filter(|site| !suspect.with_fence.contains(&site.id))
            .collect();
        sites.sort_by_key(|site| site.id);
        sites.into_iter().map(|site| site.id).collect()
    }

    /// Everything that is known of a missing fence.
    fn describe(&self, suspect: &Variation, id: SiteId, trials: u64) -> Missing {
        let access = self
            .subject
            .sites
            .iter()
            .find(|site| site.id == id)
            .expect("candidates are taken from these sites")
            .clone();
        let before = self
            .subject
            .sites
            .iter()
            .filter(|site| site.id > id && site.id.module == id.module && site.function == access.function)
            .filter(|site| site.kind.takes_fence())
            .min_by_key(|site| site.id)
            .cloned();
        Missing {
            space: space_name(suspect.space).to_owned(),
            kernel: suspect.kernel.as_ref().and_then(|pattern| {
                self.subject.kernels.iter().find(|kernel| matches_kernel(pattern, kernel)).cloned()
            }),
            site: id,
            ptx_line: access.ptx_line,
            source: access.source.clone(),
            scope: if suspect.space == Space::Shared { "cta" } else { "gpu" }.to_owned(),
            confidence: CONFIDENCE,
            trials,
            access,
            before,
        }
    }

    /// The program's own fences that can be omitted, one at a time, with no failure.
    async fn redundant_fences(&self, known: &Variation) -> Result<Vec<Redundant>, T::Error> {
        let mut redundant = Vec::new();
        let launched = |site: &&Site| !site.in_kernel || self.subject.kernels.contains(&site.function);
        for site in self.subject.sites.iter().filter(|site| site.kind == SiteKind::Fence).filter(launched) {
            if known.without_fence.contains(&site.id) {
                continue;
            }
            let mut omitted = known.clone();
            omitted.without_fence = BTreeSet::from([site.id]);
            omitted.without_fence.extend(&known.without_fence);
            let tally = self.trials.run(&omitted, (0..self.subject.trials).collect(), true).await?;
            let passes = tally.failing.is_empty();
            let answer = if passes { "it passes: redundant under this model" } else { "it fails: needed" };
            self.note(
                format!("does it pass without the fence at PTX line {}?", site.ptx_line),
                &tally,
                answer,
            );
            if passes {
                redundant.push(Redundant {
                    site: site.id,
                    ptx_line: site.ptx_line,
                    source: site.source.clone(),
                    model: self.subject.whole.model,
                    trials: tally.trials,
                    function: site.function.clone(),
                });
            }
        }
        Ok(redundant)
    }

    fn note(&self, question: String, tally: &Tally, answer: &str) {
        let step =
            Step { question, trials: tally.trials, failures: tally.failures(), answer: answer.to_owned() };
        (self.tell)(&step);
        self.steps.borrow_mut().push(step);
    }

    fn trials_so_far(&self) -> u64 {
        self.steps.borrow().iter().map(|step| step.trials).sum()
    }
}

/// Asks "does this fail?" with as many trials as the observed rate calls for.
struct Asker<'a, 'b, T> {
    search: &'a Search<'b, T>,
    /// Trials without a failure that make "passes".
    enough: u64,
    /// Indices that are known to fail: asked first, since the same seed tends to fail again.
    failing: &'a [u64],
}

impl<T: Trials> Asker<'_, '_, T> {
    async fn fails(
        &self,
        variation: &Variation,
        question: String,
        yes: &str,
        no: &str,
    ) -> Result<bool, T::Error> {
        let others = (0..).filter(|index| !self.failing.contains(index));
        let indices = self.failing.iter().copied().chain(others).take(self.enough as usize).collect();
        let tally = self.search.trials.run(variation, indices, true).await?;
        let fails = !tally.failing.is_empty();
        self.search.note(question, &tally, if fails { yes } else { no });
        Ok(fails)
    }
}

/// A pattern that matches this kernel's name and no other.
fn exactly(kernel: &str) -> String {
    format!("^{}$", regex::escape(kernel))
}

/// Whether a kernel is among those that the pattern chooses. Patterns were checked when they were read.
pub(crate) fn matches_kernel(pattern: &str, kernel: &str) -> bool {
    regex::Regex::new(pattern).is_ok_and(|pattern| pattern.is_match(kernel))
}

fn space_name(space: Space) -> &'static str {
    match space {
        Space::Both => "both",
        Space::Shared => "shared",
        Space::Global => "global",
    }
}

/// What the answer cannot know, in words for the user.
fn caveats(model: Model, missing: &[Missing], redundant: &[Redundant]) -> Vec<String> {
    let mut caveats = Vec::new();
    if matches!(model, Model::StoreBuffer | Model::Bugaroo) {
        caveats.push(
            "this model delays stores and nothing else: it cannot show a missing acquire (a fence that keeps \
             later loads from running early, as in a lock() function) nor a scope that is too narrow; a fence \
             called redundant here may be needed on the load side",
        );
    }
    if missing.iter().any(|fence| fence.scope == "cta") {
        caveats.push(
            "a fence makes the stores visible, it does not wait for other threads: where these have to wait, \
             __syncthreads() or, within a warp, __syncwarp() is what is missing; both order memory, too",
        );
    }
    if !redundant.is_empty() {
        caveats.push("a fence that the program does not reach with these arguments is called redundant, too");
    }
    caveats.into_iter().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests;
