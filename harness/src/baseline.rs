//! The baseline: the program without injection, under a few seeds of the scheduler. It has to pass, or
//! no failure under injection would say anything; and it measures what a launch takes.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use bugaroo_protocol::Site;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::fork_server::wrote_elsewhere;
use crate::lockstep;
use crate::oracle::Reference;
use crate::progress::{Event, Reporter};
use crate::record::{Failure, Outcome};
use crate::report::{KernelUse, Report};
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
}

impl fmt::Display for BaselineFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { app, outcome, failure, used_driver, counts_on_lockstep } = self;
        write!(f, "{} fails without injection: {outcome}: {}", app.display(), failure.reason)?;
        if !used_driver {
            write!(f, "; it did not get as far as to initialise the CUDA driver")?;
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
            write!(
                f,
                "\nnote: it passes with --warp-synchronous, which has warps run in lockstep: it counts on that, without \
                 __syncwarp(), and Volta and later schedule the threads of a warp independently"
            )?;
        }
        Ok(())
    }
}

/// Runs the baseline. The first run reports the program's sites, too.
pub(crate) async fn run(
    ground: &Ground,
    seeds: Seeds,
    reporter: &dyn Reporter,
) -> Result<(Baseline, Vec<Site>), Error> {
    reporter.report(Event::BaselineStarted { app: ground.target.name() });
    let first = Plan {
        seed: seeds.baseline(0),
        variation: None,
        report_sites: true,
        reference: None,
        step_budget: None,
        passed_in: None,
        cannot_fork: None,
        warp_synchronous: ground.settings.warp_synchronous,
    };
    let ran = passing(ground, first).await?;
    let mut baseline = Baseline {
        reference: Reference::from(&ran),
        largest_launch: ran.report.largest_launch,
        launched: ran.report.kernels.clone(),
        kernels: kernels(&ran.report),
        duration_ms: ran.duration_ms,
        cannot_fork: cannot_fork(&ran),
    };
    let sites = sites(ran.report);
    for index in 1..RUNS {
        let plan = Plan {
            seed: seeds.baseline(index),
            report_sites: false,
            reference: Some(&baseline.reference),
            step_budget: Some(ground.settings.step_budget(&baseline)),
            passed_in: Some(baseline.duration()),
            ..first
        };
        let largest = passing(ground, plan).await?.report.largest_launch;
        baseline.largest_launch = baseline.largest_launch.max(largest);
    }
    reporter.report(Event::BaselineEnded { baseline: &baseline });
    Ok((baseline, sites))
}

/// Why trials of this program must not be forks of one process, as far as this run tells.
fn cannot_fork(ran: &Ran) -> Option<String> {
    let printed = ran.stdout.bytes + ran.stderr.bytes;
    match &ran.report.first_launch {
        None if ran.report.launches == 0 => Some("the program launches no kernel".to_owned()),
        None => Some("the program's driver does not say whether it may be forked".to_owned()),
        Some((Some(why), _)) => Some(why.clone()),
        // How much of its output came before the launch is not known here.
        Some((None, wrote)) => (*wrote > printed).then(|| wrote_elsewhere(*wrote, printed)).flatten(),
    }
}

/// The sites that a report names, module by module.
pub(crate) fn sites(report: Report) -> Vec<Site> {
    report.modules.into_iter().flat_map(|module| module.sites.unwrap_or_default()).collect()
}

fn kernels(report: &Report) -> BTreeSet<String> {
    report.modules.iter().flat_map(|module| module.kernels.iter().cloned()).collect()
}

async fn passing(ground: &Ground, plan: Plan<'_>) -> Result<Ran, Error> {
    let ran = ground.run(plan).await?;
    let app = || ground.target.app.clone();
    match ran.outcome {
        Outcome::Slow => return Err(Error::BaselineSlow { app: app(), seconds: ran.duration_ms / 1e3 }),
        Outcome::Killed => return Err(Error::BaselineKilled { app: app(), exit: ran.exit }),
        _ => {}
    }
    if ran.outcome.is_failure() {
        let counts_on_lockstep = lockstep::counts_on_it(ground, plan, &ran).await?;
        return Err(failure(ground, &ran, counts_on_lockstep));
    }
    if ran.report.driver.is_none() {
        return Err(Error::DriverUnused { app: ground.target.app.clone() });
    }
    Ok(ran)
}

/// What is wrong with a program that failed without injection.
pub(crate) fn failure(ground: &Ground, ran: &Ran, counts_on_lockstep: bool) -> Error {
    Error::Baseline(Box::new(BaselineFailure {
        app: ground.target.app.clone(),
        outcome: ran.outcome,
        failure: ran.failure(),
        used_driver: ran.report.driver.is_some(),
        counts_on_lockstep,
    }))
}
