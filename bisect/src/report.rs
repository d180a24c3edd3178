//! What a search found, in the shape of `bugaroo bisect --format json` (schema 1).

use bugaroo_protocol::{Model, Site, SiteId, SourceLine};
use serde::{Deserialize, Serialize};

use crate::diagnosis::FaultDiagnosis;
use crate::places::SitePlace;
use crate::rates::Rate;

/// The answer of a search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchReport {
    /// What is wrong that is no missing fence: accesses whose order nothing settles, the likeliest first. Told of a program
    /// that fails though no store is delayed, and of failures that no fence cures.
    #[serde(default)]
    pub diagnosis: Vec<FaultDiagnosis>,
    /// What there is to say of that.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Fences, and barriers, that the program lacks, in the order of the PTX.
    pub missing: Vec<MissingAfter>,
    /// Fences that the program has and could do without, each by itself, under the model used.
    pub redundant: Vec<Redundant>,
    /// Whether all of `redundant` can go at once; None where there are fewer than two.
    pub redundant_together: Option<bool>,
    /// Where they cannot: the smallest sets of the program's fences with which it passes, each whole;
    /// all of that size.
    pub minimal_sets: Vec<Vec<OwnFence>>,
    /// Whether `minimal_sets` holds all sets of that size; false when the search for them was ended.
    pub minimal_sets_complete: bool,
    /// For each fence that is needed at GPU scope or wider: whether CTA scope would do. Empty where the
    /// model cannot tell.
    pub scope_advice: Vec<ScopeAdvice>,
    /// For each fence, the program's own and those that are missing: under which models it is needed. Empty
    /// but under model `ptx`.
    pub needs: Vec<FenceNeed>,
    /// What to do to the source, as a unified diff that `patch -p1` applies in the current folder: all that was verified
    /// together. Empty where there is nothing to do, or no source.
    #[serde(default)]
    pub patch: String,
    /// The hunks of the patch, each with what it rests on.
    #[serde(default)]
    pub hunks: Vec<PatchHunk>,
    /// What the patch leaves out, and why.
    #[serde(default)]
    pub unpatched: Vec<String>,
    /// The questions that were asked, in order.
    pub steps: Vec<SearchStep>,
    /// Trials of the program with the missing fences inserted.
    pub verified: VerifiedAnswer,
    /// How sure the whole answer is.
    pub assurance: Assurance,
    /// Trials that the answer rests on.
    pub trials: u64,
    /// Trials besides that were slow, or killed from outside. With any, nothing is concluded from what did not show: no fence is
    /// called redundant or too wide, and `verified` is not.
    #[serde(default)]
    pub untold: u64,
    /// Trials that passed while model `ptx` forgot writes for lack of memory. With any, nothing is concluded from what did not
    /// show, either.
    #[serde(default)]
    pub forgetful: u64,
    /// Why failures are left that no inserted fence cures; None when there are none.
    pub unresolved: Option<String>,
    /// What the model used cannot show, said in words.
    pub caveats: Vec<String>,
}

/// How sure an answer is. That a fence is needed is certain: a trial fails without it. That the program
/// passes, is as sure as the trials were many.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Assurance {
    /// Failures of this rate, or a higher one, are meant to be seen.
    pub rate: f64,
    /// The probability, at most, that one of them went unseen anywhere in the answer.
    pub error: f64,
    /// Trials without a failure that one conclusion takes, under each model.
    #[serde(default)]
    pub full: u64,
    /// Most trials that one question could take.
    pub cap: u64,
}

/// A fence that is missing right after a line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MissingAfter {
    /// `shared`, `global` or `both`: whose delayed stores show the failure.
    pub space: String,
    /// The kernel whose delayed stores show it; None when it takes several.
    pub kernel: Option<String>,
    /// The access that the fence goes after: the first of `sites` in that kernel.
    pub site: SiteId,
    /// All accesses of the line, which a fence in the source would go after.
    pub sites: Vec<SiteId>,
    /// Line of `site` in the PTX.
    pub ptx_line: u32,
    /// The line of the CUDA source.
    pub source: Option<SourceLine>,
    /// The call that is missing.
    #[serde(default)]
    pub call: String,
    /// Where it goes, for a person: `before k.cu:12`.
    #[serde(default)]
    pub place: String,
    /// Scope that the fence needs: `gpu` for `__threadfence()`, `cta` for `__threadfence_block()`, `sys` for `__threadfence_system()`.
    pub scope: String,
    /// Confidence that the program passes with the fences found, 0 to 1.
    pub confidence: f64,
    /// Trials that the search for this fence took.
    pub trials: u64,
    /// The access, in full.
    pub access: Site,
    /// The next access in the text, which the fence goes before: of another line, or, where it stands within its line,
    /// of the same.
    pub before: Option<Site>,
    /// The fence belongs between two accesses of one line, which has to be taken apart for it.
    #[serde(default)]
    pub within_line: bool,
    /// A fence of the program's that stands right there, of a scope that is too narrow.
    pub widen: Option<OwnFence>,
}

impl MissingAfter {
    /// The CUDA call to insert.
    pub fn fence(&self) -> &str {
        &self.call
    }
}

/// A fence without which no failure showed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Redundant {
    /// The fence: the first of `sites`.
    pub site: SiteId,
    /// All sites of its line.
    pub sites: Vec<SiteId>,
    /// Line of `site` in the PTX.
    pub ptx_line: u32,
    /// The line of the CUDA source.
    pub source: Option<SourceLine>,
    /// The last of the models under which it is redundant.
    pub model: Model,
    /// All of them.
    #[serde(default)]
    pub models: Vec<Model>,
    /// Trials without it, none of which failed.
    pub trials: u64,
    /// The kernel or device function that `site` stands in.
    pub function: String,
}

/// One of the program's fences.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnFence {
    /// The first of its sites.
    pub site: SiteId,
    /// Line of `site` in the PTX.
    pub ptx_line: u32,
    /// The line of the CUDA source.
    pub source: Option<SourceLine>,
}

impl From<&Site> for OwnFence {
    fn from(site: &Site) -> Self {
        Self { site: site.id, ptx_line: site.ptx_line, source: site.source.clone() }
    }
}

impl From<&SitePlace> for OwnFence {
    fn from(place: &SitePlace) -> Self {
        Self { source: place.source.clone(), ..Self::from(place.lead()) }
    }
}

/// The scope that a fence needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NeededScope {
    /// That of the GPU: a trial failed with the fence at CTA scope.
    Gpu,
    /// That of the CTA would do: trials passed that would have shown failures as frequent as without the fence.
    Cta,
    /// Trials passed with the fence at CTA scope, but the program fails without it too rarely for them to say anything.
    Unknown,
}

/// Whether CTA scope would do for a fence that is needed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScopeAdvice {
    /// The fence, or for one that is missing the access that it goes after: the first of `sites`.
    pub site: SiteId,
    /// All sites of its line.
    pub sites: Vec<SiteId>,
    /// Line of `site` in the PTX.
    pub ptx_line: u32,
    /// The line of the CUDA source.
    pub source: Option<SourceLine>,
    /// Whether the fence is one that is missing, and not one of the program's.
    pub inserted: bool,
    /// Where it is, for a person: `before k.cu:12`, or the line of one that is there.
    #[serde(default)]
    pub place: String,
    /// The scope that it has (`gpu` or `sys`); a missing fence is tried as `gpu`.
    pub scope: String,
    /// The scope that it needs.
    pub needed: NeededScope,
    /// The model that says so.
    pub model: Model,
    /// Trials with the fence at CTA scope.
    pub trials: u64,
    /// How many of them failed: one is enough to need the wider scope.
    pub failures: u64,
    /// Trials under that model without the fence, and failures among them: a fence too narrow is taken to show as often.
    /// Both are 0 where a failure with the fence narrowed has answered all.
    #[serde(default)]
    pub omitted_trials: u64,
    /// See `omitted_trials`.
    #[serde(default)]
    pub omitted_failures: u64,
    /// Trials under model `ptx`, too, that passed with the fence at CTA scope; 0 where it was not asked. Of an advice by
    /// that model itself they are `trials`.
    #[serde(default)]
    pub confirmed: u64,
    /// Where CTA scope would do: failures of this rate, or a higher one, are meant to be seen.
    #[serde(default)]
    pub rate: f64,
    /// And the probability, at most, that one of them went unseen.
    #[serde(default)]
    pub error: f64,
}

/// A hunk of a patch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PatchHunk {
    /// The file, as the patch calls it.
    pub file: String,
    /// Its lines that the hunk shows, from 1: the first, and how many.
    pub lines: (u64, u64),
    /// What it does and what that rests on, a sentence for each change.
    pub rests_on: Vec<String>,
}

/// Under which models a fence is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Needed {
    /// `store-buffer` and `ptx`: delayed stores are enough to fail without it.
    Both,
    /// `ptx` only: it keeps loads from reading old values.
    Ptx,
    /// None of the two.
    Neither,
}

/// Whether a fence is needed under model `store-buffer` as well as under `ptx`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FenceNeed {
    /// The fence, or for one that is missing the access that it goes after: the first of `sites`.
    pub site: SiteId,
    /// All sites of its line.
    pub sites: Vec<SiteId>,
    /// Line of `site` in the PTX.
    pub ptx_line: u32,
    /// The line of the CUDA source.
    pub source: Option<SourceLine>,
    /// Whether the fence is one that is missing, and not one of the program's.
    pub inserted: bool,
    /// Where it is, for a person: `before k.cu:12`, or the line of one that is there.
    #[serde(default)]
    pub place: String,
    /// Under which models it is needed.
    pub needed: Needed,
    /// Trials without it: under `store-buffer`, and for `neither` under `ptx`.
    pub trials: u64,
    /// How many of them failed.
    pub failures: u64,
}

/// One question of the search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchStep {
    /// What was asked, in words.
    pub question: String,
    /// Trials that the answer rests on.
    pub trials: u64,
    /// How many of them failed.
    pub failures: u64,
    /// What was concluded.
    pub answer: String,
}

/// Trials of the whole answer: with the missing fences inserted, and with or without all the redundant
/// ones where these can go at once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerifiedAnswer {
    /// Trials run.
    pub trials: u64,
    /// How many of them failed.
    pub failures: u64,
    /// The same by model.
    #[serde(default)]
    pub by_model: Vec<ByModel>,
    /// Trials of the program that was built with the patch; None where none was built.
    #[serde(default)]
    pub compiled_in: Option<CompiledIn>,
}

/// Trials of the program built with the patch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompiledIn {
    /// What built it.
    pub command: String,
    /// Trials run.
    pub trials: u64,
    /// How many of them failed.
    pub failures: u64,
    /// The same by model.
    pub by_model: Vec<ByModel>,
}

/// Trials of the whole answer under one model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ByModel {
    /// The model.
    pub model: Model,
    /// Trials run.
    pub trials: u64,
    /// How many of them failed.
    pub failures: u64,
}

impl VerifiedAnswer {
    /// Of what each model showed.
    pub fn of(seen: &[(Model, Rate)]) -> VerifiedAnswer {
        VerifiedAnswer {
            trials: seen.iter().map(|(_, rate)| rate.trials).sum(),
            failures: seen.iter().map(|(_, rate)| rate.failures).sum(),
            by_model: seen
                .iter()
                .map(|&(model, Rate { trials, failures })| ByModel { model, trials, failures })
                .collect(),
            compiled_in: None,
        }
    }
}
