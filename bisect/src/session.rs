//! The search on a program: over a session of the harness and a journal on disk.

use std::collections::BTreeSet;
use std::path::PathBuf;

use bugaroo_harness::rundir::{Configuration, RunDirError};
use bugaroo_harness::{
    Conflicts, DriverLibrary, Error, Findings, Interrupt, ProgressEvent, Reporter, Session, Settings, Stop,
    Target, Variation, progress,
};

use bugaroo_protocol::{Backend, Inserted, Insertion, Model, Site, SiteId};

use crate::hunks::{self, Hunks};
use crate::journal::{Journal, RecordedSearch, SCHEMA, SearchFile};
use crate::memo::Memo;
use crate::own::narrow;
use crate::patch::Patch;
use crate::places::{Put, SitePlace, lines};
use crate::report::{SearchReport, SearchStep};
use crate::same_line::same_line;
use crate::search::search;
use crate::subject::Subject;
use crate::syntax::FenceScope;
use crate::trials::{LookedAt, OnEnd, Shown, Trials};
use crate::written::{Sources, written};

/// What to search.
#[derive(Clone, Debug)]
pub struct SearchOrder {
    /// The program.
    pub target: Target,
    /// Settings; `seed` is overruled by [`Self::seed`].
    pub settings: Settings,
    /// The seed; None: that of the search which the directory holds, or else 0.
    pub seed: Option<u64>,
    /// How stores are delayed, and what the search is limited to.
    pub variation: Variation,
    /// The models that are asked, in this order.
    pub models: Vec<Model>,
    /// How thorough to be: failures that show in 2 of so many trials are to be found.
    pub trials: u64,
    /// Where the journal is kept.
    pub directory: PathBuf,
}

/// What a search came to.
#[derive(Clone, Debug)]
pub struct Searched {
    /// The answer.
    pub report: SearchReport,
    /// Its patch of the source.
    pub patch: Patch,
    /// Errors of launches that the program has without injection.
    pub findings: Findings,
    /// The seed.
    pub seed: u64,
    /// Trials that were run now, and not found in the journal.
    pub ran: u64,
}

/// Searches a program. `reporter` hears of the baseline, `tell` each step as it is concluded.
///
/// # Errors
/// When trials cannot be run, when the directory cannot be used, or on the user's wish to stop; the
/// directory then goes on with the search.
pub async fn search_program(
    order: SearchOrder,
    library: DriverLibrary,
    interrupt: Interrupt,
    reporter: &dyn Reporter,
    tell: &dyn Fn(&SearchStep),
) -> Result<Searched, Error> {
    let SearchOrder { target, settings, variation, trials, directory, .. } = order;
    let (journal, recorded) = Journal::open(&directory)?;
    let RecordedSearch { search: begun, outcomes, torn } = recorded;
    let seed = order.seed.or(begun.as_ref().map(|begun| begun.configuration.seed)).unwrap_or(0);
    let settings = Settings { seed, digest: false, ..settings };
    // As the harness has it: on the virtual GPU, and not with warps in lockstep.
    let ptx_runs = settings.backend == Backend::Sim && !settings.warp_synchronous;
    let configuration = Configuration::of(&target, &settings, &variation, vec![variation.pw]);
    let (session, sites) = match begun {
        Some(begun) => {
            if let Some(differences) = configuration.differences(&begun.configuration) {
                return Err(RunDirError::Differs { path: directory, differences }.into());
            }
            if torn {
                reporter.report(ProgressEvent::Note(
                    "the last line of trials.jsonl was cut off; its trial runs again",
                ));
            }
            let known: usize = outcomes.values().map(|trials| trials.len()).sum();
            let note =
                format!("going on with the search in {}: {known} trials are known", directory.display());
            reporter.report(ProgressEvent::Note(&note));
            (Session::resume(target, settings, library, interrupt, begun.baseline), begun.sites)
        }
        None => {
            let ready = async {
                let session = Session::start(target, settings, library, interrupt, reporter).await?;
                session.check(&variation).await?;
                let sites = session.sites().await?.to_vec();
                Ok((session, sites))
            };
            match ready.await {
                Ok((session, sites)) => {
                    journal.state(&SearchFile {
                        schema: SCHEMA,
                        bugaroo: env!("CARGO_PKG_VERSION").to_owned(),
                        configuration,
                        baseline: session.baseline().clone(),
                        sites: sites.clone(),
                    })?;
                    (session, sites)
                }
                Err(error) => {
                    journal.discard();
                    return Err(error);
                }
            }
        }
    };
    let pattern = variation.kernel.as_ref().and_then(|pattern| regex::Regex::new(pattern).ok());
    let chosen = |kernel: &&String| pattern.as_ref().is_none_or(|pattern| pattern.is_match(kernel));
    let kernels: Vec<String> = session.baseline().launched.keys().filter(chosen).cloned().collect();
    let kernels: Vec<String> = kernels;
    let mut sources = Sources::of(&session.target().app);
    let several = session.settings().devices > 1;
    let wide = if several { FenceScope::System } else { FenceScope::Gpu };
    let places = places(&session, (&sites, &kernels), &variation, &mut sources, wide).await?;
    let subject =
        Subject { places, sites, kernels, trials, models: order.models, whole: variation, wide, ptx_runs };
    let inner = SessionTrials { session: &session };
    let memo = Memo::new(&inner, outcomes, Some(journal));
    let answer = search(&memo, &subject, tell).await?;
    let folder = std::env::current_dir().unwrap_or_default();
    let Hunks { patch, hunks, left_out } = hunks::patch(&answer, &mut sources, &folder);
    let report = SearchReport { patch: patch.to_string(), hunks, unpatched: left_out, ..answer.report };
    let baseline = session.baseline();
    let findings = Findings::without_injection(&baseline.incidents, baseline.runs);
    Ok(Searched { report, patch, findings, seed, ran: memo.ran() })
}

/// Where fences may be missing: places of the source that the PTX has, too, and lines for what has none.
async fn places(
    session: &Session,
    (sites, kernels): (&[Site], &[String]),
    variation: &Variation,
    sources: &mut Sources,
    wide: FenceScope,
) -> Result<Vec<SitePlace>, Error> {
    let simulated = session.settings().backend == Backend::Sim
        && !variation.handlers
        && variation.model != Model::Bugaroo;
    if !simulated {
        return Ok(lines(sites, kernels));
    }
    let mut places = written(sites, kernels, sources);
    places.extend(same_line(sites, kernels, sources));
    if wide == FenceScope::System {
        for place in &mut places {
            if let Put::Written(written) = &mut place.put {
                written.fence = Inserted::SystemFence;
            }
        }
    }
    let insertions: Vec<Insertion> =
        places.iter().flat_map(|place| place.insertions(Inserted::Fence)).collect();
    let placed = session.check_insertions(&insertions).await?;
    let refused: BTreeSet<&Insertion> = insertions
        .iter()
        .zip(&placed)
        .filter(|(_, placed)| placed.refused.is_some())
        .map(|(it, _)| it)
        .collect();
    places.retain(|place| !place.insertions(Inserted::Fence).iter().any(|it| refused.contains(it)));
    let reached: BTreeSet<SiteId> = places.iter().flat_map(SitePlace::ids).collect();
    let left: Vec<Site> = sites.iter().filter(|site| !reached.contains(&site.id)).cloned().collect();
    places.extend(lines(&left, kernels));
    places.extend(narrow(sites, kernels, sources, wide));
    Ok(places)
}

/// A session of the harness.
struct SessionTrials<'a> {
    session: &'a Session,
}

impl Trials for SessionTrials<'_> {
    async fn run(
        &self,
        variation: &Variation,
        indices: Vec<u64>,
        until_failure: bool,
        ended: OnEnd<'_>,
    ) -> Result<(), Error> {
        let stop = if until_failure { Stop::AtFirstFailure } else { Stop::Never };
        let silent = progress::Silent;
        let on_end = |record: &bugaroo_harness::TrialRecord| {
            ended(record.trial, Shown { outcome: record.outcome, forgot: record.forgotten > 0 })
        };
        self.session.trials_with(variation, indices, stop, &silent, on_end).await?;
        Ok(())
    }

    async fn look(&self, variation: &Variation, index: u64) -> Result<LookedAt, Error> {
        if !variation.race.is_empty() {
            let record = self.session.trial(variation, index).await?;
            let races = record.races.unwrap_or_default();
            let races = self.session.settings().counting(variation, &races).into_iter().cloned().collect();
            return Ok(LookedAt { outcome: record.outcome, conflicts: Conflicts::default(), races });
        }
        let (record, conflicts) = self.session.conflicts(variation, index).await?;
        Ok(LookedAt { outcome: record.outcome, conflicts, races: Vec::new() })
    }
}
