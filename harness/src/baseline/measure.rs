//! The runs without injection, and what they show.

use std::collections::{BTreeMap, BTreeSet};

use bugaroo_protocol::{Backend, Site};

use super::{Baseline, BaselineFailure, RUNS, undisturbed};
use crate::capture::Output;
use crate::error::{Error, MemoryTrouble};
use crate::findings::{Findings, SeenIncident};
use crate::hidden::{Usual, tells_of_failure};
use crate::lockstep;
use crate::oracle::Oracle;
use crate::oracle::reference::Reference;
use crate::outcome::Outcome;
use crate::progress::{ProgressEvent, Reporter};
use crate::report::Report;
use crate::schedules::Schedules;
use crate::seeds::Seeds;
use crate::trial::{Ground, Plan, Ran};

/// How the program did.
#[derive(Debug)]
pub(crate) enum Ended {
    /// It passes; its sites, and what its first run printed.
    Passes(Box<Baseline>, Vec<Site>, Output),
    /// It fails.
    Fails(Box<Failing>),
}

/// A program that fails.
#[derive(Debug)]
pub(crate) struct Failing {
    pub(crate) ran: Ran,
    pub(crate) counts_on_lockstep: bool,
    /// What was found by then.
    pub(crate) baseline: Baseline,
    pub(crate) sites: Vec<Site>,
}

impl Failing {
    /// One that never came as far as to initialise the driver.
    pub(crate) fn without_driver(ran: Ran) -> Self {
        let baseline = Baseline {
            reference: Reference::default(),
            largest_launch: 0,
            launched: BTreeMap::new(),
            kernels: BTreeSet::new(),
            duration_ms: ran.duration_ms,
            cannot_fork: None,
            incidents: Vec::new(),
            runs: 1,
            usual: None,
        };
        Self { ran, counts_on_lockstep: false, baseline, sites: Vec::new() }
    }
}

/// Runs the baseline. The first run reports the program's sites, too.
pub(crate) async fn run(ground: &Ground, seeds: Seeds, reporter: &dyn Reporter) -> Result<Ended, Error> {
    if matches!(ground.settings.oracle, Oracle::Memory) && ground.settings.backend != Backend::Sim {
        let trouble = MemoryTrouble::RealGpu;
        return Err(Error::Memory { app: ground.target.app.clone(), trouble });
    }
    reporter.report(ProgressEvent::BaselineStarted { app: ground.target.name() });
    let first = Plan {
        seed: seeds.baseline(0),
        variation: None,
        report_sites: true,
        check_insert: &[],
        conflicts: false,
        reference: None,
        step_budget: ground.settings.step_budget,
        passed_in: None,
        known: None,
        cannot_fork: None,
        warp_synchronous: ground.settings.warp_synchronous,
    };
    let mut ran = told(ground, first).await?;
    let failed = ran.outcome.is_failure();
    if !failed && ran.report.driver.is_none() {
        return Err(Error::DriverUnused { app: ground.target.app.clone() });
    }
    let oracle = &ground.settings.oracle;
    let reference = match failed {
        // How one that fails should have ended, nobody knows better.
        true => Reference::default(),
        false => oracle.reference(ran.exit, &ran.stdout),
    };
    if !failed && oracle.cannot_compare(&reference) {
        return Err(Error::OutputTooLong { app: ground.target.app.clone(), bytes: ran.stdout.bytes });
    }
    if !failed && oracle.comparison().is_some_and(|comparison| comparison.ignores_all(&ran.stdout)) {
        return Err(Error::NothingCompared { app: ground.target.app.clone() });
    }
    let mut baseline = Baseline {
        reference,
        largest_launch: ran.report.largest_launch,
        launched: ran.report.kernels.clone(),
        kernels: kernels(&ran.report),
        duration_ms: ran.duration_ms,
        cannot_fork: cannot_fork(&ran),
        incidents: Vec::new(),
        runs: 1,
        usual: None,
    };
    SeenIncident::add(&mut baseline.incidents, &ran.report.incidents.kept);
    let sites = sites(&mut ran.report);
    if failed {
        let counts_on_lockstep = lockstep::counts_on_it(ground, first, &ran).await?;
        return Ok(Ended::Fails(Box::new(Failing { ran, counts_on_lockstep, baseline, sites })));
    }
    // Where outputs are compared, that is done under more schedules than these.
    let reference = baseline.reference.clone();
    let reference = (!matches!(ground.settings.oracle, Oracle::Reference(_))).then_some(&reference);
    let mut outputs = vec![ran.stdout.clone()];
    let mut ends = vec![ran.report.ends.clone()];
    for index in 1..RUNS {
        let plan = Plan {
            seed: seeds.baseline(index),
            report_sites: false,
            conflicts: false,
            reference,
            step_budget: Some(ground.settings.step_budget(&baseline)),
            passed_in: Some(baseline.duration()),
            ..first
        };
        let again = told(ground, plan).await?;
        let counts_on_lockstep =
            again.outcome.is_failure() && lockstep::counts_on_it(ground, plan, &again).await?;
        baseline.largest_launch = baseline.largest_launch.max(again.report.largest_launch);
        baseline.runs += 1;
        SeenIncident::add(&mut baseline.incidents, &again.report.incidents.kept);
        if again.outcome.is_failure() {
            return Ok(Ended::Fails(Box::new(Failing { ran: again, counts_on_lockstep, baseline, sites })));
        }
        outputs.push(again.stdout);
        ends.push(again.report.ends);
    }
    if matches!(oracle, Oracle::Memory) {
        let memory = undisturbed::memory(ground, seeds, &baseline, &ends, reporter).await?;
        baseline.reference.memory = Some(memory);
    }
    baseline.usual = matches!(ground.settings.oracle, Oracle::Exit).then(|| Usual::of(&outputs));
    reporter.report(ProgressEvent::BaselineEnded { baseline: &baseline });
    if matches!(oracle, Oracle::Exit)
        && let Some(line) = tells_of_failure(&ran.stdout)
    {
        let line = format!(
            "it passes, as its exit code is 0, and prints `{line}`. Where that is a failure, trials tell nothing: exit with another \
             code, or name what is right by --oracle"
        );
        reporter.report(ProgressEvent::Note(&line));
    }
    Ok(Ended::Passes(Box::new(baseline), sites, ran.stdout))
}

/// A run that says something of the program.
async fn told(ground: &Ground, plan: Plan<'_>) -> Result<Ran, Error> {
    let ran = ground.run(plan).await?;
    let app = || ground.target.app.clone();
    match ran.outcome {
        Outcome::Slow => Err(Error::BaselineSlow { app: app(), seconds: ran.duration_ms / 1e3 }),
        Outcome::Killed => Err(Error::BaselineKilled { app: app(), exit: ran.exit }),
        _ => Ok(ran),
    }
}

/// Why trials of this program must not be forks of one process, as far as this run tells.
fn cannot_fork(ran: &Ran) -> Option<String> {
    match &ran.report.first_launch {
        None if ran.report.launches == 0 => Some("the program launches no kernel".to_owned()),
        None => Some("the program's driver does not say whether it may be forked".to_owned()),
        // What it has written is for the server to say: the first run of all may fill caches that later ones only read.
        Some(cannot) => cannot.clone(),
    }
}

/// The sites that a report names, module by module.
pub(crate) fn sites(report: &mut Report) -> Vec<Site> {
    report.modules.iter_mut().flat_map(|module| module.sites.take().unwrap_or_default()).collect()
}

fn kernels(report: &Report) -> BTreeSet<String> {
    report.modules.iter().flat_map(|module| module.kernels.iter().cloned()).collect()
}

/// What is wrong with a program that failed without injection.
pub(crate) fn failure(ground: &Ground, failing: Failing, schedules: Schedules) -> Error {
    let Failing { ran, counts_on_lockstep, baseline, .. } = failing;
    let mut findings = Findings::without_injection(&baseline.incidents, baseline.runs);
    findings.add_trials(&schedules.by_address(), |cell, trial| format!("{cell}:{trial}"));
    Error::Baseline(Box::new(BaselineFailure {
        app: ground.target.app.clone(),
        outcome: ran.outcome,
        failure: ran.failure(),
        used_driver: ran.report.driver.is_some(),
        counts_on_lockstep,
        schedules,
        findings,
        baseline,
    }))
}
