//! What is done of a program besides trials, once these are done: kernels verified, flush lengths measured, missing fences
//! searched for where it fails for the first time.

use std::time::{Duration, Instant};

use bugaroo_barriers::emulate::DEFAULT_MAX_STEPS;
use bugaroo_bisect::{SearchOrder, search_program};
use bugaroo_harness::launches::{VerifyWanted, record, verify};
use bugaroo_harness::names::demangled;
use bugaroo_harness::progress::Silent;
use bugaroo_harness::words::shell::shell_word;
use bugaroo_harness::{Error, Profile, Session, Variation};
use bugaroo_protocol::Model;
use regex::Regex;

use super::units::Unit;
use super::{Job, Work, WorkError};
use crate::night::NightFinding;
use crate::plan::CellKind;
use crate::study::{self, PROFILE, SEARCH, SearchedFences, VERIFY, Verdicts};
use crate::verified;

/// Trials that flush lengths are measured in.
const PROFILED: u64 = 5;
/// How thorough a search is: failures that show in 2 of so many trials are to be cured.
const THOROUGH: u64 = 200;
/// Verdicts of a kernel.
const LAUNCHES: usize = 20;
/// Time of a search: a part of the night's, and no less than this.
const SEARCH_TIME: Duration = Duration::from_secs(120);

impl Work<'_> {
    /// Does what is not there yet.
    pub(super) async fn studies(&mut self, units: &[Unit]) -> Result<(), WorkError> {
        let there = self.job.store.studies(&self.job.key).await?;
        for at in 0..self.job.plan.programs.len() {
            let program = &self.job.plan.programs[at];
            let own = self.job.shard.has(at);
            let missing = |study: &str| !there.iter().any(|(of, name)| *of == program.name && name == study);
            if own && missing(VERIFY) && program.verify.is_some() && self.prepare(at).await? {
                self.verify(at).await?;
            }
            let delays =
                program.cells.iter().any(|cell| cell.kind == CellKind::Trials && cell.variation.pw > 0.0);
            if own && missing(PROFILE) && delays && self.prepare(at).await? {
                self.profile(at).await?;
            }
            // Each shard that has seen a failure searches, as all of them have to come to the same.
            let failed = |unit: &Unit| {
                unit.program == at && unit.failures > 0 && program.cells[unit.cell].kind != CellKind::Races
            };
            let news = units.iter().any(|unit| failed(unit) && (!unit.failed_before || unit.changed));
            if missing(SEARCH) && self.job.plan.search && news && self.prepare(at).await? {
                self.search(at).await?;
            }
        }
        Ok(())
    }

    async fn keep(
        &self,
        at: usize,
        study: &str,
        facts: &impl serde::Serialize,
        began: Instant,
    ) -> Result<(), WorkError> {
        let Job { store, key, .. } = self.job;
        let took = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        Ok(store.tell_study(key, &self.program(at).name, (study, facts), took).await?)
    }

    async fn verify(&mut self, at: usize) -> Result<(), WorkError> {
        let Some(ready) = self.programs.ready.get(&at).cloned() else { return Ok(()) };
        let program = self.program(at);
        self.tell.line(&format!("{}: verifying its kernels", program.name));
        let began = Instant::now();
        let patterns: Vec<Regex> =
            program.verify.iter().flatten().filter_map(|pattern| Regex::new(pattern).ok()).collect();
        let words: Vec<String> = program.run.iter().map(|word| shell_word(word)).collect();
        let folder = shell_word(&program.directory.display().to_string());
        let again = format!("cd {folder} && bugaroo verify {}", words.join(" "));
        let looked = async {
            let (library, interrupt) = (self.library.clone(), self.interrupt.clone());
            let mut recording = record(ready.target, ready.settings, library, interrupt.clone()).await?;
            let names: Vec<String> =
                recording.launches.kernels().iter().map(|&name| name.to_owned()).collect();
            let readable: Vec<String> = names.iter().map(|name| demangled(name)).collect();
            let chosen = |at: &usize| patterns.iter().any(|pattern| pattern.is_match(&readable[*at]));
            let kernels: Vec<String> = (0..names.len()).filter(chosen).map(|at| names[at].clone()).collect();
            let unmet: Vec<NightFinding> = patterns
                .iter()
                .filter(|pattern| !readable.iter().any(|name| pattern.is_match(name)))
                .map(|pattern| verified::no_such_kernel(pattern.as_str(), &readable))
                .collect();
            let wanted = VerifyWanted {
                kernels: (!patterns.is_empty()).then_some(kernels),
                most: LAUNCHES,
                warp_synchronous: program.warp_synchronous,
                max_steps: DEFAULT_MAX_STEPS,
            };
            let verified = verify(recording.launches.take(), wanted, interrupt).await?;
            if verified.interrupted {
                return Err(Error::Interrupted);
            }
            let mut facts = study::verdicts(&verified, &recording.refused, &program.directory, &again);
            facts.findings.extend(unmet);
            Ok(facts)
        };
        let facts = match looked.await {
            Ok(facts) => facts,
            Err(Error::Interrupted) => return Err(Error::Interrupted.into()),
            Err(error) => Verdicts {
                notes: vec![format!("its kernels were not verified: {error}")],
                ..Verdicts::default()
            },
        };
        self.keep(at, VERIFY, &facts, began).await
    }

    async fn profile(&mut self, at: usize) -> Result<(), WorkError> {
        let Some(ready) = self.programs.ready.get(&at).cloned() else { return Ok(()) };
        let began = Instant::now();
        let (library, interrupt) = (self.library.clone(), self.interrupt.clone());
        let session = Session::resume(ready.target, ready.settings, library, interrupt, ready.baseline);
        match Profile::of(&session, &Variation::default(), PROFILED, &Silent).await {
            Ok(profile) if profile.interrupted => Err(Error::Interrupted.into()),
            Ok(profile) => self.keep(at, PROFILE, &study::lengths(&profile), began).await,
            Err(Error::Interrupted) => Err(Error::Interrupted.into()),
            // Flush lengths are no finding: a program that cannot be profiled was told of by its trials.
            Err(_) => Ok(()),
        }
    }

    /// Searches under all models under which failures are looked for, whichever has shown one: a shard sees a part of them.
    async fn search(&mut self, at: usize) -> Result<(), WorkError> {
        let Some(ready) = self.programs.ready.get(&at).cloned() else { return Ok(()) };
        let program = self.program(at);
        let looks = |model: Model| {
            program.cells.iter().any(|cell| match &cell.space {
                Some(space) => space.models.contains(&model),
                None => cell.kind == CellKind::Trials && cell.variation.model == model,
            })
        };
        let models: Vec<Model> =
            [Model::StoreBuffer, Model::Ptx].into_iter().filter(|&model| looks(model)).collect();
        if models.is_empty() {
            return Ok(());
        }
        self.tell.line(&format!("{}: looking for the missing fence", program.name));
        let began = Instant::now();
        let whole = self.job.plan.budget.unwrap_or_default();
        let most = (whole / 10).max(SEARCH_TIME);
        let facts = match tempfile::tempdir() {
            Err(error) => SearchedFences {
                note: format!("no folder for a search: {error}"),
                ..SearchedFences::default()
            },
            Ok(folder) => {
                let kernel = program.cells.first().and_then(|cell| cell.variation.kernel.clone());
                let order = SearchOrder {
                    target: ready.target,
                    settings: ready.settings,
                    seed: Some(self.seed(at)),
                    variation: Variation { by_turns: true, kernel, model: models[0], ..Variation::default() },
                    models,
                    trials: THOROUGH,
                    directory: folder.path().to_owned(),
                };
                let (library, interrupt) = (self.library.clone(), self.interrupt.clone());
                let search = search_program(order, library, interrupt, &Silent, &|_| {});
                match tokio::time::timeout(most, search).await {
                    Ok(Ok(found)) => study::fences(&found.report, &program.directory),
                    Ok(Err(Error::Interrupted)) => return Err(Error::Interrupted.into()),
                    Ok(Err(error)) => SearchedFences {
                        note: format!("the search for the missing fence failed: {error}"),
                        ..SearchedFences::default()
                    },
                    Err(_) => SearchedFences {
                        note: format!(
                            "the search for the missing fence took more than {} s: bugaroo bisect goes to its end",
                            most.as_secs()
                        ),
                        ..SearchedFences::default()
                    },
                }
            }
        };
        self.keep(at, SEARCH, &facts, began).await
    }
}
