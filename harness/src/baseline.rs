//! The baseline: the program without injection, under a few seeds of the scheduler. It has to pass, or
//! no failure under injection would say anything; and it measures what a launch takes.

mod undisturbed;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use bugaroo_protocol::{Backend, BlockedThread, Site};
use serde::{Deserialize, Serialize};

use crate::capture::Output;
use crate::error::{Error, MemoryTrouble};
use crate::findings::{Findings, Seen};
use crate::hidden::Usual;
use crate::lockstep;
use crate::names::{demangled, readable};
use crate::oracle::{Oracle, Reference};
use crate::progress::{Event, Reporter};
use crate::record::{Failure, Outcome};
use crate::report::{KernelUse, Report};
use crate::schedules::Schedules;
use crate::seeds::Seeds;
use crate::trial::{Ground, Plan, Ran};

/// Runs of the program without injection, each under a seed of its own.
pub const RUNS: u64 = 3;

/// A launch's default step budget is so many times what the largest launch of the baseline took…
///
/// Instrumented code executes ten to a hundred instructions for an access, and a spinning thread spins
/// for as long as a store is held back; a budget that ends a launch which would have ended by itself is
/// a false alarm, one that lets a hang run on costs seconds.
pub const BUDGET_FACTOR: u64 = 1000;

/// … and so many warp instructions more, for launches that are next to nothing.
pub const BUDGET_FLOOR: u64 = 50_000_000;

/// What the program does without injection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Baseline {
    /// Exit and output, as the oracle `reference` compares them.
    pub reference: Reference,
    /// Most warp instructions of any launch, in any of the runs.
    pub largest_launch: u64,
    /// Kernels that the first run launched.
    pub launched: BTreeMap<String, KernelUse>,
    /// All kernels of the modules that it loaded.
    pub kernels: BTreeSet<String>,
    /// What the first run took.
    pub duration_ms: f64,
    /// Why trials must not be forks of one process, in one line; None where they may.
    #[serde(default = "not_known")]
    pub cannot_fork: Option<String>,
    /// Errors of its launches, each once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub incidents: Vec<Seen>,
    /// Runs that were made.
    #[serde(default = "runs")]
    pub runs: u64,
    /// What it prints, where nothing but its exit code is judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usual: Option<Usual>,
}

fn runs() -> u64 {
    RUNS
}

impl Baseline {
    /// How long the program took.
    pub(crate) fn duration(&self) -> Duration {
        Duration::try_from_secs_f64(self.duration_ms / 1000.0).unwrap_or_default()
    }
}

/// For baselines that were written down before there was a fork server.
fn not_known() -> Option<String> {
    Some("the run was begun by a version without a fork server".to_owned())
}

/// Groups of threads that are shown.
const SHOWN: usize = 8;

/// Where threads stand, in a line.
fn place(group: &BlockedThread) -> String {
    let source = group.source.as_ref().map(|source| format!(", {}:{}", source.file, source.line));
    let line = group.ptx_line.map(|line| format!(", PTX line {line}"));
    let [source, line] = [source, line].map(Option::unwrap_or_default);
    format!("{}{source}{line}: {}", demangled(&group.function), group.instruction.trim())
}

/// What is said of programs from before Volta, most often: reductions whose last warp has no `__syncwarp()`.
pub const LOCKSTEP_NOTE: &str = "it passes with --warp-synchronous, which has warps run in lockstep: it counts on that, without \
     __syncwarp(), and Volta and later schedule the threads of a warp independently";

/// The program fails without injection.
#[derive(Debug, Clone, PartialEq)]
pub struct BaselineFailure {
    /// The program.
    pub app: PathBuf,
    /// How it ended.
    pub outcome: Outcome,
    /// What is known of it.
    pub failure: Failure,
    /// Whether it came so far as to initialise the driver.
    pub used_driver: bool,
    /// Whether it counts on warps in lockstep, as far as runs tell.
    pub counts_on_lockstep: bool,
    /// What it does under other schedules; none where that cannot matter, or was not asked.
    pub schedules: Schedules,
    /// Errors of its launches, in all runs.
    pub findings: Findings,
    /// What is known of it for trials all the same.
    pub baseline: Baseline,
}

impl BaselineFailure {
    /// Whether that it fails is a finding: an error of a launch, or one that depends on the schedule.
    pub fn is_finding(&self) -> bool {
        self.schedules.some_pass() || !self.findings.is_empty()
    }
}

impl fmt::Display for BaselineFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { app, outcome, failure, used_driver, counts_on_lockstep, schedules, .. } = self;
        write!(f, "{} fails without injection: {outcome}: {}", app.display(), failure.reason)?;
        if !used_driver {
            write!(f, "; it did not get as far as to initialise the CUDA driver")?;
        }
        if schedules.total() > 0 {
            write!(f, "\n{schedules}")?;
        }
        // A process that was killed says nothing of its threads; under the schedules' step budget one does.
        let runs = [failure]
            .into_iter()
            .chain(schedules.cells.iter().flatten().filter_map(|run| run.failure.as_ref()));
        if let Some(found) = runs.filter_map(Failure::diagnosis).find(|found| !found.waiting.is_empty()) {
            write!(f, "\n{}:", readable(&found.summary))?;
            let mut places: Vec<String> = found.waiting.iter().map(place).collect();
            places.dedup();
            for place in places.iter().take(SHOWN) {
                write!(f, "\n  threads stand at {place}")?;
            }
        }
        for (name, text) in [("standard output", &failure.stdout), ("standard error", &failure.stderr)] {
            if !text.is_empty() {
                write!(f, "\nthe end of its {name}:")?;
                for line in text.lines() {
                    write!(f, "\n  | {line}")?;
                }
            }
        }
        if *counts_on_lockstep {
            write!(f, "\nnote: {LOCKSTEP_NOTE}")?;
        }
        Ok(())
    }
}

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
    reporter.report(Event::BaselineStarted { app: ground.target.name() });
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
    Seen::add(&mut baseline.incidents, &ran.report.incidents.kept);
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
        Seen::add(&mut baseline.incidents, &again.report.incidents.kept);
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
    reporter.report(Event::BaselineEnded { baseline: &baseline });
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
